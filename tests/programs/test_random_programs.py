"""Random programs of two to eight collectives: what the checks let pass delivers.

`COLLC_PROGRAMS` sets how many of them are run, `COLLC_FIRST_PROGRAM` which is the first: the
nightly run takes thousands, others every day.
"""

from __future__ import annotations

import os
import random

import pytest
from programs.bare import planned, run_planned

from collc.base.diagnostics import CollcError

BATCHES = 10
CASES = int(os.environ.get("COLLC_PROGRAMS", "150"))
FIRST = int(os.environ.get("COLLC_FIRST_PROGRAM", "0"))

TREES = ("chain", "star", "binomial", "two_phase(S = 2)", "two_phase(S = 3)", "optimal")
BY_STEPS = {
    "allreduce": ("ring_allreduce", "halving_doubling", "recursive_doubling"),
    "reduce_scatter": ("ring_reduce_scatter",),
    "allgather": ("ring_allgather",),
    "barrier": ("dissemination_barrier", "linear_barrier"),
}
TYPES = ("f32", "i16", "u32")


STEPS = 0.25  # of the collectives on a line are made of steps


def random_program(rng: random.Random, steps: float = STEPS) -> str:
    """Collectives on a row, a column or a grid, each on a buffer of its own or one used before."""
    width, height = rng.choice([(rng.randint(2, 7), 1), (1, rng.randint(2, 5)), (2, 3), (3, 2)])
    lines = [f"target {rng.choice(('wse2', 'wse3'))}", f"grid all = {width} x {height}"]
    names = []
    for i in range(rng.randint(2, 8)):
        names.append(f"c{i}")
        lines.append(
            f"collective c{i} = {collective_on(rng, 'all', f'v{i}', (width, height), steps)}"
        )
    calls = names + [rng.choice(names) for _ in range(rng.randint(0, 2))]
    rng.shuffle(calls)
    body = " ".join(calls)
    if rng.random() < 0.6:
        body = f"repeat {rng.randint(2, 4)} {{ {body} }}"
    way = rng.choice(("", "reconfigure teardown"))
    return "\n".join([*lines, f"program {{ {body} within colors <= {rng.randint(2, 4)} {way} }}"])


def collective_on(
    rng: random.Random, place: str, buffer: str, size: tuple[int, int], steps: float
) -> str:
    """A collective on a place of so many PEs, on a line with the chance `steps` made of them."""
    (width, height), length = size, rng.choice((1, 2, 3, 7, 12))
    if steps and min(size) == 1 and rng.random() < steps:
        return by_steps(rng, place, buffer, max(width, height), length)
    what = f"{buffer}: {rng.choice(TYPES)}[{length}]"
    kind = rng.choice(("broadcast", "reduce", "allreduce", "barrier"))
    x, y = rng.randrange(width), rng.randrange(height)
    if kind == "broadcast":
        root = f"({x}, {y})" if min(width, height) > 1 else max(x, y)
        return f"broadcast({what}) on {place} {{ broadcast from {root} }}"
    operands = "" if kind == "barrier" else f"{what}, {rng.choice(('add', 'max', 'min'))}"
    steps, home = _reduction(rng, width, height)
    last = "" if kind == "reduce" else f" then broadcast from {home}"
    return f"{kind}({operands}) on {place} {{ {steps}{last} }}"


def by_steps(rng: random.Random, place: str, buffer: str, ranks: int, length: int) -> str:
    """A collective on a line of so many PEs by an algorithm made of steps."""
    kind = rng.choice(sorted(BY_STEPS))
    ring = "order ring " if rng.random() < 0.5 else ""
    run = f"on {place} {{ {ring}run {rng.choice(BY_STEPS[kind])} }}"
    if kind == "barrier":
        return f"barrier() {run}"
    operation = "" if kind == "allgather" else f", {rng.choice(('add', 'max', 'min'))}"
    slices = 1 if kind == "allreduce" else ranks  # of which each PE gives or gets one
    return f"{kind}({buffer}: {rng.choice(TYPES)}[{length * slices}]{operation}) {run}"


def _reduction(rng: random.Random, width: int, height: int) -> tuple[str, str]:
    """Reduce steps, and where they end."""
    if min(width, height) == 1:
        ranks = max(width, height)
        ways = ("west_to_east", "east_to_west") if height == 1 else ("north_to_south",)
        order, root = rng.choice(ways), rng.randrange(ranks)
        return f"order {order} reduce {rng.choice(TREES)} to {root}", str(root)
    rows, columns = rng.randrange(height), rng.randrange(width)
    return (
        "order north_to_south, west_to_east "
        f"reduce columns by {rng.choice(TREES)} to {rows} "
        f"then reduce row by {rng.choice(TREES)} to {columns}",
        f"({columns}, {rows})",
    )


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_programs_deliver(batch: int) -> None:
    refused = 0
    for case in range(FIRST + batch, FIRST + CASES, BATCHES):
        rng = random.Random(case)
        text = random_program(rng)
        skew = rng.choice((0, 30, 100))
        try:
            spec, plan = planned(text)
        except CollcError as error:
            assert {d.code for d in error.diagnostics} <= {"C302", "C305"}, f"{case}: {error}"
            refused += 1
            continue
        report = run_planned(spec, plan, skew, seed=case)
        assert report.verified, f"case {case}: {report.problem}\n{text}"
    assert refused * 2 < CASES / BATCHES
