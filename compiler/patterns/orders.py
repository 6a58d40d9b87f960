"""The orders of ranks: which PE is rank 0, 1, 2, ..., and how far it is from one to the next."""

from collections.abc import Iterator
from functools import lru_cache

from collc.base.values import dataclass
from collc.driver.pipeline import prove_text
from collc.language.kinds import HILBERT, RING
from collc.language.prelude import Declared
from collc.language.syntax import OrderDecl
from collc.patterns.sources import (
    above,
    examples,
    first_sentence,
    orders_used,
    other_names,
    prelude_lines,
)
from collc.spec import Order as Direction
from collc.spec import RunStep

SIDE = 8  # PEs of a row, and of both sides of a grid, on which hops are counted
# What the compiler makes itself: on which PEs, what it does, and what else it is called.
_ROW, _COLUMN, _GRID = "row", "column", "grid"
_MADE: dict[str, tuple[str, str, tuple[str, ...]]] = {
    Direction.WEST_TO_EAST.value: (_ROW, "Rank 0 stands in the west.", ()),
    Direction.EAST_TO_WEST.value: (_ROW, "Rank 0 stands in the east.", ()),
    Direction.NORTH_TO_SOUTH.value: (_COLUMN, "Rank 0 stands in the north.", ()),
    Direction.SOUTH_TO_NORTH.value: (_COLUMN, "Rank 0 stands in the south.", ()),
    RING: (
        "row or column",
        "Out over every other PE and back over those between: the last rank is next to rank 0.",
        ("folded ring",),
    ),
    HILBERT: (
        _GRID,
        "A path that fills the grid without ever going far from where it was.",
        ("space-filling curve", "Hilbert curve"),
    ),
}


@dataclass(frozen=True)
class RankOrder:
    """An order that comes with the compiler, by `name`, for the PEs `on` which it is.

    `next_hops` is how far it is from any rank to the next one at most, `back_hops` from the last
    rank to rank 0, in hops on a row of 8 PEs or a grid of 8 x 8. `examples` say the order.
    """

    name: str
    on: str
    about: str
    other_names: tuple[str, ...]
    examples: tuple[str, ...]
    next_hops: int
    back_hops: int


@lru_cache(maxsize=1)
def all_orders() -> tuple[RankOrder, ...]:
    """Every order: those of lines, then those of grids, the prelude's behind the compiler's."""
    said = {name: orders_used(text) for name, text in examples().items()}
    found = []
    for name, (on, about, others) in (*_MADE.items(), *_declared()):
        shown = tuple(example for example, names in said.items() if name in names)
        found.append(RankOrder(name, on, about, others, shown, *_hops(name, on)))
    return tuple(found)


def _declared() -> Iterator[tuple[str, tuple[str, str, tuple[str, ...]]]]:
    """The orders of the prelude."""
    lines = prelude_lines()
    for name, declared in Declared(OrderDecl).items():
        comment = above(lines[: declared.span.line - 1])
        yield name, (_GRID, first_sentence(comment), other_names(comment))


def _hops(name: str, on: str) -> tuple[int, int]:
    """From a rank to the next one at most, and from the last one to rank 0."""
    width = 1 if on == _COLUMN else SIDE
    height = SIDE if on in (_COLUMN, _GRID) else 1
    text = (
        f"target wse2\ngrid g = {width} x {height}\ncollective c = broadcast(x: f32[1]) on g {{\n"
        f"    order {name}\n    run pipelined_broadcast(c = 1)\n}}\nprogram {{ c }}\n"
    )
    collective = prove_text(text, name, {})[0].collectives[0]
    (step,) = collective.steps
    assert isinstance(step, RunStep)
    pes = [(place, 0) for place in step.places]
    if collective.path is not None:
        pes = [collective.path.places[place] for place in step.places]
    hops = [
        abs(x - to_x) + abs(y - to_y)
        for (x, y), (to_x, to_y) in zip(pes, (*pes[1:], pes[0]), strict=True)
    ]
    return max(hops[:-1]), hops[-1]
