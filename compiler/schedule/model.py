"""The Schedule: who sends its vector to whom, in which order, with no color or router in sight.

Takes a `Collective`, makes a `Schedule` of phases. A reduce phase is one line pattern replicated
over parallel lines; a broadcast phase is one multicast over the whole grid; a phase made of steps
(`collc.spec.exchange`) is everything else. In reading order: the types, `build_schedule`.
`collc.proof` shows that a schedule keeps its contract, `collc.schedule.show` prints it.
"""

from collections.abc import Iterator
from dataclasses import replace
from enum import Enum
from functools import cached_property

from collc.base.diagnostics import Span
from collc.base.grids import Grid
from collc.base.values import dataclass
from collc.schedule.tree_steps import chunks_of, steps_of_tree
from collc.spec import (
    BroadcastStep,
    Collective,
    ContractKind,
    Order,
    OwnOperation,
    ReduceStep,
    RunStep,
    Share,
    Step,
    Tree,
)
from collc.spec.exchange import Blocks, Slicing, StepsPhase
from collc.spec.formula import FLOATS, is_symmetric, with_sorted_operands
from collc.spec.steps import ROOT_BYPASS, ascending, axis_of

Children = tuple[tuple[int, ...], ...]


PAIR_BYTES = 2  # of an element of which a wavelet has room for two

REVERSED = {
    Order.WEST_TO_EAST: Order.EAST_TO_WEST,
    Order.EAST_TO_WEST: Order.WEST_TO_EAST,
    Order.NORTH_TO_SOUTH: Order.SOUTH_TO_NORTH,
    Order.SOUTH_TO_NORTH: Order.NORTH_TO_SOUTH,
}


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


class RanksOnLine:
    """Where the ranks of a reduction stand on the axis: as a schedule says (`ReducePhase`, which
    explains `home` and `bypass`), and as a plan shows (`collc.plan.geometry`)."""

    home: int
    ranks: int
    bypass: int

    @property
    def forward(self) -> bool:
        """Whether coordinates rise with the ranks."""
        raise NotImplementedError

    def coordinate(self, rank: int) -> int:
        """Where `rank` stands on the axis."""
        places = rank - 1 - self.bypass if self.bypass and rank else rank
        return self.home + places if self.forward else self.home - places

    @property
    def stretch(self) -> tuple[int, int]:
        """The lowest and the highest coordinate of its PEs on the axis."""
        ends = (self.coordinates[0], self.coordinates[-1])
        return min(ends), max(ends)

    @property
    def coordinates(self) -> range:
        """Where its places are on the axis, from that on where its ranks begin."""
        begin, step = self.coordinate(1 if self.bypass else 0), 1 if self.forward else -1
        return range(begin, begin + step * self.pes, step)

    @property
    def idle(self) -> int | None:
        """The rank that has no vector."""
        return self.bypass + 1 if self.bypass else None

    @property
    def pes(self) -> int:
        """How many PEs a line has."""
        return self.ranks - 1 if self.bypass else self.ranks

    def hops(self, source: int, destination: int) -> int:
        """How far two ranks are from each other."""
        if self.bypass and destination == 0:
            return abs(self.coordinate(source) - self.home)
        return source - destination

    @cached_property
    def place_of(self) -> tuple[int, ...]:
        """The place of every rank on the stretch, counted in `order`."""
        if not self.bypass:
            return tuple(range(self.ranks))
        return (self.bypass, *range(self.ranks - 1))


@dataclass(frozen=True)
class ReducePhase(RanksOnLine):
    """Every line of one axis, or the same stretch of each, reduced to its rank 0.

    `home` is where rank 0 stands on the axis; from there the ranks follow in `order`. `transfers`
    stand in an order in which they can happen: a rank's receipts one after the other in order of
    receipt, before its own sending. `lines` are the coordinates, on the other axis, of the first
    and the last of the parallel lines.

    A phase with a `bypass` is a root bypass. Rank 0, the root, stands so far from the nearer end of
    a line. From that end on the others follow, rank 1 at the end itself, who sends past the PEs
    between to rank 0. At the root's own place the count goes on with a rank that has no vector.
    """

    name: str
    order: Order
    home: int
    ranks: int
    lines: tuple[int, int]
    transfers: tuple[Transfer, ...]
    tree: str
    span: Span
    bypass: int = 0

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

    @property
    def forward(self) -> bool:
        """Whether coordinates rise with the ranks."""
        return ascending(self.order)


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


Phase = ReducePhase | BroadcastPhase | StepsPhase


@dataclass(frozen=True)
class Schedule:
    """A collective as phases in order; a PE starts a phase when it has finished the one before."""

    collective: Collective
    phases: tuple[Phase, ...]

    @property
    def by_steps(self) -> tuple[StepsPhase, ...]:
        """The phases that are made of steps, in which slices go."""
        return tuple(phase for phase in self.phases if isinstance(phase, StepsPhase))

    @property
    def reductions(self) -> tuple[ReducePhase, ...]:
        """The phases in which whole vectors go along trees."""
        return tuple(phase for phase in self.phases if isinstance(phase, ReducePhase))


def step_of(collective: Collective, phase: Phase) -> Step:
    """The step that a phase is of. The steps that `auto` stands for are all at one place, so that
    the place alone does not tell."""
    axis = "" if isinstance(phase, BroadcastPhase) else phase.axis
    kind = ReduceStep if isinstance(phase, ReducePhase) else object  # trees may go by steps, too
    return collective.steps[number_of_step(collective, phase.span, axis, tree=kind is ReduceStep)]


def number_of_step(collective: Collective, span: Span, axis: str, *, tree: bool) -> int:
    """The number of the step at a place of the program that goes along an axis, none in the case of
    a broadcast, and is a `tree`."""
    return next(
        number
        for number, step in enumerate(collective.steps)
        if step.span == span
        and _axis_of_step(step) == axis
        and (isinstance(step, ReduceStep) or not tree)
    )


def _axis_of_step(step: Step) -> str:
    """The axis along which a step goes; none of a broadcast."""
    if isinstance(step, BroadcastStep):
        return ""
    return step.axis if isinstance(step, RunStep) else axis_of(step.order)


def build_schedule(collective: Collective) -> Schedule:
    """Lay the steps of a collective out as phases; steps over a single PE need none."""
    grid = collective.lined
    holders = {"x": (0, grid.width - 1), "y": (0, grid.height - 1)}
    phases: list[Phase] = []
    for step in collective.steps:
        if isinstance(step, RunStep):
            phases += _run(step, collective)
        elif isinstance(step, BroadcastStep):
            phases += _broadcast(step, collective.grid)
            holders = {"x": (0, grid.width - 1), "y": (0, grid.height - 1)}
        else:
            reduced = _reduce(step, grid, holders)
            phases += (_without_passing(phase, collective) for phase in reduced)
            home = _home(step, grid)
            holders[axis_of(step.order)] = (home, home)
    found = tuple(_with_unique_names(phases))
    return Schedule(_alike_at_all_ranks(collective, found), found)


def _alike_at_all_ranks(collective: Collective, phases: tuple[Phase, ...]) -> Collective:
    """The collective with an operation that gives the same bits at every rank. Where several ranks
    combine the same vectors, each has its own on the left; an operation of floats may be
    commutative but for rounding, zeros and NaN, and then its operands are put in order first."""
    contract, operation = collective.contract, collective.contract.operation
    if not isinstance(operation, OwnOperation) or not operation.commutative:
        return collective
    if contract.own is None and contract.kind is not ContractKind.ALLREDUCE:
        return collective  # one rank has the result of each element
    if operation.element.value not in FLOATS or is_symmetric(operation.formula):
        return collective
    if not any(_combines_again(phases, axis) for axis in "xy"):
        return collective
    in_order = replace(operation, formula=with_sorted_operands(operation.formula))
    return replace(collective, contract=replace(contract, operation=in_order))


def _combines_again(phases: tuple[Phase, ...], axis: str) -> bool:
    """Whether elements are combined more often along an axis than it takes for one result."""
    combined = ranks = length = 0
    for phase in phases:
        if not isinstance(phase, StepsPhase) or phase.axis != axis:
            continue
        ranks, length = max(ranks, len(phase.places)), max(length, phase.slicing.length)
        bounds = phase.slicing.bounds
        for moves in phase.steps:
            elements = bounds[moves.slice + moves.count] - bounds[moves.slice]
            combined += int(elements[moves.combines].sum())
    return combined > max(ranks - 1, 0) * length


def _reduce(
    step: ReduceStep, grid: Grid, holders: dict[str, tuple[int, int]]
) -> Iterator[ReducePhase]:
    """The phases of a reduce step, one for each side of its root, on the lines that hold something
    to be reduced. The other side comes second: its root sends to this one.
    """
    axis = axis_of(step.order)
    lines = holders["y" if axis == "x" else "x"]
    if step.skips:
        yield _jump(step, _line_name(axis, grid, lines), grid, lines)
        return
    for order, tree, children in _sides(step):
        if len(children) > 1:
            yield ReducePhase(
                name=_line_name(axis, grid, lines),
                order=order,
                home=_home(step, grid),
                ranks=len(children),
                lines=lines,
                transfers=transfers_of(children),
                tree=tree.text,
                span=step.span,
            )


def _without_passing(phase: ReducePhase, collective: Collective) -> ReducePhase | StepsPhase:
    """A tree along an order that is not contiguous goes by steps, unless no vector passes any gap,
    as in a chain. Steps are of the whole line, in which some may have no part."""
    path = collective.path
    if path is None or not path.gaps:
        return phase
    ends = ((phase.coordinate(t.source), phase.coordinate(t.destination)) for t in phase.transfers)
    if not phase.bypass and all(
        abs(one - other) == 1 or not path.crosses(one, other) for one, other in ends
    ):
        return phase
    length = collective.contract.length
    chunks = chunks_of(phase.children, length)
    places = [phase.coordinate(rank) for rank in range(phase.ranks)]
    return StepsPhase(
        name=phase.name,
        axis=phase.axis,
        places=tuple(range(len(path))),
        lines=phase.lines,
        slicing=Slicing(chunks, length, dynamic=collective.contract.run_length is not None),
        steps=steps_of_tree(phase.children, places, chunks),
        algorithm=phase.tree,
        order=path.word,
        span=phase.span,
    )


def _jump(step: ReduceStep, name: str, grid: Grid, lines: tuple[int, int]) -> ReducePhase:
    """The phase of a reduction that skips: the tree's ranks behind the root's place move on."""
    pes = len(step.tree.children) + 1
    back = step.root > pes - 1 - step.root
    gap = pes - 1 - step.root if back else step.root
    places = [place for place in range(pes) if place != gap]
    children: list[tuple[int, ...]] = [(1,)] + [()] * pes
    for place, below in zip(places, step.tree.children, strict=True):
        children[place + 1] = tuple(places[child] + 1 for child in below)
    return ReducePhase(
        name=name,
        order=REVERSED[step.order] if back else step.order,
        home=_home(step, grid),
        ranks=pes + 1,
        lines=lines,
        transfers=transfers_of(tuple(children)),
        tree=f"{ROOT_BYPASS}({step.tree.text})",
        span=step.span,
        bypass=gap,
    )


def _sides(step: ReduceStep) -> Iterator[tuple[Order, Tree, Children]]:
    """The order away from the root and the tree of each side, with the root as rank 0 of both."""
    own = len(step.tree.children) - 1
    back = REVERSED[step.order]
    yield (back if own == step.root > 0 else step.order), step.tree, step.tree.children
    if step.far is not None:
        moved = (tuple(child + 1 for child in below) for below in step.far.children)
        yield (step.order if own == step.root else back), step.far, ((1,), *moved)


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


def _run(step: RunStep, collective: Collective) -> Iterator[StepsPhase]:
    """The phase of an algorithm; none where it has nothing to do."""
    if not step.algorithm.steps:
        return
    grid = collective.lined
    alone = grid.is_line
    slices, steps = step.algorithm.slices, step.algorithm.steps
    length, blocks = collective.contract.length, None
    if step.share is Share.OWN_BLOCK:
        blocks = Blocks(length, step.across)
        length = blocks.longest
    elif step.share is Share.EVERY_BLOCK:
        steps = tuple(moves.in_every_block(len(step.across), slices) for moves in steps)
        slices *= len(step.across)
    yield StepsPhase(
        name="exchange" if alone else _line_name(step.axis, grid, step.lines),
        axis=step.axis,
        places=step.places,
        lines=step.lines,
        slicing=_slicing(step, slices, length, collective),
        steps=steps,
        algorithm=step.algorithm.text,
        order=step.order,
        span=step.span,
        blocks=blocks,
        wide=step.wide,
    )


def _slicing(step: RunStep, slices: int, length: int, collective: Collective) -> Slicing:
    """Elements that an instruction takes at once are cut as one, where contract and other steps
    leave open where slices begin, or where all slices are made of them anyway: two of 16 bits,
    which may travel in a wavelet, and what two wavelets have, if the step is wide."""
    contract = collective.contract
    named = contract.names_slices or any(
        isinstance(one, RunStep) and one.share is Share.OWN_BLOCK for one in collective.steps
    )
    grain = (2 if contract.element.bytes == PAIR_BYTES else 1) * (2 if step.wide else 1)
    fits = length % (grain * slices if named else grain) == 0
    if step.share is Share.OWN_BLOCK:  # where blocks differ, some begin anywhere
        fits = fits and contract.length % len(step.across) == 0
    if contract.run_length is not None:
        return Slicing(slices, length, dynamic=True)
    return Slicing(slices, length, grain if fits else 1)


def _home(step: ReduceStep, grid: Grid) -> int:
    """The coordinate of a step's root."""
    extent = grid.extent(axis_of(step.order))
    return step.root if ascending(step.order) else extent - 1 - step.root


def _line_name(axis: str, grid: Grid, lines: tuple[int, int]) -> str:
    if grid.is_line:
        return "reduce"
    one = "row" if axis == "x" else "column"
    return one if lines[0] == lines[1] else f"{one}s"


def _with_unique_names(phases: list[Phase]) -> Iterator[Phase]:
    """Phases whose names are distinct CSL identifiers; a second `row` becomes `row_2`."""
    seen: dict[str, int] = {}
    for phase in phases:
        count = seen[phase.name] = seen.get(phase.name, 0) + 1
        yield phase if count == 1 else replace(phase, name=f"{phase.name}_{count}")
