"""How the collectives of a program share colors and queues.

If there are colors and queues for all phases, every phase has its own and nothing is reconfigured.
If there are enough for phases to share them with those that set all routers alike or lie on other
PEs, or for lanes that no PE has both of to share a queue, nothing is reconfigured either.
Otherwise phases share colors over time: each takes the colors that were used longest ago, so that
their teardown is over when it begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, permutations

from collc.base.columns import Bools
from collc.base.values import dataclass
from collc.lowering import memory
from collc.lowering.color_queues import (
    Taken,
    as_wide_as_queues,
    queues_of_colors,
    too_few_queues,
)
from collc.lowering.lane_queues import own_queues, shared_queues, with_queues
from collc.lowering.resources import color_numbers, most_filters
from collc.lowering.teardown import can_be_torn_down, with_teardown
from collc.plan import Phase, Plan, Role, sides_of
from collc.plan.configuration import configuration, first_differing
from collc.plan.pe_masks import masks_of, touched_by, turning, union_by_key
from collc.plan.placement import colors_of, parity_of, switched_colors
from collc.plan.plan import ProgramPlan, SharedColor, Use
from collc.spec import Collective, Program, Reconfigure
from collc.target import Target


def share(chosen: tuple[Plan, ...], program: Program, target: Target) -> ProgramPlan:
    """The plan of a program whose collectives have these plans and run one after the other."""
    most = len(target.colors) if program.colors is None else program.colors
    if program.reconfigure is Reconfigure.AUTO and not program.rooted:
        for shared, alike in ((False, False), (False, True), (True, True)):
            unchanged = apart(chosen, program, target, alike, shared)
            if unchanged.fits(most) and filters_of_program(unchanged) <= target.filters:
                return unchanged
    return _time_multiplexed(chosen, program, target)


def filters_of_program(plan: ProgramPlan) -> int:
    """The filters of a PE at most, where nothing is reconfigured: phases that share colors have
    theirs in common, or are on other PEs."""
    of_colors: dict[int, int] = {}
    for use in plan.uses:
        first = min((k for _, k in use.positions), default=-1)
        most = most_filters([plan.phase(use)])
        of_colors[first] = max(of_colors.get(first, 0), most)
    return sum(of_colors.values())


def widest(plan: Plan) -> int:
    """The most colors that a phase uses."""
    return max((len(colors_of([phase])) for phase in plan.phases), default=0)


@dataclass(frozen=True)
class _Named:
    """A phase with its colors."""

    collective: int
    index: int
    phase: Phase
    colors: tuple[str, ...]


_Key = tuple[int, str]


@dataclass(frozen=True)
class _Dealt:
    """The names by which the colors of a phase are dealt out, and those that get theirs with it."""

    keys: tuple[_Key, ...]
    together: tuple[_Key, ...]
    of_choice: bool  # by root, for which routers are set in each call


def _named(plans: Sequence[Plan]) -> tuple[_Named, ...]:
    return tuple(
        _Named(i, j, phase, colors_of([phase]))
        for i, plan in enumerate(plans)
        for j, phase in enumerate(plan.phases)
    )


def apart(
    plans: tuple[Plan, ...],
    program: Program,
    target: Target,
    alike: bool = False,
    shared: bool = False,
) -> ProgramPlan:
    """Every phase with colors of its own and queues for its lanes, or, if `alike`, with those of
    phases that set all routers alike, and the colors of phases that lie on other PEs; if `shared`,
    lanes share queues as far as they can."""
    named = _named(plans)
    kinds: list[_Kind] = [()] * len(named)
    owners = list(range(len(named)))
    if alike:
        kinds = [_kind(one, plans[one.collective].collective) for one in named]
        owners = _owners(named, kinds, plans)
    moving = {
        (owner, k)
        for one, owner in zip(named, owners, strict=True)
        for k, color in enumerate(one.colors)
        if color in switched_colors([one.phase])
    }
    positions = _positions(named, owners)
    switched = [
        (owner, k) in moving
        for owner in dict.fromkeys(owners)
        for k in range(len(named[owner].colors))
    ]
    numbers = color_numbers(switched, target)
    uses = tuple(
        Use(one.collective, one.index, tuple(zip(one.colors, taken, strict=True)))
        for one, taken in zip(named, positions, strict=True)
    )
    colors = tuple(SharedColor(number, None, torn_down=False) for number in numbers)
    # the first of those with the same colors that do alike has the queues of all
    firsts: dict[tuple[int, _Kind], int] = {}
    first = [
        firsts.setdefault((owner, kind), i)
        for i, (owner, kind) in enumerate(zip(owners, kinds, strict=True))
    ]
    having = list(dict.fromkeys(first))
    phases = [(plans[named[i].collective].collective, named[i].phase) for i in having]
    dealt = (shared_queues if shared else own_queues)(phases, target)
    queues = dict(zip(having, dealt, strict=True))
    own = (
        [queues[first[i]] for i, one in enumerate(named) if one.collective == collective]
        for collective in range(len(plans))
    )
    changed = tuple(with_queues(plan, of) for plan, of in zip(plans, own, strict=True))
    return _numbered(changed, program, target, uses, colors)


def _taken(
    named: Sequence[_Named], plans: Sequence[Plan], positions: Sequence[tuple[int, ...]]
) -> list[Taken]:
    """The phases, each with the place of each of its colors."""
    return [
        (plans[one.collective].collective, one.phase, dict(zip(one.colors, taken, strict=True)))
        for one, taken in zip(named, positions, strict=True)
    ]


def _as_wide_as_queues(
    plans: tuple[Plan, ...], uses: Sequence[Use], colors: Sequence[SharedColor], target: Target
) -> tuple[Plan, ...]:
    """The plans, multicasts two wide only where the queues of their colors hold enough."""
    queues = [color.queues for color in colors if color.queues]
    phases: list[list[Phase]] = [[] for _ in plans]
    for use in uses:
        phase = plans[use.collective].phases[use.phase]
        phases[use.collective].append(as_wide_as_queues(phase, dict(use.positions), queues, target))
    return tuple(replace(plan, phases=tuple(of)) for plan, of in zip(plans, phases, strict=True))


_Kind = tuple[object, ...]


def _owners(named: Sequence[_Named], kinds: Sequence[_Kind], plans: Sequence[Plan]) -> list[int]:
    """For each phase one whose colors it can have: all others that have them set all routers as it
    does, color by color, or lie on PEs apart from its own. Those with most colors come first, since
    others may do with some of theirs."""
    members: dict[int, list[int]] = {}  # by owner
    masks = [touched_by(plans[one.collective].collective, one.phase) for one in named]
    found = list(range(len(named)))
    for i in sorted(found, key=lambda i: -len(named[i].colors)):
        owner = next(
            (
                first
                for first, others in members.items()
                if len(named[i].colors) <= len(named[first].colors)
                and all(kinds[i] == kinds[o] or not (masks[i] & masks[o]).any() for o in others)
            ),
            i,
        )
        members.setdefault(owner, []).append(i)
        found[i] = owner
    return found


def _kind(one: _Named, collective: Collective) -> _Kind:
    """What phases have alike that set all routers alike, and have their colors on the same lanes of
    the same PEs."""
    sets = tuple(configuration(collective, one.phase, color) for color in one.colors)
    place = {color: k for k, color in enumerate(one.colors)}

    def lanes(role: Role) -> Iterator[tuple[object, ...]]:
        for lane in role.lanes:
            sides = (
                tuple(sorted(place[color] for color in colors))
                for colors in (lane.receives, lane.sends)
            )
            yield (one.phase.lanes.index(lane.name), *sides)

    masks = masks_of(collective, one.phase, lanes)
    having = sorted((key, mask.tobytes()) for key, mask in masks.items())
    return (sets, tuple(having), sides_of(one.phase))


def _time_multiplexed(plans: tuple[Plan, ...], program: Program, target: Target) -> ProgramPlan:
    """Phases that share as few colors as are allowed, or have queues of their own; those that
    cannot be torn down have colors of their own, but for those of a choice by root, whose routers
    are set in each call."""
    named = _named(plans)
    dealt = _dealt(named, plans, program)
    most = len(target.colors) if program.colors is None else program.colors
    can_turn = [
        of.of_choice or can_be_torn_down(one.phase) for one, of in zip(named, dealt, strict=True)
    ]
    staying = [one for one, can in zip(named, can_turn, strict=True) if not can]
    turning = [one for one, can in zip(named, can_turn, strict=True) if can]
    kinds = [_kind(one, plans[one.collective].collective) for one in staying]
    stay = _positions(staying, _owners(staying, kinds, plans))
    turn = _in_turn(turning, plans, program, target, most - _count(stay))
    behind = (tuple(_count(turn) + k for k in taken) for taken in stay)
    of = {True: iter(turn), False: behind}
    positions = [next(of[can]) for can in can_turn]
    every = range(_count(positions))
    uses = tuple(
        Use(one.collective, one.index, tuple(zip(one.colors, taken, strict=True)))
        for one, taken in zip(named, positions, strict=True)
    )
    forced = program.reconfigure is Reconfigure.TEARDOWN
    reset = {k for k in every if forced or _changes(named, positions, plans, k)}
    reset |= {k for i, one in enumerate(dealt) if one.of_choice for k in positions[i]}
    torn = _with_neighbors(reset, positions)
    switched = _switched(named, positions)
    numbers = color_numbers([k in switched for k in every], target)
    taken_by, count = _taken(named, plans, positions), len(every)
    queues = queues_of_colors(taken_by, count, target) or too_few_queues(count, target)
    colors = tuple(SharedColor(numbers[k], queues[k], k in torn) for k in every)
    phases: list[list[Phase]] = [[] for _ in plans]
    for use in uses:
        phase = plans[use.collective].phases[use.phase]
        torn_down = {n for n, k in use.positions if k in torn}
        phases[use.collective].append(with_teardown(phase, torn_down))
    changed = tuple(replace(plan, phases=tuple(of)) for plan, of in zip(plans, phases, strict=True))
    changed = _as_wide_as_queues(changed, uses, colors, target)
    return _numbered(changed, program, target, uses, colors)


def _count(positions: Sequence[tuple[int, ...]]) -> int:
    """How many colors there are, the first ones being taken first."""
    return 1 + max((k for taken in positions for k in taken), default=-1)


def _positions(named: Sequence[_Named], owners: Sequence[int]) -> list[tuple[int, ...]]:
    """The positions of phases that have the colors of their owners, each with its own."""
    first, behind = dict[int, int](), 0
    for owner in dict.fromkeys(owners):
        first[owner], behind = behind, behind + len(named[owner].colors)
    return [
        tuple(range(first[owner], first[owner] + len(one.colors)))
        for one, owner in zip(named, owners, strict=True)
    ]


def _in_turn(
    named: Sequence[_Named], plans: Sequence[Plan], program: Program, target: Target, most: int
) -> list[tuple[int, ...]]:
    """The positions of phases that have colors in turn, among so many at most."""
    dealt, order = _dealt(named, plans, program), _order(named, plans, program)
    most_at_once = max((len(one.together) for one in dealt), default=0)
    able = sum(color in target.switch_colors for color in target.colors)
    kept = max(most_at_once, min(most, _pairs_of_queues(target)))
    # on fewer colors positions fall on fewer of them
    laid = [(n, _longest_unused(order, n, dealt)) for n in range(kept, most_at_once - 1, -1)]
    with_switches = (one for one in laid if len(_switched(named, one[1])) <= able)
    kept, positions = next(with_switches, laid[0])
    return _one_side_each(named, plans, positions, dealt, kept)


_Turned = dict[tuple[int, str], Bools]  # routers by position and side that their switches change
_MOST_WAYS = 2000  # that are tried


def _one_side_each(
    named: Sequence[_Named],
    plans: Sequence[Plan],
    positions: Sequence[tuple[int, ...]],
    dealt: Sequence[_Dealt],
    kept: int,
) -> list[tuple[int, ...]]:
    """The positions, others for a phase where switches of a router would change the receiving side
    on a color in one phase and the sending side in another, if there are any that help: the layout
    says once for each router which side its switch changes. Those of the same colors come first,
    since they are used as long ago."""
    masks = [turning(plans[one.collective].collective, one.phase) for one in named]
    left = _MOST_WAYS

    def from_phase(i: int, turned: _Turned) -> list[tuple[int, ...]] | None:
        nonlocal left
        if i == len(named):
            return []
        fixed = not masks[i] or dealt[i].of_choice
        others = () if fixed else permutations(range(kept), len(positions[i]))
        for way in chain([positions[i]], () if fixed else permutations(positions[i]), others):
            if not left:
                return None
            left -= 1
            more = _turned(named[i], way, masks[i], turned)
            rest = from_phase(i + 1, more) if more is not None else None
            if rest is not None:
                return [way, *rest]
        return None

    return from_phase(0, {}) or list(positions)


def _turned(
    one: _Named, way: tuple[int, ...], masks: Mapping[tuple[str, str], Bools], turned: _Turned
) -> _Turned | None:
    """What is turned with a phase on these colors; None if a router has both sides changed."""
    place = dict(zip(one.colors, way, strict=True))
    others = {"input": "output", "output": "input"}
    here = [((place[color], side), mask) for (color, side), mask in masks.items()]
    for (k, side), mask in here:
        if (k, others[side]) in turned and (mask & turned[k, others[side]]).any():
            return None
    return union_by_key([*turned.items(), *here])


def _switched(named: Sequence[_Named], positions: Sequence[tuple[int, ...]]) -> set[int]:
    """The program's colors on which phases change positions of switches."""
    return {
        place
        for one, taken in zip(named, positions, strict=True)
        for color, place in zip(one.colors, taken, strict=True)
        if color in switched_colors([one.phase])
    }


def _changes(
    named: Sequence[_Named],
    positions: Sequence[tuple[int, ...]],
    plans: Sequence[Plan],
    color: int,
) -> bool:
    """Whether phases set routers that they have in common differently on a color."""
    settings = [
        (plans[one.collective].collective, one.phase, one.colors[taken.index(color)])
        for one, taken in zip(named, positions, strict=True)
        if color in taken
    ]
    return first_differing(settings) is not None


def _with_neighbors(torn: set[int], positions: Sequence[tuple[int, ...]]) -> set[int]:
    """Also the colors of phases that have such a one: a phase all of whose colors are torn down
    goes on without waiting for its last control wavelet."""
    more = {k for taken in positions if torn & set(taken) for k in taken} | torn
    return torn if more == torn else _with_neighbors(more, positions)


def _pairs_of_queues(target: Target) -> int:
    """How many colors can have an input and an output queue with different numbers."""
    return min(len(target.output_queues), len(target.input_queues) // 2)


def _order(named: Sequence[_Named], plans: Sequence[Plan], program: Program) -> list[int]:
    """The phases in the order of a round's calls, each at its first."""
    first = [plan.collective.name for plan in plans]
    called = {name: call for call, names in program.alternatives.items() for name in names}
    place = {name: program.calls.index(called.get(name, name)) for name in first}
    return sorted(range(len(named)), key=lambda i: (place[first[named[i].collective]], i))


def _dealt(named: Sequence[_Named], plans: Sequence[Plan], program: Program) -> tuple[_Dealt, ...]:
    """For each phase the names that its colors are dealt out by. Those of a choice by root have
    colors in common: what PEs do for a root of the call meets on the same links, wherever it is."""
    choice_of = {name: i for i, choice in enumerate(program.rooted) for name in choice.names}
    together: dict[int, set[_Key]] = {}
    found: list[tuple[int | None, tuple[_Key, ...]]] = []
    for i, one in enumerate(named):
        choice = choice_of.get(plans[one.collective].collective.name)
        if choice is None:
            found.append((choice, tuple((i, name) for name in one.colors)))
            continue
        keys = tuple((-1 - choice, parity_of(name)) for name in one.colors)
        together.setdefault(choice, set()).update(keys)
        found.append((choice, keys))
    return tuple(
        _Dealt(keys, keys, of_choice=False)
        if choice is None
        else _Dealt(keys, tuple(sorted(together[choice])), of_choice=True)
        for choice, keys in found
    )


def _longest_unused(
    order: Sequence[int], kept: int, dealt: Sequence[_Dealt]
) -> list[tuple[int, ...]]:
    """For each phase the positions of its colors: those that were used longest ago, or were dealt
    out with those of another phase."""
    waiting = list(range(kept))
    position: dict[_Key, int] = {}
    for i in order:
        needed = [key for key in dealt[i].together if key not in position]
        position |= zip(needed, waiting, strict=False)
        waiting = waiting[len(needed) :] + waiting[: len(needed)]
    return [tuple(position[key] for key in one.keys) for one in dealt]


def _numbered(
    plans: tuple[Plan, ...],
    program: Program,
    target: Target,
    uses: tuple[Use, ...],
    colors: tuple[SharedColor, ...],
) -> ProgramPlan:
    """The plan, the plans' symbolic colors numbered."""
    numbered = tuple(
        replace(
            plan,
            colors=tuple(
                (name, colors[place].number)
                for use in uses
                if use.collective == i
                for name, place in use.positions
            ),
        )
        for i, plan in enumerate(plans)
    )
    data = memory.program_data_bytes(numbered, program.rounds)
    return ProgramPlan(
        target=target,
        program=program,
        plans=numbered,
        uses=uses,
        colors=colors,
        code_bytes=memory.program_code_bytes(numbered, target.free_bytes - data),
        data_bytes=data,
    )
