"""The events in the trace of an emitted program.

An event of a PE is an instruction that begins ("code"), a task that is taken up ("task"), an
operation that is issued ("issue") or begins to move elements ("moves"), or a wavelet that lands in
its router ("lands"). An operation that has to wait for its registers has a line of its own when it
is issued; one that has not is issued when it is begun.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import fabsim
from collc.base.columns import Array
from collc.base.files import write_files
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.run.program import copy_lengths, write_vectors

_CODE = re.compile(r"@(\d+) P(\d+)\.0: \[EX OP\] (?:\^ (\S+): T\d+(\.ut)? (\S+)|(IDLE))")
_ISSUE = re.compile(r"@(\d+) P(\d+)\.0: \[IS OP\] \^ \S+ T\d+(\.ut)? (\S+)")
_LANDS = re.compile(r"@(\d+) P(\d+)\.0 \(hwtile\) wavelet .*landing=([WESNR])")
_TASK = "JMPT"
_BEGUN = "LDDDS"  # what an operation is called until it is issued


@dataclass(frozen=True)
class Event:
    """What happens at a PE of the row in a cycle; `of` is the opcode, or the side it comes from."""

    cycle: int
    pe: int
    kind: str
    of: str
    at: str = ""  # where in the program, of an instruction


@dataclass(frozen=True)
class Trace:
    """The events of a run, in order."""

    events: tuple[Event, ...]

    def first(self, pe: int, kind: str, of: str = "", after: int = -1) -> int:
        """The cycle of the first such event at a PE behind a cycle."""
        return self.cycles(pe, kind, of, after)[0]

    def cycles(self, pe: int, kind: str, of: str = "", after: int = -1) -> list[int]:
        """Those of all."""
        return [
            one.cycle
            for one in self.events
            if one.pe == pe and one.kind == kind and of in one.of and one.cycle > after
        ]

    def tasks(self, pe: int) -> int:
        """How many tasks of a PE have run, with the host's launch."""
        return len(self.cycles(pe, "task"))

    def begins(self, pe: int, task: int) -> int:
        """The cycle of the first instruction of a PE's task; its tasks count from 1 on, the host's
        launch is number 0. That may be the cycle in which it is taken up."""
        own = [one for one in self.events if one.pe == pe and one.kind in ("task", "code")]
        taken_up = [index for index, one in enumerate(own) if one.kind == "task"][task]
        return own[taken_up + 1].cycle


@lru_cache(maxsize=32)
def trace_of(text: str, target: str, timing: str) -> Trace:
    """Run a program of collectives on a row."""
    return traced(compile_text(text, "probe.coll", {}, target), timing)


def traced(bundle: Bundle, timing: str, given: Array | None = None) -> Trace:
    """Run what was compiled, a collective by itself on vectors `given` as `write_vectors` takes
    them, or on zeros; dynamic lengths are the most that they may be."""
    target = bundle.program.target.name
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), bundle.files)
        program = fabsim.compile(Path(folder) / "layout.csl", arch=target, timing=timing)
        log = Path(folder) / "run.log"
        simulator = fabsim.Simulator(program, trace=log)
        lengths = bundle.program.program.lengths
        copy_lengths(simulator, bundle.program, {name: (most,) for name, most in lengths})
        if given is not None:
            write_vectors(simulator, bundle.plan.collective.contract, given)
        simulator.launch("run")
        simulator.stop()
        lines = log.read_text(encoding="utf-8").splitlines()
    return Trace(tuple(_with_issues([event for line in lines for event in _events(line)])))


def _with_issues(events: Sequence[Event]) -> Iterator[Event]:
    """With the issue of operations that were begun and did not wait for their registers."""
    operations = {(one.pe, one.at) for one in events if one.kind == "moves"}
    begun: dict[int, Event] = {}
    for event in events:
        if event.kind not in {"lands", "moves"}:
            before = begun.pop(event.pe, event)
            if before.at != event.at and event.kind != "issue":
                yield replace(before, kind="issue")
        if event.of == _BEGUN and (event.pe, event.at) in operations:
            begun[event.pe] = event
        yield event


def _events(line: str) -> Iterator[Event]:
    if found := _CODE.match(line):
        cycle, pe, at, operation, opcode, idle = found.groups()
        kind = "moves" if operation else "task" if opcode == _TASK else "code"
        yield Event(int(cycle), int(pe), kind, opcode or idle, at or "")
    elif found := _ISSUE.match(line):
        kind = "issue" if found[3] else "issue at once"
        yield Event(int(found[1]), int(found[2]), kind, found[4])
    elif found := _LANDS.match(line):
        yield Event(int(found[1]), int(found[2]), "lands", found[3])
