"""Where one alternative of a choice by length gives way to the next: limits that are left open.

They are found from the longest vectors down. The next alternative is then known with the plan that
it is going to have; the one before is planned anew for every length that comes into question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

from collc.base.table import aligned
from collc.base.values import dataclass
from collc.cost.choice import fastest
from collc.cost.predict import cycles_for
from collc.language.elaborate import alternative
from collc.lowering.resources import left_by
from collc.plan import Plan
from collc.schedule import build_schedule
from collc.spec import Collective, Program, Selection, Spec
from collc.target import TARGETS, Target
from collc.tuning.decide import decided
from collc.tuning.lengths import crossing
from collc.tuning.trees import with_chosen_trees

_LOOKS = 26  # two for each halving of what is left


def with_limits(spec: Spec) -> Spec:
    """The Spec with a number for every limit that was left open; an alternative that is the fastest
    for no length is left out. Raises CollcError."""
    program = spec.program
    if program is None or all(None not in one.limits for one in program.selections):
        return spec
    machine = left_by(program.reserved, TARGETS[spec.target])
    collectives = {collective.name: collective for collective in spec.collectives}
    found: dict[str, Collective] = {}
    selections = []
    for one in program.selections:
        if None in one.limits:
            complete, alternatives = _complete(one, _Search(one, program, machine))
        else:
            complete, alternatives = one, tuple(collectives[name] for name in one.names)
        selections.append(complete)
        found |= {one.name: one for one in alternatives}
    open_names = {name for one in program.selections for name in one.names}
    others = {name: c for name, c in collectives.items() if name not in open_names}
    kept = tuple(
        c for name in collectives for c in (found.get(name) or others.get(name),) if c is not None
    )
    return replace(spec, collectives=kept, program=replace(program, selections=tuple(selections)))


def _complete(selection: Selection, search: _Search) -> tuple[Selection, tuple[Collective, ...]]:
    """The choice with all limits, and its alternatives."""
    kept = search.limits()
    names, alternatives, limits, least = [], [], [], 1
    for index, most in kept:
        names.append(selection.names[index])
        alternatives.append(alternative(selection, index, least, most))
        limits.append(most)
        least = most + 1
    return replace(selection, names=tuple(names), limits=tuple(limits[:-1])), tuple(alternatives)


@dataclass(frozen=True)
class _Search:
    """A choice whose limits are looked for; what was planned is kept in `made`."""

    selection: Selection
    program: Program
    target: Target
    made: dict[tuple[int, int, int], Plan] = field(default_factory=dict)

    def limits(self) -> list[tuple[int, int]]:
        """Alternatives by index, with the most elements that each is for, short vectors first."""
        given = self.selection.limits
        kept = [(len(given), self.selection.length.most)]
        for index in range(len(given) - 1, -1, -1):
            before = [limit for limit in given[:index] if limit is not None]
            least = max(before, default=0) + 1
            limit = given[index]
            if limit is None:
                limit = self._limit(index, least, kept)
            if limit >= least:
                kept.insert(0, (index, limit))
        return kept

    def _limit(self, index: int, least: int, kept: list[tuple[int, int]]) -> int:
        """The longest vectors for which an alternative is as fast as the one that follows; less
        than `least` if it never is. Those that it leaves nothing to are taken out of `kept`."""
        while True:
            following, most = kept[0]
            limit = self._crossing(index, following, least, most)
            if limit < most:
                return limit
            if len(kept) == 1 or self.selection.limits[following] is not None:
                kept.pop(0)
                return most
            kept.pop(0)

    def _crossing(self, index: int, following: int, least: int, most: int) -> int:
        """The most elements, `least` to `most`, for which an alternative is as fast as another. One
        that is planned anew for every length has to be so for the shortest vectors, too."""
        other = self.planned(following, least, most)

        def ahead(length: int) -> int:
            """Cycles by which the first is faster, where it gains least."""
            one = self.planned(index, least, length)
            return min(cycles_for(other, n) - cycles_for(one, n) for n in (least, length))

        if least > most or ahead(least) < 0:
            return least - 1
        if ahead(most) >= 0:
            return most
        return crossing(ahead, least, most, _LOOKS)

    def planned(self, index: int, least: int, most: int) -> Plan:
        """The plan of an alternative for vectors of `least` to `most` elements."""
        key = index, least, most
        if key not in self.made:
            collective = decided(alternative(self.selection, *key), self.target)
            schedule = build_schedule(with_chosen_trees(collective, self.target))
            colors = self.program.colors or len(self.target.colors)
            self.made[key] = fastest(schedule, self.target, colors)
        return self.made[key]


@dataclass(frozen=True)
class Range:
    """An alternative of a choice: what it does, for which lengths, what it takes for the first and
    the last of them, and what the next alternative would take for the last."""

    name: str
    text: str
    lengths: tuple[int, int]
    cycles: tuple[int, int]
    next_cycles: int | None


def ranges(selection: Selection, planned: Sequence[Plan], texts: Sequence[str]) -> list[Range]:
    """The alternatives of a choice, for short vectors first."""
    found = []
    for index, (name, one, text) in enumerate(zip(selection.names, planned, texts, strict=True)):
        first, last = selection.lengths(index)
        following = cycles_for(planned[index + 1], last) if index + 1 < len(planned) else None
        taken = cycles_for(one, first), cycles_for(one, last)
        found.append(Range(name, text, (first, last), taken, following))
    return found


def show_ranges(selection: Selection, found: Sequence[Range]) -> str:
    """The table of a choice."""
    name = selection.length.name
    rows: list[tuple[str, ...]] = [(f"{name} from", "to", "cycles", "to", "the next", "plan")]
    for one in found:
        following = "-" if one.next_cycles is None else str(one.next_cycles)
        rows.append((*map(str, (*one.lengths, *one.cycles)), following, one.text))
    head = f"{selection.name}: by {name}, of the predicted cycles those for the first and the last"
    head += " length; the next plan would take for the last:"
    return "\n  ".join([head, *aligned(rows, right=range(5))]) + "\n"
