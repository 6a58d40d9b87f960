"""How much work a search for a plan may do, and what it leaves out then (D187).

Work is counted in pairs of ranks of a line that are looked at, not in seconds, so that the same
program gets the same plan on every computer. Lines of the machine are never too long: a thousand
candidates of a thousand ranks each are within the budget. Paths over a whole grid can be.
"""

from collections.abc import Iterable, Iterator
from dataclasses import field
from math import prod
from typing import TypeVar

from collc.base.values import dataclass
from collc.spec import Gap, Undecided

Plan = TypeVar("Plan", str, tuple[int, ...])  # as it is written, or the numbers of its gaps

# Unfolding and predicting a chain takes some 20 s for 65,250 ranks, 0.1 s for 1,000.
MOST_WORK = 1 << 30
# Plans whose phases share colors over time that are predicted; of those that do the same as others
# near the best, with the other axis first or another root, fewer. In 14 searches, on rows and on
# grids of up to 64 x 64 PEs, the best of the first 400 was among the first 64.
MOST_SHARING, MOST_MIRRORED = 64, 16
_TREES_OF_OPTIMAL = 6  # it is compared with those of the prelude


@dataclass
class Budget:
    """What there is left, and the plans that were left out for it, as text."""

    left: int = MOST_WORK
    left_out: list[str] = field(default_factory=list)

    def affordable(self, plans: Iterable[Plan], undecided: Undecided) -> Iterator[Plan]:
        """The plans that there is work left for; what one takes is spent when it is taken."""
        for plan in plans:
            work = work_of(plan, undecided)
            if work > self.left:
                self.left_out.append(
                    plan if isinstance(plan, str) else _named(plan, undecided.gaps)
                )
                continue
            self.left -= work
            yield plan

    def at_least_one(self, plans: Iterable[Plan], undecided: Undecided) -> None:
        """Let the plan that takes the least work be looked at, whatever it takes."""
        self.left = max(self.left, min((work_of(plan, undecided) for plan in plans), default=0))


def work_of(plan: str | tuple[int, ...], undecided: Undecided) -> int:
    """Pairs of ranks that are looked at for a plan."""
    text = plan if isinstance(plan, str) else ""
    ranks = prod(undecided.extents) if text.startswith("order ") else max(undecided.extents)
    return ranks * ranks * (_TREES_OF_OPTIMAL if "optimal" in text else 1)


def _named(numbers: tuple[int, ...], gaps: tuple[Gap, ...]) -> str:
    return ", ".join(f"{gap.name} = {number}" for gap, number in zip(gaps, numbers, strict=True))
