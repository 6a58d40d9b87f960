"""What `run auto` chooses for reductions and allreduces, against everything it may choose from.

    python tests/brute_force.py [POINTS] [--first N] [--ranks P]

Each random point is a line of PEs, a length, a type, a target. Every tree of the prelude with every
value of its parameter, and every algorithm that keeps the contract with many numbers of chunks and
every group, is planned, checked and predicted; an allreduce by trees at several roots. Prints the
points at which the choice is predicted to be slower than the best, and exits with 1 if one is by
more than a hundredth. Run by hand; docs/tuning.md keeps a result.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

import click

from collc.base.diagnostics import CollcError
from collc.driver.pipeline import read
from collc.language.clauses import broadcast, bypassing, order, reduce, run
from collc.language.elaborate import with_steps
from collc.language.expressions import AUTO
from collc.spec import Collective, ContractKind
from collc.target import TARGETS, Target
from collc.tuning import decided
from collc.tuning.algorithms import ALGORITHMS
from collc.tuning.candidates import trees
from collc.tuning.predicted import candidate_of, predicted
from collc.tuning.written import Written, written

PARTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)  # chunks and groups that are tried
ALLOWED = 0.01


@dataclass(frozen=True)
class Point:
    """A collective on a line of PEs; the root is that of a reduction."""

    kind: str
    ranks: int
    root: int
    length: int
    element: str
    target: str

    @property
    def text(self) -> str:
        """The program, its steps left open."""
        at = f" to {self.root}" if self.kind == "reduce" else ""
        return (
            f"target {self.target}\ngrid line = {self.ranks} x 1\n"
            f"collective it = {self.kind}(x: {self.element}[{self.length}], add) on line {{\n"
            f"    run auto{at}\n}}\nprogram {{ it }}\n"
        )


def point(case: int, most: int) -> Point:
    """A random point; small and large ranks and lengths are equally frequent."""
    draw = random.Random(case)
    kind = draw.choice(("reduce", "allreduce"))
    ranks = round(2 ** draw.uniform(1, most.bit_length() - 1))
    return Point(
        kind,
        ranks,
        draw.choice((0, ranks // 3, ranks // 2)),
        round(2 ** draw.uniform(0, 12)),
        draw.choice(("f32", "f32", "f16", "i32")),
        draw.choice(tuple(TARGETS)),
    )


def plans(it: Point) -> Iterator[Written]:
    """Everything there is to choose from, as steps."""
    uses = [tree for tree in trees() if not tree.numbers]
    uses += [
        replace(tree, numbers=tuple((name, number) for name, _ in tree.numbers))
        for tree in trees()
        if tree.numbers
        for number in range(2, it.ranks)
    ]
    uses += map(bypassing, tuple(uses))
    halfway = {0, it.ranks // 4, it.ranks // 3, it.ranks // 2}
    roots = sorted(halfway) if it.kind == "allreduce" else [it.root]
    back = (broadcast(AUTO),) if it.kind == "allreduce" else ()
    yield from (written((reduce(tree, root), *back)) for tree in uses for root in roots)
    at = it.root if it.kind == "reduce" else None
    for pattern in ALGORITHMS[ContractKind(it.kind)]:
        for before in ((), (order("ring"),)) if it.kind == "allreduce" else ((),):
            for use in dict.fromkeys(map(pattern.use, PARTS)):
                yield written((*before, run(use, at)))


def best_of_all(open_one: Collective, it: Point, target: Target) -> tuple[int, str]:
    """Cycles and text of the best of everything that can be built."""
    found: list[tuple[int, str]] = []
    for plan in plans(it):
        try:
            candidate = candidate_of(with_steps(open_one, plan.clauses), target)
        except CollcError:
            continue  # an algorithm that is not made for so many PEs
        best = min(found, default=(None, ""))[0]
        if best is None or candidate.at_least < best:
            cycles = predicted(candidate, target, [], best)[1].cycles
            found += [(cycles, plan.text)] if cycles is not None else []
    return min(found)


@dataclass(frozen=True)
class Compared:
    """Cycles and text of the choice, and of the best of everything."""

    chosen: tuple[int, str]
    best: tuple[int, str]

    @property
    def miss(self) -> float:
        """By what part of the best the choice is slower."""
        return self.chosen[0] / self.best[0] - 1


def compared(it: Point) -> Compared:
    """The choice at a point beside everything that there is to choose from."""
    target = TARGETS[it.target]
    (open_one,) = read(it.text, "point.coll", {}, None).collectives
    decision = decided(open_one, target).decision
    assert decision is not None and decision.chosen.cycles is not None
    chosen = decision.chosen.cycles, decision.chosen.text
    return Compared(chosen, best_of_all(open_one, it, target))


@click.command()
@click.argument("points", type=int, default=200)
@click.option("--first", type=int, default=0, help="The number of the first point.")
@click.option("--ranks", type=int, default=256, help="At most so many PEs.")
def main(points: int, first: int, ranks: int) -> None:
    """Compare the choice with the best of everything at random points."""
    misses: list[float] = []
    for case in range(first, first + points):
        it = point(case, ranks)
        found = compared(it)
        misses.append(found.miss)
        if found.miss > 0:
            print(f"{case} {it}: chosen {found.chosen}, best {found.best}", flush=True)
    worst = max(misses)
    print(
        f"{points} points: {sum(m > 0 for m in misses)} slower than the best, at most {worst:.2%}"
    )
    sys.exit(worst > ALLOWED)


if __name__ == "__main__":
    main()
