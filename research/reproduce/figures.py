"""The figures of the thesis that can be had anew: its formulas, this project's prediction of what
it emits, and the simulation of that, for every series."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

import numpy as np

from collc.base.values import dataclass
from collc.language.optimal_tree import optimum
from collc_research.reproduce import closed_forms as forms
from collc_research.reproduce.closed_forms import RAMP

ELEMENTS_PER_STEP = 80  # that a PE could pass on in the time it takes to begin a step


@dataclass(frozen=True)
class Series:
    """`formula` gives the cycles of the source's model at a place of the axis, `program` the text
    of a program, which `is_slow` to compile and run."""

    label: str
    formula: Callable[[int], float]
    program: Callable[[int], str]
    is_slow: bool = False


@dataclass(frozen=True)
class Figure:
    """A figure: `places` on its axis, and those that do for a quick look."""

    id: str
    title: str
    axis: str
    places: tuple[int, ...]
    quick: tuple[int, ...]
    series: tuple[Series, ...]
    linear: bool = False


def row(contract: str, steps: str, pes: int, length: int, order: str = "") -> str:
    """A program on a row."""
    return _text(contract, f"{order}\n    {steps}", f"{pes} x 1", length)


def square(contract: str, steps: str, side: int, length: int) -> str:
    """A program on a grid as wide as high."""
    return _text(
        contract, f"order north_to_south, west_to_east\n    {steps}", f"{side} x {side}", length
    )


def _text(contract: str, steps: str, grid: str, length: int) -> str:
    operation = "" if contract == "broadcast" else ", add"
    return (
        f"target wse2\ngrid pes = {grid}\n"
        f"collective it = {contract}(x: f32[{length}]{operation}) on pes {{\n    {steps}\n}}\n"
        "program { it }\n"
    )


def _group(pes: int) -> int:
    return isqrt(pes - 1) + 1


def _best(pes: int, length: int) -> int:
    return int(optimum(pes, np.array([length]), RAMP).times[pes, 0])


Trees = dict[str, tuple[Callable[[int], str], forms.Form]]
TREES: Trees = {
    "chain": (lambda pes: "chain", forms.chain),
    "tree": (lambda pes: "binomial", forms.binomial),
    "two-phase": (lambda pes: f"two_phase(S = {_group(pes)})", forms.two_phase),
}
ALL_TREES: Trees = {
    "scalar": (lambda pes: "star", forms.star),
    **TREES,
    "optimum": (lambda pes: "optimal", _best),
}


def _powers(first: int, last: int) -> tuple[int, ...]:
    return tuple(1 << k for k in range(first, last + 1))


def _tree_series(name: str, pes: Callable[[int], int], length: Callable[[int], int]) -> Series:
    """A tree at places that say how many PEs or elements there are."""
    use, form = ALL_TREES[name]

    def program(at: int) -> str:
        return row("reduce", f"reduce {use(pes(at))} to 0", pes(at), length(at))

    return Series(name, lambda at: form(pes(at), length(at)), program)


def _over_length(trees: Trees, pes: int) -> tuple[Series, ...]:
    return tuple(_tree_series(name, _same(pes), _itself) for name in trees)


def _over_pes(trees: Trees, length: int) -> tuple[Series, ...]:
    return tuple(_tree_series(name, _itself, _same(length)) for name in trees)


def _left_right(use: str, form: forms.Form, pes: int, root: int) -> Series:
    def program(at: int) -> str:
        return row("reduce", f"reduce {use} to {root}", pes, at)

    return Series("left-right", lambda at: forms.left_right(pes, at, root, form, form), program)


def _jump(use: str, form: forms.Form, pes: int, root: int) -> Series:
    def program(at: int) -> str:
        return row("reduce", f"reduce root_bypass({use}) to {root}", pes, at)

    return Series("jump", lambda at: forms.jump(pes, at, root, form), program)


def _then_broadcast(
    name: str, at_pes: Callable[[int], int], at_length: Callable[[int], int]
) -> Series:
    use, form = TREES[name]

    def program(at: int) -> str:
        pes = at_pes(at)
        steps = f"reduce {use(pes)} to 0\n    then broadcast from 0"
        return row("allreduce", steps, pes, at_length(at))

    def formula(at: int) -> float:
        return forms.reduce_then_broadcast(at_pes(at), at_length(at), base=form)

    return Series(name, formula, program)


def _ring_reduce(pes: int, root: int) -> Series:
    """Chunks such that filling the ring and passing on a chunk take about as long."""

    def program(at: int) -> str:
        chunks = max(1, min(at, isqrt(pes * at // ELEMENTS_PER_STEP)))
        run = f"run ring_reduce(c = {chunks}, root = {root}) to {root}"
        return row("reduce", run, pes, at, "order ring")

    return Series("ring", lambda at: forms.ring_reduce(pes, at), program, is_slow=True)


def _ring(at_pes: Callable[[int], int], at_length: Callable[[int], int]) -> Series:
    def program(at: int) -> str:
        return row("allreduce", "run ring_allreduce", at_pes(at), at_length(at), "order ring")

    def formula(at: int) -> float:
        return forms.ring_allreduce(at_pes(at), at_length(at))

    return Series("ring", formula, program, is_slow=True)


def _grid_reduce(name: str, length: int) -> Series:
    use, form = TREES[name]

    def program(side: int) -> str:
        tree = use(side)
        steps = f"reduce columns by {tree} to 0\n    then reduce row by {tree} to 0"
        return square("reduce", steps, side, length)

    return Series(name, lambda side: forms.reduce_2d(side, side, length, form), program)


def _grid_allreduce(name: str, length: int) -> Series:
    use, form = TREES[name]

    def program(side: int) -> str:
        tree = use(side)
        steps = f"reduce columns by {tree} to 0\n    then reduce row by {tree} to 0"
        return square("allreduce", f"{steps}\n    then broadcast from (0, 0)", side, length)

    def formula(side: int) -> float:
        return 2 * forms.reduce_then_broadcast(side, length, base=form)

    return Series(name, formula, program)


def _sizes_of_groups(length: int) -> Series:
    return Series(
        f"B = {length}",
        lambda size: forms.two_phase(512, length, size),
        lambda size: row("reduce", f"reduce two_phase(S = {size}) to 0", 512, length),
    )


def _same(value: int) -> Callable[[int], int]:
    return lambda _: value


def _itself(at: int) -> int:
    return at


_B = "B: elements of a vector"
_P = "P: PEs of the row"
_M = "M: rows and columns"
_LENGTHS = (1, 4, 16, 64, 256, 1024, 4096)
_SHORT = (1, 16, 64)

FIGURES = (
    Figure(
        "4.2",
        "Broadcast, P = 512",
        _B,
        _powers(0, 12),
        (1, 64, 1024),
        (
            Series(
                "multicast",
                lambda b: forms.broadcast(512, b),
                lambda b: row("broadcast", "broadcast from 0", 512, b),
            ),
        ),
    ),
    Figure(
        "4.4",
        "Broadcast over M x M PEs, B = 1",
        _M,
        (2, 4, 8, 16, 32, 64),
        (2, 8, 16),
        (
            Series(
                "multicast",
                lambda m: forms.broadcast_2d(m, m, 1),
                lambda m: square("broadcast", "broadcast from (0, 0)", m, 1),
            ),
        ),
    ),
    Figure(
        "5.5",
        "Two-phase over the size of its groups, P = 512",
        "S: PEs of a group",
        _powers(1, 9),
        (32,),
        (_sizes_of_groups(64), _sizes_of_groups(4096)),
    ),
    Figure("5.7", "Reduce, B = 1", _P, _powers(2, 9), (4, 16, 64), _over_pes(ALL_TREES, 1)),
    Figure("5.8", "Reduce, P = 512", _B, _LENGTHS, _SHORT, _over_length(TREES, 512)),
    Figure(
        "5.9",
        "Reduce by the best tree, P = 512",
        _B,
        _powers(0, 13),
        _SHORT,
        _over_length({"optimum": ALL_TREES["optimum"]}, 512),
    ),
    Figure(
        "6.5",
        "Left-right of chains over the root, P = 512, B = 1",
        "root",
        (0, 1, 32, 64, 96, 128, 160, 192, 224, 255),
        (0, 128, 255),
        (
            Series(
                "left-right",
                lambda root: forms.left_right(512, 1, root),
                lambda root: row("reduce", f"reduce chain to {root}", 512, 1),
            ),
        ),
        linear=True,
    ),
    Figure(
        "6.6",
        "Reduce by chains to root 255, P = 512",
        _B,
        _LENGTHS,
        _SHORT,
        (
            _left_right("chain", forms.chain, 512, 255),
            _ring_reduce(512, 255),
            _jump("chain", forms.chain, 512, 255),
        ),
    ),
    Figure(
        "6.7",
        "Reduce by two-phase to root 255, P = 512",
        _B,
        _LENGTHS,
        _SHORT,
        (
            _left_right("two_phase(S = 16)", forms.two_phase, 512, 255),
            _ring_reduce(512, 255),
            _jump(f"two_phase(S = {_group(511)})", forms.two_phase, 512, 255),
        ),
    ),
    Figure(
        "6.8",
        "Reduce over M x M PEs, B = 1028",
        _M,
        (2, 4, 8, 16, 32, 64),
        (2, 4),
        (_grid_reduce("chain", 1028),),
    ),
    Figure(
        "7.4",
        "Allreduce, B = 1028",
        _P,
        (2, 3, 4, 8, 16, 32, 64, 128, 256, 512),
        (3,),
        (
            *(_then_broadcast(name, _itself, _same(1028)) for name in TREES),
            _ring(_itself, _same(1028)),
        ),
    ),
    Figure(
        "7.5",
        "Allreduce, P = 512",
        _B,
        _LENGTHS,
        _SHORT,
        (
            *(_then_broadcast(name, _same(512), _itself) for name in TREES),
            _ring(_same(512), _itself),
        ),
    ),
    Figure(
        "7.6",
        "Allreduce over M x M PEs, B = 1028",
        _M,
        (4, 8, 16, 32, 64),
        (4,),
        tuple(_grid_allreduce(name, 1028) for name in TREES),
    ),
)
