"""How far the best patterns are from the bounds, over many sizes: `make gap` writes docs/gap.md.

    python tests/gap.py [--up-to PES] [--jobs N]

One line of PEs (a column of a WSE-3, which is long enough), vectors of f32. Exits with 1 if a
prediction is below a bound or a reduction is further from the bound of trees than it should be.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from multiprocessing import Pool
from pathlib import Path
from time import monotonic

import numpy as np

from collc.base.diagnostics import CollcError
from collc.cost.tree_bound import least_cycles
from collc.driver.pipeline import prove_text
from collc.driver.planning import planned
from collc.language.optimal_tree import optimum
from collc.machine.prediction import Prediction
from collc.schedule import ReducePhase, Schedule
from collc.spec import ReduceStep
from collc.target import TARGETS
from collc_research.reproduce.row_model import cycles as model_cycles

PAGE = Path(__file__).parents[1] / "docs" / "gap.md"
TARGET = "wse3"
PES = (4, 5, 8, 11, 16, 31, 32, 64, 100, 128, 256, 513, 512, 1000, 1024)
LENGTHS = tuple(2**k for k in range(14))
EXCHANGES_UP_TO = 32  # PEs; on longer lines steps never pay
WANTED = 1.4
NAMED = 1.1  # beyond this the term that dominates is named

PROGRAMS = {
    "reduce": ("reduce optimal to 0",),
    "broadcast": ("broadcast from 0",),
    "allreduce": (
        "reduce optimal to 0 then broadcast from 0",
        "reduce optimal to {middle} then broadcast from {middle}",
        "run pipelined_allreduce(c = 1)",
        "run ring_allreduce",
        "run ring_allreduce in simd",
        "run recursive_doubling",
        "run halving_doubling",
    ),
}


@dataclass(frozen=True)
class Point:
    """The best of a collective's programs on `pes` PEs with `length` elements.

    `terms` is what the prediction has beyond the bound, in cycles, by its reason; `model` and
    `least` are the cycles of the model's best tree and the bound of trees, without start-up (0
    where there is no tree)."""

    collective: str
    pes: int
    length: int
    program: str
    cycles: int
    bound: int
    tree_bound: int
    terms: dict[str, int]
    model: int = 0
    least: int = 0


def text_of(collective: str, program: str, pes: int, length: int) -> str:
    contract = f"{collective}(x: f32[{length}]{', add' if 'reduce' in collective else ''})"
    order = "ring" if "ring" in program else "north_to_south"
    return (
        f"target {TARGET}\ngrid line = 1 x {pes}\ncollective best = {contract} on line {{\n"
        f"    order {order}\n    {program.format(middle=pes // 2)}\n}}\nprogram {{ best }}\n"
    )


def measure(sizes: tuple[str, int, int]) -> Point:
    """The program with the fewest predicted cycles, beside the bounds."""
    collective, pes, length = sizes
    found = []
    for program in PROGRAMS[collective]:
        if program.startswith("run") and pes > EXCHANGES_UP_TO:
            continue
        text = text_of(collective, program, pes, length)
        try:
            _, schedule = prove_text(text, "gap.coll", {}, TARGET)
            found.append((planned(schedule, TARGETS[TARGET])[1], program, schedule))
        except CollcError:
            if not program.startswith("run"):
                raise
            # an algorithm that is not made for so many PEs, or too long for a PE's memory
    prediction, program, schedule = min(found, key=lambda one: one[0].cycles)
    point = partial(
        Point, *sizes, program, prediction.cycles, prediction.bound, prediction.tree_bound or 0
    )
    if collective == "reduce":
        return _of_tree(point, prediction, schedule, length)
    if collective == "broadcast":
        return point({"start-up": prediction.cycles - prediction.bound})
    return point(_of_two_passes(prediction, schedule, length, pes))


def _of_two_passes(
    prediction: Prediction, schedule: Schedule, length: int, pes: int
) -> dict[str, int]:
    """What an allreduce needs beyond the bound: the way back, the tree beyond a message, start-up
    (which is not told apart from the rest where steps run)."""
    ramp = TARGETS[TARGET].ramp
    message = length + pes - 1 + 2 * ramp + 1
    trees = [
        tree
        for step in schedule.collective.steps
        if isinstance(step, ReduceStep)
        for tree in (step.tree, step.far)
        if tree is not None
    ]
    tree = max((model_cycles(tree.children, length, ramp=ramp) for tree in trees), default=message)
    back = message if len(trees) < 2 else message - pes // 2
    passes = message + back - prediction.bound
    beyond = {"two passes": passes, "reduction": max(0, tree - message)}
    beyond["start-up"] = prediction.cycles - prediction.bound - sum(beyond.values())
    return beyond


def _of_tree(
    point: partial[Point], prediction: Prediction, schedule: Schedule, length: int
) -> Point:
    """What a tree needs beyond the bound: visits of processors, vectors that queue, start-up."""
    phase, ramp = schedule.phases[0], TARGETS[TARGET].ramp
    assert isinstance(phase, ReducePhase)
    step = schedule.collective.steps[0]
    assert isinstance(step, ReduceStep)
    visit = 2 * ramp + 1
    chosen = model_cycles(step.tree.children, length, ramp=ramp)
    depth = visit * (_visits(phase.children, length, ramp) - 1)
    terms = {
        "depth": depth,
        "contention": chosen - prediction.bound - depth,
        "start-up": prediction.cycles - chosen,
    }
    model = int(optimum(phase.ranks, np.array([length]), ramp).times[phase.ranks, 0])
    return point(terms, model, least_cycles(phase.ranks, length, visit))


def _visits(children: tuple[tuple[int, ...], ...], length: int, ramp: int) -> int:
    """Processors on the way that decides when the model's tree is done."""
    sent, busy = [1] * len(children), [0] * len(children)
    visits = [0] * len(children)
    for rank in reversed(range(len(children))):
        for child in children[rank]:
            arrival = sent[child] + 2 * ramp + child - rank + 1
            if arrival > busy[rank]:
                visits[rank] = visits[child] + 1
            sent[rank] = max(arrival, busy[rank] + 1)
            busy[rank] = sent[rank] + length - 1
    return visits[0]


def table(points: Iterable[Point], ratio: str) -> Iterator[str]:
    """Rows P, columns B; where a ratio is above `NAMED`, with the term that dominates."""
    at = {(one.pes, one.length): one for one in points}
    pes = sorted({one for one, _ in at})
    lengths = sorted({one for _, one in at})
    yield "| P \\ B | " + " | ".join(map(str, lengths)) + " |"
    yield "|---" * (len(lengths) + 1) + "|"
    for row in pes:
        cells = (_cell(at[row, column], ratio) for column in lengths)
        yield f"| {row} | " + " | ".join(cells) + " |"


LETTERS = {
    "start-up": "s",
    "depth": "d",
    "contention": "c",
    "two passes": "t",
    "reduction": "r",
}


def _cell(point: Point, ratio: str) -> str:
    value = ratio_of(point, ratio)
    terms = {name: cycles for name, cycles in point.terms.items()}
    if ratio == "model":
        terms.pop("start-up")
    name = f" {LETTERS[max(terms, key=terms.__getitem__)]}" if value > NAMED else ""
    return f"{value:.2f}{name}"


def ratio_of(point: Point, ratio: str) -> float:
    """Cycles over a bound: "model" (both without start-up), "tree", "any"."""
    if ratio == "model":
        return point.model / point.least
    return point.cycles / (point.tree_bound if ratio == "tree" else point.bound)


def page(points: list[Point]) -> str:
    """docs/gap.md."""
    of = {name: [one for one in points if one.collective == name] for name in PROGRAMS}
    worst = {
        (name, ratio): max(ratio_of(one, ratio) for one in of[name])
        for name, ratio in (("reduce", "model"), ("reduce", "tree"), ("reduce", "any"))
    }
    lines = [
        *HEAD,
        "## Reduce: the best pre-order tree against any tree, without start-up",
        "",
        f"The model's optimum over the bound of trees: at most {worst['reduce', 'model']:.2f}.",
        "",
        *table(of["reduce"], "model"),
        "",
        "## Reduce: what is emitted against any tree",
        "",
        f"Predicted cycles over `tree_bound`, both with start-up: at most "
        f"{worst['reduce', 'tree']:.2f}.",
        "",
        *table(of["reduce"], "tree"),
        "",
        "## Reduce: what is emitted against any program",
        "",
        "Predicted cycles, start-up included, over `bound`, which has none.",
        "",
        *table(of["reduce"], "any"),
        "",
        "## Broadcast against any program",
        "",
        "The multicast meets the bound but for start-up.",
        "",
        *table(of["broadcast"], "any"),
        "",
        "## Allreduce against any program",
        "",
        f"The best of: {_programs()}. Algorithms by steps only up to {EXCHANGES_UP_TO} PEs.",
        "",
        *table(of["allreduce"], "any"),
        "",
        *_chosen(of["allreduce"]),
    ]
    return "\n".join(lines).rstrip() + "\n"


HEAD = [
    "# Gaps to the bounds",
    "",
    "Made by `make gap` (`python tests/gap.py`): predicted cycles of the best patterns over the",
    "bounds of [bounds.md](bounds.md), on one column of a WSE-3, f32. Where a gap is above 1.1 a",
    "letter names what most of the cycles beyond the bound are:",
    "",
    "| letter | |",
    "|---|---|",
    "| d | depth: every processor on the way costs 2 ramp + 1 cycles |",
    "| c | contention: vectors that queue for a ramp or a link |",
    "| s | start-up: launching, loading registers, starting tasks |",
    "| r | the reduction within an allreduce, beyond a message |",
    "| t | two passes: the result begins to travel back when the last vector has come |",
    "",
]


def _programs() -> str:
    return ", ".join(f"`{one.format(middle='P/2')}`" for one in PROGRAMS["allreduce"])


def _chosen(points: list[Point]) -> Iterator[str]:
    """Which program is the best where, in words."""
    by_program: dict[str, list[Point]] = {}
    for one in points:
        by_program.setdefault(one.program, []).append(one)
    yield "| best program | at so many points | for example |"
    yield "|---|---|---|"
    for program, found in sorted(by_program.items(), key=lambda item: -len(item[1])):
        first = found[len(found) // 2]
        where = f"P = {first.pes}, B = {first.length}"
        yield f"| `{program.format(middle='P/2')}` | {len(found)} | {where} |"


def main() -> int:
    """Measure all points, write the page, judge."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--up-to", type=int, default=max(PES), help="the most PEs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    options = parser.parse_args()
    sizes = [one for one in product(PROGRAMS, PES, LENGTHS) if one[1] <= options.up_to]
    began, points = monotonic(), []
    with Pool(options.jobs) as pool:
        for point in pool.imap(measure, sizes, chunksize=4):
            points.append(point)
            if len(points) % 50 == 0:
                print(f"{len(points)} of {len(sizes)} in {monotonic() - began:.0f} s", flush=True)
    text = page(points)
    if options.up_to == max(PES):
        PAGE.write_text(text, encoding="utf-8")
    else:
        print(text)
    return 0 if all(map(_is_good, points)) else 1


def _is_good(point: Point) -> bool:
    above = point.cycles >= max(point.bound, point.tree_bound)
    return above and (not point.least or ratio_of(point, "model") <= WANTED)


if __name__ == "__main__":
    sys.exit(main())
