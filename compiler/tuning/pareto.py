"""The plans that nothing beats in cycles, colors and memory at once."""

from collections.abc import Sequence

from collc.base.diagnostics import CollcError
from collc.spec import Collective, Considered
from collc.target import Target
from collc.tuning.decide import decided
from collc.tuning.show import table_of


def pareto(collective: Collective, target: Target) -> tuple[Considered, ...]:
    """Of the best plans for every number of colors, and all else that has been predicted on the way
    to them, those that nothing beats; the fastest first."""
    found: dict[tuple[str, int | None], Considered] = {}
    colors: int | None = None
    while colors is None or colors > 0:
        try:
            decision = decided(collective, target, colors, shares=False).decision
        except CollcError:
            break
        assert decision is not None, "all steps are left open"
        for one in (decision.chosen, *decision.lost):
            if one.cycles is not None:
                found[one.text, one.colors] = one
        colors = (decision.chosen.colors or 1) - 1
    plans = sorted(found.values(), key=_costs)
    return tuple(one for one in plans if not any(_beats(other, one) for other in plans))


def show_pareto(plans: Sequence[Considered]) -> str:
    """The same as a table."""
    return table_of([("", one) for one in plans])


def _costs(one: Considered) -> tuple[int, int, int]:
    return one.cycles or 0, one.colors or 0, one.memory_bytes or 0


def _beats(one: Considered, other: Considered) -> bool:
    """Whether nothing of it is more, and something less; of equals the earlier text wins."""
    if _costs(one) == _costs(other):
        return one.text < other.text
    return all(a <= b for a, b in zip(_costs(one), _costs(other), strict=True))
