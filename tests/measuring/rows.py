"""Pieces of the code that runs rows (`templates/exchange_pe.csl.j2`), by stretches of code.

A stretch is the code of a PE from the beginning of a task, or the issue of an operation, to the
next issue, or to the end of the task, in which no operation had a slot. The evaluation of rows
writes down the moves of a task when it begins (`collc.cost.row_moves`): with a piece that takes a
cycle more the stretch takes as many more as it has of that piece. In reading order: stretches of
the model, those of a trace, and both of a probe.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any

from measuring.probes import Probe
from measuring.traces import Trace, traced

from collc.cost import predict, row_moves, timeline
from collc.cost.row_moves import CODE, LEAVE, PASS, RECEIVE, SEND
from collc.driver.bundle import Bundle
from collc.driver.programs import compile_any
from collc.spec import ContractKind
from collc.target.constants import Code, Constants

ISSUES = (RECEIVE, SEND, PASS)
_NAMES = [field.name for field in fields(Code)]
PIECES = tuple(_NAMES[_NAMES.index("bit_set") :])
Task = tuple[int, tuple[int, ...]]  # its lane, and the cycles of its stretches


@dataclass(frozen=True)
class Stretch:
    """A stretch of code: where it is, what its pieces took, and how often it has each."""

    where: str
    cycles: int
    counts: tuple[tuple[str, int], ...]


def stretches_of(moves: Sequence[Sequence[int]], end: int) -> tuple[int, ...]:
    """The cycles of the stretches of a task; what ends a phase takes so many."""
    found, cycles = [], 0
    for what, _, number in moves:
        if what == CODE:
            cycles += number
        elif what in ISSUES:
            found.append(cycles)
            cycles = 0
        elif what == LEAVE:
            cycles += end
    return (*found, cycles)


class _Written:
    """The tasks of each place, as the evaluation writes them down. It has to run as Python."""

    def __init__(self, end: int) -> None:
        self.end = end
        self.tasks: dict[int, list[Task]] = {}
        self.begin, self.take_up = (
            getattr(one, "function", one) for one in (timeline.begin, row_moves._take_up)
        )

    def __enter__(self) -> _Written:
        timeline.begin, row_moves._take_up = self._begin, self._take_up
        return self

    def __exit__(self, *_: object) -> None:
        timeline.begin, row_moves._take_up = self.begin, self.take_up

    def _begin(self, line: Any, deep: Any) -> None:
        self.begin(line, deep)
        for place in range(len(deep)):
            self._write(line, place, -1)

    def _take_up(self, line: Any, place: int) -> None:
        before = line.clock[row_moves.UNDER_WAY]
        self.take_up(line, place)
        if line.clock[row_moves.UNDER_WAY] > before:
            self._write(line, place, int(line.places[place, row_moves.LAST]))

    def _write(self, line: Any, place: int, lane: int) -> None:
        moves = line.moves[place, : line.places[place, row_moves.MOVES]].tolist()
        self.tasks.setdefault(place, []).append((lane, stretches_of(moves, self.end)))


def written(bundle: Bundle, constants: Constants) -> dict[int, list[Task]]:
    """The tasks of each place with these constants."""
    plan = replace(bundle.plan, target=replace(bundle.plan.target, cycles=constants))
    code, engine = constants.code, constants.engine
    with _Written(code.tell - engine.between_tasks - code.frame) as tasks:
        predict(bundle.schedule, plan)
    return tasks.tasks


def ran(trace: Trace, pe: int, task: int) -> list[int]:
    """The cycles of the stretches of a PE's task, which ends with a return of a cycle."""
    own = [one for one in trace.events if one.pe == pe and one.kind in ("task", "code", "issue")]
    events = [one for one in own if one.of != "IDLE"]
    begins = [i for i, one in enumerate(events) if one.kind == "task"]
    if task >= len(begins):
        return []
    end = begins[task + 1] if task + 1 < len(begins) else len(events)
    code = events[begins[task] + 1 : end]
    at = [code[0].cycle, *(one.cycle for one in code if one.kind == "issue"), code[-1].cycle + 1]
    return [later - one for one, later in pairwise(at)]


def stretches(probe: Probe, target: str, timing: str, constants: Constants) -> list[Stretch]:
    """The stretches of a probe that no operation has interrupted, with what their
    pieces take. Which lane's task is next must not depend on that."""
    bundle = compile_any(probe.text, "probe.coll", dict(probe.parameters), target)
    if not isinstance(bundle, Bundle) or not _is_a_row_of_steps(bundle):
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
    return code.launch + (code.token_alone if barrier else code.buffer)


def _is_a_row_of_steps(bundle: Bundle) -> bool:
    grid, phases = bundle.plan.collective.grid, bundle.plan.phases
    return grid.height == 1 and len(phases) == 1 and phases[0].exchange is not None


def _with_more(constants: Constants, name: str) -> Constants:
    code = replace(constants.code, **{name: getattr(constants.code, name) + 1})
    return replace(constants, code=code)
