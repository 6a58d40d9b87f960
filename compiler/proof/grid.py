"""Proof that the phases of a schedule, one after the other, keep its contract on the whole grid.

Lines of a phase are alike: one of them is followed. Between phases it is enough to know which PEs
hold complete sums and over which axes: a sum over one axis is a single contribution to the next.
On a grid the rank order of PEs is lexicographic, the axis that is reduced last first, so it follows
from the order within each phase.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from collc.base.columns import Bools
from collc.base.diagnostics import Diagnostic, Span
from collc.base.grids import Grid
from collc.base.number_ranges import consecutive
from collc.base.values import dataclass
from collc.proof.contributions import UNORDERED, Block, Contributions, all_of, cut_for, one_of
from collc.proof.steps import (
    clashing,
    follow_steps,
    grouped_otherwise,
    groups_matter,
    order_of,
    out_of_order,
    unequal_slices,
)
from collc.schedule import BroadcastPhase, Phase, ReducePhase, Schedule, home_pe
from collc.schedule.written import text_of_step
from collc.spec import ContractKind
from collc.spec.exchange import StepsPhase

_BLOCK = 4096  # segments followed at a time


@dataclass(frozen=True)
class _Holders:
    """The PEs whose vectors matter: those with a coordinate of `x` and one of `y`; `complete` tells
    over which axes their vectors are sums. All of them hold the same where an axis is complete."""

    x: frozenset[int]
    y: frozenset[int]
    complete: frozenset[str]

    def along(self, axis: str) -> frozenset[int]:
        """Coordinates on an axis."""
        return self.x if axis == "x" else self.y

    def at(self, axis: str, coordinates: frozenset[int]) -> _Holders:
        """The same with other coordinates on an axis."""
        return replace(self, x=coordinates) if axis == "x" else replace(self, y=coordinates)

    def summed(self, axis: str, coordinates: frozenset[int]) -> _Holders:
        """Sums over an axis, at some of its coordinates."""
        return replace(self.at(axis, coordinates), complete=self.complete | {axis})

    def __contains__(self, pe: tuple[int, int]) -> bool:
        return pe[0] in self.x and pe[1] in self.y

    @property
    def first(self) -> tuple[int, int]:
        """The first of the PEs, by rows."""
        return min(self.x), min(self.y)


def prove_contract(schedule: Schedule) -> Iterator[Diagnostic]:
    """C204: after all phases the right PEs hold the right vector."""
    holders = _before(schedule)
    overwritten = False  # a broadcast has overwritten contributions that no sum holds
    for phase in schedule.phases:
        found = _after(schedule, phase, holders, overwritten)
        if isinstance(found, Diagnostic):
            yield found
            return
        overwritten = overwritten or (isinstance(phase, BroadcastPhase) and len(found.complete) < 2)
        holders = found
    yield from _postcondition(schedule, holders)


def _before(schedule: Schedule) -> _Holders:
    """What is given: a broadcast has a root, all else a vector everywhere."""
    grid = schedule.collective.grid
    if schedule.collective.contract.kind is ContractKind.BROADCAST:
        x, y = home_pe(schedule)
        return _Holders(frozenset((x,)), frozenset((y,)), frozenset("xy"))
    alone = {axis for axis, size in (("x", grid.width), ("y", grid.height)) if size == 1}
    return _everywhere(grid, frozenset(alone))


def _everywhere(grid: Grid, complete: frozenset[str]) -> _Holders:
    return _Holders(frozenset(range(grid.width)), frozenset(range(grid.height)), complete)


def _after(  # noqa: PLR0911 - one for each kind of phase and of mistake
    schedule: Schedule, phase: Phase, holders: _Holders, overwritten: bool
) -> _Holders | Diagnostic:
    """The holders after one phase, or why it cannot follow those before."""
    if isinstance(phase, BroadcastPhase):
        if (phase.x, phase.y) not in holders:
            return _wrong_source(schedule, phase, holders)
        return _everywhere(schedule.collective.grid, holders.complete)
    if isinstance(phase, StepsPhase):
        return _after_steps(schedule, phase, holders, overwritten)
    if schedule.collective.contract.kind is ContractKind.BROADCAST:
        what = f"`{text_of_step(schedule.collective, phase)}` combines vectors"
        return _contract(schedule, phase.span, what, "drop the reduce step")
    if overwritten or phase.axis in holders.complete:
        return _summed_again(schedule, phase)
    other = holders.along("y" if phase.axis == "x" else "x")
    if not other <= frozenset(range(phase.lines[0], phase.lines[1] + 1)):
        return _wrong_lines(schedule, phase, other)
    low, high = phase.stretch
    summed, before = frozenset(range(low, high + 1)), holders.along(phase.axis)
    if not summed <= before:
        return _summed_again(schedule, phase)
    home = frozenset((phase.coordinate(0),))
    if summed == before:
        return holders.summed(phase.axis, home)
    return holders.at(phase.axis, before - summed | home)


def _after_steps(
    schedule: Schedule, phase: StepsPhase, holders: _Holders, overwritten: bool
) -> _Holders | Diagnostic:
    """An algorithm sums a line, or spreads a sum that some of its PEs hold."""
    sums = phase.axis not in holders.complete
    if sums and overwritten:
        return _summed_again(schedule, phase)
    across = "y" if phase.axis == "x" else "x"
    lines = frozenset(range(phase.lines[0], phase.lines[1] + 1)) & holders.along(across)
    if not lines or (lines != holders.along(across) and across not in holders.complete):
        return _wrong_lines(schedule, phase, holders.along(across))
    outcome = _outcome(schedule, phase, None if sums else holders.along(phase.axis))
    if isinstance(outcome, Diagnostic):
        return outcome
    after = holders.at(across, lines)
    return after.summed(phase.axis, outcome) if sums else after.at(phase.axis, outcome)


def _outcome(
    schedule: Schedule, phase: StepsPhase, sources: frozenset[int] | None
) -> frozenset[int] | Diagnostic:
    """The places of a line that end with the sum of all or, where some are `sources` of what is
    due, with what one of them had."""
    wrong = next(unequal_slices(phase), None)
    if wrong is not None:
        return wrong
    tokens = phase.slicing.length == 0
    cut = cut_for(phase.slicing.length, [phase.slicing], finest=False)
    together = any((moves.into != moves.slice).any() for moves in phase.steps)
    size = cut.count if together else _BLOCK
    right = np.ones(phase.ranks, np.bool_)
    unordered = False
    ranks = np.argsort(np.array(phase.places)) if order_of(schedule) and sources is None else None
    groups = sources is None and groups_matter(schedule) and not _broadcast_behind(schedule, phase)
    for first in range(0, cut.count, size):
        block = Block(first, min(first + size, cut.count))
        held = Contributions(phase.ranks, block, tokens, ranks, groups)
        clash = follow_steps(phase, cut, held)
        if clash is not None:
            return clashing(phase, clash[0], clash[1], "")
        right &= _right(held, sources, tokens)
        if groups and (held.mark[right] != held.mark[right][:1]).any():
            where = "at the ranks of a line"
            return grouped_otherwise(schedule, phase.algorithm, where, phase.span)
        unordered |= bool((held.flaw == UNORDERED).any())
    if right.any():
        return frozenset(int(place) for place in np.flatnonzero(right))
    if unordered:
        how = "combines ranks in another order than theirs"
        return out_of_order(schedule, phase.algorithm, how, phase.span)
    step = text_of_step(schedule.collective, phase)
    if sources is None:
        what = f"no PE of a line ends `{step}` with the contributions of all its ranks"
    else:
        what = f"no PE of a line has the result any more after `{step}`"
    remedy = "run an algorithm that sums the line, or spreads the sum"
    return _contract(schedule, phase.span, what, remedy)


def _broadcast_behind(schedule: Schedule, phase: StepsPhase) -> bool:
    """Whether one PE's result is sent to all in the end."""
    behind = schedule.phases[schedule.phases.index(phase) + 1 :]
    return any(isinstance(later, BroadcastPhase) for later in behind)


def _right(held: Contributions, sources: frozenset[int] | None, tokens: bool) -> Bools:
    """Places whose segments are all right: the sum of all, or one of the sources."""
    places, _, words = held.who.shape
    in_place = held.origin == np.arange(held.block.first, held.block.last)
    right: Bools = in_place & (held.flaw == 0)
    if sources is None:
        right &= np.all(held.who == all_of(places), axis=-1)
        return np.asarray(right.all(axis=1))
    allowed = np.zeros(words, np.uint64)
    for place in sources:
        allowed |= one_of(place, words)
    if tokens:
        return np.asarray(np.any(held.who & allowed, axis=(1, 2)))
    # A set of one: a word that is not 0 has no bit but its lowest, and only one word is not 0.
    right &= np.all((held.who & (held.who - np.uint64(1))) == 0, axis=-1)
    right &= np.count_nonzero(held.who, axis=-1) == 1
    right &= ~np.any(held.who & ~allowed, axis=-1)
    return np.asarray(right.all(axis=1))


def _postcondition(schedule: Schedule, holders: _Holders) -> Iterator[Diagnostic]:
    """What the contract asks of the last state."""
    grid, kind = schedule.collective.grid, schedule.collective.contract.kind
    if len(holders.complete) < 2:
        axis = "columns" if "y" not in holders.complete else "rows"
        yield _contract(
            schedule,
            schedule.collective.span,
            f"PE {holders.first} ends with the sum of its line only, due is the sum over the "
            f"grid: the {axis} are not reduced",
            f"add a step that reduces the {axis}",
        )
        return
    if kind is ContractKind.REDUCE:
        due = [home_pe(schedule)]
    else:
        due = [(x, y) for y in _edge(grid.height, holders.y) for x in _edge(grid.width, holders.x)]
    wrong = next((pe for pe in due if pe not in holders), None)
    if wrong is not None:
        who = "it is due" if kind is ContractKind.REDUCE else "every PE is due"
        help = "broadcast it" if kind is ContractKind.REDUCE else "end with a broadcast"
        what = f"PE {wrong} does not end with the result, which {who}"
        yield _contract(schedule, schedule.collective.span, what, help)


def _edge(extent: int, held: frozenset[int]) -> list[int]:
    """The first coordinate, and the first that is not held."""
    return [0, *(c for c in range(extent) if c not in held)][:2]


def _wrong_lines(
    schedule: Schedule, phase: ReducePhase | StepsPhase, due: frozenset[int]
) -> Diagnostic:
    """C204: a phase along other lines than hold the results of those before."""
    step, line = text_of_step(schedule.collective, phase), "row" if phase.axis == "x" else "column"
    along = frozenset(range(phase.lines[0], phase.lines[1] + 1))
    return _contract(
        schedule,
        phase.span,
        f"`{step}` goes along {_lines(line, along)}, the results of the steps "
        f"before are in {_lines(line, due)}",
        f"go along all {line}s, or let the steps before end in {_lines(line, along)}",
    )


def _lines(line: str, coordinates: frozenset[int]) -> str:
    """`column 3`, `rows 0, 2 to 5`."""
    runs = consecutive(sorted(coordinates))
    words = [str(first) if first == last else f"{first} to {last}" for first, last in runs]
    return f"{line}{'s' * (len(coordinates) > 1)} {', '.join(words)}"


def _contract(schedule: Schedule, at: Span, message: str, remedy: str) -> Diagnostic:
    contract = schedule.collective.contract
    also = ((contract.span, f"the contract is {contract.kind.value}"),)
    return Diagnostic("C204", message, at, also, remedy)


def _wrong_source(schedule: Schedule, phase: BroadcastPhase, holders: _Holders) -> Diagnostic:
    """C204: the broadcast sends something else than the result."""
    step, at = text_of_step(schedule.collective, phase), holders.first
    return Diagnostic(
        "C204",
        f"`{step}` sends the vector of PE ({phase.x}, {phase.y}), the result is at PE {at}",
        phase.span,
        help=f"broadcast from PE {at}",
    )


def _summed_again(schedule: Schedule, phase: ReducePhase | StepsPhase) -> Diagnostic:
    """C202 on a whole line: its PEs hold the same contributions already."""
    step = text_of_step(schedule.collective, phase)
    return Diagnostic(
        "C202",
        f"`{step}` combines vectors that hold the same contributions already",
        phase.span,
        help="reduce each axis once, and before the broadcast",
    )
