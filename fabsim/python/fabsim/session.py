"""A simulator with the options of FABSIM_OPTIONS in force, and what it leaves behind."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from fabsim import last_run
from fabsim._native import Program, Simulator
from fabsim.options import RunOptions, current, numbered


@dataclass(frozen=True)
class Session:
    """A simulator that has been opened, and what was asked for."""

    simulator: Simulator
    options: RunOptions
    number: int

    def report(self) -> None:
        """Print and write where the cycles went, as far as that is asked for."""
        report(self.simulator, self.options, self.number)


def opened(program: Program) -> Session:
    """A simulator as the environment asks for it. Exits on wrong usage."""
    options, number = current(), last_run.next_number()
    trace = numbered(options.trace, number) if options.trace else None
    simulator = make(program, options, options.threads, (trace, options.trace_form))
    return Session(simulator, options, number)


def make(
    program: Program, options: RunOptions, threads: int | None, trace: tuple[str | None, str]
) -> Simulator:
    """A simulator with these options, which writes a trace to that file in that form."""
    path, form = trace
    return Simulator(
        program,
        max_cycles=options.max_cycles,
        max_seconds=options.max_seconds,
        lenient=options.lenient,
        threads=threads,
        reference=options.reference or None,
        check_uninitialized=options.check_uninitialized,
        max_memory_bytes=int(options.max_memory * 1e9),
        usage=options.counts,
        trace=path,
        trace_form="binary" if form == "binary" else "text",
        trace_region=options.trace_region,
        trace_window=options.trace_window,
        trace_limit=None if options.trace_limit is None else int(options.trace_limit * 1e9),
        late_starts=options.late_starts,
    )


def report(simulator: Simulator, options: RunOptions, number: int) -> None:
    """Print and write where the cycles went, as far as that is asked for."""
    usage = simulator.usage_json()
    if options.report_json and usage:
        Path(numbered(options.report_json, number)).write_text(usage + "\n")
    if options.report:
        print(simulator.usage_table(), file=sys.stderr)
