"""spcl/spatial-collectives, reduce and allreduce in a row and on a square, WSE-2, f32.

Its programs clock themselves: PEs are synchronised, then take stamps, and its host script prints
the last end minus the first start, clocks aligned by each PE's distance from PE (0, 0). The same is
done here with the stamps, once for each size of its commands files, and the result is compared.
"""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from peers import Measured, Point, compiled, copied, difference, numbers

NAME = "spcl/spatial-collectives"
HAS = "commands_inc.sh"  # what a folder of it has
# Its patterns by number; the last one is a star in a row and a snake on a grid.
LINE = ("chain", "two_phase", "binomial", "star")
GRID = ("chain", "two_phase", "binomial", "snake")

HEAD = "target wse2\ngrid pes = {width} x {height}\n"
CALL = (
    "collective total = {what}(x: f32[{length}], add) on pes {{\n{steps}}}\nprogram {{ total }}\n"
)


@dataclass(frozen=True)
class Case:
    """What is run: `pattern` by number, or None for the tree that its own search finds."""

    width: int
    height: int
    length: int
    pattern: int | None
    is_allreduce: bool

    @property
    def name(self) -> str:
        """The pattern in its words."""
        return "pre_order" if self.pattern is None else self._named

    @property
    def _named(self) -> str:
        assert self.pattern is not None
        return (LINE if self.height == 1 else GRID)[self.pattern]

    @property
    def params(self) -> dict[str, int]:
        """Of its layout, as its commands files say."""
        return {
            "Nx_start": self.length,
            "Pw": self.width,
            "Ph": self.height,
            "Algo": self.pattern or 0,
            "is_allred": int(self.is_allreduce),
            "step": math.isqrt(self.width),
        }


def points(folder: Path) -> Iterator[Point]:
    """Every pattern at every size of its commands files."""
    for case in _cases():
        what = f"{'allreduce' if case.is_allreduce else 'reduce'} {case.name}"
        yield Point(
            NAME,
            what,
            "wse2",
            f"{case.width} x {case.height}",
            case.length,
            lambda scratch, case=case: _run(folder, scratch, case),  # type: ignore[misc]
            _ours(case),
            case.width * case.height * (200 + case.length) * (8 if case.name == "star" else 1),
        )


def _cases() -> Iterator[Case]:
    by_pes = [(2**k, 256) for k in range(2, 9)]
    by_length = [(512, 2**k) for k in range(13)]
    for pes, length in by_pes + by_length:
        for is_square in (False, True):
            height = pes if is_square else 1
            # The largest square has the patterns at one element, the search at all lengths.
            for pattern in range(0 if is_square and pes > 256 and length > 1 else 4):
                for is_allreduce in (False, True):
                    yield Case(pes, height, length, pattern, is_allreduce)
            yield Case(pes, height, length, None, is_allreduce=False)


def _ours(case: Case) -> Mapping[str, str]:
    """The same pattern where there is one, and what `auto` takes."""
    head = HEAD.format(width=case.width, height=case.height)
    what = "allreduce" if case.is_allreduce else "reduce"
    back = "    then broadcast from auto\n" if case.is_allreduce else ""
    texts = {"auto": "    run auto\n"}
    if case.pattern is not None:
        tree = f"two_phase(S = {math.isqrt(case.width)})" if case.pattern == 1 else case.name
        steps = f"    reduce {tree} to 0\n"
        if case.name == "snake":
            steps = "    order snake\n    reduce chain to 0\n"
        elif case.height > 1:
            steps = f"    reduce columns by {tree} to 0\n    then reduce row by {tree} to 0\n"
        texts = {"same pattern": steps + back} | texts
    return {
        name: head + CALL.format(what=what, length=case.length, steps=steps)
        for name, steps in texts.items()
    }


def _run(folder: Path, scratch: Path, case: Case) -> Measured:
    theirs = copied(folder, scratch)
    dimension = "1d" if case.height == 1 else "2d"
    layout = f"layout_{dimension}_test_inc.csl"
    if case.pattern is None:
        layout = f"layout_{dimension}_pre_order_test.csl"
        arguments = ["generate_pre_order_2d.py", str(case.width), str(case.length), "x"]
        subprocess.run([sys.executable, *arguments], cwd=theirs, capture_output=True, check=True)
    simulator = compiled(theirs / layout, "wse2", case.params)
    # On a grid the search's program warms up with the vector itself: ones, three sums.
    is_warmed = case.pattern is None and case.height > 1
    pes = (0, 0, case.width, case.height)
    given = numbers(7, case.height, case.width, case.length)
    if not is_warmed:
        simulator.memcpy_h2d("x", given.reshape(-1), *pes, case.length)
    simulator.launch("f_sync", np.int16(1))
    simulator.launch("f_memcpy_timestamps")
    found = simulator.memcpy_d2h("x", "float32", 0, 0, 1, 1, case.length)
    wanted = given.sum(axis=(0, 1), dtype=np.float64)
    if is_warmed:
        wanted = np.full(case.length, 3.0 * float(case.width * case.height) ** 3)
    return Measured(_cycles(simulator, case), difference(found, wanted, 1e-4))


def _cycles(simulator, case: Case) -> int:  # type: ignore[no-untyped-def]
    """The last end minus the first start, as its host script has it."""
    pes = (0, 0, case.width, case.height)
    shape = (case.height, case.width, -1)
    power = np.array([1, 1 << 16, 1 << 32], dtype=np.int64)
    stamps = simulator.memcpy_d2h("time_buf_u16", "uint16", *pes, 6).astype(np.int64).reshape(shape)
    own = (
        simulator.memcpy_d2h("time_ref", "uint16", *pes, 3).astype(np.int64).reshape(shape) @ power
    )
    reference = own - (np.add.outer(np.arange(case.height), np.arange(case.width)) + 2)
    start, end = stamps[..., :3] @ power - reference, stamps[..., 3:] @ power - reference
    return int(end.max() - start.min())
