"""Proof that operands are combined in the order of ranks, one by one: `order fixed`.

What a place holds of a segment is a run of ranks, from its lowest to its highest, that has been
combined so. Two are combined into another one if the higher is a rank alone, behind the last of
the lower; any other combination is remembered, as what it groups. Which contributions arrive in the
end is proved before (`collc.proof.line`), so what has met no such combination is the left fold over
all ranks that are due. Phases along both axes of a grid group the ranks of lines, whatever they do.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from collc.base.columns import Bools, Ints
from collc.base.diagnostics import Diagnostic
from collc.base.values import dataclass
from collc.language.kinds import RING
from collc.language.show import step_texts
from collc.proof.contributions import Block, Carried, carried, rounds_of
from collc.proof.line import Line
from collc.schedule import BroadcastPhase, Phase, ReducePhase, Schedule
from collc.schedule.written import text_of_step
from collc.spec import BroadcastStep, Collective, ContractKind, Operation, OwnOperation, RunStep
from collc.spec.exchange import StepsPhase
from collc.spec.formula import is_symmetric
from collc.spec.operation import FLOATS
from collc.spec.steps import axis_of

_Row = tuple[int, slice]  # all segments of a place
_EVERYWHERE = (ContractKind.ALLREDUCE, ContractKind.BARRIER)


def prove_fixed_order(schedule: Schedule) -> Iterator[Diagnostic]:
    """C216: where a schedule that keeps its contract groups operands otherwise, if that is refused;
    at most one diagnostic. A path is laid out as a row."""
    collective = schedule.collective
    if not collective.one_by_one:
        return
    if not collective.grid.is_line:
        yield grouped_by_lines(collective)
        return
    line = Line(schedule, collective.grid.axis)
    for block in line.blocks():
        folds = _Folds(line, block)
        for phase in schedule.phases:
            folds.follow(phase)
        wrong = np.flatnonzero((folds.flaw * _promised(line, block)).reshape(-1))
        if len(wrong):
            yield _explained(line, folds.grouping(int(folds.flaw.reshape(-1)[wrong[0]])))
            return


def _promised(line: Line, block: Block) -> Bools:
    """Which segments of which places are promised."""
    kind, shape = line.contract.kind, (line.places, block.last - block.first)
    if line.contract.own is None and kind in _EVERYWHERE:
        return np.ones(shape, np.bool_)
    if line.contract.own is None and kind is ContractKind.REDUCE:
        found = np.zeros(shape, np.bool_)
        found[line.root] = True
        return found
    return line.due(block).promised


@dataclass(frozen=True)
class _Grouping:
    """A combination of the runs of ranks `own`, what a rank had, and `received`, in a step."""

    step: str
    own: tuple[int, int]
    received: tuple[int, int]


class _Folds:
    """What places hold, by place and segment: the lowest and the highest rank, and, counted from 1,
    the first combination that does not go on rank by rank."""

    def __init__(self, line: Line, block: Block) -> None:
        shape = (line.places, block.last - block.first)
        self._line, self._block = line, block
        self._all_ranks = line.contract.own is None  # a user-defined contract may leave some out
        self._either_side = _has_no_sides(line.contract.operation)
        self.low = np.tile(line.ranks.astype(np.int64)[:, None], (1, shape[1]))
        self.high = self.low.copy()
        self.flaw = np.zeros(shape, np.int64)
        self._wrong: list[tuple[str, Ints]] = []  # the combinations of a step, a row each
        self._count = 0

    def grouping(self, flaw: int) -> _Grouping:
        """The combination of a number."""
        left = flaw - 1
        for step, rows in self._wrong:
            if left < len(rows):
                a, b, c, d = (int(rank) for rank in rows[left])
                return _Grouping(step, (a, b), (c, d))
            left -= len(rows)
        raise AssertionError("flaws are counted")

    def follow(self, phase: Phase) -> None:
        """Carry out a phase."""
        schedule = self._line.schedule
        if isinstance(phase, ReducePhase):
            name = f"`{text_of_step(schedule.collective, phase)}`"
            for transfer in phase.transfers:
                source, into = (
                    phase.coordinate(r) for r in (transfer.source, transfer.destination)
                )
                self._combine(name, (into, slice(None)), (source, slice(None)))
        elif isinstance(phase, BroadcastPhase):
            source = phase.x if self._line.axis == "x" else phase.y
            for held in (self.low, self.high, self.flaw):
                held[:] = held[source].copy()
        else:
            self._follow_steps(phase)

    def _follow_steps(self, phase: StepsPhase) -> None:
        starts = self._line.cut.of_slices(phase.slicing)
        for number, moves in enumerate(phase.steps):
            step = carried(phase, moves, starts, self._block)
            name = f"step {number} of `{phase.algorithm}`"
            self._move(name, step)

    def _move(self, name: str, step: Carried) -> None:
        """A step: all that is sent is what was there before."""
        at = (step.source, step.taken)
        sent = (self.low[at], self.high[at], self.flaw[at])
        for chosen in rounds_of(step.destination * self.flaw.shape[1] + step.into):
            into = (step.destination[chosen], step.into[chosen])
            low, high, flaw = (values[chosen] for values in sent)
            self._receive(name, into, (low, high, flaw), step.combines[chosen])

    def _combine(self, name: str, into: _Row, source: _Row) -> None:
        arriving = (self.low[source], self.high[source], self.flaw[source])
        self._receive(name, into, arriving, np.ones(arriving[0].shape, np.bool_))

    def _receive(
        self,
        name: str,
        into: _Row | tuple[Ints, Ints],
        arriving: tuple[Ints, Ints, Ints],
        combines: Bools,
    ) -> None:
        """Combine with what is there, or overwrite it."""
        low, high, flaw = arriving
        own_low, own_high, own_flaw = self.low[into], self.high[into], self.flaw[into]
        behind = own_high < low
        goes_on = np.where(behind, low == high, (high < own_low) & (own_low == own_high))
        if self._all_ranks:
            goes_on &= (low == own_high + 1) | (own_low == high + 1)
        if not self._either_side:
            goes_on &= behind
        flaw = np.where(combines & (own_flaw > 0), own_flaw, flaw)
        new = np.flatnonzero(combines & ~goes_on & (flaw == 0))
        if len(new):
            rows = np.stack([own_low, own_high, low, high], axis=-1)[new]
            self._wrong.append((name, rows))
            flaw[new] = self._count + 1 + np.arange(len(new))
            self._count += len(new)
        self.low[into] = np.where(combines, np.minimum(own_low, low), low)
        self.high[into] = np.where(combines, np.maximum(own_high, high), high)
        self.flaw[into] = flaw


def _has_no_sides(operation: Operation | OwnOperation | None) -> bool:
    """Whether operands may change sides without changing a bit."""
    if isinstance(operation, OwnOperation):
        return operation.commutative and is_symmetric(operation.formula)
    return True


_RULE = "`order fixed` combines ranks one at a time, in their order"


def _explained(line: Line, wrong: _Grouping) -> Diagnostic:
    collective = line.schedule.collective
    lower, higher = sorted((wrong.own, wrong.received))
    if lower[1] + 1 == higher[0] == higher[1]:
        how = f"has {_ranks(higher)} on the left of {_ranks(lower)}"
        rule = "exchanging the operands of this operation may change bits of the result"
    else:
        how, rule = f"combines {_ranks(wrong.own)} with {_ranks(wrong.received)}", _RULE
    steps = [step for step in collective.steps if isinstance(step, RunStep)]
    around = any(step.order == RING for step in steps)
    last = line.places - 1
    home = line.rank_at(line.root) if collective.contract.kind is ContractKind.REDUCE else None
    found = _kept_by(collective, last, home, around=around)
    quoted = " or ".join(f"`{text}`" for text in found)
    help = f"write {quoted}" if found else "let each rank receive the result of all ranks before it"
    return _refused(collective, f"{wrong.step} {how}; {rule}", help)


def _kept_by(
    collective: Collective, last: int, home: int | None, *, around: bool = False
) -> tuple[str, ...]:
    """Steps along a line whose last rank is `last` that keep a fixed order, and for a reduction end
    at `home`. Trees have no use for ranks that go `around`."""
    kind, onward = collective.contract.kind, _has_no_sides(collective.contract.operation)
    chain, star = f"reduce chain to {last}", "reduce star to 0"
    ring = f"run ring_reduce(c = 2, root = {last}) then run direct_broadcast(root = {last})"
    back = f"{chain} then broadcast from {last}"
    if around:
        return (ring,) * (kind is ContractKind.ALLREDUCE and onward)
    if kind is ContractKind.ALLREDUCE:
        return (back,) * onward + (f"{star} then broadcast from 0",)
    if kind is ContractKind.REDUCE_SCATTER:
        east = f"run chain_reduce(root = {last}) then run direct_broadcast(root = {last})"
        return (east,) * onward + (f"{star} then run linear_scatter",)
    if kind is not ContractKind.REDUCE:
        return ()
    if home == last and onward:
        return (chain,)
    return (star if not home else f"{star} then run pipelined_broadcast(c = 1) to {home}",)


def grouped_by_lines(collective: Collective) -> Diagnostic:
    """C216: along both axes of a grid the ranks of its lines are groups."""
    if collective.undecided is not None:
        what = "a plan along rows and columns combines the ranks of each line before the lines"
        help = "name an order of all PEs, which makes them one line: `order snake`"
        return _refused(collective, f"{what}; {_RULE}", help)
    what, along, ranks = "", "", 0
    for step, text in zip(collective.steps, step_texts(collective), strict=True):
        if not isinstance(step, BroadcastStep):
            axis = step.axis if isinstance(step, RunStep) else axis_of(step.order)
            what, along = text, "row" if axis == "x" else "column"
            ranks = collective.grid.extent(axis)
            break
    message = f"`{what}` combines the {ranks} ranks of each {along} before the {along}s"
    steps = _kept_by(collective, collective.grid.width * collective.grid.height - 1, None)
    quoted = " or ".join(f"`order snake {text}`" for text in steps)
    help = f"go along one line of all PEs, with {quoted}" if steps else "go along one line"
    return _refused(collective, f"{message}; {_RULE}", help)


def _refused(collective: Collective, message: str, help: str) -> Diagnostic:
    contract, fixed, undecided = collective.contract, collective.fixed, collective.undecided
    at = undecided.span if undecided else collective.steps[0].span
    assert fixed is not None
    said = (fixed, "`order fixed` is here")
    rounded = (contract.span, f"results in {contract.element.value} are rounded")
    also = (said, rounded) if contract.element in FLOATS else (said,)
    return Diagnostic("C216", message, at, also, help)


def _ranks(run: tuple[int, int]) -> str:
    first, last = run
    return f"rank {first}" if first == last else f"the result of ranks {first} to {last}"
