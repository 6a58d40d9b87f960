"""Collectives by steps, whose rows have all that rows can have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from collc.patterns import all_patterns, instance
from collc.patterns.facts import contracts_of


@dataclass(frozen=True)
class Probe:
    """A program of one collective."""

    name: str
    text: str
    parameters: tuple[tuple[str, int], ...]


# pattern, PEs in a row, elements
ROWS = (
    ("two_pes", 3, 6),
    ("binary_blocks", 3, 1),
    ("binary_tree_allreduce", 3, 1),
    ("binary_tree_broadcast", 5, 6),
    ("binary_tree_reduce", 3, 6),
    ("binary_tree_reduce", 5, 5),
    ("binary_tree_reduce", 5, 6),
    ("binomial_gather", 5, 1),
    ("binomial_gather", 5, 6),
    ("bruck_all_to_all", 3, 6),
    ("halo_exchange", 3, 1),
    ("halving_doubling", 3, 1),
    ("linear_scatter", 5, 1),
    ("pipelined_broadcast", 5, 6),
    ("prefix_sum", 3, 6),
    ("recursive_doubling_allgather", 5, 1),
    ("reduce_scatter_gather", 3, 1),
    ("ring_allgather", 3, 6),
    ("ring_reduce_scatter", 5, 6),
    ("scatter_allgather", 3, 1),
    ("binary_blocks", 7, 6),
    ("binary_tree_allreduce", 6, 6),
    ("bruck_all_to_all", 5, 6),
    ("dissemination_barrier", 5, 1),
    ("dual_root_allreduce", 5, 6),
    ("halo_exchange", 5, 6),
    ("halving_doubling", 5, 7),
    ("linear_gather", 5, 7),
    ("pairwise_all_to_all", 5, 5),
    ("pipelined_reduce", 5, 6),
    ("recursive_doubling", 5, 6),
    ("recursive_halving_reduce_scatter", 5, 6),
    ("reduce_scatter_gather", 5, 6),
    ("ring_allgather", 7, 7),
    ("ring_allreduce", 5, 6),
    ("ring_reduce_scatter", 3, 7),
    ("scatter_allgather", 5, 6),
)


def probes() -> Iterator[Probe]:
    """All of them."""
    return (probe_of(*row) for row in ROWS)


def probe_of(name: str, pes: int, length: int) -> Probe:
    """A pattern from west to east."""
    pattern = next(one for one in all_patterns() if one.name == name)
    kind = contracts_of(pattern)[0]
    choice, _, _ = instance(pattern, kind, pes, length, order="west_to_east")
    given = tuple(choice.parameters.items())
    return Probe(f"{name} on {pes} PEs with {length}", choice.text, given)
