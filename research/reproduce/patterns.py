"""The patterns that claims are about, as this project has them: unfolded, proved, planned.

`proved` and `tree` go through the whole language, so lines are at most as long as a wafer is high;
`steps_of` unfolds an algorithm on a line of any length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files

import numpy as np

from collc.base.diagnostics import Span
from collc.driver.pipeline import prove_text
from collc.language.algorithms import Algorithms
from collc.language.expressions import Scope
from collc.language.optimal_tree import optimum
from collc.language.parser import parse_text
from collc.language.prelude import Declared
from collc.language.syntax import AlgorithmDecl, Argument, Number, TreeUse, Word
from collc.lowering import candidate_plans
from collc.plan import Plan
from collc.schedule import ReducePhase, Schedule
from collc.spec import Algorithm
from collc.target import TARGETS

Children = tuple[tuple[int, ...], ...]

TARGET = "wse2"
_HERE = Span("claim.coll", 1, 1, 1, 1)
_PROGRAM = """target {target}
grid line = {grid}
{declarations}
collective it = {contract} on line {{ {steps} }}
program {{ it }}
"""


def own_algorithms() -> str:
    """The algorithms that are not in the prelude, in the language."""
    return files("collc_research.reproduce").joinpath("algorithms.coll").read_text(encoding="utf-8")


def proved(contract: str, steps: str, ranks: int, declarations: str = "") -> Schedule:
    """The schedule of steps on a line, proved to keep its contract; raises CollcError if not."""
    text = _PROGRAM.format(
        target=TARGET,
        grid=f"1 x {ranks}",
        declarations=declarations,
        contract=contract,
        steps=steps,
    )
    return prove_text(text, "claim.coll", {})[1]


def reduction(steps: str, ranks: int, length: int = 1, declarations: str = "") -> Schedule:
    """A proved sum of vectors at rank 0."""
    return proved(f"reduce(x: f32[{length}], add)", steps, ranks, declarations)


def allreduction(algorithm: str, ranks: int, length: int = 1, declarations: str = "") -> Schedule:
    """A proved sum at every rank by an algorithm of steps."""
    contract = f"allreduce(x: f32[{length}], add)"
    return proved(contract, f"run {algorithm}", ranks, declarations)


@cache
def tree(name: str, ranks: int) -> Children:
    """A tree of the prelude, such as `two_phase(S = 3)`, unfolded on a line."""
    phases = reduction(f"reduce {name} to 0", ranks).phases
    return _children(phases[0]) if phases else ((),)


def _children(phase: object) -> Children:
    assert isinstance(phase, ReducePhase)
    return phase.children


@cache
def best_tree(ranks: int, length: int, ramp: int) -> Children:
    """The fastest pre-order tree."""
    return optimum(ranks, np.array([length]), ramp).tree(ranks, 0)


def all_trees(ranks: int) -> Iterator[Children]:
    """Every tree whose ranks, in pre-order, are 0, 1, 2, ..."""
    yield from _all_trees(ranks)


@cache
def _all_trees(ranks: int) -> tuple[Children, ...]:
    """A root's last child, and all before it, are again such trees."""
    if ranks == 1:
        return (((),),)
    found = []
    for last in range(1, ranks):
        for near in _all_trees(last):
            for far in _all_trees(ranks - last):
                moved = tuple(tuple(child + last for child in below) for below in far)
                found.append(((*near[0], last), *near[1:], *moved))
    return tuple(found)


def written(children: Sequence[Sequence[int]]) -> str:
    """A tree as the language writes it by hand."""
    below = [f"{rank}" for rank in range(len(children))]
    for rank in reversed(range(len(children))):
        if children[rank] or rank == 0:
            inside = ", ".join(below[child] for child in children[rank])
            below[rank] = f"{rank} <- [{inside}]"
    return below[0]


def schedule_of_tree(children: Children, length: int = 16) -> Schedule:
    """A proved reduction along a tree written out by hand."""
    declaration = f"tree by_hand = {written(children)}"
    return reduction("reduce by_hand to 0", len(children), length, declaration)


def two_color_plan(schedule: Schedule) -> Plan:
    """The plan that colors ranks by the parity of their depth."""
    return next(candidate_plans(schedule, TARGETS[TARGET]))


def steps_of(name: str, ranks: int, **values: int) -> Algorithm:
    """The steps of an algorithm of the prelude or of `own_algorithms` on a line of any length."""
    algorithms = Algorithms(_algorithms(), {}, {}, frozenset())
    given = tuple(
        Argument(Word(key, _HERE), Number(value, span=_HERE), span=_HERE)
        for key, value in values.items()
    )
    return algorithms.unfold(TreeUse(Word(name, _HERE), given, span=_HERE), ranks, Scope({}, {}))


@cache
def _algorithms() -> Declared[AlgorithmDecl]:
    own = parse_text("algorithms.coll", own_algorithms())
    return Declared(AlgorithmDecl, {d.name.text: d for d in own if isinstance(d, AlgorithmDecl)})
