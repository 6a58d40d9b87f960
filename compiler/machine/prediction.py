"""What is predicted of a program: its cycles, what they go into, what was waited for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, field
from functools import cached_property
from typing import Any

from collc.base.diagnostics import Span
from collc.base.values import dataclass


@dataclass(frozen=True)
class Wait:
    """Why a rank could not take a vector earlier: it waited for `rank` to do `what`.

    `what` is "vector" (its first element; "slices" where vectors are cut), "router" (its router to
    let vectors pass), "previous" (the rank itself was taking the vector before), "start" (it was
    starting up) or "distance" (the way to the farthest PE, of `rank` hops). For so many `cycles`
    the first element of `source` was there already, or waited before the router.
    """

    rank: int
    what: str
    cycles: int = 0
    source: int | None = None


@dataclass(frozen=True)
class CriticalPath:
    """What a phase waited for, first cause first; the last entry is what the PE waited for that
    ends last, which of a tree is rank 0. `at` is the step of the program that says so."""

    phase: str
    waits: tuple[Wait, ...]
    at: Span


@dataclass(frozen=True)
class Prediction:
    """Cycles from the common start to the last PE's completion, of so many calls, and where they
    go.

    `bound` is what no program for the contract can go below (`collc.cost.bound`), of several calls
    for that of the longest; `tree_bound` what no tree can where trees are used
    (`collc.cost.tree_bound`). `breakdown` gives each phase of a single call, or else each
    collective, the cycles by which it moves the end, in order, and the rest to "start" and
    "completion"; it adds up to `cycles`. A `note` says what the prediction leaves out,
    if anything. `find_path` finds the critical path when that is asked for, by another run.
    """

    cycles: int
    bound: int
    breakdown: dict[str, int]
    tree_bound: int | None = None
    note: str = ""
    calls: int = 1
    find_path: Callable[[], tuple[CriticalPath, ...]] = field(
        default=tuple, compare=False, repr=False
    )

    @cached_property
    def critical_path(self) -> tuple[CriticalPath, ...]:
        """What the phases of a single call waited for; empty of what is not known."""
        return self.find_path()

    def as_data(self) -> dict[str, Any]:
        """The same as a dictionary of plain values."""
        return {
            "cycles": self.cycles,
            "bound": self.bound,
            "breakdown": self.breakdown,
            "critical_path": tuple(map(asdict, self.critical_path)),
            "tree_bound": self.tree_bound,
            "note": self.note,
        }

    @property
    def gap(self) -> float | None:
        """How many times the bound; None for a single PE, which has nothing to do, and of several
        calls, which overlap, so that their bounds do not add up."""
        return self.cycles / self.bound if self.bound and self.calls == 1 else None

    @property
    def tree_gap(self) -> float | None:
        """How many times the bound of all trees, where there is one."""
        return self.cycles / self.tree_bound if self.tree_bound else None
