"""The Schedule: who sends its vector to whom, in which order, with no color or router in sight.

Takes a `Collective`, makes a `Schedule` of phases. A reduce phase is one line pattern replicated
over parallel lines; a broadcast phase is one multicast over the whole grid. In reading order: the
types, `build_schedule`, `show_schedule`. `collc.proof` shows that a schedule keeps its contract.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from collc.diagnostics import Span
from collc.spec import BroadcastStep, Collective, Grid, Order, ReduceStep

SHOWN_RANKS = 16  # longer lines are described, not spelled out


class Action(Enum):
    """What the destination does with an arriving vector."""

    COMBINE = "combine"
    COPY = "copy"


@dataclass(frozen=True)
class Transfer:
    """One vector going from rank to rank of a line."""

    source: int
    destination: int
    action: Action


@dataclass(frozen=True)
class ReducePhase:
    """Every line of one axis, or the same stretch of each, reduced to its rank 0.

    `home` is where rank 0 stands on the axis; from there the ranks follow in `order`. `transfers`
    stand in an order in which they can happen: a rank's receipts one after the other in order of
    receipt, before its own sending. `lines` are the coordinates, on the other axis, of the first
    and the last of the parallel lines.
    """

    name: str
    order: Order
    home: int
    ranks: int
    lines: tuple[int, int]
    transfers: tuple[Transfer, ...]
    tree: str
    span: Span

    @property
    def axis(self) -> str:
        """The coordinate that runs along a line."""
        return axis_of(self.order)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """For each rank, the ranks it receives from, in order of receipt."""
        received: list[list[int]] = [[] for _ in range(self.ranks)]
        for transfer in self.transfers:
            received[transfer.destination].append(transfer.source)
        return tuple(tuple(sources) for sources in received)

    def coordinate(self, rank: int) -> int:
        """Where `rank` stands on the axis."""
        return self.home + rank if ascending(self.order) else self.home - rank

    @property
    def stretch(self) -> tuple[int, int]:
        """The lowest and the highest coordinate of its PEs on the axis."""
        ends = (self.home, self.coordinate(self.ranks - 1))
        return min(ends), max(ends)


@dataclass(frozen=True)
class BroadcastPhase:
    """The vector of PE (x, y) copied to every PE of the grid."""

    name: str
    x: int
    y: int
    width: int
    height: int
    span: Span

    @property
    def action(self) -> Action:
        """A broadcast overwrites."""
        return Action.COPY


@dataclass(frozen=True)
class Schedule:
    """A collective as phases in order; a PE starts a phase when it has finished the one before."""

    collective: Collective
    phases: tuple[ReducePhase | BroadcastPhase, ...]


def axis_of(order: Order) -> str:
    """The coordinate that grows or falls along an order: "x" along a row, "y" along a column."""
    return "x" if order in (Order.WEST_TO_EAST, Order.EAST_TO_WEST) else "y"


def ascending(order: Order) -> bool:
    """Whether ranks grow with the coordinate."""
    return order in (Order.WEST_TO_EAST, Order.NORTH_TO_SOUTH)


def build_schedule(collective: Collective) -> Schedule:
    """Lay the steps of a collective out as phases; steps over a single PE need none."""
    grid = collective.grid
    holders = {"x": (0, grid.width - 1), "y": (0, grid.height - 1)}
    phases: list[ReducePhase | BroadcastPhase] = []
    for step in collective.steps:
        if isinstance(step, BroadcastStep):
            phases += _broadcast(step, grid)
            holders = {"x": (0, grid.width - 1), "y": (0, grid.height - 1)}
        else:
            phases += _reduce(step, grid, holders)
            holders[axis_of(step.order)] = (_end(step, grid), _end(step, grid))
    return Schedule(collective, tuple(_with_unique_names(phases)))


def _reduce(
    step: ReduceStep, grid: Grid, holders: dict[str, tuple[int, int]]
) -> Iterator[ReducePhase]:
    """The phase of a reduce step on the lines that hold something to be reduced."""
    axis = axis_of(step.order)
    if len(step.tree.children) == 1:
        return
    lines = holders["y" if axis == "x" else "x"]
    yield ReducePhase(
        name=_line_name(axis, grid, lines),
        order=step.order,
        home=_end(step, grid),
        ranks=len(step.tree.children),
        lines=lines,
        transfers=transfers_of(step.tree.children),
        tree=step.tree.text,
        span=step.span,
    )


def transfers_of(children: tuple[tuple[int, ...], ...]) -> tuple[Transfer, ...]:
    """The transfers of a tree, far ranks first, so that a rank sends what it has gathered."""
    return tuple(
        Transfer(child, rank, Action.COMBINE)
        for rank in reversed(range(len(children)))
        for child in children[rank]
    )


def _broadcast(step: BroadcastStep, grid: Grid) -> Iterator[BroadcastPhase]:
    if grid.width * grid.height > 1:
        yield BroadcastPhase("broadcast", step.x, step.y, grid.width, grid.height, step.span)


def _end(step: ReduceStep, grid: Grid) -> int:
    """The coordinate of a step's rank 0."""
    extent = grid.width if axis_of(step.order) == "x" else grid.height
    return 0 if ascending(step.order) else extent - 1


def _line_name(axis: str, grid: Grid, lines: tuple[int, int]) -> str:
    if min(grid.width, grid.height) == 1:
        return "reduce"
    one = "row" if axis == "x" else "column"
    return one if lines[0] == lines[1] else f"{one}s"


def _with_unique_names(
    phases: list[ReducePhase | BroadcastPhase],
) -> Iterator[ReducePhase | BroadcastPhase]:
    """Phases whose names are distinct CSL identifiers; a second `row` becomes `row_2`."""
    seen: dict[str, int] = {}
    for phase in phases:
        count = seen[phase.name] = seen.get(phase.name, 0) + 1
        yield phase if count == 1 else _renamed(phase, f"{phase.name}_{count}")


def _renamed(phase: ReducePhase | BroadcastPhase, name: str) -> ReducePhase | BroadcastPhase:
    fields = {key: getattr(phase, key) for key in phase.__dataclass_fields__}
    return type(phase)(**{**fields, "name": name})


def show_schedule(schedule: Schedule) -> str:
    """The schedule as text, a paragraph per phase."""
    contract = schedule.collective.contract
    head = f"schedule {schedule.collective.name}: {contract.kind.value}"
    lines = [head, *(_show_phase(phase) for phase in schedule.phases)]
    return "\n".join(lines) + "\n"


def _show_phase(phase: ReducePhase | BroadcastPhase) -> str:
    if isinstance(phase, BroadcastPhase):
        extent = f"{phase.width} x {phase.height}"
        return f"  {phase.name}: PE ({phase.x}, {phase.y}) copies its vector to all {extent} PEs"
    count = phase.lines[1] - phase.lines[0] + 1
    head = (
        f"  {phase.name}: {phase.tree} over {phase.ranks} ranks, {phase.order.value}, "
        f"{count} line{'s' if count > 1 else ''}"
    )
    if phase.ranks > SHOWN_RANKS:
        return "\n".join((head, f"    {_shape(phase)}", f"    rank 0 = {_operands(phase)}"))
    return "\n".join((head, *_show_transfers(phase), f"    rank 0 = {operand_order(phase)}"))


def _show_transfers(phase: ReducePhase) -> Iterator[str]:
    arrows = {Action.COMBINE: "=>", Action.COPY: "->"}
    for transfer in phase.transfers:
        yield f"    {transfer.source} {arrows[transfer.action]} {transfer.destination}"


def _shape(phase: ReducePhase) -> str:
    most = max(len(sources) for sources in phase.children)
    return f"{len(phase.transfers)} transfers, at most {most} vectors to one rank"


def _operands(phase: ReducePhase) -> str:
    """Operand order of a long line in few words: the nesting is that of the tree."""
    return f"0 + 1 + ... + {phase.ranks - 1}, nested as {phase.tree}"


def operand_order(phase: ReducePhase) -> str:
    """What rank 0 computes, `+` standing for the operation: `((0 + 1) + (2 + 3))`."""
    values = [str(rank) for rank in range(phase.ranks)]
    for transfer in phase.transfers:
        source, old = values[transfer.source], values[transfer.destination]
        copies = transfer.action is Action.COPY
        values[transfer.destination] = source if copies else f"({old} + {source})"
    return values[0]


def home_pe(schedule: Schedule) -> tuple[int, int]:
    """(x, y) of the PE where the reductions end; without any, where the broadcast starts."""
    place = {"x": 0, "y": 0}
    reductions = [phase for phase in schedule.phases if isinstance(phase, ReducePhase)]
    for reduction in reductions:
        place[reduction.axis] = reduction.coordinate(0)
    if reductions:
        return place["x"], place["y"]
    sources = [(p.x, p.y) for p in schedule.phases if isinstance(p, BroadcastPhase)]
    return sources[0] if sources else (0, 0)
