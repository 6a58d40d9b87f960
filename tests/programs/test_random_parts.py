"""Random programs on parts of a grid and on its lines, with calls that are in flight at the same
time: what the checks let pass delivers.

`COLLC_PROGRAMS` sets how many of them are run, `COLLC_FIRST_PROGRAM` which is the first.
"""

from __future__ import annotations

import os
import random
from itertools import pairwise

import pytest
from programs.test_random_programs import STEPS, collective_on

from collc.base.diagnostics import CollcError
from collc.driver.pipeline import compile_text

BATCHES = 5
CASES = int(os.environ.get("COLLC_PROGRAMS", "10"))
FIRST = int(os.environ.get("COLLC_FIRST_PROGRAM", "0"))


def random_program(rng: random.Random, steps: float = STEPS) -> str:
    """Collectives on all PEs, on parts and on lines; calls one by one or joined."""
    width, height = rng.randint(2, 6), rng.randint(2, 5)
    lines = [f"target {rng.choice(('wse2', 'wse3'))}", f"grid all = {width} x {height}"]
    names = [f"c{i}" for i in range(rng.randint(2, 6))]
    for i, name in enumerate(names):
        declared, place, size = _place(rng, f"part{i}", width, height)
        made = collective_on(rng, place, f"v{i}", size, steps)
        lines += [*declared, f"collective {name} = {made}"]
    calls = names + [rng.choice(names) for _ in range(rng.randint(0, 2))]
    rng.shuffle(calls)
    body = calls[0]
    for before, call in pairwise(calls):
        joined = call not in body.rpartition(",")[2].split() and rng.random() < 0.4
        body += f" and {call}" if joined and before != call else f", {call}"
    if rng.random() < 0.5:
        body = f"repeat {rng.randint(2, 4)} {{ {body} }}"
    limit = f"within colors <= {rng.randint(3, 8)}" if rng.random() < 0.6 else ""
    way = rng.choice(("", "reconfigure teardown"))
    return "\n".join([*lines, f"program {{ {body} {limit} {way} }}"])


def _place(
    rng: random.Random, name: str, width: int, height: int
) -> tuple[list[str], str, tuple[int, int]]:
    """What has to be declared, where a collective is, and how large that is."""
    declared, grid = [], "all"
    if rng.random() < 0.6:
        left, top = rng.randrange(width), rng.randrange(height)
        right, bottom = rng.randrange(left, width), rng.randrange(top, height)
        declared, grid = [f"grid {name} = all[{left} .. {right}, {top} .. {bottom}]"], name
        width, height = right - left + 1, bottom - top + 1
    line = rng.choice(("", "row", "column"))
    if line == "row":
        return declared, f"each row of {grid}", (width, 1)
    if line == "column":
        return declared, f"each column of {grid}", (1, height)
    return declared, grid, (width, height)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_programs_on_parts_deliver(batch: int) -> None:
    for case in range(FIRST + batch, FIRST + CASES, BATCHES):
        rng = random.Random(case)
        text = random_program(rng)
        try:
            bundle = compile_text(text, "random.coll", {}, None, rng.choice((0, 30, 200)))
        except CollcError as error:
            codes = {diagnostic.code for diagnostic in error.diagnostics}
            assert codes <= {"C302", "C305", "C334", "C335"}, f"{case}: {error}\n{text}"
            continue
        report = bundle.run(seed=case)
        assert report.verified, f"case {case}: {report.problem}\n{text}"
