"""Predicted cycles against the number of colors that a collective, or a program, may use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from collc.cost.program import predict_program
from collc.diagnostics import CollcError
from collc.lowering.reconfiguration import reconfiguration_bytes
from collc.pipeline import planned, proved
from collc.programs import planned_program, proved_together
from collc.schedule import Schedule
from collc.spec import Collective, Program, Spec
from collc.target import TARGETS, Target
from collc.tokens import with_tokens
from collc.tuning.by_length import with_limits


@dataclass(frozen=True)
class Allowed:
    """The best plan within a number of colors: what it takes, or why there is none.

    `colors` and `cycles` are None exactly when `refused` is not empty.
    """

    allowed: int
    colors: int | None
    cycles: int | None
    refused: str


@dataclass(frozen=True)
class ProgramAllowed(Allowed):
    """The same of a program of several calls: also the numbers of the colors that are `torn_down`
    between uses, and the bytes a PE that takes; None where it is refused."""

    torn_down: tuple[int, ...] | None
    reconfiguration_bytes: int | None


def by_colors(collective: Collective, target: Target, counts: Iterable[int]) -> Iterator[Allowed]:
    """The best plan for each number of colors; the collective's own limit is left aside."""
    for count in counts:
        limits = replace(collective.limits, colors=count, colors_span=None)
        limited = replace(collective, limits=limits)
        try:
            plan, prediction = planned(with_tokens(proved(limited, target)), target)
        except CollcError as error:
            yield Allowed(count, None, None, _why(error))
        else:
            yield Allowed(count, len(plan.colors), prediction.cycles, "")


def program_by_colors(
    spec: Spec, program: Program, counts: Iterable[int]
) -> Iterator[ProgramAllowed]:
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
) -> ProgramAllowed:
    try:
        plan = planned_program(schedules, program, target)
    except CollcError as error:
        return ProgramAllowed(count, None, None, _why(error), None, None)
    torn_down = tuple(sorted(color.number for color in plan.colors if color.torn_down))
    cycles, size = predict_program(plan).cycles, reconfiguration_bytes(plan)
    return ProgramAllowed(count, len(plan.colors), cycles, "", torn_down, size)


def _why(error: CollcError) -> str:
    first = error.diagnostics[0]
    return f"{first.code}: {first.message}"


def show_by_colors(found: Iterable[Allowed]) -> str:
    """The same as a table."""
    lines = ["allowed  taken  predicted cycles"]
    for row in found:
        if row.refused:
            lines.append(f"{row.allowed:>7}      -  {row.refused}")
        else:
            lines.append(f"{row.allowed:>7}  {row.colors:>5}  {row.cycles:>16}")
    return "\n".join(lines) + "\n"


def show_program_by_colors(found: Iterable[ProgramAllowed]) -> str:
    """The same for a program, with what is torn down."""
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


def _cells(row: ProgramAllowed) -> tuple[str, ...]:
    """All but the number allowed; of a limit that is refused only why."""
    if row.torn_down is None:
        return "-", "", "", row.refused
    numbers = ", ".join(map(str, row.torn_down)) or "none"
    return str(row.colors), str(row.cycles), str(row.reconfiguration_bytes), numbers
