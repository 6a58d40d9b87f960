"""Whether an operation of the user's own is associative, and commutative where it is called so, as
far as can be found out by trying.

A reduction combines vectors in an order that the compiler chooses, so an operation that breaks the
law gives another result for every tree. What is tried is the same in every run. Whole
numbers are compared exactly. Floats break a law where the results differ by more than rounding can
explain: where they would differ without any (`collc.spec.unrounded`). Operands for which a result
overflows say nothing.

Operands are tried at which an operation might do something else. They are made from the formula:
its numbers and what is near them, of both signs, and what is made of two of them; numbers of all
exponents; and operands at which its comparisons, minima and maxima change from one side to the
other, which are searched for by bisection. Where no operands so far make a condition true (or
false), they are searched for by descent on how far it is from being so.

The search is that of tests made from a program's conditions: Korel, Automated software test data
generation (IEEE Transactions on Software Engineering, 1990), and Tracey and others, An automated
framework for structural test-data generation (1998), for the distances.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

import numpy as np

from collc.base.columns import Array, Bools
from collc.base.values import dataclass
from collc.language.problems import ProblemError, problem
from collc.spec import OwnOperation
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
from collc.spec.unrounded import Known, exactly, unrounded

# Operands to try.


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


# Laws, tried on them.


_LOOKED_AT = 4096  # results that differ in floats, of which rounding is followed
# Parts of the largest number at hand: the roundings of a formula's numbers, such as 0.1, do not
# explain a larger difference.
_FAR = {2: 2.0**-3, 4: 2.0**-8}
_COMPARED = 256  # operands that break a law, of which the plainest is shown


def broken_law(operation: OwnOperation, *, associative: bool) -> ProblemError | None:
    """The problem of an operation that breaks a law, with a counterexample; None if none is found.

    `associative` says whether that law is looked at: the user may have assumed it.
    """
    formula, element = operation.formula, operation.element.value
    if operation.commutative:
        found = _counterexample(formula, element, 2)
        if found is not None:
            return _not_commutative(operation, *found)
    found = _counterexample(formula, element, 3) if associative else None
    return None if found is None else _not_associative(operation, *found)


@lru_cache(maxsize=256)
def _counterexample(formula: Formula, element: str, count: int) -> tuple[Any, ...] | None:
    """The plainest operands found that break a law: two for commutativity, three for the other."""
    given = _tried(formula, element)[:count]
    broken = np.flatnonzero(_breaks(formula, given))
    if not len(broken):
        return None
    sizes = np.max([np.abs(side[broken].astype(np.float64)) for side in given], axis=0)
    nearest = broken[np.argsort(np.abs(np.log(sizes + 1e-300)), kind="stable")[:_COMPARED]]
    columns = [tuple(side[at] for side in given) for at in nearest]
    return _simplified(formula, element, min(columns, key=_effort))


@lru_cache(maxsize=8)
def _tried(formula: Formula, element: str) -> Operands:
    return triples(formula, element)


def _sides(formula: Formula, given: Operands) -> tuple[tuple[Array, Array], Bools]:
    """The results that a law says are equal, and which of them say something about it."""
    with np.errstate(all="ignore"):
        if len(given) == 2:
            a, b = given
            sides = evaluate(formula, a, b), evaluate(formula, b, a)
            parts: tuple[Array, ...] = sides
        else:
            a, b, c = given
            left, right = evaluate(formula, a, b), evaluate(formula, b, c)
            sides = evaluate(formula, left, c), evaluate(formula, a, right)
            parts = (left, right, *sides)
        return sides, np.logical_and.reduce([np.isfinite(part) for part in parts])


def _breaks(formula: Formula, given: Operands) -> Bools:
    """Which operands break a law."""
    (left, right), finite = _sides(formula, given)
    differs: Bools = finite & (left != right)
    if left.dtype.kind != "f":
        return differs
    chosen = np.flatnonzero(differs)
    if len(chosen) > _LOOKED_AT:
        chosen = chosen[np.argsort(-_relative(left, right, given, chosen))[:_LOOKED_AT]]
    differs[:] = False
    some = tuple(side[chosen] for side in given)
    far = _relative(left, right, given, chosen) > _FAR[left.dtype.itemsize]
    differs[chosen] = _differ_unrounded(formula, some, as_rounded=False)
    differs[chosen] |= far & _differ_unrounded(formula, some, as_rounded=True)
    return differs


def _relative(left: Array, right: Array, given: Operands, chosen: Array) -> Array:
    """By how much results differ, as a part of the largest number at hand."""
    parts = [side[chosen].astype(np.float64) for side in (left, right, *given)]
    apart = np.abs(parts[0] - parts[1])
    return np.asarray(apart / np.max(np.abs(parts), axis=0))


def _differ_unrounded(formula: Formula, given: Operands, *, as_rounded: bool) -> Bools:
    """Which results would differ without rounding; `as_rounded` takes a formula's numbers for what
    they are in their type."""
    sides = [exactly(side) for side in given]

    def f(own: Known, received: Known) -> Known:
        return unrounded(formula, own, received, as_rounded=as_rounded)

    if len(sides) == 2:
        a, b = sides
        return f(a, b).differs(f(b, a))
    a, b, c = sides
    return f(f(a, b), c).differs(f(a, f(b, c)))


def _simplified(formula: Formula, element: str, found: tuple[Any, ...]) -> tuple[Any, ...]:
    """Operands that break the law as well, each replaced by plainer ones as long as that goes."""
    numbers = Numbers(element)
    for _ in range(3):
        before = found
        for place, value in enumerate(found):
            others = _plainer(numbers, value, found)
            columns = [np.full(len(others), operand) for operand in found]
            columns[place] = others
            breaking = others[_breaks(formula, tuple(columns))]
            best = min((value, *breaking), key=lambda n: _effort((n,)))
            found = (*found[:place], best, *found[place + 1 :])
        if found == before:
            break
    return found


def _plainer(numbers: Numbers, value: Any, beside: tuple[Any, ...]) -> Array:  # noqa: ANN401
    """Small numbers, the other operands, and the number with fewer digits."""
    exact = float(value)
    shorter = []
    for digits in range(1, 8):
        unit = 10.0 ** (np.floor(np.log10(abs(exact) or 1.0)) - digits + 1)
        shorter += [unit * round_(exact / unit) for round_ in (np.floor, np.ceil)]
    small = [0, 1, 2, 3, 4, 5, 7, 8, 10, 100, 1000, *([0.5, 0.25] if numbers.floats else [])]
    beside_it = [float(other) for other in beside]
    shorter = [float(f"{n:.7g}") for n in shorter]
    return numbers.fitting([*small, *(-n for n in small), *beside_it, *shorter])


def _effort(operands: tuple[Any, ...]) -> tuple[int, float, bool]:
    """How hard operands are to read: their digits, then their size."""
    text = sum(len(str(operand).removesuffix(".0")) for operand in operands)
    return text, float(max(abs(float(n)) for n in operands)), any(n < 0 for n in operands)


def _not_commutative(operation: OwnOperation, a: Any, b: Any) -> ProblemError:  # noqa: ANN401
    name = operation.value
    x, y = (_result(operation, *pair) for pair in ((a, b), (b, a)))
    message = (
        f"{name} is not commutative: {name}({a!s}, {b!s}) = {x!s}, {name}({b!s}, {a!s}) = {y!s}"
    )
    return problem("C163", message, operation.span, help="leave `commutative` out")


def _not_associative(operation: OwnOperation, a: Any, b: Any, c: Any) -> ProblemError:  # noqa: ANN401
    name = operation.value
    left = _result(operation, _result(operation, a, b), c)
    right = _result(operation, a, _result(operation, b, c))
    message = f"{name} is not associative: {name}({name}({a!s}, {b!s}), {c!s}) = {left!s}, "
    message += f"{name}({a!s}, {name}({b!s}, {c!s})) = {right!s}"
    help = (
        "combine by an operation whose result does not depend on the grouping (for a mean `add`, "
    )
    help += "and scale the result); if the vectors never hold such elements, or results may depend "
    help += "on the tree, write `assume associative` before the `=`"
    return problem("C163", message, operation.span, help=help)


def _result(operation: OwnOperation, a: Any, b: Any) -> Any:  # noqa: ANN401
    with np.errstate(all="ignore"):
        return evaluate(operation.formula, np.asarray(a)[None], np.asarray(b)[None])[0]
