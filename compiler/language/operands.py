"""Operands on which an operation is tried: those at which it might do something else.

They are made from the formula: its numbers and what is near them, of both signs, and what is made
of two of them; numbers of all exponents; and operands at which its comparisons, minima and maxima
change from one side to the other, which are searched for by bisection. Where no operands so far
make a condition true (or false), they are searched for by descent on how far it is from being so.

The search is that of tests made from a program's conditions: Korel, Automated software test data
generation (IEEE Transactions on Software Engineering, 1990), and Tracey and others, An automated
framework for structural test-data generation (1998), for the distances. Everything is the same in
every run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from collc.base.columns import Array, Bools
from collc.base.values import dataclass
from collc.spec.formula import (
    COMPARISONS,
    DTYPE_OF_NUMBER,
    FLOATS,
    LOGIC,
    SHIFTS,
    Formula,
    Node,
    evaluate,
    values_of_nodes,
)

Operands = tuple[Array, ...]  # as many arrays of one shape as there are operands
Nodes = Callable[[Array], list[Array]]  # of operands: the nodes of what is combined last

_PLAIN = (0, 1, -1, 2, 3, -3, 7, 100)
_PLAIN_FLOATS = (0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 7.25, -100.0)
_MOST_NUMBERS = 24  # of a formula; others of it are not looked at by name
_MOST_PAIRS = 6  # numbers of which each two are added and subtracted
_NODE_VALUES = 1 << 20  # that are computed for the triples that are drawn
_FEWEST, _MOST = 1024, 12_000  # triples that are drawn, of each kind
_BISECTED = 48  # pairs of operands between which a change is searched
_TURNS = 16  # comparisons, minima and maxima that are steered
_STARTS = 12  # operands from which a condition is approached
_APPROACHES = 8  # conditions that are approached
_STEPS, _STEPPED = 40, 4000  # by which one is, and nodes that are computed in them
_SEARCHED = 1024  # nodes of a formula in which nothing is searched for: it would take seconds
_THIRDS = 24  # operands that are tried beside each two that were searched for


@dataclass(frozen=True)
class Numbers:
    """The elements of a type in their order: the place of each among them, and back."""

    element: str

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """What they are in NumPy."""
        return np.dtype(DTYPE_OF_NUMBER[self.element])

    @property
    def floats(self) -> bool:
        """Whether they are rounded."""
        return self.element in FLOATS

    @cached_property
    def ends(self) -> tuple[int, int]:
        """The first place and the last, of finite floats."""
        if not self.floats:
            return int(np.iinfo(self.dtype).min), int(np.iinfo(self.dtype).max)
        last = int(self.place(np.array([np.finfo(self.dtype).max]))[0])
        return -last, last

    def place(self, values: Array) -> Array:
        """Whole numbers in the order of the values; neighbors differ by one, zeros are one."""
        if not np.issubdtype(values.dtype, np.floating):
            return values.astype(np.int64)
        digits = values.view(f"i{values.dtype.itemsize}").astype(np.int64)
        return np.where(digits < 0, -(digits & np.iinfo(f"i{values.dtype.itemsize}").max), digits)

    def at(self, places: Array) -> Array:
        """The values at places between the ends."""
        if not self.floats:
            return places.astype(self.dtype)
        digits = np.abs(places).astype(f"u{self.dtype.itemsize}")
        magnitudes = digits.view(self.dtype)
        return np.where(places < 0, -magnitudes, magnitudes).astype(self.dtype)

    def near(self, places: Array) -> Array:
        """The values at places, which may be beyond the ends."""
        return self.at(np.clip(places, *self.ends))

    def fitting(self, values: Sequence[float] | Array) -> Array:
        """Those of some numbers that are of the type, rounded to it, in the order of plainness."""
        with np.errstate(all="ignore"):
            wide = np.asarray(values, np.float64)
            wide = wide[np.isfinite(wide)]
            if not self.floats:
                wide = np.trunc(wide[(wide >= self.ends[0]) & (wide <= self.ends[1])])
            found = wide.astype(self.dtype)
        found = found[np.isfinite(found)] if self.floats else found
        return np.array(sorted(set(found.tolist()), key=_plainness)).astype(self.dtype)


def _plainness(number: float) -> tuple[float, bool]:
    return abs(number), number < 0


def triples(formula: Formula, element: str) -> Operands:
    """Operands of three kinds: of plain numbers, those drawn, and those searched for."""
    numbers = Numbers(element)
    dice = np.random.default_rng(1)
    plain = numbers.fitting(_PLAIN_FLOATS if numbers.floats else (*_PLAIN, *numbers.ends))
    named = _named(formula, numbers)
    drawn = np.clip(_NODE_VALUES // (4 * len(formula)), _FEWEST, _MOST)
    first = np.array(list(product(plain, repeat=3)), numbers.dtype).T
    kinds = [
        first,
        dice.choice(named, (3, drawn)),
        _of_one_size(numbers, dice, named, drawn),
        _of_all_sizes(numbers, dice, drawn),
    ]
    found = np.concatenate(kinds, axis=1)
    with np.errstate(all="ignore"):
        steered = _Search(formula, numbers, dice, named).triples(found)
    return tuple(np.concatenate([found, *steered], axis=1))


def _named(formula: Formula, numbers: Numbers) -> Array:
    """The numbers of a formula, what is near them and made of them, and plain ones."""
    own = list(dict.fromkeys(_numbers_of(formula)))[:_MOST_NUMBERS]
    found = [*own]
    found += [n * part for n in own for part in (0.5, 0.75, 1.25, 2.0)]
    found += [np.sqrt(abs(n)) for n in own]
    for one, other in product(own[:_MOST_PAIRS], repeat=2):
        found += [one + other, one - other, *([one / other] if other else [])]
    if numbers.floats:
        found += [n + by for n in own for by in (1, -1, n / 256, -n / 256)]
        found += _PLAIN_FLOATS
    else:
        found += [n + by for n in found for by in (1, -1)]
        found += [*_PLAIN, *numbers.ends, numbers.ends[1] - 1, numbers.ends[1] // 2 + 1]
        found += [2**k for k in range(int(numbers.element[1:]))]
    places = numbers.place(numbers.fitting([*found, *(-n for n in found)]))
    own_places = numbers.place(numbers.fitting([*own, *(-n for n in own)]))
    near = np.concatenate([places, own_places + 1, own_places - 1])
    return np.unique(numbers.near(near))


def _numbers_of(formula: Formula) -> list[float]:
    """The numbers that a formula has, and those at which its shifts and casts lose digits."""
    found: list[float] = []
    for node in formula:
        if node.kind == "constant":
            found.append(float(node.value))
        elif node.kind in SHIFTS:
            bits = int(node.type[1:])
            found += [2.0**node.value, 2.0 ** (bits - node.value)]
        elif node.kind == "cast" and node.type not in FLOATS:
            ends = np.iinfo(DTYPE_OF_NUMBER[node.type])
            found += [float(ends.max), float(ends.max) + 1, float(ends.min)]
    return found


def _of_one_size(numbers: Numbers, dice: np.random.Generator, named: Array, count: int) -> Array:
    """Triples of numbers that differ by little more than their first digits, so that their sums are
    exact in floats: sixteenths of one number, of any size or of the formula's."""
    if numbers.floats:
        low, high = np.finfo(numbers.dtype).minexp, np.finfo(numbers.dtype).maxexp
        size = 2.0 ** dice.integers(low, high, count)
        with np.errstate(all="ignore"):
            own = np.abs(dice.choice(named, count)).astype(np.float64)
            size = np.where(dice.random(count) < 0.5, size, own)
            found = (dice.integers(-32, 33, (3, count)) / 16 * size).astype(numbers.dtype)
        return np.where(np.isfinite(found), found, 0).astype(numbers.dtype)
    unit = 1 << dice.integers(0, int(numbers.element[1:]), count)
    multiples = dice.integers(-8, 9, (3, count)) * unit + dice.integers(-1, 2, (3, count))
    return multiples.astype(numbers.dtype)


def _of_all_sizes(numbers: Numbers, dice: np.random.Generator, count: int) -> Array:
    """Triples of numbers of any digits, of which some are equal, neighbors or each other's
    negative."""
    if numbers.floats:
        places = dice.integers(*numbers.ends, (3, count), endpoint=True)
    else:
        bits = dice.integers(0, int(numbers.element[1:]), (3, count))
        places = dice.integers(*numbers.ends, (3, count), endpoint=True) >> bits
    related = dice.integers(0, 12, (2, count))
    for place, relation in enumerate(related, start=1):
        before = places[place - 1]
        places[place] = np.select(
            [relation == 0, relation == 1, relation == 2],
            [before, -before, before + dice.integers(-2, 3, count)],
            places[place],
        )
    return numbers.near(places)


@dataclass(eq=False)
class _Search:
    """The search for operands at which a formula changes."""

    formula: Formula
    numbers: Numbers
    dice: np.random.Generator
    named: Array

    def triples(self, drawn: Array) -> list[Array]:
        """More triples, from those that were drawn."""
        if not self._turns or len(self.formula) > _SEARCHED:
            return []
        some = drawn[:, self.dice.integers(0, drawn.shape[1], 2048)]
        a, b, c = some
        left, right = evaluate(self.formula, a, b), evaluate(self.formula, b, c)
        first = [np.concatenate(pair) for pair in ((a, left, a), (b, c, right))]
        keep = np.isfinite(first[0]) & np.isfinite(first[1])
        pairs = np.array([side[keep] for side in first])
        near = self._changes(self._alone, pairs)
        far = self._conditions(np.concatenate([pairs, near], axis=1))
        thirds = self._with_thirds(np.concatenate([near, *far], axis=1))
        return [thirds, *(self._changes(last, some) for last in (self._left, self._right))]

    def _alone(self, operands: Array) -> list[Array]:
        """The nodes of an operation on pairs."""
        return values_of_nodes(self.formula, *operands)

    def _left(self, operands: Array) -> list[Array]:
        """The nodes of what is combined last of triples: the first two and the third."""
        a, b, c = operands
        return values_of_nodes(self.formula, evaluate(self.formula, a, b), c)

    def _right(self, operands: Array) -> list[Array]:
        """The same of the first, and the other two."""
        a, b, c = operands
        return values_of_nodes(self.formula, a, evaluate(self.formula, b, c))

    @cached_property
    def _turns(self) -> list[tuple[int, int]]:
        """What may change sides: what each comparison, minimum and maximum compares."""
        compared = (*COMPARISONS, "min", "max")
        nodes = (node.of for node in self.formula if node.kind in compared)
        return [(one, other) for one, other in dict.fromkeys(nodes)][:_TURNS]

    def _changes(self, nodes: Nodes, given: Array) -> Array:
        """Operands on both sides of where each turn changes, next to each other, between given
        ones; one operand of them is moved at a time."""
        starts: list[Array] = []
        goals: list[Array] = []
        for sides in self._larger(nodes, given):
            for found, which in ((starts, sides), (goals, ~sides)):
                there = np.flatnonzero(which) if which.any() else np.arange(len(sides))
                found.append(given[:, self.dice.choice(there, _BISECTED)])
        start, goal = np.stack(starts, axis=1), np.stack(goals, axis=1)
        for moved in range(len(given) - 1):
            corner = start.copy()
            corner[moved] = goal[moved]
            still = self._above(nodes, corner)
            start = np.where(still, corner, start)
            goal = np.where(still, goal, corner)
        low, high = self.numbers.place(start), self.numbers.place(goal)
        for _ in range(8 * self.numbers.dtype.itemsize + 1):
            middle = (low + high) >> 1
            up = self._above(nodes, self.numbers.at(middle))
            low, high = np.where(up, middle, low), np.where(up, high, middle)
        ends = np.stack([self.numbers.at(low), self.numbers.at(high)], axis=1)
        return np.reshape(ends, (len(given), -1))

    def _larger(self, nodes: Nodes, operands: Array) -> Iterator[Array]:
        """Of each turn, for which operands the first side is larger."""
        values = nodes(operands)
        return (values[one] > values[other] for one, other in self._turns)

    def _above(self, nodes: Nodes, operands: Array) -> Bools:
        """The same of operands that each turn has for itself: [operands, turns, count]."""
        flat = operands.reshape(len(operands), -1)
        whole = (sides.reshape(operands.shape[1:]) for sides in self._larger(nodes, flat))
        return np.array([sides[turn] for turn, sides in enumerate(whole)])

    def _conditions(self, pairs: Array) -> list[Array]:
        """Pairs for which conditions hold, and do not hold, as far as some are found."""
        values = values_of_nodes(self.formula, *pairs)
        kinds = (*COMPARISONS, *LOGIC)
        conditions = [at for at, node in enumerate(self.formula) if node.kind in kinds]
        found: list[Array] = []
        approaches = _APPROACHES
        for index, wanted in product(conditions[-_TURNS:], (True, False)):
            there = np.flatnonzero(values[index] == wanted)
            if len(there):
                found.append(pairs[:, self.dice.choice(there, min(len(there), _STARTS))])
            elif approaches:
                approaches -= 1
                found.append(self._approached(index, wanted, pairs))
        return found

    def _approached(self, index: int, wanted: bool, pairs: Array) -> Array:
        """Pairs that make a condition hold or not, by descent from the nearest of those given."""
        far = self._distance(index, wanted, pairs)
        starts = np.argsort(far, kind="stable")[:_STARTS]
        here, far = pairs[:, starts], far[starts]
        for _ in range(min(_STEPS, _STEPPED // len(self.formula))):
            moved = self._moved(here)
            distance = self._distance(index, wanted, moved.reshape(2, -1)).reshape(moved.shape[1:])
            best = np.argmin(distance, axis=0)
            columns = np.arange(len(starts))
            nearer = distance[best, columns] < far
            here = np.where(nearer, moved[:, best, columns], here)
            far = np.where(nearer, distance[best, columns], far)
            if (far == 0).any() or not nearer.any():
                break
        return here[:, far == 0]

    def _moved(self, here: Array) -> Array:
        """Pairs after one move of each kind: [2, moves, pairs]."""
        by = 1 << np.arange(8 * self.numbers.dtype.itemsize - 1)
        by = np.concatenate([by, -by])[:, None]
        a, b = self.numbers.place(here)[:, None]
        moves = [(a + by, b + 0 * by), (a + 0 * by, b + by)]
        if not self.numbers.floats:
            moves += [
                (a + by, b + by),
                (a + by, b - by),
                (a ^ by, b + 0 * by),
                (a + 0 * by, b ^ by),
            ]
        found = self.numbers.near(np.concatenate(moves, axis=1).reshape(2, -1, here.shape[1]))
        if self.numbers.floats:
            steps = 2.0 ** np.arange(-8, 12)
            step = np.concatenate([steps, -steps])[:, None].astype(self.numbers.dtype)
            sums = [(here[0] + step, here[1] + by) for by in (0 * step, step, -step)]
            sums.append((here[0] + 0 * step, here[1] + step))
            more = np.concatenate(sums, axis=1).reshape(2, -1, here.shape[1])
            found = np.concatenate([found, np.where(np.isfinite(more), more, 0)], axis=1)
        return found.astype(self.numbers.dtype)

    def _distance(self, index: int, wanted: bool, pairs: Array) -> Array:
        """How far a condition is from what is wanted of it."""
        values = values_of_nodes(self.formula, *pairs)
        return _far(self.formula, values, index, wanted)

    def _with_thirds(self, pairs: Array) -> Array:
        """Triples of pairs and another operand, on either side."""
        a, b = pairs
        result = evaluate(self.formula, a, b)
        near = np.array([a, b, -a, -b, a + a, b + b, result, -result])
        numbers = np.concatenate(
            [near, self.dice.choice(self.named, (_THIRDS - len(near), len(a)))]
        ).astype(a.dtype)
        if self.numbers.floats:
            numbers = np.where(np.isfinite(numbers), numbers, 0).astype(a.dtype)
        third = numbers.reshape(-1)
        a, b = (np.tile(side, _THIRDS) for side in (a, b))
        return np.concatenate([[a, b, third], [third, a, b]], axis=1)


def _far(formula: Formula, values: list[Array], index: int, wanted: bool) -> Array:
    """How far a condition is from being `wanted`, 0 if it is so: the distance of what is compared,
    in the order of its type; of both conditions of an `and` the sum, of an `or` the lesser. A
    condition that others are made of several times is looked at once."""
    parts = {index}
    for at in range(index, -1, -1):
        if at in parts and formula[at].kind in ("not", *LOGIC):
            parts.update(formula[at].of)
    far: dict[int, tuple[Array, Array]] = {}  # from not holding, and from holding
    for at in sorted(parts):
        node = formula[at]
        if node.kind == "not":
            far[at] = far[node.of[0]][::-1]
        elif node.kind in LOGIC:
            (fails, holds), (other_fails, other_holds) = (far[part] for part in node.of)
            if node.kind == "and":
                far[at] = np.minimum(fails, other_fails), holds + other_holds
            else:
                far[at] = fails + other_fails, np.minimum(holds, other_holds)
        else:
            apart = _apart(formula, values, node)
            far[at] = np.where(values[at], apart, 0.0), np.where(values[at], 0.0, apart)
    return far[index][wanted]


def _apart(formula: Formula, values: list[Array], node: Node) -> Array:
    """How far what is compared is from being equal; 1 where nothing is compared."""
    if node.kind not in COMPARISONS:
        return np.ones(())
    left, right = (values[part] for part in node.of)
    scale = Numbers(formula[node.of[0]].type)
    places = np.abs(scale.place(left) - scale.place(right)).astype(np.float64)
    return np.asarray(np.log1p(places) + 1)
