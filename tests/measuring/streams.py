"""Pieces of the code of streams (`templates/stream_pe.csl.j2`), up to the issue of each operation.

A PE's first task begins operations one after the other, each behind the last; another one begins
what comes behind an operation that has ended. What an operation takes is the same in both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields
from itertools import pairwise

import numpy as np
from measuring.fitting import Fit, Pieces, trimmed
from measuring.traces import Event, Trace, traced
from stream_forms import CONTRACTS, forms, text_of

from collc.cost.operations import costs_of
from collc.cost.stream_code import (
    applied_words,
    begins_behind,
    pieces_of,
    staged_of,
    staged_slices,
)
from collc.driver.bundle import Bundle
from collc.plan import Plan, Role, ends_of, goes_first, leaders_of, leads_across, thens_of
from collc.plan.placement import roles_of_places
from collc.plan.ready import is_ready
from collc.spec.exchange import StepsPhase
from collc.target.constants import Constants, StreamCode

PIECES = tuple(field.name for field in fields(StreamCode))
SIGNED = frozenset(("staged",))
SIZES = ((4, 16), (5, 25))
TURNS = (16, 32)  # of an all_to_all in which groups run in turn


def bundles(target: str) -> Iterator[Bundle]:
    """Every form of each collective, in two sizes."""
    for name in CONTRACTS:
        for ranks, length in SIZES:
            yield from forms(text_of(name), {"P": ranks, "B": length}, target)
    yield from forms(text_of("all_to_all"), {"P": TURNS[0], "B": TURNS[1]}, target)


def measured_streams(target: str, timing: str, known: Constants) -> Fit:
    """What fits all issues of these bundles."""
    begun = known.code.launch + known.code.buffer
    found = [
        task
        for one in bundles(target)
        for task in _tasks(one, traced(one, timing), begun, known.code.tell)
    ]
    return trimmed(found, SIGNED)


def _tasks(bundle: Bundle, trace: Trace, begun: int, tell: int) -> Iterator[Pieces]:
    (phase,), (pattern,) = bundle.plan.phases, bundle.schedule.phases
    assert isinstance(pattern, StepsPhase)
    for place, role in enumerate(roles_of_places(phase)):
        if role is not None:
            yield from _tasks_of(bundle.plan, role, trace, place, begun)
            yield from _applied(bundle.plan, pattern, role, trace, place)
            yield from _blocks(bundle.plan, role, trace, place, tell)


def _applied(
    plan: Plan, pattern: StepsPhase, role: Role, trace: Trace, pe: int
) -> Iterator[Pieces]:
    """What a PE's last task but one takes, where it combines what is staged, without its words."""
    staged = staged_of(role)
    if not staged:
        return
    sizes = np.diff(pattern.slicing.bounds)
    slices = staged_slices(staged, pe)
    elements = int(sizes[list(slices.at(pe))].sum()) if slices else 0
    words = applied_words(costs_of(plan), staged, elements)
    begins = trace.begins(pe, trace.tasks(pe) - 2)
    ends = trace.first(pe, "code", "ACTV", after=begins - 1)
    yield ends - begins - words, {"ready_applied" if is_ready(plan) else "applied": 1}


def _blocks(plan: Plan, role: Role, trace: Trace, pe: int, tell: int) -> Iterator[Pieces]:
    """What the last task begins later where the one before blocks itself."""
    (phase,) = plan.phases
    if is_ready(plan) and ends_of(role) > 1 and not leaders_of(phase):
        begins = trace.begins(pe, trace.tasks(pe) - 2)
        told = trace.first(pe, "code", "ACTV", after=begins - 1)
        yield trace.begins(pe, trace.tasks(pe) - 1) - told - tell, {"ready_blocks": 1}


def _tasks_of(plan: Plan, role: Role, trace: Trace, pe: int, begun: int) -> Iterator[Pieces]:
    """The last issue of the first task, with all before it; of later ones those that are alone."""
    begins = [*trace.cycles(pe, "task"), 1 << 60]
    first, *later = [
        [
            one
            for one in trace.events
            if one.pe == pe and one.kind == "issue" and start <= one.cycle < end
        ]
        for start, end in pairwise(begins)
    ]
    yield from _first_task(plan, role, first, begun)
    if is_ready(plan) and staged_of(role):
        behind = trace.cycles(pe, "code", after=first[-1].cycle)
        returns = trace.first(pe, "code", "RET", after=first[-1].cycle)
        yield sum(cycle < returns for cycle in behind), {"ready_moved": 1}
    alone = [
        (one[0].cycle + 1 - trace.begins(pe, number), "MOV32" in one[0].of)
        for number, one in enumerate(later, 1)
        if len(one) == 1
    ]
    yield from _later_tasks(plan, role, alone)


def _first_task(plan: Plan, role: Role, issues: Sequence[Event], begun: int) -> Iterator[Pieces]:
    """Up to the last issue, or to the first where operations then take cycles from the code."""
    (phase,), ready = plan.phases, is_ready(plan)
    at_once = [op for op in thens_of(role) if begins_behind(role, op) is None]
    counts: Counter[str] = Counter(pieces_of(role, None, ready=ready))
    for op in at_once:
        if not (ready and leaders_of(phase) and leads_across(phase, op.lane)):
            counts.update(pieces_of(role, op, ready=ready))
    assert len(issues) == len(at_once), "each operation is issued once"
    if ready and any(goes_first(phase, op.lane) for op in at_once):
        counts["ready_issues"] = 1
        yield issues[0].cycle + 1 - begun, counts
    elif at_once:
        # an operation takes the cycle of its issue, too
        yield issues[-1].cycle + 1 - begun, counts


def _later_tasks(plan: Plan, role: Role, alone: Sequence[tuple[int, bool]]) -> Iterator[Pieces]:
    """Those with one issue: the cycles up to it, and whether it is that of a control wavelet."""
    (phase,), ready = plan.phases, is_ready(plan)
    later = [op for op in thens_of(role) if begins_behind(role, op) is not None]
    # in turn a control wavelet that another operation follows is sent by the task that begins that
    followed = {begins_behind(role, op) for op in later if "turn_follows" in pieces_of(role, op)}
    later = [op for op in later if op not in followed]
    for is_control in (False, True):
        of = [op for op in later if (op.name == "control") is is_control]
        found = [cycles for cycles, control in alone if control is is_control]
        rows = {leaders_of(phase).get(op.lane, op.lane) for op in of}
        if len(found) != len(of) or (len(rows) > 1 and not is_control):
            continue  # it is not known which is which
        for cycles, op in zip(found, of, strict=True):
            pieces = Counter(pieces_of(role, op, ready=ready))
            control = begins_behind(role, op)
            if control in followed:
                pieces.update(pieces_of(role, control, ready=ready))
            yield cycles, pieces
