"""Predicted cycles against the number of colors that a collective, or a program, may use."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from collc.base.diagnostics import CollcError
from collc.base.values import dataclass
from collc.cost import predict_program
from collc.driver.planning import planned, planned_program
from collc.driver.proving import proved, proved_together
from collc.lowering.reconfiguration import reconfiguration_bytes
from collc.machine.prediction import Prediction
from collc.plan.plan import ProgramPlan
from collc.schedule import Schedule
from collc.spec import Collective, Program, Spec
from collc.target import TARGETS, Target
from collc.tuning.dynamic_length import with_limits
from collc.tuning.time_multiplexed import time_multiplexed


@dataclass(frozen=True)
class Allowed:
    """The plan within a number of colors: what it takes, the numbers of the colors that are
    `torn_down` between uses, and the bytes a PE that takes; or why there is none.

    All others are None exactly when `refused` is not empty.
    """

    allowed: int
    colors: int | None
    cycles: int | None
    refused: str
    torn_down: tuple[int, ...] | None
    reconfiguration_bytes: int | None


def by_colors(collective: Collective, target: Target, counts: range) -> Iterator[Allowed]:
    """The fastest of what is compiled within each number of colors, within fewer, and without a
    limit where that needs no more, so that more colors never take more cycles. The collective's own
    limit is left aside."""
    best: Allowed | None = None
    schedule = proved(collective, target)  # whatever the limit
    try:
        unlimited = _with_own_colors(schedule, target, None)
    except CollcError:
        unlimited = None
    for count in range(1, counts.stop):
        if unlimited is not None and len(unlimited[0].color_numbers) <= count:
            row = _allowed(count, *unlimited)
        else:
            row = _alone_or_time_multiplexed(schedule, target, count)
        if best is not None and (row.refused or _takes(best) <= _takes(row)):
            row = replace(best, allowed=count)
        best = best if row.refused else row
        if count in counts:
            yield row


def _takes(row: Allowed) -> tuple[int, int, int]:
    """Of equal cycles those without turns are better, then those on fewer colors."""
    return row.cycles or 0, len(row.torn_down or ()), row.colors or 0


def _with_own_colors(
    schedule: Schedule, target: Target, limit: int | None
) -> tuple[ProgramPlan, Prediction]:
    """The plan in which each phase has colors of its own; raises CollcError if none keeps the
    limit."""
    limits = replace(schedule.collective.limits, colors=limit, colors_span=None)
    limited = replace(schedule.collective, limits=limits)
    return planned(replace(schedule, collective=limited), target)


def _alone_or_time_multiplexed(schedule: Schedule, target: Target, count: int) -> Allowed:
    """With colors of their own for all phases, else with phases that share them."""
    try:
        return _allowed(count, *_with_own_colors(schedule, target, count))
    except CollcError as error:
        found = time_multiplexed(schedule, target, count)
        return _refused(count, error) if found is None else _allowed(count, *found)


def program_by_colors(spec: Spec, program: Program, counts: Iterable[int]) -> Iterator[Allowed]:
    """The plan of a program `within colors <=` each number; its own limit is left aside. Raises
    CollcError if it is at fault whatever the limit."""
    proved_for: Spec | None = None
    for count in counts:
        limited = replace(spec, program=replace(program, colors=count, colors_span=None))
        limited = with_limits(limited)  # of a choice by length they depend on the colors
        assert limited.program is not None
        if proved_for is None or proved_for.collectives != limited.collectives:
            proved_for, schedules = limited, proved_together(limited, limited.program)
        yield _program_within(count, limited.program, schedules, TARGETS[spec.target])


def _program_within(
    count: int, program: Program, schedules: tuple[Schedule, ...], target: Target
) -> Allowed:
    try:
        plan = planned_program(schedules, program, target)
    except CollcError as error:
        return _refused(count, error)
    return _allowed(count, plan, predict_program(plan))


def _allowed(count: int, plan: ProgramPlan, prediction: Prediction) -> Allowed:
    torn_down = tuple(sorted(color.number for color in plan.colors if color.torn_down))
    size = reconfiguration_bytes(plan)
    return Allowed(count, len(plan.color_numbers), prediction.cycles, "", torn_down, size)


def _refused(count: int, error: CollcError) -> Allowed:
    first = error.diagnostics[0]
    return Allowed(count, None, None, f"{first.code}: {first.message}", None, None)


def show_by_colors(found: Iterable[Allowed]) -> str:
    """The same as a table."""
    rows: list[tuple[str, ...]] = [
        ("allowed", "taken", "predicted cycles", "bytes to reconfigure", "torn down")
    ]
    rows += [(str(row.allowed), *_cells(row)) for row in found]
    widths = [max(len(row[column]) for row in rows if row[1] != "-") for column in range(4)]
    lines = []
    for allowed, taken, *rest in rows:
        cells = [allowed.rjust(widths[0]), taken.rjust(widths[1])]
        if taken != "-":
            cells += [rest[0].rjust(widths[2]), rest[1].rjust(widths[3])]
        lines.append("  ".join([*cells, rest[-1]]))
    return "\n".join(lines) + "\n"


def _cells(row: Allowed) -> tuple[str, ...]:
    """All but the number allowed; of a limit that is refused only why."""
    if row.torn_down is None:
        return "-", "", "", row.refused
    numbers = ", ".join(map(str, row.torn_down)) or "none"
    return str(row.colors), str(row.cycles), str(row.reconfiguration_bytes), numbers
