"""Which queue each color has on which PEs, counted by operations, and what is wrong with that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import chain, combinations, permutations, product
from typing import NamedTuple

from collc.base.columns import Bools
from collc.checks.counted import preceding_lanes, receiving_lanes, sending_lanes
from collc.plan import Lane, Phase, Plan, Role
from collc.plan.one_word import are_one_word
from collc.plan.pe_masks import masks_of
from collc.plan.plan import ProgramPlan, Use

Kind = str  # "input" or "output"


class User(NamedTuple):
    """A color of a program, by its position, on a lane of a use; the queue that it has there, and
    the PEs. `in_turn` says that the queue takes one color after the other, as operations name them:
    it is bound to none, and what is sent has ended when the next phase begins."""

    use: int
    lane: str
    color: int
    queue: int
    mask: Bools
    in_turn: bool


def users_of(plan: ProgramPlan, kind: Kind) -> Iterator[User]:
    """All users of queues of a kind; a color, or a queue, that is not there has none."""
    bound = kind == "input" or plan.target.binds_output_queues
    for at, use in enumerate(plan.uses):
        phase, places = plan.phase(use), plan.positions_of(use.collective)
        in_turn = not bound and not are_one_word(plan.plans[use.collective].phases)
        of_lane = {} if plan.in_turn else queues_of_lanes(plan, use, kind)
        masks = masks_of(plan.plans[use.collective].collective, phase, _colors(kind))
        for (lane, name), mask in masks.items():
            own = plan.colors[places[name]].queues if name in places else None
            queue = own[kind == "output"] if own else of_lane.get(lane)
            if name in places and queue is not None:
                yield User(at, lane, places[name], queue, mask, in_turn)


def queues_of_lanes(plan: ProgramPlan, use: Use, kind: Kind) -> dict[str, int]:
    """The queue of each lane of a use, where lanes have queues."""
    one, bound = plan.plans[use.collective], plan.target.binds_output_queues
    numbers = one.input_queues if kind == "input" else one.output_queues
    before = sum(len(with_queue(phase, kind, bound=bound)) for phase in one.phases[: use.phase])
    phase = plan.phase(use)
    found = dict(zip(with_queue(phase, kind, bound=bound), numbers[before:], strict=False))
    if kind == "output" and not bound:
        for lane, leader in preceding_lanes(phase).items():
            first = _first(preceding_lanes(phase), leader)
            if first in found:
                found[lane] = found[first]
    return found


def _first(preceding: dict[str, str], lane: str) -> str:
    """The first of the lanes that run in turn, this one among them."""
    while lane in preceding:
        lane = preceding[lane]
    return lane


def with_queue(phase: Phase, kind: Kind, *, bound: bool = True) -> list[str]:
    """The lanes of a phase that have a queue of their own: on which some PE receives, or sends; of
    lanes that run in turn the first, unless queues are `bound` to colors."""
    if kind == "input":
        return receiving_lanes(phase)
    in_turn = () if bound else preceding_lanes(phase)
    return [lane for lane in sending_lanes(phase) if lane not in in_turn]


def _colors(kind: Kind) -> Callable[[Role], Iterator[tuple[str, str]]]:
    """What a role has of a kind: lanes, each with a color."""

    def colors(lane: Lane) -> tuple[str, ...]:
        return lane.receives if kind == "input" else lane.sends

    return lambda role: ((lane.name, name) for lane in role.lanes for name in colors(lane))


def clashes(plan: ProgramPlan, kind: Kind) -> Iterator[int]:
    """Queues that some PE needs for two colors, or beside another one for the same color. A queue
    that is bound to no color takes one after the other, but not of lanes of a phase that do not run
    in turn."""
    of_queue: defaultdict[int, list[User]] = defaultdict(list)
    of_color: defaultdict[int, list[User]] = defaultdict(list)
    for user in users_of(plan, kind):
        of_queue[user.queue].append(user)
        of_color[user.color].append(user)
    found = set[int]()
    for queue, users in of_queue.items():
        for one, other in combinations(users, 2):
            one_after_the_other = one.color == other.color or (one.in_turn and other.in_turn)
            beside = one.in_turn and _at_once(plan, one, other)
            if (beside or not one_after_the_other) and (one.mask & other.mask).any():
                found.add(queue)
    for users in of_color.values():
        for one, other in combinations(users, 2):
            differ = one.queue != other.queue and not (one.in_turn or other.in_turn)
            if differ and (one.mask & other.mask).any():
                found.add(max(one.queue, other.queue))
    yield from sorted(found)


def _at_once(plan: ProgramPlan, one: User, other: User) -> bool:
    """Whether two users are lanes of one phase that do not run in turn."""
    if one.use != other.use or one.lane == other.lane:
        return False
    preceding = preceding_lanes(plan.phase(plan.uses[one.use]))
    return _first(preceding, one.lane) != _first(preceding, other.lane)


def one_microthread(plan: ProgramPlan) -> Iterator[tuple[Use, int]]:
    """Uses in which a PE receives while it sends on a queue with the same number, and the number:
    both run on the microthread of that. Lanes that run in turn run on that of the first."""
    outputs = defaultdict[int, list[User]](list)
    for user in users_of(plan, "output"):
        outputs[user.use].append(user)
    for user in users_of(plan, "input"):
        use = plan.uses[user.use]
        preceding, pairs = preceding_lanes(plan.phase(use)), _beside(plan, use)
        of_others = (other for n in _under_way(plan, use) for other in outputs[n])
        own = (
            (other, pairs.get((user.lane, user.color, other.lane, other.color)))
            for other in outputs[user.use]
            if other.lane not in preceding
        )
        meeting = chain(own, ((other, user.mask & other.mask) for other in of_others))
        if any(
            other.queue == user.queue and mask is not None and mask.any() for other, mask in meeting
        ):
            yield use, user.queue


_Pair = tuple[str, int, str, int]  # a lane and the color it receives on, one and that it sends on


def _beside(plan: ProgramPlan, use: Use) -> dict[_Pair, Bools]:
    """What PEs receive in a use while they send in it, and which do: by operations of two lanes, or
    by two of a lane that begin together."""
    places = plan.positions_of(use.collective)

    def pairs(role: Role) -> Iterator[_Pair]:
        for one, other in product(role.lanes, repeat=2):
            for into, out in product(one.receives, other.sends):
                if one is not other or _begin_together(one, into, out):
                    yield one.name, places.get(into, -1), other.name, places.get(out, -1)

    return masks_of(plan.plans[use.collective].collective, plan.phase(use), pairs)


def _begin_together(lane: Lane, into: str, out: str) -> bool:
    entries = (entry for loop in lane.loops for entry in loop.entries)
    return any(
        one.receives_on == into and other.sends_on == out
        for entry in entries
        for one, other in permutations(entry.ops, 2)
    )


def _under_way(plan: ProgramPlan, use: Use) -> set[int]:
    """Other uses whose sending operations may be under way as one receives: those before the
    multicast of a one-word collective."""
    one, at = plan.plans[use.collective], plan.uses.index(use)
    if not are_one_word(one.phases) or use.phase < len(one.phases) - 1:
        return set()
    return {n for n, other in enumerate(plan.uses) if other.collective == use.collective} - {at}


def count_of(plan: Plan, kind: Kind) -> dict[str, int]:
    """How many queues each phase of a plan has."""
    bound = plan.target.binds_output_queues
    return {phase.name: len(with_queue(phase, kind, bound=bound)) for phase in plan.phases}
