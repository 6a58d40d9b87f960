"""A run of calls of a plan, or of a program, and what has come of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from collc_evaluator import run_machine

from collc.base.columns import Ints, Words
from collc.base.values import dataclass
from collc.machine.given import NOBODY, Given
from collc.machine.reading import (
    Calls,
    calls_of_plan,
    calls_of_program,
    given_of,
    places_of,
)
from collc.plan import Plan
from collc.plan.plan import ProgramPlan


@dataclass(frozen=True)
class Fault:
    """What is wrong, and where: in which call and phase, at which PE of the whole grid, in which
    lane and entry of its role, and which operation of the lane. `color` is a number of the target,
    `slice` one of the phase, `other` the PE or the lane that has to do with it, too. What does not
    apply is None."""

    kind: str
    call: int | None
    phase: int | None
    pe: tuple[int, int]
    role: str | None
    lane: str | None
    entry: int | None
    op: int | None
    color: int | None
    slice: int | None
    other: tuple[int, int] | str | None
    text: str


@dataclass(frozen=True)
class Receipt:
    """What an operation of a PE has received from another one: so many slices at once. PEs are
    those of the whole grid."""

    call: int
    phase: int
    pe: tuple[int, int]
    lane: int
    op: int
    source: tuple[int, int]
    slices: int


@dataclass(frozen=True, eq=False)
class Run:
    """What PEs hold at the end of each call, uint64 [PEs, atoms], what is wrong, how much has
    moved, and, where asked for, what operations have received, in order."""

    held: tuple[Words, ...]
    faults: tuple[Fault, ...]
    events: int
    receipts: tuple[Receipt, ...] = ()


def run(  # noqa: PLR0913 - what is run, then how
    plan: Plan | ProgramPlan,
    begin: Sequence[Words],
    *,
    order: int | None = None,
    calls: Sequence[int] | None = None,
    receipts: bool = False,
    atoms: Sequence[Ints] = (),
) -> Run:
    """Run calls one behind the other, with no barrier between them: of a plan as many as `begin`
    has arrays, of a program its own, or those of `calls`, each the index of a collective. A call is
    run beside no other: those of call streams are run stream by stream.

    `begin[k]` is what PEs of the grid of call k hold when they begin it, uint64 [PEs, atoms], with
    the atoms of `cuts`, or of `atoms[k]`, which may be finer. With an `order`, a seed, who goes on
    next is random. Raises ValueError if there are more or fewer arrays than calls.
    """
    if isinstance(plan, Plan):
        one = calls_of_plan(plan, len(begin), atoms)
        return _run(one, begin, order, receipts=receipts)
    called = plan.calls if calls is None else calls
    if len(called) != len(begin):
        raise ValueError(f"{len(called)} calls begin with {len(begin)} arrays")
    if not plan.call_streams:
        of_program = calls_of_program(plan, called, atoms)
        return _run(of_program, begin, order, receipts=receipts)
    return _run_streams(plan, called, begin, order, atoms, receipts=receipts)


def _run_streams(  # noqa: PLR0913 - the same
    plan: ProgramPlan,
    calls: Sequence[int],
    begin: Sequence[Words],
    order: int | None,
    atoms: Sequence[Ints],
    *,
    receipts: bool,
) -> Run:
    """The calls of each call stream by themselves."""
    held = list(begin)
    found = []
    for stream in plan.call_streams:
        names = [one.collective.name for one in stream.plans]
        own = [k for k, call in enumerate(calls) if plan.plans[call].collective.name in names]
        called = [names.index(plan.plans[calls[k]].collective.name) for k in own]
        begins = [begin[k] for k in own]
        finer = [atoms[k] for k in own] if atoms else ()
        of_stream = calls_of_program(stream, called, finer)
        part = _run(of_stream, begins, order, receipts=receipts)
        for k, of_call in zip(own, part.held, strict=True):
            held[k] = of_call
        faults = (
            fault if fault.call is None else replace(fault, call=own[fault.call])
            for fault in part.faults
        )
        taken = (replace(one, call=own[one.call]) for one in part.receipts)
        found.append(Run((), tuple(faults), part.events, tuple(taken)))
    return Run(
        tuple(held),
        tuple(fault for one in found for fault in one.faults),
        sum(one.events for one in found),
        tuple(one for part in found for one in part.receipts),
    )


def _run(calls: Calls, begin: Sequence[Words], order: int | None, *, receipts: bool) -> Run:
    given = given_of(calls)
    copies = [len(places_of(plan.collective.grid)) for plan in calls.called]
    rows = [
        np.ascontiguousarray(np.tile(one, (count, 1)), dtype=np.uint64).reshape(-1)
        for one, count in zip(begin, copies, strict=True)
    ]
    held, faults, events, numbers = run_machine(given, rows, order, receipts)
    shaped = [
        of_call.reshape(count, *one.shape)
        for of_call, count, one in zip(held, copies, begin, strict=True)
    ]
    found = [_fault(calls, given, fault) for fault in faults]
    return Run(
        tuple(of_call[0] for of_call in shaped),
        tuple(found) or _unlike(calls, shaped),
        events,
        _receipts(given, numbers.reshape(-1, 6)),
    )


_OF_TWO_LANES = ("no fixed order", "several receive", "several send")
_FaultGiven = tuple[str, int | None, int, list[int | None], str]


def _fault(calls: Calls, given: Given, found: _FaultGiven) -> Fault:
    kind, stage, pe, (lane, entry, op, color, slice_, other), text = found
    call = phase = role = None
    if stage is not None:
        call, number, phase = given.stages[stage]
        index = int(given.phases[number].role_at[pe])
        role = calls.called[call].phases[phase].roles[index] if index != NOBODY else None
    whom: tuple[int, int] | str | None = None
    if other is not None:
        lanes = kind in _OF_TWO_LANES and role
        whom = lanes.lanes[other].name if lanes else _pe(given, other)
    return Fault(
        kind,
        call,
        phase,
        _pe(given, pe),
        role.name if role else None,
        role.lanes[lane].name if role and lane is not None else None,
        entry,
        op,
        None if color is None else given.numbers[color],
        slice_,
        whom,
        text,
    )


def _pe(given: Given, number: int) -> tuple[int, int]:
    return number % given.width, number // given.width


def _unlike(calls: Calls, held: Sequence[Words]) -> tuple[Fault, ...]:
    """The first line that ends otherwise than the first of those that are to do the same."""
    for call, of_call in enumerate(held):
        places = places_of(calls.called[call].collective.grid)
        for line, own in enumerate(of_call):
            unlike = np.flatnonzero((own != of_call[0]).any(axis=1))
            if not len(unlike):
                continue
            width = calls.grid.width
            pe, first = (
                (int(there[unlike[0]]) % width, int(there[unlike[0]]) // width)
                for there in (places[line], places[0])
            )
            text = f"PE {pe} ends otherwise than PE {first}, which does the same on another line"
            where = (None, None, None, None, None)  # at no operation
            return (Fault("other slice", call, None, pe, *where, None, first, text),)
    return ()


def _receipts(given: Given, numbers: Ints) -> tuple[Receipt, ...]:
    found = []
    for stage, pe, lane, op, source, slices in numbers.tolist():
        call, _, phase = given.stages[stage]
        of = (_pe(given, pe), lane, op, _pe(given, source), slices)
        found.append(Receipt(call, phase, *of))
    return tuple(found)
