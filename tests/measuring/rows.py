"""Pieces of the code that runs rows (`templates/exchange_pe.csl.j2`), by whole tasks.

The evaluator tells what the code of each task does (`collc_evaluator.Line.tasks`): with a piece
that takes a cycle more a task takes as many more as it has of that piece. No operation has a slot
while a task runs, so all that matters is when it ends. In reading order: tasks of the model, those
of a trace, and both of a probe.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace

import numpy as np
from measuring.fitting import Pieces
from measuring.probes import Probe
from measuring.traces import Event, Trace, traced

from collc.cost.evaluated_line import line_of
from collc.cost.exchange import ENOUGH, MOST
from collc.cost.operations import costs_of, costs_of_phase
from collc.cost.row_code import features_of
from collc.driver.bundle import Bundle
from collc.driver.programs import compile_any
from collc.plan.unrolled import unrolled
from collc.spec import ContractKind
from collc.spec.exchange import StepsPhase
from collc.target.constants import Constants, RowCode

PIECES = tuple(field.name for field in fields(RowCode))
FIRST = ("begun", "lane_begun", "first_send", "first_receive", "first_stage", "backward")
SIGNED = frozenset(("row_staged", "row_mixed", "row_passed"))


@dataclass(frozen=True)
class Task:
    """A task: where it is, what its pieces took, and how often it has each."""

    where: str
    is_first: bool  # of its PE, which begins the phase
    text: int  # which of `TEXTS` it is of
    cycles: int
    counts: tuple[tuple[str, int], ...]

    @property
    def pieces(self) -> Pieces:
        """What it took, and how often it has each piece."""
        return self.cycles, dict(self.counts)

    def pieces_but(self, known: Mapping[str, int], others: Collection[str]) -> Pieces:
        """The same, of the `others`: what the rest takes is known."""
        rest = sum(known.get(name, 0) * n for name, n in self.counts if name not in others)
        return self.cycles - rest, {name: n for name, n in self.counts if name in others}


Written = dict[int, list[tuple[int | None, int]]]  # by place: lane and cycles of each task


def written(bundle: Bundle, constants: Constants) -> Written:
    """The tasks of each place with these constants."""
    plan = replace(bundle.plan, target=replace(bundle.plan.target, cycles=constants))
    (pattern,), (phase,) = bundle.schedule.phases, plan.phases
    assert isinstance(pattern, StepsPhase)
    costs = costs_of_phase(costs_of(plan), plan, 0)
    place = costs.first_call(plan)
    called = np.full(pattern.ranks, place.time)
    deep = np.zeros(pattern.ranks, dtype=np.int64)
    # what tells of the end, but for the return, and what is between tasks
    tells = constants.code.tell - constants.engine.between_tasks - constants.code.frame
    found: Written = {}
    for pe, lane, actions in line_of(costs, phase, pattern).tasks(called, deep, MOST, ENOUGH):
        cycles = sum(number for what, number in actions if what == "code")
        leaves = any(what == "leave" for what, _ in actions)
        found.setdefault(pe, []).append((lane, cycles + tells * leaves))
    return found


def ran(trace: Trace, pe: int) -> list[int]:
    """The cycles of a PE's tasks; the last instruction of each is a return of a cycle, which has
    another line where the PE waits for the next task."""
    own = [one for one in trace.events if one.pe == pe and one.kind in ("task", "code", "issue")]
    code = [one for one in own if one.of != "IDLE"]
    events = [one for one, before in zip(code, [None, *code], strict=False) if _is_new(one, before)]
    begins = [i for i, one in enumerate(events) if one.kind == "task"]
    tasks = [events[i + 1 : end] for i, end in zip(begins, [*begins[1:], None], strict=True)]
    return [code[-1].cycle + 1 - code[0].cycle for code in tasks]


def _is_new(event: Event, before: Event | None) -> bool:
    return before is None or (event.of, event.at) != (before.of, before.at)


def tasks_of(probe: Probe, target: str, timing: str, constants: Constants) -> list[Task]:
    """The tasks of a probe. Which lane's task is next must not depend on what they take."""
    bundle = compile_any(probe.text, "probe.coll", dict(probe.parameters), target)
    if not isinstance(bundle, Bundle) or not _is_a_row_of_steps(bundle):
        return []
    trace = traced(bundle, timing)
    as_it_is = written(bundle, constants)
    others = {name: written(bundle, _with_more(constants, name)) for name in PIECES}
    text = text_of(bundle, constants)
    found = []
    for place, tasks in as_it_is.items():
        alike = {name: other[place] for name, other in others.items()}
        if any([lane for lane, _ in one] != [lane for lane, _ in tasks] for one in alike.values()):
            continue
        took = ran(trace, place)
        if len(took) != len(tasks) + 1:  # the last one tells of the end
            continue
        for number, (_, cycles) in enumerate(tasks):
            counts = {name: one[number][1] - cycles for name, one in alike.items()}
            own = constants.rows[text]
            rest = cycles - sum(n * getattr(own, name) for name, n in counts.items())
            before = _before(bundle, constants) if number == 0 else 0
            held = tuple((name, n) for name, n in counts.items() if n)
            where = f"{probe.name}: PE {place}, task {number}"
            own_cycles = took[number] - before - rest
            found.append(Task(where, number == 0, text, own_cycles, held))
    return found


def text_of(bundle: Bundle, constants: Constants) -> int:
    """Which of `TEXTS` a row of steps has: each gets another number, and the one that counts is
    asked for."""
    marked = tuple(replace(of, begun=number) for number, of in enumerate(constants.rows))
    (pattern,), (phase,) = bundle.schedule.phases, bundle.plan.phases
    assert isinstance(pattern, StepsPhase)
    plan = replace(
        bundle.plan, target=replace(bundle.plan.target, cycles=replace(constants, rows=marked))
    )
    costs = costs_of_phase(costs_of(plan), plan, 0)
    return features_of(costs, unrolled(phase, pattern), phase).code.begun


def _before(bundle: Bundle, constants: Constants) -> int:
    """From the launch to the code that begins the phase."""
    code = constants.code
    barrier = bundle.plan.collective.contract.kind is ContractKind.BARRIER
    return code.launch + (code.token_alone if barrier else code.buffer)


def _is_a_row_of_steps(bundle: Bundle) -> bool:
    grid, phases = bundle.plan.collective.grid, bundle.plan.phases
    return grid.height == 1 and len(phases) == 1 and phases[0].exchange is not None


def _with_more(constants: Constants, name: str) -> Constants:
    rows = tuple(replace(of, **{name: getattr(of, name) + 1}) for of in constants.rows)
    return replace(constants, rows=rows)
