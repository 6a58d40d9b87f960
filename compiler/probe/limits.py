"""Limits of a table: numbers for which 0 stands for none, and of which a reading is no sum.

A copy of n elements at v hundredths of an element a cycle takes 100 n / v cycles: a slope says
nothing about a limit that is far away. A reading falls while its limit rises, so the limit is
looked up by halving.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

_HIGHEST = 4096  # hundredths of an element a cycle: more than any port lets through

Predict = Callable[[Mapping[str, int]], dict[str, int] | None]


def limited(
    table: Mapping[str, int], limits: Sequence[str], measured: Mapping[str, int], predict: Predict
) -> dict[str, int]:
    """The table with the limits that readings ask for, the loosest that give what was measured."""
    found = dict(table)
    for limit in limits:
        tried = (found | {limit: value} for value in _asked_for(found, limit, measured, predict))
        found = min([found, *tried], key=lambda one: error(one, measured, predict))
    return found


def error(table: Mapping[str, int], measured: Mapping[str, int], predict: Predict) -> int:
    """How far the readings of a table are from those measured, in cycles."""
    now = predict(table)
    assert now is not None, "fabsim runs its own probes"
    return sum(abs(value - now[name]) for name, value in measured.items() if name in now)


def _asked_for(
    table: Mapping[str, int], limit: str, measured: Mapping[str, int], predict: Predict
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
