"""Pieces of the code that runs rows (`templates/exchange_pe.csl.j2`), by stretches of code.

A stretch is the code of a PE from the beginning of a task, or the issue of an operation, to the
next issue, or to the end of the task, in which no operation had a slot. The evaluator tells what
the code of each task does (`collc_evaluator.Line.tasks`): with a piece that takes a cycle more the
stretch takes as many more as it has of that piece. In reading order: stretches of
the model, those of a trace, and both of a probe.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from measuring.probes import Probe
from measuring.traces import Trace, traced

from collc.cost.evaluated_line import line_of
from collc.cost.exchange import ENOUGH, MOST
from collc.cost.operations import costs_of, costs_of_phase
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.spec import ContractKind
from collc.spec.exchange import StepsPhase
from collc.target.constants import Code, Constants

ISSUES = ("receive", "send", "pass")
_NAMES = [field.name for field in fields(Code)]
PIECES = tuple(_NAMES[_NAMES.index("bit_set") :])
Task = tuple[int, tuple[int, ...]]  # its lane, and the cycles of its stretches


@dataclass(frozen=True)
class Stretch:
    """A stretch of code: where it is, what its pieces took, and how often it has each."""

    where: str
    cycles: int
    counts: tuple[tuple[str, int], ...]


def stretches_of(actions: Sequence[tuple[str, int]], end: int) -> tuple[int, ...]:
    """The cycles of the stretches of a task; what ends a phase takes so many."""
    found, cycles = [], 0
    for what, number in actions:
        if what in ("code", "wait"):
            cycles += number
        elif what in ISSUES:
            found.append(cycles)
            cycles = 0
        elif what == "leave":
            cycles += end
    return (*found, cycles)


def written(bundle: Bundle, constants: Constants) -> dict[int, list[Task]]:
    """The tasks of each place with these constants."""
    plan = replace(bundle.plan, target=replace(bundle.plan.target, cycles=constants))
    (pattern,), (phase,) = bundle.schedule.phases, plan.phases
    assert isinstance(pattern, StepsPhase)
    costs = costs_of_phase(costs_of(plan), plan, 0)
    place = costs.first_call(plan)
    called = np.full(pattern.ranks, place.time + costs.code.call)
    deep = np.full(pattern.ranks, place.depth)
    end = constants.code.tell + constants.code.frame
    found: dict[int, list[Task]] = {}
    for pe, lane, actions in line_of(costs, phase, pattern).tasks(called, deep, MOST, ENOUGH):
        found.setdefault(pe, []).append((lane, stretches_of(actions, end)))
    return found


def ran(trace: Trace, pe: int, task: int) -> list[int | None]:
    """The cycles of the stretches of a PE's task; None where an operation had a slot."""
    events = [one for one in trace.events if one.pe == pe and one.kind != "lands"]
    begins = [i for i, one in enumerate(events) if one.kind == "task"]
    if task >= len(begins):
        return []
    end = begins[task + 1] if task + 1 < len(begins) else len(events)
    found, start, clean = list[int | None](), -1, True
    for one in events[begins[task] + 1 : end + 1]:
        if start < 0:
            start = one.cycle if one.kind == "code" else -1
        elif one.kind == "moves":
            clean = False
        elif one.kind in ("issue", "task") or one.of == "IDLE":
            found.append(one.cycle - start if clean else None)
            start, clean = one.cycle, True
        if one.of == "IDLE":
            break
    return found


def stretches(probe: Probe, target: str, timing: str, constants: Constants) -> list[Stretch]:
    """The stretches of a probe that no operation has interrupted, with what their
    pieces take. Which lane's task is next must not depend on that."""
    bundle = compile_text(probe.text, "probe.coll", dict(probe.parameters), target)
    if not bundle.program.alone or not _is_a_row_of_steps(bundle):
        return []
    trace = traced(bundle, timing)
    as_it_is = written(bundle, constants)
    others = {name: written(bundle, _with_more(constants, name)) for name in PIECES}
    found = []
    for place, tasks in as_it_is.items():
        alike = {name: other[place] for name, other in others.items()}
        if any([lane for lane, _ in one] != [lane for lane, _ in tasks] for one in alike.values()):
            continue
        if trace.tasks(place) != len(tasks) + 1:  # the last one tells of the end
            continue
        for number, (_, cycles) in enumerate(tasks):
            took = ran(trace, place, number)
            for index, (of, took_now) in enumerate(zip(cycles, took, strict=False)):
                if took_now is None:
                    continue
                before = _before(bundle, constants) if number == index == 0 else 0
                more = {name: one[number][1][index] - of for name, one in alike.items()}
                where = f"{probe.name}: PE {place}, task {number}, stretch {index}"
                rest = of - sum(n * getattr(constants.code, name) for name, n in more.items())
                counts = tuple((name, n) for name, n in more.items() if n)
                found.append(Stretch(where, took_now - before - rest, counts))
    return found


def _before(bundle: Bundle, constants: Constants) -> int:
    """From the launch to the code that begins the phase."""
    code = constants.code
    barrier = bundle.plan.collective.contract.kind is ContractKind.BARRIER
    return code.launch + (code.token_alone if barrier else code.buffer) + code.call


def _is_a_row_of_steps(bundle: Bundle) -> bool:
    grid, phases = bundle.plan.collective.grid, bundle.plan.phases
    return grid.height == 1 and len(phases) == 1 and phases[0].exchange is not None


def _with_more(constants: Constants, name: str) -> Constants:
    code = replace(constants.code, **{name: getattr(constants.code, name) + 1})
    return replace(constants, code=code)
