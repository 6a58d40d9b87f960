"""Plans that are alike, so that what is found out about one is known of the other."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from collc.base.values import dataclass
from collc.plan.plan import Plan


@dataclass(frozen=True, eq=False)
class Alike:
    """A plan that equals others with the same phases and numbers, whatever they were chosen from.
    Phases are the same by identity: to compare them takes as long as to check them."""

    plan: Plan

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Alike) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _key(self) -> object:
        return (*map(id, self.plan.phases), replace(self.plan, phases=()))
