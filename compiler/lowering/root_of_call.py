"""What PEs do for a root that is given when the program runs (`Program.rooted`).

A PE behind the root does what it does for the first rank, one before it what it does for the last.
The root itself does, at each place, what the plan for that root has there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from collc.base.memoize import ROLES, by_identity
from collc.base.rewrite import rewritten
from collc.base.values import dataclass
from collc.lowering import candidate_plans
from collc.lowering.lane_queues import own_queues, with_queues
from collc.lowering.regions import compress
from collc.lowering.steps.numbers import number_of
from collc.lowering.teardown import with_teardown
from collc.plan import ZERO, Entry, Lane, Number, Phase, Plan, Region, Role, Slices, Strided
from collc.plan.configuration import torn_down_by
from collc.plan.geometry import multicast_of
from collc.plan.placement import colors_of, parity_of
from collc.plan.plan import ProgramPlan, Use
from collc.schedule import build_schedule, number_of_step
from collc.spec import RootChoice

_ABOUT = (
    "the root is a rank before this PE's",
    "the root is this PE",
    "the root is a rank behind this PE's",
)


@dataclass(frozen=True)
class Part:
    """What a PE does in a phase: its role with the numbers of its place, and the colors by what
    phases of all roots have alike."""

    place: int
    role: Role
    phase: Phase


@by_identity(4)
def seen_from_the_root(plan: ProgramPlan) -> ProgramPlan:
    """The plan as it is emitted: of each choice by root the second collective has the part of the
    root at every PE."""
    for choice in plan.program.rooted:
        behind, at, before = (plan.index_of_collective(name) for name in choice.names)
        own = tuple(_root_everywhere(plan, choice, plan.plans[at]))
        plan = with_phases(plan, choice, at, own)
        for index, about in zip((behind, at, before), _ABOUT, strict=True):
            phases = plan.plans[index].phases
            told = (replace(phase, about=f"{_what(phase)}; {about}") for phase in phases)
            plan = _with_plan(plan, index, replace(plan.plans[index], phases=tuple(told)))
    return plan


def with_phases(
    plan: ProgramPlan, choice: RootChoice, index: int, phases: tuple[Phase, ...]
) -> ProgramPlan:
    """The plan with other phases of a collective of a choice, on the colors that the choice has."""
    position = {
        parity_of(name): place
        for use in plan.uses
        if plan.plans[use.collective].collective.name in choice.names
        for name, place in use.positions
    }
    uses = tuple(
        Use(index, n, tuple((name, position[parity_of(name)]) for name in colors_of([phase])))
        for n, phase in enumerate(phases)
    )
    before = tuple(use for use in plan.uses if use.collective < index)
    after = tuple(use for use in plan.uses if use.collective > index)
    colors = tuple((name, plan.colors[k].number) for use in uses for name, k in use.positions)
    changed = replace(plan.plans[index], phases=phases, colors=colors)
    taken = [(changed.collective, phase) for phase in phases]  # queues for as many lanes
    changed = with_queues(changed, own_queues(taken, plan.target))
    return _with_plan(replace(plan, uses=(*before, *uses, *after)), index, changed)


def _with_plan(plan: ProgramPlan, index: int, one: Plan) -> ProgramPlan:
    return replace(plan, plans=(*plan.plans[:index], one, *plan.plans[index + 1 :]))


def _what(phase: Phase) -> str:
    """`multicast from PE (0, 0)` without the place."""
    return phase.about.split(" from PE")[0].split(" along ")[0].split("(root")[0]


@by_identity(1024)
def planned_for(plan: ProgramPlan, choice: RootChoice, *, root: int) -> Plan:
    """The plan for a root by itself, torn down as those of the program are."""
    streams = any(
        not phase.whole and not phase.has_loops
        for one in plan.plans
        if one.collective.name in choice.names
        for phase in one.phases
    )
    schedule = build_schedule(choice.by_root[root])
    own = next(candidate_plans(schedule, plan.target, streams=streams))
    torn = {
        parity_of(name)
        for use in plan.uses
        if plan.plans[use.collective].collective.name in choice.names
        for name in torn_down_by(plan, use)
    }
    wide = any(
        phase.wide
        for one in plan.plans
        if one.collective.name in choice.names
        for phase in one.phases
    )
    torn_down = (
        with_teardown(phase, {name for name in colors_of([phase]) if parity_of(name) in torn})
        for phase in own.phases
    )
    phases = (replace(phase, wide=phase.wide and wide) for phase in torn_down)
    return replace(own, phases=tuple(phases))


def _root_everywhere(plan: ProgramPlan, choice: RootChoice, within: Plan) -> Iterator[Phase]:
    """The phases of a root within the line, in which each PE has the part that it has as the
    root. On a line of two PEs there is none within, and no root has both sides."""
    planned = [planned_for(plan, choice, root=root) for root in range(choice.ranks)]
    ends = (planned[0], planned[-1])  # of which all PEs of a side are behind or before the root
    likes: dict[object, Phase] = {}
    for own in (within, *ends):
        likes |= {side_of(own, phase): phase for phase in own.phases}
    for number, (side, like) in enumerate(likes.items()):
        parts: dict[object, list[Part]] = {}
        for root, own in enumerate(planned):
            place = choice.places[root]
            for phase in (one for one in own.phases if side_of(own, one) == side):
                role = role_at(phase, choice.axis, place)
                if role is not None:
                    part = _part(phase, role, place, like, number)
                    parts.setdefault(_form(part.role), []).append(part)
        roles = (_merged(alike, like.slicing.count) for alike in parts.values())
        regions = (
            (_region(choice.axis, run), n)
            for n, alike in enumerate(parts.values())
            for run in compress(sorted(part.place for part in alike))
        )
        yield replace(
            like,
            name=_numbered(like.name, number),
            roles=tuple(replace(role, name=f"root_{n}") for n, role in enumerate(roles)),
            regions=tuple(sorted(regions)),
        )


def _numbered(name: str, number: int) -> str:
    """The name of a phase by its number in its collective."""
    stem = name.removesuffix("_2")
    return f"{stem}_{number + 1}" if number else stem


def side_of(plan: Plan, phase: Phase) -> tuple[int, object]:
    """What tells the phases of a plan apart, whatever the root: the step, and of a reduction the
    side."""
    of_broadcast = phase.whole and multicast_of(phase) is not None
    axis = "" if of_broadcast else phase.axis
    number = number_of_step(plan.collective, phase.span, axis, tree=phase.order is not None)
    return number, phase.order


def _part(phase: Phase, role: Role, place: int, like: Phase, number: int) -> Part:
    """What a PE does, with the lanes of a phase for another root, and the colors of its name."""
    name = _numbered(like.name, number)
    known = {color: name + color.removeprefix(phase.name) for color in colors_of([phase])}
    here = _renamed(at_place(role, place), known)
    if like.has_loops:
        here = _facing(here, backward=like.backward)
    of_name = {lane.name: lane for lane in here.lanes}
    lanes = tuple(of_name.get(lane, Lane(lane, ())) for lane in like.lanes)
    return Part(place, replace(here, lanes=lanes), phase)


def _facing(role: Role, *, backward: bool) -> Role:
    """A role whose elements all pass one way."""

    def turned(node: object) -> object:
        return replace(node, backward=backward) if isinstance(node, Slices) else None

    return cast(Role, rewritten(role, turned))


def _region(axis: str, along: Strided) -> Region:
    across = Strided(0, 0)
    return Region(along, across) if axis == "x" else Region(across, along)


def role_at(phase: Phase, axis: str, place: int) -> Role | None:
    """What a PE of the line does in a phase; None where it has no part."""
    pe = (place, 0) if axis == "x" else (0, place)
    return phase.role_at(pe)


def done_at(plan: Plan, axis: str, place: int) -> list[object]:
    """What a PE of the line does in the phases in which it does anything, but for how that is
    called."""
    found = ((phase, role_at(phase, axis, place)) for phase in plan.phases)
    return [
        _done(phase, role, place=place if _varies(role) else 0)
        for phase, role in found
        if role is not None and (role.colors or role.ops)
    ]


@by_identity(ROLES)
def _done(phase: Phase, role: Role, *, place: int) -> object:
    """Its lanes and colors by what phases of all roots have alike; which way elements pass is that
    of a phase made of steps."""
    names = {name: parity_of(name) for name in colors_of([phase])}
    here = _renamed(at_place(role, place), names)
    if phase.has_loops:
        here = _facing(here, backward=False)
    lanes = tuple(lane for lane in here.lanes if lane.loops)
    return lanes, tuple(sorted(here.colors, key=str))


@by_identity(ROLES)
def _varies(role: Role) -> bool:
    """Whether what a role does depends on the place."""
    return any(number.varies for number in _numbers_in(role))


def at_place(role: Role, place: int) -> Role:
    """A role with the numbers, and of the operations those, that it has at a place."""

    def there(node: object) -> object:
        if isinstance(node, Number):
            return Number(node.at(place))
        if isinstance(node, Entry):
            ops = tuple(op for op in node.ops if op.where.at(place))
            return None if ops == node.ops else rewritten(replace(node, ops=ops), there)
        return None

    return cast(Role, rewritten(role, there))


def _merged(parts: Sequence[Part], slices: int) -> Role:
    """One role of several of one form, with formulas of the place."""
    ordered = sorted(parts, key=lambda part: part.place)
    places = np.array([part.place for part in ordered])
    values = np.array([[number.offset for number in _numbers_in(part.role)] for part in ordered])
    columns = iter(values.T)

    def formula(node: object) -> object:
        return number_of(places, next(columns), slices) if isinstance(node, Number) else None

    return cast(Role, rewritten(ordered[0].role, formula))


def _numbers_in(role: Role) -> list[Number]:
    found: list[Number] = []

    def noted(node: object) -> object:
        if isinstance(node, Number):
            found.append(node)
            return node
        return None

    rewritten(role, noted)
    return found


def _form(role: Role) -> object:
    """What roles have alike that differ in numbers only."""
    bare = rewritten(role, lambda node: ZERO if isinstance(node, Number) else None)
    assert isinstance(bare, Role)
    return bare.lanes, bare.colors


def _renamed(role: Role, names: Mapping[str, str]) -> Role:
    """A role with other names of colors."""

    def name(node: object) -> object:
        return names.get(node) if isinstance(node, str) else None

    return cast(Role, rewritten(role, name))
