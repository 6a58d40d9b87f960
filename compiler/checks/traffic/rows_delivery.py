"""The rows of an exchange come to their end and leave what the schedule says.

One line is run without any buffer (`collc.checks.step_table_run`). If it ends there, it ends on
every fabric, and with the same result, provided that no PE changes what it is sending at the same
time, which `rows_hazards` shows.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from collc.base.diagnostics import Diagnostic
from collc.base.memoize import memoized
from collc.checks.by_phase import due_steps, in_phase
from collc.checks.step_table_entries import step_tables_of
from collc.checks.step_table_run import Run, due, run_rows
from collc.plan import Phase, Plan
from collc.plan.dynamic_lengths import phase_of_length
from collc.plan.unrolled import connections, unrolled
from collc.spec.exchange import StepsPhase

SHOWN = 3


def rows_delivery(plan: Plan) -> Iterator[Diagnostic]:
    """C321: rows that wait for ever. C322: other slices arrive than the schedule says."""
    for phase in step_tables_of(plan):
        steps = due_steps(plan, phase)
        yield from _problems(phase_of_length(phase, phase.slicing.count), steps)


@memoized
def _problems(phase: Phase, steps: StepsPhase) -> tuple[Diagnostic, ...]:
    target, lost = connections(phase)
    if lost:
        return ()  # another check says so
    run = run_rows(unrolled(phase), target, phase)
    if run.problem:
        return (_wrong(phase, run.problem),)
    if run.stuck:
        return (_stuck(phase, run),)
    return tuple(_differing(phase, steps, run))


def _stuck(phase: Phase, run: Run) -> Diagnostic:
    """C321, with the first places that wait and what for."""
    lanes = phase.lanes
    parts = []
    for lane, waits in run.stuck[:SHOWN]:
        place, index = divmod(lane, len(lanes))
        parts.append(f"place {place} waits on lane `{lanes[index]}` {waits}")
    more = len(run.stuck) - SHOWN
    if more > 0:
        parts.append(f"and {more} more")
    return Diagnostic(
        "C321",
        f"`{phase.name}` gets stuck: {', '.join(parts)}",
        phase.span,
        help="what is sent in a step has to be received in the same step, in one order",
    )


def _differing(phase: Phase, steps: StepsPhase, run: Run) -> Iterator[Diagnostic]:
    """C322 for the first place and element that ends up with something else."""
    wrong = np.argwhere(run.held != due(replace(steps, slicing=phase.slicing)))
    if len(wrong):
        place, slice_ = (int(n) for n in wrong[0])
        first, last = int(run.bounds[slice_]), int(run.bounds[slice_ + 1]) - 1
        yield _wrong(phase, f"place {place} ends with other values in elements {first} to {last}")


def _wrong(phase: Phase, problem: str) -> Diagnostic:
    return in_phase(
        "C322", phase, problem, "the rows do not follow the schedule; please report this"
    )
