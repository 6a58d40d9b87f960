"""What PEs do for a root that is given when the program runs (`Program.rooted`).

A PE behind the root does what it does for the first rank, one before it what it does for the last.
The root itself does what roots do at its place: at an end of the line, or within it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from collc.plan import Phase, Plan, Region, Role, Strided
from collc.plan.program import ProgramPlan
from collc.spec import RootChoice

_ABOUT = (
    "multicast from a rank before this PE's",
    "multicast from this PE, which is the root",
    "multicast from a rank behind this PE's",
)


def seen_from_the_root(plan: ProgramPlan) -> ProgramPlan:
    """The plan as it is emitted: of each choice by root the second collective has the part of the
    root at every PE."""
    of_name = {one.collective.name: one for one in plan.plans}
    changed: dict[str, Plan] = {}
    for choice in plan.program.rooted:
        parts = [of_name[name] for name in choice.names]
        own = tuple(
            _root_everywhere(choice, (behind, within, before))
            for behind, within, before in zip(*(part.phases for part in parts), strict=True)
        )
        phases = (parts[0].phases, own, parts[2].phases)
        for part, of_part, about in zip(parts, phases, _ABOUT, strict=True):
            told = tuple(replace(phase, about=about) for phase in of_part)
            changed[part.collective.name] = replace(part, phases=told)
    plans = tuple(changed.get(one.collective.name, one) for one in plan.plans)
    return replace(plan, plans=plans)


def _root_everywhere(choice: RootChoice, phases: tuple[Phase, Phase, Phase]) -> Phase:
    """The part that the root has at the first rank, within the line, and at the last rank."""
    first, within, last = phases
    places = choice.places
    count = len(places)
    ends = {min(places): places.index(min(places)), max(places): places.index(max(places))}
    parts: list[tuple[Role, int, int]] = []  # with the places from where to where
    for place, rank in sorted(ends.items()):
        phase = first if rank == 0 else last
        parts.append((role_at(phase, choice.axis, place), place, place))
    if count > 2:
        middle = role_at(within, choice.axis, places[count // 2])
        parts.insert(1, (middle, min(places) + 1, max(places) - 1))
    regions = tuple(
        (_region(choice.axis, low, high), index) for index, (_, low, high) in enumerate(parts)
    )
    return replace(within, roles=tuple(role for role, _, _ in parts), regions=regions)


def _region(axis: str, low: int, high: int) -> Region:
    along, across = Strided(low, high), Strided(0, 0)
    return Region(along, across) if axis == "x" else Region(across, along)


def role_at(phase: Phase, axis: str, place: int) -> Role:
    """What a PE of the line does in a phase."""
    pe = (place, 0) if axis == "x" else (0, place)
    return next(phase.roles[index] for region, index in phase.regions if pe in region)


def chosen_roles(
    choice: RootChoice, phases: Mapping[str, tuple[Phase, ...]], root: int
) -> Iterator[tuple[int, int, Role]]:
    """For a root: rank, number of the phase, and the role that the PE chooses."""
    behind, own, before = choice.names
    for rank, place in enumerate(choice.places):
        name = own if rank == root else behind if rank > root else before
        for number, phase in enumerate(phases[name]):
            yield rank, number, role_at(phase, choice.axis, place)
