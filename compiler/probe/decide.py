"""What a probe decides: what its header says, against what was seen."""

import operator
import re
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Protocol

import numpy as np

from collc.base.values import dataclass
from collc.probe.job import Job, Seen, Status, Tool, job_of
from collc.probe.program import Program

_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}
_RELATION = re.compile(r"(.+?) (<=|>=|=|<|>) (-?\d+)")
_TERM = re.compile(r"(\w+)\[(\d+)\](?: \((\d+), (\d+)\))?")
_HELD = ("leftover", "host", "unsupported", "limit")  # errors that only fabsim gives


class Verdict(Enum):
    """What is known of a rule, the strongest first."""

    REFUTED = "refuted"
    CONFIRMED = "confirmed"
    OPEN = "not decided"


@dataclass(frozen=True)
class Finding:
    """What one probe shows on one architecture."""

    probe: str
    arch: str
    verdict: Verdict
    seen: str


class Explains(Protocol):
    """Who knows what follows from cycles."""

    def shows(self, job: Job, seen: Seen) -> bool:
        """Whether a job may come to that by cycles alone."""


def decide(program: Program, arch: str, tool: Tool, fitted: Explains | None) -> Finding:
    """Do the jobs of a probe. What follows from cycles, as `fitted` knows, refutes nothing else."""
    verdict, seen = _decided(program, arch, tool, fitted)
    return Finding(program.name, arch, verdict, seen)


def _decided(
    program: Program, arch: str, tool: Tool, fitted: Explains | None
) -> tuple[Verdict, str]:
    sdk = program.value("sdk", arch, "")
    if sdk and tool.release is not None and sdk != tool.release:
        which = "whatever release it finds out" if sdk == "unsaid" else f"SDK {sdk}"
        return Verdict.OPEN, f"it is about {which}"
    if program.is_refused(arch):
        return _refusals(program, arch, tool)
    job = job_of(program, arch)
    seen = tool.do(job)
    if seen.status is Status.UNABLE:
        return Verdict.OPEN, f"not tried: {seen.said}"
    expected = next(iter(program.values("fails", arch)), None)
    if expected is not None:
        verdict, text = _failure(expected, seen)
    else:
        verdict, text = _results(program, job, seen)
    if verdict is Verdict.REFUTED and fitted is not None and fitted.shows(job, seen):
        return Verdict.OPEN, f"as cycles that are fitted or open have it: {text}"
    return verdict, text


def _refusals(program: Program, arch: str, tool: Tool) -> tuple[Verdict, str]:
    """Each line that must be refused, alone; none of them, which must be accepted."""
    lines = program.refused_lines(arch)
    plain = tool.do(job_of(program, arch, 0)) if lines else None
    if plain is None or plain.status is not Status.RAN:
        why = f": {plain.said}" if plain else ""
        return Verdict.OPEN, f"there is no counterpart that is accepted{why}"
    accepted, said = [], ""
    for line in lines:
        seen = tool.do(job_of(program, arch, line))
        if seen.status is Status.UNABLE:
            return Verdict.OPEN, f"not tried: {seen.said}"
        if seen.status is Status.RAN:
            accepted.append(line)
        said = said or seen.said
    if accepted:
        numbers = ", ".join(map(str, accepted))
        return Verdict.REFUTED, f"accepted: line {numbers} of {len(lines)} to be refused"
    return Verdict.CONFIRMED, f"refused: {said}"


def _failure(expected: str, seen: Seen) -> tuple[Verdict, str]:
    """A run that has to end with an error: silence is no proof, nor is an end without one."""
    kind = expected.partition(":")[0]
    if seen.status is Status.REFUSED:
        return Verdict.OPEN, f"refused: {seen.said}"
    if seen.status is Status.STOOD:
        return Verdict.OPEN, f"no end in the time given, which may mean anything; {seen.said}"
    if seen.status is Status.RAN:
        return Verdict.REFUTED, f"it ran to its end, where {kind} was expected"
    if seen.kind and seen.kind != kind:
        return Verdict.REFUTED, f"{seen.kind}, where {kind} was expected: {seen.said}"
    if seen.kind == kind or kind not in ("stuck", *_HELD):
        return Verdict.CONFIRMED, f"it ends with an error: {seen.said}"
    return Verdict.OPEN, f"it ends with an error, perhaps another one: {seen.said}"


def _results(program: Program, job: Job, seen: Seen) -> tuple[Verdict, str]:
    if seen.status is Status.REFUSED:
        return Verdict.OPEN, f"the compiler refuses the program: {seen.said}"
    if seen.status is not Status.RAN:
        return Verdict.REFUTED, f"{seen.status.value}: {seen.said}"
    found = [check(seen) for check in _checks(program, job)]
    decided = [result for result in found if result is not None]
    if not decided:
        return Verdict.OPEN, "it ran to its end; what it shows cannot be read off there"
    wrong = next(filter(None, decided), "")
    return (Verdict.REFUTED, wrong) if wrong else (Verdict.CONFIRMED, "the results are as stated")


Check = Callable[[Seen], str | None]
"""What is wrong, empty if nothing is; None if that cannot be seen."""


def _checks(program: Program, job: Job) -> Iterator[Check]:
    types = {name: element for name, element, _ in job.reads}
    for entry in program.entries:
        if entry.arch not in (None, job.arch):
            continue
        name, _, place = entry.key.partition(" (")
        if entry.key == "relation":
            yield _relation(entry.value)
        elif name in types:
            yield _values(name, place.rstrip(")") or "0, 0", entry.value, types[name])


def _values(name: str, place: str, values: str, element: str) -> Check:
    x, _, y = place.partition(", ")
    wanted = [bits(word, element) for word in values.split()]

    def check(seen: Seen) -> str | None:
        rows = seen.words.get(name)
        if rows is None:
            return None
        for at_y, row in enumerate(rows):
            for at_x, found in enumerate(row):
                here = x in ("*", str(at_x)) and y in ("*", str(at_y))
                if here and found[: len(wanted)] != wanted:
                    shown = " ".join(map(str, found[: len(wanted)]))
                    stated = " ".join(map(str, wanted))
                    return f"{name} of PE ({at_x}, {at_y}) is {shown}, not {stated} (raw words)"
        return ""

    return check


def _relation(text: str) -> Check:
    """`TERM - TERM OP NUMBER` of words; what a launch took is known to fabsim alone."""

    def check(seen: Seen) -> str | None:
        parts = _RELATION.fullmatch(text)
        if not parts or "cycles(" in text:
            return None
        left = evaluate(parts[1], seen)
        if left is None or _COMPARE[parts[2]](left, int(parts[3])):
            return None if left is None else ""
        return f"{text} does not hold: the left side is {left}"

    return check


def evaluate(expression: str, seen: Seen) -> int | None:
    """A term, or the difference of two; None where a word was not read."""
    terms = []
    for part in expression.split(" - "):
        found = _TERM.fullmatch(part.strip())
        if not found or found[1] not in seen.words:
            return None
        x, y = int(found[3] or 0), int(found[4] or 0)
        word = seen.words[found[1]][y][x][int(found[2])]
        terms.append(word - (1 << 32) if word >> 31 else word)
    return terms[0] - sum(terms[1:])


def bits(text: str, element: str) -> int:
    """The raw bits of a value as a header writes it; hexadecimal numbers are the bits."""
    if text.startswith("0x"):
        return int(text, 16)
    if element == "f32":
        return int(np.float32(text).view(np.uint32))
    if element == "f16":
        with np.errstate(over="ignore"):
            return int(np.float32(text).astype(np.float16).view(np.uint16))
    wide = element in ("i32", "u32")
    return int(text) & (0xFFFFFFFF if wide else 0xFFFF)
