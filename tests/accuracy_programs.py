"""Points of `tests/accuracy.py` that are texts: programs of several calls, calls in flight at the
same time, lengths that the call gives, and operations of one's own. Each is chosen by its number.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from programs import test_random_parts, test_random_programs

from collc.target import TARGETS

TREES = ("chain", "star", "binomial", "two_phase(S = 4)")
ALGORITHMS = ("ring_allreduce", "halving_doubling", "recursive_doubling")
NUMBERS = ("f32", "i32", "u32", "i16")
# associative and commutative on whole numbers and on floats, in NumPy's order of operands, too
OPERATIONS = ("max(a, b)", "a + b", "a * b", "a * b + a + b", "max(max(a, -a), max(b, -b))")


@dataclass(frozen=True)
class TextPoint:
    """A program to be measured, for a target, with these dynamic lengths."""

    about: str
    kind: str
    text: str
    lengths: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def text_point(number: int) -> TextPoint:
    """The program with this number: one of four is of each kind."""
    pick = random.Random(f"text {number}")
    kind = KINDS[number % len(KINDS)]
    text, lengths = _MADE[kind](pick)
    target = text.partition("\n")[0].split()[-1]
    size = next(line for line in text.splitlines() if line.startswith("grid"))
    calls = next(line for line in text.splitlines() if line.startswith("program"))
    given = " ".join(f"{name} = {of[0]}" for name, of in lengths.items())
    about = " ".join(f"{number} {target} {size.partition(' = ')[2]} {calls} {given}".split())
    return TextPoint(about, kind, text, lengths)


Made = tuple[str, Mapping[str, tuple[int, ...]]]


def _program(pick: random.Random) -> Made:
    return test_random_programs.random_program(pick), {}


def _joined(pick: random.Random) -> Made:
    """The first one drawn with calls that are joined."""
    while " and " not in (text := test_random_parts.random_program(pick)):
        pass
    return text, {}


def _of_dynamic_length(pick: random.Random) -> Made:
    most = round(1000 ** pick.random())
    element = pick.choice(NUMBERS)
    operation = pick.choice(("add", "max", "min"))
    body = _line(pick, f"x: {element}[n <= {most}], {operation}")
    return body, {"n": (pick.randint(1, most),)}


def _of_own_operation(pick: random.Random) -> Made:
    chosen, element = pick.choice(OPERATIONS), pick.choice(NUMBERS)
    if element.startswith("u") and "-" in chosen:
        element = "i32"
    declared = f"operation own(a, b: {element}) commutative assume associative = {chosen}"
    return _line(pick, f"x: {element}[{round(1000 ** pick.random())}], own", declared), {}


def _line(pick: random.Random, vector: str, declared: str = "") -> str:
    """A row that is reduced by a tree, half of them broadcast again, or by an algorithm."""
    pes, target = pick.randint(2, 60), pick.choice(sorted(TARGETS))
    order = pick.choice(("west_to_east", "east_to_west"))
    root = 0 if order == "west_to_east" else pes - 1
    kind, tree = pick.choice(("reduce", "allreduce")), pick.choice(TREES)
    steps = f"order {order} reduce {tree} to {root}"
    if kind == "allreduce":
        steps += f" then broadcast from {root}"
        if pick.random() < 0.3:
            steps = f"order west_to_east run {pick.choice(ALGORITHMS)}"
    lines = [f"target {target}", f"grid row = {pes} x 1", declared]
    lines += [f"collective c = {kind}({vector}) on row {{ {steps} }}", "program { c }"]
    return "\n".join(line for line in lines if line) + "\n"


_MADE: dict[str, Callable[[random.Random], Made]] = {
    "programs": _program,
    "joined calls": _joined,
    "dynamic lengths": _of_dynamic_length,
    "own operations": _of_own_operation,
}
KINDS = tuple(_MADE)
