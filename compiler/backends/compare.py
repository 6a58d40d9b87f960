"""One program on several back ends: what each makes of it, and whether they agree."""

import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from collc.backends import opened
from collc.backends.interface import (
    BackEnd,
    CompileError,
    Job,
    Outcome,
    Settings,
    UnavailableError,
)
from collc.base.files import write_files
from collc.base.values import dataclass
from collc.target.fabric import Fabric

SUCCESS = "SUCCESS!"
_CYCLES = re.compile(r"^cycles: (\d+), starts within (\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Row:
    """What a back end made of a program: `result` is right, wrong, refused (by the compiler) or
    skipped; `why` says more where it is not right.

    `cycles` are those of the slowest launch from the first start of a PE to the last end,
    `starts_within` how far the starts were apart; None where the program has no time stamps or did
    not come to its end. `against` is the difference from the prediction, as a part of it: the
    prediction is of PEs that begin together and take no stamps, so how far the starts were apart,
    and what a stamp takes, is no difference.
    """

    on: str
    tools: str
    result: str
    cycles: int | None = None
    starts_within: int | None = None
    against: float | None = None
    why: str = ""


@dataclass(frozen=True)
class Trial:
    """A program to be tried: its files, target, and prediction in cycles; and the cycles of taking
    a time stamp, if it takes some."""

    files: Mapping[str, str]
    arch: str
    predicted: int
    stamp: int = 0


@dataclass(frozen=True)
class Place:
    """A back end by name, the fabric there, and what run.py is told."""

    name: str
    fabric: Fabric
    arguments: tuple[str, ...]


def tried(trial: Trial, places: Iterable[Place], settings: Settings) -> list[Row]:
    """A row for each back end."""
    with tempfile.TemporaryDirectory(prefix="collc-bundle-") as folder:
        write_files(Path(folder), trial.files)
        return [
            _row(trial, Job(Path(folder), place.fabric.options(trial.arch)), place, settings)
            for place in places
        ]


def _row(trial: Trial, job: Job, place: Place, settings: Settings) -> Row:
    """What one back end makes of it; a connection that breaks is as no connection."""
    tools = ""
    try:
        with opened(place.name, settings) as back_end:
            tools = back_end.tools
            return _judged(trial, job, place, back_end)
    except UnavailableError as error:
        return Row(place.name, tools, "skipped", why=str(error))


def _judged(trial: Trial, job: Job, place: Place, back_end: BackEnd) -> Row:
    row = Row(back_end.name, back_end.tools, "right")
    try:
        compiled = back_end.compile(job)
    except CompileError as error:
        return replace(row, result="refused", why=str(error))
    outcome = back_end.run(compiled, "run.py", place.arguments)
    row = _with_times(row, outcome, trial)
    if outcome.status or SUCCESS not in outcome.output:
        return replace(row, result="wrong", why=_said(outcome))
    return row


def _with_times(row: Row, outcome: Outcome, trial: Trial) -> Row:
    """A row with the cycles of the slowest launch, if the program says what it took."""
    found = [(int(cycles), int(within)) for cycles, within in _CYCLES.findall(outcome.output)]
    if not found:
        return row
    cycles, within = max(found)
    predicted = trial.predicted
    nearest = min(max(predicted, cycles - within - trial.stamp), cycles)
    against = (nearest - predicted) / predicted if predicted else None
    return replace(row, cycles=cycles, starts_within=within, against=against)


def _said(outcome: Outcome) -> str:
    """What a run that failed said last."""
    said = (outcome.errors.strip() or outcome.output.strip()).splitlines()
    return said[-1] if said else f"status {outcome.status}"


def differing(rows: Iterable[Row], tolerance: float) -> list[str]:
    """What is not as it should be, in words: results, and cycles that are further from the
    prediction than the tolerance, a part of it. Nothing for what was skipped."""
    found = []
    for row in rows:
        if row.result in {"wrong", "refused"}:
            found.append(f"{row.on}: {row.why}")
        elif row.against is not None and abs(row.against) > tolerance:
            found.append(
                f"{row.on}: {row.cycles} cycles are {row.against:+.1%} from the prediction, "
                f"beyond {tolerance:.1%}"
            )
    return found
