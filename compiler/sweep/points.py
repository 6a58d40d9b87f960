"""A point of a sweep: one program with all its parameters, and what came of it."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

from collc.base.cache import tools
from collc.base.diagnostics import CollcError, shown
from collc.base.reading import read_regular, resolved
from collc.base.values import dataclass
from collc.driver.api import compile
from collc.language.source import MAX_SOURCE_BYTES
from collc.run import RunError

VERIFIED, REFUSED, FAILED = "verified", "refused", "failed"


class OtherToolsError(Exception):
    """A worker has another compiler, simulator or file than the sweep was begun with."""


@dataclass(frozen=True)
class Point:
    """What a worker is told. `values` are parameters in the order of their names; `tools` and
    `text` are hashes of what it has to have: compiler and simulator, and the file."""

    file: str
    values: tuple[tuple[str, int], ...]
    target: str | None
    tools: str
    text: str
    repeats: int = 1

    @property
    def key(self) -> list[object]:
        """What the point is called where answers are kept: plain data."""
        return [[list(value) for value in self.values], self.target, self.repeats]


@dataclass(frozen=True)
class Verdict:
    """What came of a point. `code` and `message` say why it was not verified; cycles, colors and
    bytes are 0 of what was refused, and `cycles` of what failed."""

    verdict: str
    code: str = ""
    message: str = ""
    cycles: int = 0
    predicted_cycles: int = 0
    bound_cycles: int = 0
    colors: int = 0
    memory_bytes: int = 0


def points_of(
    file: Path,
    over: Mapping[str, Sequence[int]],
    given: Mapping[str, int],
    targets: Iterable[str | None],
    repeats: int = 1,
) -> Iterator[Point]:
    """Every combination of values, the first parameter changing slowest, for each target. A file
    that cannot be read is an OSError."""
    text = hash_of(file)
    for target, values in product(tuple(targets), product(*over.values())):
        named = {**given, **dict(zip(over, values, strict=True))}
        yield Point(str(file), tuple(sorted(named.items())), target, tools(), text, repeats)


def hash_of(file: Path) -> str:
    """A hash of a program and of all that it may import: the programs beside it and below."""
    text = read_regular(resolved(file), MAX_SOURCE_BYTES)
    digest = hashlib.sha256(text)
    for path in sorted(file.parent.rglob("*.coll")) if b"import" in text else ():
        with suppress(OSError):  # what cannot be read as a program is not imported either
            digest.update(read_regular(resolved(path), MAX_SOURCE_BYTES))
    return digest.hexdigest()


def judge(point: Point) -> Verdict:
    """Compile a point, run it on fabsim and compare. Raises OtherToolsError."""
    file = Path(point.file)
    if (tools(), hash_of(file)) != (point.tools, point.text):
        raise OtherToolsError(f"this worker has another collc, fabsim or {shown(file.name)}")
    values: dict[str, Any] = dict(point.values)
    try:
        bundle = compile(file, target=point.target, **values)
    except CollcError as error:
        first = error.diagnostics[0]
        return Verdict(REFUSED, first.code, first.message)
    found = Verdict(
        FAILED,
        predicted_cycles=bundle.prediction.cycles,
        bound_cycles=bundle.prediction.bound,
        colors=bundle.color_count,
        memory_bytes=bundle.memory_bytes,
    )
    try:
        report = bundle.run(repeats=point.repeats)
    except RunError as error:
        return _because(found, str(error))
    if not report.verified:
        return _because(found, report.problem)
    return Verdict(**{**vars(found), "verdict": VERIFIED, "cycles": report.cycles})


def _because(found: Verdict, message: str) -> Verdict:
    return Verdict(**{**vars(found), "message": message.partition("\n")[0]})
