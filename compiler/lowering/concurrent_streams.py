"""Collectives that are in flight at the same time: call streams, which share no number.

Calls that are joined go to different call streams. A call stream is a program of its own, whose
calls follow each other; what it occupies on a PE is taken off the machine before the next one is
planned. So nothing of two call streams can meet but on links and ramps, where they alternate word
by word. Calls on PEs apart need no call streams.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product
from typing import NamedTuple

import numpy as np

from collc.base.columns import Bools
from collc.lowering import memory
from collc.lowering.sharing import share, widest
from collc.plan import Plan
from collc.plan.pe_masks import touched_by
from collc.plan.plan import ProgramPlan, Use
from collc.spec import Program
from collc.target import Target

_MOST_CALL_STREAMS = 4
_MOST_SPLITS = 256


def planned_call_streams(chosen: tuple[Plan, ...], program: Program, target: Target) -> ProgramPlan:
    """The plan of a program some of whose calls are in flight at the same time, by the plans chosen
    for its collectives."""
    program = in_parts(program, chosen)
    if not program.together:
        return share(chosen, program, target)
    members = call_streams_of(program, [one.collective.name for one in chosen])
    parts = tuple(_part(program, members, chosen, i) for i in range(len(members)))
    best: tuple[ProgramPlan, ...] = ()
    each = tuple(zip(members, parts, strict=True))
    known: dict[_Left, ProgramPlan] = {}
    for split in _splits(target, len(members)):
        call_streams = _planned(chosen, each, target, split, known)
        if not best or _wants(call_streams) < _wants(best):
            best = call_streams
        if _wants(best) == (False, 0):
            break
    return _together(members, program, target, best)


def in_parts(program: Program, plans: tuple[Plan, ...]) -> Program:
    """The program with calls one after the other that are in flight at the same time as they are:
    no PE has a part in both, nor in calls that either of them is joined with, and what a PE has no
    part in returns at once."""
    touched = {one.collective.name: _touched(one) for one in plans}
    turns = [
        group
        for turn in program.turns
        for group in _connected(turn, [touched[program.calls[call]] for call in turn])
    ]
    calls = tuple(program.calls[call] for group in turns for call in group)
    firsts = {sum(map(len, turns[:i])) for i in range(len(turns))}
    together = tuple(call for call in range(len(calls)) if call not in firsts)
    return replace(program, calls=calls, together=together)


def _touched(plan: Plan) -> Bools:
    """The PEs whose routers a collective sets."""
    whole = plan.collective.grid.whole
    found = np.zeros((whole.height, whole.width), dtype=np.bool_)
    for phase in plan.phases:
        found |= touched_by(plan.collective, phase)
    return found


def _connected(calls: tuple[int, ...], touched: list[Bools]) -> list[list[int]]:
    """Calls in groups, of which none has a PE in common with another."""
    groups: list[tuple[list[int], Bools]] = []
    for call, mask in zip(calls, touched, strict=True):
        met = [group for group in groups if bool((group[1] & mask).any())]
        groups = [group for group in groups if not bool((group[1] & mask).any())]
        members = sorted([call, *(c for group in met for c in group[0])])
        groups.append((members, np.logical_or.reduce([mask, *(group[1] for group in met)])))
    return sorted(members for members, _ in groups)


def _wants(call_streams: tuple[ProgramPlan, ...]) -> tuple[bool, int]:
    """Whether call streams ask for more than there is, and how many colors they tear down."""
    fitting = all(one.fits(len(one.target.colors)) for one in call_streams)
    return not fitting, sum(color.torn_down for one in call_streams for color in one.colors)


def fit_together(plan: ProgramPlan) -> bool:
    """Whether call streams ask for no more than there is."""
    most = plan.target.colors if plan.program.colors is None else range(plan.program.colors)
    return len(plan.colors) <= len(most) and all(
        one.fits(len(one.target.colors)) for one in plan.call_streams
    )


def call_streams_of(program: Program, names: list[str]) -> tuple[tuple[int, ...], ...]:
    """The collectives of each call stream, by index: the lowest call stream for each in which none
    is that is in flight at the same time."""
    beside: dict[str, set[str]] = {name: set() for name in names}
    for turn in program.turns:
        together = {program.calls[call] for call in turn}
        for name in together:
            beside[name] |= together - {name}
    call_streams: list[list[int]] = []
    for index, name in enumerate(names):
        free = (s for s in call_streams if not beside[name] & {names[other] for other in s})
        call_stream = next(free, None)
        if call_stream is None:
            call_streams.append([index])
        else:
            call_stream.append(index)
    return tuple(map(tuple, call_streams))


def _part(
    program: Program,
    members: tuple[tuple[int, ...], ...],
    chosen: tuple[Plan, ...],
    call_stream: int,
) -> Program:
    """The calls of one call stream, with the colors that it may use: those that the others can
    spare."""
    names = {chosen[i].collective.name for i in members[call_stream]}
    others = (max(widest(chosen[i]) for i in s) for n, s in enumerate(members) if n != call_stream)
    colors = None if program.colors is None else max(program.colors - sum(others), 0)
    calls = tuple(call for call in program.calls if call in names)
    return replace(program, calls=calls, colors=colors, together=())


def _splits(target: Target, call_streams: int) -> Iterator[tuple[int, ...]]:
    """Ways to give the numbers of queues to call streams, the most even ones first. A number is
    that of an input queue, of an output queue and of a microthread; no two call streams have one in
    common."""
    numbers = sorted({*target.input_queues, *target.output_queues})
    if call_streams > _MOST_CALL_STREAMS:
        return iter(
            [tuple(i % call_streams for i in range(len(numbers)))]
        )  # too few, as a check says
    splits = product(range(call_streams), repeat=len(numbers))
    return islice(
        iter(sorted(splits, key=lambda split: _uneven(split, call_streams))), _MOST_SPLITS
    )


def _uneven(split: tuple[int, ...], call_streams: int) -> int:
    counts = [split.count(call_stream) for call_stream in range(call_streams)]
    return max(counts) - min(counts)


class _Left(NamedTuple):
    """What a call stream has: the numbers of queues that are its own, and the colors that those
    before it have taken."""

    call_stream: int
    queues: frozenset[int]
    colors: frozenset[int]


def _target_left(machine: Target, left: _Left) -> Target:
    return replace(
        machine,
        colors=tuple(n for n in machine.colors if n not in left.colors),
        switch_colors=machine.switch_colors - left.colors,
        input_queues=tuple(n for n in machine.input_queues if n in left.queues),
        output_queues=tuple(n for n in machine.output_queues if n in left.queues),
    )


def _planned(
    chosen: tuple[Plan, ...],
    each: tuple[tuple[tuple[int, ...], Program], ...],
    machine: Target,
    split: tuple[int, ...],
    known: dict[_Left, ProgramPlan],
) -> tuple[ProgramPlan, ...]:
    """The call streams one after the other, each on what those before have left. `each` has its
    collectives and its calls. Many splits leave one the same, for which it is planned once."""
    colors: set[int] = set()
    found = []
    for call_stream, (of, part) in enumerate(each):
        numbers = sorted({*machine.input_queues, *machine.output_queues})
        own = {n for n, owner in zip(numbers, split, strict=True) if owner == call_stream}
        left = _Left(call_stream, frozenset(own), frozenset(colors))
        if left not in known:
            plans = tuple(chosen[i] for i in of)
            known[left] = share(plans, part, _target_left(machine, left))
        plan = known[left]
        colors |= {color.number for color in plan.colors}
        found.append(plan)
    return tuple(found)


def _together(
    members: tuple[tuple[int, ...], ...],
    program: Program,
    target: Target,
    call_streams: tuple[ProgramPlan, ...],
) -> ProgramPlan:
    """All call streams as one program."""
    plans: dict[int, Plan] = {}
    uses: list[Use] = []
    first = 0
    for of, call_stream in zip(members, call_streams, strict=True):
        plans |= dict(zip(of, call_stream.plans, strict=True))
        for use in call_stream.uses:
            positions = tuple((name, first + at) for name, at in use.positions)
            uses.append(Use(of[use.collective], use.phase, positions))
        first += len(call_stream.colors)
    in_order = tuple(plans[i] for i in range(len(plans)))
    data = memory.program_data_bytes(in_order, program.rounds)
    return ProgramPlan(
        target=target,
        program=program,
        plans=in_order,
        uses=tuple(sorted(uses, key=lambda use: (use.collective, use.phase))),
        colors=tuple(color for call_stream in call_streams for color in call_stream.colors),
        code_bytes=memory.program_code_bytes(in_order, target.free_bytes - data),
        data_bytes=data,
        call_streams=call_streams,
    )
