"""Constants from readings: exact where the readings determine them, and what they leave open.

A reading is, near the constants in force, a sum of constants with whole factors. These are found by
running fabsim with each constant one higher and one lower; a reading that answers the two
differently bends there and only serves as a check. The equations are solved with fractions.
Limits, of which no reading is a sum, are looked up (`limits`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import lcm

from collc.base.values import dataclass

_ROUNDS = 8
_FURTHER = 4  # cycles: more than a number of a table is likely to be off

Row = dict[str, int]


@dataclass(frozen=True)
class Equation:
    """A sum of constants that the readings determine, where they do not determine each."""

    factors: dict[str, int]
    value: int
    by: tuple[str, ...]


@dataclass(frozen=True)
class Fit:
    """What came out.

    `determined` are the constants that the readings fix, with the readings that do; `table` has a
    value for every constant, for the others one that is as good as any that keeps `equations`.
    `untold` change no reading, `bounded` only some that bend. `unexplained` are readings that no
    constants give, with what was measured and what fabsim says. Of `limits` 0 stands for none.
    """

    determined: dict[str, tuple[int, tuple[str, ...]]]
    equations: list[Equation]
    untold: list[str]
    bounded: list[str]
    unexplained: dict[str, tuple[int, int]]
    table: dict[str, int]
    limits: tuple[str, ...] = ()


@dataclass(frozen=True)
class Slopes:
    """How the readings follow the constants: the factors of those that are sums, and of those that
    bend the factors upwards."""

    rows: dict[str, Row]
    bent: dict[str, Row]


def fit(
    measured: Mapping[str, int],
    start: Mapping[str, int],
    free: Sequence[str],
    predict: _Predict,
    limits: Sequence[str] = (),
) -> Fit:
    """Change the `free` constants, from `start` on, until the readings are those measured. Those
    that are `limits` are no part of sums."""
    table = dict(start)
    seen: list[Slopes] = []
    for _ in range(_ROUNDS):
        now = _of(predict(table), measured)
        slopes = slopes_at(table, free, now, predict)
        seen.append(slopes)
        step = _step(_without(slopes, limits), now, measured, table)
        tried = [_moved(table, step, predict), _limited(table, limits, measured, predict)]
        best = min(tried, key=lambda one: _error(one, measured, predict))
        if _error(best, measured, predict) >= _error(table, measured, predict):
            break
        table = best
    further = _bent_further_on(start, free, seen[0], predict)
    bends = {name: further.get(name, set()) for name in _straight(seen)}
    return replace(_summed_up(measured, table, free, predict, bends), limits=tuple(limits))


def _step(
    slopes: Slopes, now: Mapping[str, int], measured: Mapping[str, int], table: Mapping[str, int]
) -> Row:
    """How the constants have to change: readings that bend have the last say, and of constants
    that are not told apart the largest changes, since none may go below nothing."""
    rows = {
        name: dict(sorted(row.items(), key=lambda item: -table[item[0]]))
        for name, row in {**slopes.rows, **slopes.bent}.items()
    }
    wrong = {name: measured[name] - now[name] for name in rows}
    return {name: round(by) for name, by in solved(rows, wrong).items()}


def _without(slopes: Slopes, limits: Sequence[str]) -> Slopes:
    """The slopes without those of the limits."""

    def rows(every: dict[str, Row]) -> dict[str, Row]:
        return {name: {c: row[c] for c in row if c not in limits} for name, row in every.items()}

    return Slopes(rows(slopes.rows), rows(slopes.bent))


def _straight(seen: Sequence[Slopes]) -> set[str]:
    """The readings that are the same sum of constants wherever it was looked."""
    rows = seen[0].rows
    return {name for name, row in rows.items() if all(at.rows.get(name) == row for at in seen)}


def _bent_further_on(
    start: Mapping[str, int], free: Sequence[str], slopes: Slopes, predict: _Predict
) -> dict[str, set[str]]:
    """The readings that are another sum where a constant is a good deal higher, with those."""
    now = predict(start)
    assert now is not None, "fabsim runs its own probes"
    bent: dict[str, set[str]] = {}
    for constant in free:
        further = predict({**start, constant: start[constant] + _FURTHER})
        for name, row in slopes.rows.items():
            if further and further[name] - now[name] != _FURTHER * row.get(constant, 0):
                bent.setdefault(name, set()).add(constant)
    return bent


def _of(found: dict[str, int] | None, measured: Mapping[str, int]) -> dict[str, int]:
    """The readings that were measured, too."""
    assert found is not None, "fabsim runs its own probes"
    return {name: found[name] for name in measured if name in found}


def _moved(table: dict[str, int], step: Row, predict: _Predict) -> dict[str, int]:
    """The constants after a step, or the part of it that a machine can have."""
    moved = dict(table)
    for name, by in step.items():
        tried = {**moved, name: moved[name] + by}
        if by and tried[name] >= 0 and predict(tried) is not None:
            moved = tried
    return moved


def slopes_at(
    table: Mapping[str, int], free: Sequence[str], now: Mapping[str, int], predict: _Predict
) -> Slopes:
    """The factor of every constant in every reading."""
    rows: dict[str, Row] = {name: {} for name in now}
    bent: set[str] = set()
    for constant in free:
        sides = []
        for by in (1, -1):
            value = table[constant] + by
            found = predict({**table, constant: value}) if value >= 0 else None
            if found is not None:
                sides.append({name: (found[name] - now[name]) * by for name in now})
        for name in now:
            factors = [side[name] for side in sides]
            if len(set(factors)) > 1:
                bent.add(name)
            if any(factors):
                rows[name][constant] = factors[0] or factors[-1]
    return Slopes(
        {name: row for name, row in rows.items() if name not in bent},
        {name: row for name, row in rows.items() if name in bent},
    )


@dataclass
class _Reduced:
    """A row of the reduced system: factors, right side, and the readings it is made of."""

    factors: dict[str, Fraction]
    value: Fraction
    made_of: dict[str, Fraction]

    def less(self, other: _Reduced, times: Fraction) -> None:
        """Subtract another row so many times."""
        for mine, its in ((self.factors, other.factors), (self.made_of, other.made_of)):
            for name, value in its.items():
                mine[name] = mine.get(name, Fraction(0)) - times * value
                if not mine[name]:
                    del mine[name]
        self.value -= times * other.value


def reduced(rows: Mapping[str, Row], values: Mapping[str, int]) -> list[tuple[str, _Reduced]]:
    """The rows in reduced form, each with its leading constant; one that contradicts those before
    it is left out."""
    found: list[tuple[str, _Reduced]] = []
    for name, factors in rows.items():
        row = _Reduced(
            {constant: Fraction(by) for constant, by in factors.items()},
            Fraction(values[name]),
            {name: Fraction(1)},
        )
        for lead, known in found:
            if lead in row.factors:
                row.less(known, row.factors[lead])
        if not row.factors:
            continue
        lead = next(iter(row.factors))
        scale = row.factors[lead]
        row.factors = {constant: by / scale for constant, by in row.factors.items()}
        row.made_of = {reading: by / scale for reading, by in row.made_of.items()}
        row.value /= scale
        for _, known in found:
            if lead in known.factors:
                known.less(row, known.factors[lead])
        found.append((lead, row))
    return found


def solved(rows: Mapping[str, Row], values: Mapping[str, int]) -> dict[str, Fraction]:
    """A solution in which what is not determined stays as it is."""
    return {lead: row.value for lead, row in reduced(rows, values)}


def _summed_up(
    measured: Mapping[str, int],
    table: dict[str, int],
    free: Sequence[str],
    predict: _Predict,
    bends: Mapping[str, set[str]],
) -> Fit:
    """What the readings determine at the end. `bends` has those that were the same sum all along,
    with the constants that would change that; such a one counts where those are determined."""
    now = _of(predict(table), measured)
    slopes = slopes_at(table, free, now, predict)
    equal = {name: row for name, row in slopes.rows.items() if now[name] == measured[name]}
    leads: list[tuple[str, _Reduced]] = []
    known: set[str] = set()
    while True:
        rows = {name: row for name, row in equal.items() if bends.get(name, {""}) <= known}
        sums = {name: sum(by * table[c] for c, by in row.items()) for name, row in rows.items()}
        leads = reduced(rows, sums)
        more = {lead for lead, row in leads if len(row.factors) == 1}
        if more == known:
            break
        known = more
    touched = {constant for row in rows.values() for constant in row}
    every = (*slopes.rows.values(), *slopes.bent.values(), *bends.values())
    moving = {constant for row in every for constant in row}
    exact = {lead: tuple(sorted(row.made_of)) for lead, row in leads if lead in known}
    return Fit(
        determined={name: (table[name], exact[name]) for name in free if name in exact},
        equations=[_whole(row) for lead, row in leads if lead not in known],
        untold=[name for name in free if name not in touched | moving],
        bounded=[name for name in free if name in moving and name not in touched],
        unexplained={
            name: (measured[name], now[name]) for name in now if now[name] != measured[name]
        },
        table=table,
    )


def _whole(row: _Reduced) -> Equation:
    """A row with whole factors."""
    scale = lcm(*(value.denominator for value in (*row.factors.values(), row.value)))
    factors = {name: int(factor * scale) for name, factor in sorted(row.factors.items())}
    return Equation(factors, int(row.value * scale), tuple(sorted(row.made_of)))


_HIGHEST = 4096  # hundredths of an element a cycle: more than any port lets through

_Predict = Callable[[Mapping[str, int]], dict[str, int] | None]


def _limited(
    table: Mapping[str, int], limits: Sequence[str], measured: Mapping[str, int], predict: _Predict
) -> dict[str, int]:
    """The table with the limits that readings ask for, the loosest that give what was measured."""
    found = dict(table)
    for limit in limits:
        tried = (found | {limit: value} for value in _asked_for(found, limit, measured, predict))
        found = min([found, *tried], key=lambda one: _error(one, measured, predict))
    return found


def _error(table: Mapping[str, int], measured: Mapping[str, int], predict: _Predict) -> int:
    """How far the readings of a table are from those measured, in cycles."""
    now = predict(table)
    assert now is not None, "fabsim runs its own probes"
    return sum(abs(value - now[name]) for name, value in measured.items() if name in now)


def _asked_for(
    table: Mapping[str, int], limit: str, measured: Mapping[str, int], predict: _Predict
) -> Iterator[int]:
    """For each reading that takes longer than without the limit: the highest with which it does."""

    def reading(name: str, value: int) -> int:
        readings = predict({**table, limit: value})
        return readings[name] if readings else 0

    for name, wanted in measured.items():
        if reading(name, 0) < wanted <= reading(name, 1):
            low, high = 1, _HIGHEST
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if reading(name, middle) >= wanted else (low, middle)
            yield low
