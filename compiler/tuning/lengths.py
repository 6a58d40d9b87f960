"""The best plan for every length of a range: rows of a table, each good from one length to another.

The choice is made at lengths that double. Between two of them with different plans lies a crossing,
where both take as many cycles. What a plan takes grows piecewise linearly with the length, so the
crossing is found by following the lines: a few evaluations of the cost model, not one a length.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise

from collc.base.values import dataclass
from collc.spec import Considered

_LOOKS = 6  # at a crossing, at most, where a few cycles do not matter


@dataclass(frozen=True)
class Row:
    """The plan for lengths `first` to `last`, as it was chosen at `length`, one of them or next to
    them; what it takes at both ends when simulated, where it was."""

    first: int
    last: int
    length: int
    plan: Considered
    measured: tuple[int, ...] = ()


def sampled(lengths: range) -> tuple[int, ...]:
    """The lengths at which the choice is made: both ends, and powers of two between them."""
    doubling = (2**k for k in range(lengths.stop.bit_length()))
    return tuple(sorted({lengths[0], lengths[-1], *(n for n in doubling if n in lengths)}))


Least = Callable[[str, int], int]


def rows_of(chosen: Mapping[int, Considered], crossings: Mapping[int, int]) -> Iterator[Row]:
    """The table: `crossings` says, for a sampled length, the last length of its plan."""
    lengths = sorted(chosen)
    first = since = lengths[0]
    for length, following in pairwise(lengths):
        if chosen[length].text != chosen[following].text:
            last = crossings[length]
            if last >= first:
                yield Row(first, last, since, chosen[since])
                first = last + 1
            since = following
    yield Row(first, lengths[-1], since, chosen[since])


def crossing_of_plans(least: Least, low: int, high: int, plans: tuple[str, str]) -> int:
    """The last length from `low` on, below `high`, at which the first plan takes no more cycles
    than the second."""
    return crossing(lambda length: least(plans[1], length) - least(plans[0], length), low, high)


def crossing(ahead: Callable[[int], int], low: int, high: int, looks: int = _LOOKS) -> int:
    """The last length from `low` on, below `high`, at which something is still ahead of something
    else, by at least 0 cycles; after so many looks at the most one near it."""
    at_low, at_high = ahead(low), ahead(high)
    if at_high >= 0:
        return high - 1
    if at_low < 0:
        return low
    for look in range(looks):
        if high - low <= 1:
            break
        share = at_low / (at_low - at_high) if look % 2 == 0 else 0.5
        middle = min(max(low + round((high - low) * share), low + 1), high - 1)
        found = ahead(middle)
        if found >= 0:
            low, at_low = middle, found
        else:
            high, at_high = middle, found
    return low


def different(chosen: Mapping[int, Considered]) -> Iterable[tuple[int, int, tuple[str, str]]]:
    """Neighbouring lengths with different plans, and these."""
    for low, high in pairwise(sorted(chosen)):
        plans = chosen[low].text, chosen[high].text
        if plans[0] != plans[1]:
            yield low, high, plans
