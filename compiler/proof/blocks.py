"""Proof of a contract about slices on a grid, two lines at a time.

A vector is cut into a block for each line along which ranks are counted, a block into slices for
the ranks of the line (`collc.spec.slice_ownership`). Along each axis the contract is kept by
itself, on lines (`collc.proof.line`): among the lines, block by block, and within a line on its
block. Together these two keep it on the grid if they follow each other as their slices need it:

    allgather, gather        a line's slices become its block, then all blocks the vector
    reduce_scatter, scatter  a PE gets its line's block of the vector, then its slice of the block
    all_to_all               blocks among the lines, and slices of every block within a line

An allgather may also be a gather and a multicast from where that ends, a reduce_scatter a reduction
to where a scatter begins: then each of the two contracts is proved by itself.

A line may work on the first element of the next block as well (`collc.spec.exchange.Blocks`).
Nobody has that right before blocks are gathered, and nobody needs it after they have been
scattered.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

import numpy as np

from collc.base.diagnostics import Diagnostic, Span
from collc.base.grids import Grid
from collc.base.values import dataclass
from collc.proof.grid import prove_contract
from collc.proof.line import prove_line
from collc.proof.steps import GROUPED_OTHERWISE, order_of, out_of_order
from collc.schedule import BroadcastPhase, Phase, ReducePhase, Schedule, corner_of, home_pe
from collc.schedule.own_slices import works_on_blocks
from collc.spec import Collective, ContractKind, RunStep
from collc.spec.exchange import Blocks, Moves, Slicing, StepsPhase
from collc.spec.slice_ownership import places_along

_WITHIN_FIRST = frozenset((ContractKind.ALLGATHER, ContractKind.GATHER))
_AMONG_FIRST = frozenset((ContractKind.REDUCE_SCATTER, ContractKind.SCATTER))
_ROOTED = frozenset((ContractKind.GATHER, ContractKind.SCATTER))


@dataclass(frozen=True)
class _Axis:
    """Phases that follow each other along one axis."""

    axis: str
    phases: tuple[StepsPhase, ...]

    @property
    def lines(self) -> str:
        """What the lines of the axis are called."""
        return "rows" if self.axis == "x" else "columns"


def prove_blocks(schedule: Schedule) -> Iterator[Diagnostic]:
    """What keeps the contract from being kept; nothing if it is."""
    parts = _by_way_of_a_root(schedule)
    if parts:
        yield from (problem for part in parts for problem in _of_part(part))
        return
    problem = _problem(schedule)
    if problem is not None:
        yield problem
        return
    for along in _axes(schedule):
        found = list(_on_lines(schedule, along))
        yield from found
        if found:
            return


def prove_on_slices(schedule: Schedule) -> Iterator[Diagnostic]:
    """What keeps an allreduce from being kept some of whose lines run on slices; nothing if it is.

    It is kept if the lines before keep a reduce_scatter, so that rank r of each has slice r of its
    sum, those across an allreduce of that slice, and the lines after an allgather.
    """
    groups = [(of, tuple(phases)) for of, phases in groupby(schedule.phases, works_on_blocks)]
    axes = [
        {phase.axis for phase in phases if isinstance(phase, StepsPhase)} for _, phases in groups
    ]
    between = [of for of, _ in groups] == [False, True, False]
    other = next((p for p in schedule.phases if not isinstance(p, StepsPhase)), None)
    if not between or other or axes[0] != axes[2] or len(axes[0] | axes[1]) != 2:
        what = "lines on slices stand between lines across, which leave slices and fetch them again"
        names = (
            "write `run rows by ...`, `then run columns by ... on slices`, `then run rows by ...`"
        )
        at = other.span if other else next(p.span for of, ps in groups if of for p in ps)
        yield _refused(schedule, what, names, at)
        return
    kinds = (ContractKind.REDUCE_SCATTER, ContractKind.ALLREDUCE, ContractKind.ALLGATHER)
    for kind, (_, phases) in zip(kinds, groups, strict=True):
        part = _with_kind(schedule, kind, phases, None)
        (along,) = _axes(part)
        wrong = _left_out(part, along)
        found = [wrong] if wrong else list(_on_line(part, along.axis, along.phases))
        yield from (_told_of_slices(one, along) for one in found)
        if found:
            return


def _told_of_slices(problem: Diagnostic, along: _Axis) -> Diagnostic:
    """What is advised for a whole contract is no help on slices."""
    if problem.code != GROUPED_OTHERWISE:
        return problem
    steps = f"run {along.lines} by pipelined_allreduce(c = 2) on slices"
    return replace(problem, help=f"write `{steps}`, which sends one result to all ranks")


def _left_out(part: Schedule, along: _Axis) -> Diagnostic | None:
    """C204: lines that take no part."""
    grid = part.collective.grid
    every = (0, grid.lines(along.axis) - 1)
    for phase in along.phases:
        if phase.lines != every:
            what = f"`{phase.name}` leaves {along.lines} out, and slices of all are summed"
            return _refused(part, what, f"run along all {along.lines}", phase.span)
    return None


def _by_way_of_a_root(schedule: Schedule) -> tuple[Schedule, ...]:
    """The two contracts that phases keep one after the other, if there is a tree or a multicast
    where it may be: each with its own phases; nothing if there is none."""
    kind, phases = schedule.collective.contract.kind, schedule.phases
    if kind is ContractKind.ALLGATHER and isinstance(phases[-1], BroadcastPhase):
        root = (phases[-1].x, phases[-1].y)
        kinds, cut = (ContractKind.GATHER, ContractKind.BROADCAST), len(phases) - 1
    elif kind is ContractKind.REDUCE_SCATTER and isinstance(phases[0], ReducePhase):
        root = corner_of(schedule.collective)
        kinds = (ContractKind.REDUCE, ContractKind.SCATTER)
        cut = sum(isinstance(phase, ReducePhase) for phase in phases)
    else:
        return ()
    parts = (phases[:cut], phases[cut:])
    return tuple(
        _with_kind(schedule, kind, of, root) for kind, of in zip(kinds, parts, strict=True)
    )


def _with_kind(
    schedule: Schedule, kind: ContractKind, phases: tuple[Phase, ...], root: tuple[int, int] | None
) -> Schedule:
    """Some phases of a schedule, with a contract of their own, which may start or end at a PE."""
    collective = schedule.collective
    operation = collective.contract.operation if kind.reduces else None
    contract = replace(collective.contract, kind=kind, operation=operation)
    return Schedule(replace(collective, contract=contract, root=root), phases)


def _of_part(part: Schedule) -> Iterator[Diagnostic]:
    """What one of the two contracts is not kept by."""
    yield from (
        prove_blocks(part) if part.collective.contract.kind.by_slices else prove_contract(part)
    )


def _axes(schedule: Schedule) -> tuple[_Axis, ...]:
    return tuple(
        _Axis(axis, tuple(of)) for axis, of in groupby(schedule.by_steps, lambda phase: phase.axis)
    )


def _problem(schedule: Schedule) -> Diagnostic | None:
    """Phases that are no exchanges along both axes, one after the other, or in the wrong order."""
    collective, kind = schedule.collective, schedule.collective.contract.kind
    other = next((p for p in schedule.phases if not isinstance(p, StepsPhase)), None)
    if other is not None:
        what = f"`{other.name}` is about whole vectors, the contract about slices of a grid"
        return _refused(schedule, what, "run algorithms along both axes", other.span)
    axes = _axes(schedule)
    if {along.axis for along in axes} != {"x", "y"} or len(axes) != 2:
        what = f"{kind.value} on a grid goes along both axes, once each"
        names = "write `run rows by ...`, `then run columns by ...`"
        return _refused(schedule, what, names, axes[-1].phases[0].span if axes else None)
    if order_of(schedule) is not None:
        how = "combines ranks of several lines in another order than theirs"
        last = axes[-1].phases[0]
        return out_of_order(schedule, last.algorithm, how, last.span)
    within_first = axes[0].axis == collective.counts_along
    if kind in _WITHIN_FIRST | _AMONG_FIRST and within_first != (kind in _WITHIN_FIRST):
        return _wrong_order(schedule, axes)
    return next((d for along in axes if (d := _wrong_lines(schedule, along))), None)


def _wrong_order(schedule: Schedule, axes: tuple[_Axis, ...]) -> Diagnostic:
    """C204: what is gathered first, or scattered last, is no block of consecutive slices."""
    first, last = axes
    kind, counts = schedule.collective.contract.kind.value, schedule.collective.counts_along
    inside, outside = (first, last) if first.axis == counts else (last, first)
    what = (
        f"{kind} on a grid runs along {last.lines} before {first.lines} where ranks are counted "
        f"along {inside.lines}: only their slices follow each other"
    )
    words = {"x": "west_to_east", "y": "north_to_south"}
    help = (
        f"run along {last.lines} first, or count ranks along {outside.lines}: "
        f"`order {words[outside.axis]}, {words[inside.axis]}`"
    )
    return _refused(schedule, what, help, last.phases[0].span)


def _wrong_lines(schedule: Schedule, along: _Axis) -> Diagnostic | None:
    """C204: lines that are left out, or have other blocks than theirs."""
    collective = schedule.collective
    kind, grid = collective.contract.kind, collective.grid
    within = along.axis == collective.counts_along
    x, y = home_pe(schedule)
    last = grid.lines(along.axis) - 1
    home = y if along.axis == "x" else x
    needed = (home, home) if kind in _ROOTED and not within else (0, last)
    for phase in along.phases:
        if phase.lines[0] > needed[0] or phase.lines[1] < needed[1]:
            what = f"`{phase.name}` leaves {along.lines} out that {kind.value} needs"
            return _refused(schedule, what, f"run along all {along.lines}", phase.span)
        if phase.blocks != _blocks_due(collective, within):
            what = f"lines of `{phase.name}` work on other blocks than theirs"
            return _refused(schedule, what, "please report this", phase.span)
    return None


def _blocks_due(collective: Collective, within: bool) -> Blocks | None:
    if not within or collective.contract.kind is ContractKind.ALL_TO_ALL:
        return None
    across = "y" if collective.counts_along == "x" else "x"
    return Blocks(collective.contract.length, places_along(collective, across))


def _on_lines(schedule: Schedule, along: _Axis) -> Iterator[Diagnostic]:
    """What one line of an axis does wrong; in an all_to_all, in any block of the vector."""
    collective = schedule.collective
    exchanged = collective.contract.kind is ContractKind.ALL_TO_ALL
    if along.axis != collective.counts_along or not exchanged:
        yield from _on_line(schedule, along.axis, along.phases)
        return
    grid = collective.grid
    blocks = grid.lines(along.axis)
    parts = [_in_blocks(phase, blocks) for phase in along.phases]
    crossing = next((p for p, part in zip(along.phases, parts, strict=True) if not part), None)
    if crossing is not None:
        what = f"slices of `{crossing.name}` change from block to block"
        yield _refused(schedule, what, "please report this", crossing.span)
        return
    different: list[tuple[StepsPhase, ...]] = []
    for phases in zip(*parts, strict=True):
        if not any(_same(phases, known) for known in different):
            different.append(phases)
    for phases in different:
        yield from _on_line(schedule, along.axis, phases)


def _on_line(schedule: Schedule, axis: str, phases: tuple[StepsPhase, ...]) -> Iterator[Diagnostic]:
    """The contract on one line, of which `phases` are all there is."""
    collective = schedule.collective
    grid, contract = collective.grid, collective.contract
    x, y = collective.root or (0, 0)
    across = axis == "x"
    line = replace(
        collective,
        grid=Grid(grid.name, grid.width if across else 1, 1 if across else grid.height, grid.span),
        contract=replace(contract, length=phases[0].slicing.length),
        steps=tuple(s for s in collective.steps if isinstance(s, RunStep) and s.axis == axis),
        root=collective.root and ((x, 0) if across else (0, y)),
        counts_along=axis,
    )
    alone = (replace(phase, lines=(0, 0), blocks=None) for phase in phases)
    yield from prove_line(Schedule(line, tuple(alone)), axis)


def _in_blocks(phase: StepsPhase, blocks: int) -> tuple[StepsPhase, ...]:
    """What a phase does in each of several equal blocks; nothing if slices leave their block."""
    slicing = phase.slicing
    slices = slicing.count // blocks
    if slicing.count % blocks or slicing.length % blocks:
        return ()
    for moves in phase.steps:
        ends = (moves.slice, moves.slice + moves.count - 1, moves.into)
        if len({(end // slices).tobytes() for end in ends}) > 1:
            return ()
    return tuple(
        replace(
            phase,
            slicing=Slicing(slices, slicing.length // blocks),
            steps=tuple(_of_block(moves, block, slices) for moves in phase.steps),
        )
        for block in range(blocks)
    )


def _of_block(moves: Moves, block: int, slices: int) -> Moves:
    """The transfers of one block, with its own slices."""
    chosen = moves.slice // slices == block
    parts = {name: of[chosen] for name, of in vars(moves).items()}
    first = block * slices
    return replace(Moves(**parts), slice=parts["slice"] - first, into=parts["into"] - first)


def _same(phases: tuple[StepsPhase, ...], others: tuple[StepsPhase, ...]) -> bool:
    """Whether the steps of phases are those of others."""
    return all(
        np.array_equal(of, getattr(other, name))
        for one, two in zip(phases, others, strict=True)
        for moves, other in zip(one.steps, two.steps, strict=True)
        for name, of in vars(moves).items()
    )


def _refused(schedule: Schedule, message: str, help: str, at: Span | None) -> Diagnostic:
    """C204."""
    contract = schedule.collective.contract
    return Diagnostic(
        "C204",
        message,
        at or schedule.collective.span,
        ((contract.span, f"the contract is {contract.kind.value}"),),
        help,
    )
