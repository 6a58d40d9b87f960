"""Pieces of the code that runs rows (`templates/exchange_pe.csl.j2`), by whole tasks.

The evaluator tells what the code of each task does (`collc_evaluator.Line.tasks`): with a piece
that takes a cycle more a task takes as many more as it has of that piece. No operation has a slot
while a task runs, so all that matters is when it ends. In reading order: tasks of the model, those
of a trace, and both of a probe.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from measuring.fitting import Pieces
from measuring.probes import Probe, of_dynamic_length, probe_of
from measuring.traces import Event, Trace, traced

from collc.cost.calls import Calls
from collc.cost.evaluated_line import line_of
from collc.cost.exchange import ENOUGH, MOST
from collc.cost.operations import costs_of, costs_of_phase
from collc.cost.row_code import cycles_of
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.plan.form import Form, form_of
from collc.spec import ContractKind
from collc.spec.exchange import StepsPhase
from collc.target.constants import Constants, RowCode

UNROLLED, LOOPED = (4, 16), (17, 24)  # slices of a dynamic length: up to so many, and beyond
PIECES = tuple(field.name for field in fields(RowCode) if field.name not in {"cut", "cut_in_loop"})


@dataclass(frozen=True)
class Task:
    """A task: where it is, what its pieces took, and how often it has each."""

    where: str
    cycles: int
    counts: tuple[tuple[str, int], ...]

    @property
    def pieces(self) -> Pieces:
        """What it took, and how often it has each piece."""
        return self.cycles, dict(self.counts)


Written = dict[int, list[tuple[int | None, int]]]  # by place: lane and cycles of each task


def written(bundle: Bundle, constants: Constants) -> Written:
    """The tasks of each place with these constants."""
    (plan,), (schedule,) = bundle.program.plans, bundle.schedules
    plan = replace(plan, target=replace(plan.target, cycles=constants))
    (pattern,), (phase,) = schedule.phases, plan.phases
    assert isinstance(pattern, StepsPhase)
    costs = replace(costs_of_phase(costs_of(plan), plan, 0), shared=not bundle.program.alone)
    called = np.full(pattern.ranks, costs.first_call(plan).time)
    deep = np.zeros(pattern.ranks, dtype=np.int64)
    # what tells of the end, but for the return, and what is between tasks
    tells = constants.code.tell - constants.engine.between_tasks - constants.code.frame
    if not bundle.program.alone:
        tells = constants.code.ends
    found: Written = {}
    for pe, lane, actions in line_of(costs, phase).tasks(called, deep, MOST, ENOUGH):
        cycles = cycles_of(actions)
        leaves = any(what == "leave" for what, _ in actions)
        found.setdefault(pe, []).append((lane, cycles + tells * leaves))
    return found


def ran(trace: Trace, pe: int) -> list[tuple[str, int]]:
    """Where a PE's tasks begin in the program, and their cycles; the last instruction of each is a
    return of a cycle, which has another line where the PE waits for the next task."""
    own = [one for one in trace.events if one.pe == pe and one.kind in ("task", "code", "issue")]
    code = [one for one in own if one.of != "IDLE"]
    events = [one for one, before in zip(code, [None, *code], strict=False) if _is_new(one, before)]
    begins = [i for i, one in enumerate(events) if one.kind == "task"]
    tasks = [events[i + 1 : end] for i, end in zip(begins, [*begins[1:], None], strict=True)]
    return [(code[0].at, code[-1].cycle + 1 - code[0].cycle) for code in tasks]


def _is_new(event: Event, before: Event | None) -> bool:
    return before is None or (event.of, event.at) != (before.of, before.at)


def tasks_of(probe: Probe, target: str, timing: str, constants: Constants) -> list[Task]:
    """The tasks of a probe. Which lane's task is next must not depend on what they take."""
    bundle = compile_text(probe.text, "probe.coll", dict(probe.parameters), target)
    if not _is_a_row_of_steps(bundle):
        return []
    trace = traced(bundle, timing)
    as_it_is = written(bundle, constants)
    others = {name: written(bundle, _with_more(constants, name)) for name in PIECES}
    found = []
    for place, tasks in as_it_is.items():
        alike = {name: other[place] for name, other in others.items()}
        if any([lane for lane, _ in one] != [lane for lane, _ in tasks] for one in alike.values()):
            continue
        took = ran(trace, place)
        if not _in_the_same_order(tasks, took):
            continue
        for number, (_, cycles) in enumerate(tasks):
            counts = {name: one[number][1] - cycles for name, one in alike.items()}
            rest = cycles - sum(n * getattr(constants.rows, name) for name, n in counts.items())
            before = _before(bundle, constants) if number == 0 else 0
            held = tuple((name, n) for name, n in counts.items() if n)
            where = f"{probe.name}: PE {place}, task {number}"
            own_cycles = took[number][1] - before - rest
            found.append(Task(where, own_cycles, held))
    return found


def measured_cuts(target: str, timing: str) -> dict[str, int]:
    """What it takes to find where a slice begins, by two numbers of slices each."""
    return {
        "cut": _by_slice(target, timing, *UNROLLED),
        "cut_in_loop": _by_slice(target, timing, *LOOPED),
    }


def _by_slice(target: str, timing: str, few: int, many: int) -> int:
    took = [_cutting(target, timing, slices) for slices in (few, many)]
    return (took[1] - took[0]) // (many - few)


def _cutting(target: str, timing: str, slices: int) -> int:
    """From the division by the number of slices to the call that prepares the first row."""
    probe = of_dynamic_length(probe_of("ring_allreduce", slices, 2 * slices, "ring"))
    trace = traced(compile_text(probe.text, "probe.coll", dict(probe.parameters), target), timing)
    begins = trace.first(0, "code", "DIV16")
    return trace.first(0, "code", "CALL", after=begins) - begins


def _in_the_same_order(tasks: list[tuple[int | None, int]], took: list[tuple[str, int]]) -> bool:
    """Whether the tasks that ran are of the lanes that they are in the model: a lane's begin at the
    same place of the program. The last one tells of the end."""
    if len(took) != len(tasks) + 1:
        return False
    both = {(lane, at) for (lane, _), (at, _) in zip(tasks, took[:-1], strict=True)}
    return len(both) == len({lane for lane, _ in both}) == len({at for _, at in both})


def _before(bundle: Bundle, constants: Constants) -> int:
    """From the launch to the code that begins the phase."""
    code, program = constants.code, bundle.program
    collective = program.plans[0].collective
    if not program.alone:
        calls, costs = (
            Calls(program, program.program.turns, joined=False, buffers=len(program.calls)),
            costs_of(program.plans[0]),
        )
        return calls.to_turn(0, launch=True) + calls.to_run(costs, collective, 0, launch=True)
    barrier = collective.contract.kind is ContractKind.BARRIER
    return code.launch + (code.token if barrier else code.buffer)


def _is_a_row_of_steps(bundle: Bundle) -> bool:
    plan, *others = bundle.program.plans
    grid, phases = plan.collective.grid, plan.phases
    return not others and grid.height == 1 and len(phases) == 1 and form_of(phases[0]) is Form.STEPS


def _with_more(constants: Constants, name: str) -> Constants:
    more = {name: getattr(constants.rows, name) + 1}
    return replace(constants, rows=replace(constants.rows, **more))
