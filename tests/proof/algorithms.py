"""Every algorithm of the prelude with what it does: contract, the arguments worth trying."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from collc.language import parse_source
from collc.schedule import Schedule, build_schedule
from collc.spec.exchange import Slicing, StepsPhase


@dataclass(frozen=True)
class Case:
    """An algorithm on a row of `ranks` PEs of `length` elements."""

    contract: str
    use: str
    ranks: int
    length: int
    order: str = "west_to_east"

    @property
    def text(self) -> str:
        reduces = self.contract in ("reduce", "allreduce", "reduce_scatter")
        buffer = (
            ""
            if self.contract == "barrier"
            else f"x: f32[{self.length}]{', add' if reduces else ''}"
        )
        return (
            f"target wse2 grid row = {self.ranks} x 1 "
            f"collective c = {self.contract}({buffer}) on row "
            f"{{ order {self.order} run {self.use} }} program {{ c }}"
        )

    def schedule(self) -> Schedule:
        return _scheduled(self.text)


@lru_cache(maxsize=64)  # several changes of one schedule are tried, one after the other
def _scheduled(text: str) -> Schedule:
    return build_schedule(parse_source(text).collectives[0])


def of_length(schedule: Schedule, length: int) -> Schedule:
    """The same transfers for vectors of another length."""
    contract = replace(schedule.collective.contract, length=length)
    phases = tuple(
        replace(phase, slicing=Slicing(phase.slicing.count, length))
        for phase in schedule.phases
        if isinstance(phase, StepsPhase)
    )
    return Schedule(replace(schedule.collective, contract=contract), phases)


WHOLE = {
    "allreduce": (
        "ring_allreduce",
        "recursive_doubling",
        "halving_doubling",
        "binary_blocks",
        "direct_allreduce",
    ),
    "reduce": ("reduce_scatter_gather",),
    "broadcast": ("scatter_allgather",),
    "scatter": ("linear_scatter", "binomial_scatter"),
    "gather": ("linear_gather", "binomial_gather"),
    "allgather": ("ring_allgather", "recursive_doubling_allgather", "direct_allgather"),
    "reduce_scatter": (
        "ring_reduce_scatter",
        "pairwise_reduce_scatter",
        "recursive_halving_reduce_scatter",
        "direct_reduce_scatter",
        "chain_reduce_scatter",
    ),
    "all_to_all": ("pairwise_all_to_all", "linear_all_to_all", "bruck_all_to_all"),
    "barrier": ("linear_barrier", "binomial_barrier", "dissemination_barrier"),
}
CHUNKED = {
    "reduce": ("pipelined_reduce", "binary_tree_reduce"),
    "broadcast": ("pipelined_broadcast", "binary_tree_broadcast"),
    "allreduce": ("pipelined_allreduce", "binary_tree_allreduce", "dual_root_allreduce"),
}


def names() -> list[tuple[str, str]]:
    """Contract and name of every algorithm."""
    rooted = (("reduce", ("ring_reduce", "chain_reduce")), ("broadcast", ("direct_broadcast",)))
    tables = (*WHOLE.items(), *CHUNKED.items(), ("allreduce", ("butterfly",)), *rooted)
    return sorted((contract, name) for contract, found in tables for name in found)


def uses(name: str, ranks: int) -> Iterator[str]:
    """The ways to run an algorithm on so many ranks."""
    if name == "butterfly":
        yield from (f"butterfly({base})" for base in (2, 3, 5))
    elif name == "ring_reduce":
        yield from (f"ring_reduce(c = {chunks}, root = 0)" for chunks in (1, 4))
    elif name in ("chain_reduce", "direct_broadcast"):
        yield f"{name}(root = 0)"
    elif any(name in found for found in CHUNKED.values()):
        yield from (f"{name}({chunks})" for chunks in (1, 4))
    else:
        yield name


def lengths(contract: str, ranks: int) -> list[int]:
    """Shorter than the line, longer, and indivisible."""
    if contract == "barrier":
        return [0]
    if contract == "all_to_all":
        return [ranks, 3 * ranks]
    return sorted({1, 3, 2 * ranks + 1})


def schedules(contract: str, name: str, ranks: int) -> Iterator[Schedule]:
    """An algorithm on a row, for several lengths."""
    for use in uses(name, ranks):
        schedule = Case(contract, use, ranks, ranks).schedule()
        for length in lengths(contract, ranks):
            yield of_length(schedule, length)
