"""What the compiler finds out about a pattern, by taking it through its own stages.

The contract by the proof, the operand order by carrying out the schedule on words, colors and
steps by planning a small instance. Nothing here knows a pattern by name.
"""

import re
from collections.abc import Iterator
from functools import cache

import numpy as np

from collc.base.diagnostics import CollcError
from collc.base.values import dataclass
from collc.cost.formulas import FORMULAS
from collc.driver.planning import planned
from collc.lowering import candidate_plans
from collc.patterns.instances import ORDERS, Choice, contract_of_example, instance
from collc.patterns.sources import Kind, Pattern
from collc.run.expected import carry_out
from collc.schedule import Phase, ReducePhase, Schedule
from collc.schedule.promised import promised
from collc.spec import ContractKind, ReduceStep, RunStep
from collc.spec.exchange import StepsPhase
from collc.target import TARGETS

# The strongest first: what keeps one of them is not named after a later one that it keeps, too.
STRENGTH = (
    ContractKind.ALL_TO_ALL,
    ContractKind.ALLREDUCE,
    ContractKind.BROADCAST,
    ContractKind.REDUCE,
    ContractKind.ALLGATHER,
    ContractKind.REDUCE_SCATTER,
    ContractKind.SCATTER,
    ContractKind.GATHER,
    ContractKind.BARRIER,
)
PROVED_ON = (6, 8)  # PEs: the first number that a pattern is made for
SHOWN_ON = (4, 3)
PLANNED_ON, PLANNED_LENGTH = 8, 64


@dataclass(frozen=True)
class Facts:
    """A pattern and what was found; texts are empty where there is nothing to say.

    `contract` is what it is for, `also` what it keeps besides. `operands` says how operands stand,
    `example` is what is computed on few PEs. `colors` are taken on 8 PEs, `fewest` suffice;
    both are 0 where `refused` says why there is no plan. `use` and `order` are those of the plan.
    """

    pattern: Pattern
    contract: str
    also: tuple[str, ...]
    operands: str
    example: str
    use: str
    order: str
    colors: int
    fewest: int
    refused: str
    steps: int
    formula: str


def facts_of(pattern: Pattern) -> Facts:
    """Everything about a pattern; raises CollcError if it keeps no contract at all."""
    kept = contracts_of(pattern)
    contract = kept[0]
    operands, example = _operands(pattern, contract)
    choice, schedule, colors, fewest, refused = _planned(pattern, contract)
    return Facts(
        pattern=pattern,
        contract=schedule.collective.contract.name,
        also=tuple(kind.value for kind in kept[1:]),
        operands=operands,
        example=example,
        use=choice.use,
        order=choice.order,
        colors=colors,
        fewest=fewest,
        refused=refused,
        steps=sum(len(p.steps) for p in schedule.by_steps),
        formula=_formula(pattern, schedule),
    )


@cache
def contracts_of(pattern: Pattern) -> tuple[ContractKind, ...]:
    """The contracts that a pattern is proved to keep, what it is for first: the contract that its
    name ends in, else the strongest."""
    if pattern.kind is Kind.EXAMPLE:
        return (contract_of_example(pattern),)
    if pattern.kind is Kind.TREE:
        return (ContractKind.REDUCE,)
    kept = []
    error: CollcError | None = None
    for kind in STRENGTH:
        try:
            small_instance(pattern, kind, PROVED_ON, order="west_to_east")
            kept.append(kind)
        except CollcError as refused:
            error = refused
    if not kept:
        assert error is not None
        raise error
    kept.sort(key=lambda kind: not re.search(rf"(^|_){kind.value}$", pattern.name))
    return tuple(kept)


def small_instance(
    pattern: Pattern, contract: ContractKind, sizes: tuple[int, ...], *, order: str = ""
) -> tuple[Choice, Schedule]:
    """A proved instance on the first of these numbers of PEs that the pattern is made for."""
    refused: CollcError | None = None
    for pes in sizes:
        try:
            choice, _, schedule = instance(pattern, contract, pes, 4 * pes, order=order)
            return choice, schedule
        except CollcError as error:
            refused = refused or error
    assert refused is not None
    raise refused


def _operands(pattern: Pattern, contract: ContractKind) -> tuple[str, str]:
    """How the operands of what is promised stand, and what that is on few PEs."""
    if not contract.reduces:
        return "", ""
    _, schedule = small_instance(pattern, contract, PROVED_ON)
    _, fewer = small_instance(pattern, contract, SHOWN_ON)
    return operand_orders(schedule), next(_results(fewer))[2]


def operand_orders(schedule: Schedule) -> str:
    """Whether operands are combined in the order of the ranks, and whether alike everywhere."""
    texts: dict[int, set[str]] = {}
    per_pe: dict[int, set[str]] = {}
    in_order = True
    for pe, element, text in _results(schedule):
        ranks = [int(word) for word in re.findall(r"\d+", text)]
        in_order = in_order and ranks == sorted(ranks)
        texts.setdefault(element, set()).add(text)
        per_pe.setdefault(pe, set()).add(text)
    words = ["rank order" if in_order else "not rank order"]
    if any(len(found) > 1 for found in per_pe.values()):
        words.append("another for each slice")
    if any(len(found) > 1 for found in texts.values()):
        words.append("another at each rank")
    return ", ".join(words)


def _results(schedule: Schedule) -> Iterator[tuple[int, int, str]]:
    """PE, element and what is computed for it, for all that is promised."""
    ranks = _rank_numbers(schedule)
    length = schedule.collective.contract.length
    words = np.repeat(ranks.astype(str).astype(object)[:, :, None], length, axis=2)
    combine = np.frompyfunc(lambda own, other: f"({own} + {other})", 2, 1)
    found = carry_out(schedule, words, combine)
    for y, x, element in np.argwhere(promised(schedule)).tolist():
        yield int(ranks[y, x]), element, found[y, x, element]


def _rank_numbers(schedule: Schedule) -> np.ndarray:
    """The rank of every PE; on a grid without a path they are counted column by column."""
    grid, path = schedule.collective.grid, schedule.collective.path
    if path is not None:
        places = (path.place_of((x, y)) for y in range(grid.height) for x in range(grid.width))
        return np.fromiter(places, dtype=int).reshape(grid.height, grid.width)
    numbers = np.arange(grid.width * grid.height).reshape(grid.width, grid.height).T.copy()
    if not grid.is_line:
        return numbers
    flat = numbers.reshape(-1)
    for step in schedule.collective.steps:
        if isinstance(step, RunStep):
            flat[list(step.places)] = np.arange(len(flat))
        elif isinstance(step, ReduceStep) and step.order.value in (
            "east_to_west",
            "south_to_north",
        ):
            flat[:] = np.arange(len(flat))[::-1]
    return numbers


def _planned(pattern: Pattern, contract: ContractKind) -> tuple[Choice, Schedule, int, int, str]:
    """The instance of fewest predicted cycles over all orders, colors it takes, the fewest that
    suffice, or why there is no plan."""
    machine = TARGETS["wse2"]
    found: list[tuple[int, int, Choice, Schedule, int]] = []
    for order in ORDERS.get(pattern.kind, ("",)):
        choice, _, schedule = instance(
            pattern, contract, PLANNED_ON, PLANNED_LENGTH, order=order, target=machine.name
        )
        try:
            plan, prediction = planned(schedule, machine)
        except CollcError as error:
            refusal = error.diagnostics[0]
            return choice, schedule, 0, 0, f"{refusal.code}: {refusal.message}"
        found.append((prediction.cycles, len(found), choice, schedule, len(plan.color_numbers)))
    _, _, choice, schedule, colors = min(found)
    fewest = min(len(plan.colors) for plan in candidate_plans(schedule, machine))
    return choice, schedule, colors, fewest, ""


def _formula(pattern: Pattern, schedule: Schedule) -> str:
    """The closed form; else what the model says of each step, or of which phases it consists."""
    if pattern.name in FORMULAS:
        return str(FORMULAS[pattern.name])
    if pattern.kind is Kind.EXAMPLE:
        return "; then ".join(map(_part, schedule.phases))
    return "; ".join(_by_steps(p) for p in schedule.by_steps)


def _part(phase: Phase) -> str:
    if isinstance(phase, ReducePhase):
        return f"{phase.tree} on {phase.pes} PEs"
    if isinstance(phase, StepsPhase):
        return f"{phase.algorithm} on {phase.ranks} PEs"
    return f"broadcast on {phase.width} x {phase.height} PEs"


def _by_steps(phase: StepsPhase) -> str:
    """A message for each step: two ramps, its hops, and the most elements that a PE has to send or
    to take."""
    places = np.array(phase.places)
    hops, slices = 0, 0
    for moves in phase.steps:
        hops += int(np.abs(places[moves.source] - places[moves.destination]).max())
        slices += max(
            int(np.bincount(ends, weights=moves.count).max())
            for ends in (moves.source, moves.destination)
        )
    share = slices / phase.slicing.count
    return f"{len(phase.steps)} * (2 * ramp + 1) + {hops} + {share:.4g} * B at P = {phase.ranks}"
