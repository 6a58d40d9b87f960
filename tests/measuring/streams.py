"""Pieces of the code of streams (`templates/stream_pe.csl.j2`), up to the issue of each operation.

A PE's first task begins operations one after the other, each behind the last; another one begins
what comes behind an operation that has ended. What an operation takes is the same in both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

from measuring.fitting import Fit, Pieces, fitted
from measuring.traces import Trace, traced

from collc.cost.streams import begins_behind, pieces_of
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.lowering import candidate_plans
from collc.plan import Role, thens_of
from collc.plan.unrolled import roles_of_places
from collc.spec.exchange import StepsPhase
from collc.target import TARGETS
from collc.target.constants import Constants, StreamCode

PIECES = tuple(field.name for field in fields(StreamCode))
SIGNED = frozenset(("staged",))
OPCODES = {"control": "MOV"}
TEXT = """target wse2
param P = 5 where 2 <= P <= 750
param B = 20 where 1 <= B <= 8192
grid row = P x 1
collective total = CONTRACT on row { run STEPS }
program { total }
"""
CONTRACTS = {
    "gather(x: f32[B])": "linear_gather",
    "scatter(x: f32[B])": "linear_scatter",
    "allgather(x: f32[B])": "direct_allgather",
    "all_to_all(x: f32[B])": "linear_all_to_all",
    "reduce_scatter(x: f32[B], add)": "chain_reduce_scatter",
}
SIZES = ((4, 16), (5, 25))


def bundles(target: str) -> Iterator[Bundle]:
    """Every form of each collective, in two sizes."""
    for contract, steps in CONTRACTS.items():
        text = TEXT.replace("CONTRACT", contract).replace("STEPS", steps)
        for ranks, length in SIZES:
            bundle = compile_text(text, "probe.coll", {"P": ranks, "B": length}, target)
            for plan in candidate_plans(bundle.schedule, TARGETS[target]):
                if plan.streams:
                    yield replace(bundle, plan=plan)


def measured_streams(target: str, timing: str, known: Constants) -> Fit:
    """What fits all issues of these bundles."""
    begun = known.code.launch + known.code.buffer
    found = [task for one in bundles(target) for task in _tasks(one, traced(one, timing), begun)]
    return fitted(found, SIGNED)


def _tasks(bundle: Bundle, trace: Trace, begun: int) -> Iterator[Pieces]:
    (phase,), (pattern,) = bundle.plan.phases, bundle.schedule.phases
    assert isinstance(pattern, StepsPhase)
    for place, role in enumerate(roles_of_places(phase, pattern)):
        if role is not None:
            yield from _tasks_of(role, trace, place, begun)


def _tasks_of(role: Role, trace: Trace, pe: int, begun: int) -> Iterator[Pieces]:
    """Issues of the first task, each with all before it; of later ones those that are alone."""
    at_once = [op for op in thens_of(role) if begins_behind(role, op) is None]
    later = [op for op in thens_of(role) if begins_behind(role, op) is not None]
    begins = [*trace.cycles(pe, "task"), 1 << 60]
    issues = [
        [one for one in trace.events if one.pe == pe and one.kind == "issue" and first <= one.cycle < end]
        for first, end in zip(begins, begins[1:], strict=False)
    ]
    counts: dict[str, int] = pieces_of(role, None)
    for op, event in zip(at_once, issues[0], strict=True):
        for name, number in pieces_of(role, op).items():
            counts[name] = counts.get(name, 0) + number
        # an operation takes the cycle of its issue, too
        yield event.cycle + 1 - begun, dict(counts)
    alone = [(i, one[0]) for i, one in enumerate(issues) if i and len(one) == 1]
    controls = [op for op in later if op.name == "control"]
    for index, event in alone:
        is_control = "MOV32" in event.of
        of = [op for op in later if (op in controls) is is_control]
        if len(of) == 1:
            yield event.cycle + 1 - trace.begins(pe, index), pieces_of(role, of[0])
