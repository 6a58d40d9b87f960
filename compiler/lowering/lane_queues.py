"""Queues for the lanes of phases whose colors are their own.

A queue is bound to its color before the program begins, and each PE does so for the lanes that it
has. So two lanes can have one number if no PE has both, whatever phases do and in whatever order.
Where the machine binds output queues to no color, those of two phases can have one number on any
PE: an operation names its color when it is issued, and a phase begins when those of the one before
have ended; but for a one-word collective, whose phases do not wait for what they send.

An operation runs on the microthread with the number of its output queue, else of its input queue.
So no lane that a PE receives on has the number of one on which it sends meanwhile: within an
exchange, or, in a one-word collective, beside the multicast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import count, islice
from typing import NamedTuple

from collc.base.columns import Bools
from collc.base.memoize import by_identity
from collc.base.values import dataclass
from collc.lowering.resources import assignments, take
from collc.plan import Lane, Phase, Plan, Role, sides_of
from collc.plan.one_word import are_one_word
from collc.plan.pe_masks import masks_of
from collc.plan.placement import runs_beside
from collc.spec import Collective
from collc.target import Target

_MOST_DEALS = 256  # of output queues that are tried: how long is searched, no number of a machine


class Queues(NamedTuple):
    """Numbers of the input and of the output queues of a phase, lane by lane; of lanes that run in
    turn on a machine that binds output queues to no color, the first one's serves all."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


Taken = Sequence[tuple[Collective, Phase]]  # phases, those of a collective one behind the other


def own_queues(taken: Taken, target: Target) -> list[Queues]:
    """A queue for each lane, past the target's last ones if there are too few."""
    needs = [_needs(phase, target) for _, phase in taken]
    numbers = iter(take(target.output_queues, sum(outputs for _, outputs in needs)))
    used: set[int] = set()
    dealt = []
    for (_, phase), need in zip(taken, needs, strict=True):
        outputs = tuple(islice(numbers, need[1]))
        kept = used | (set(outputs) if runs_beside(phase) else set())
        inputs = _free(target.input_queues, kept, need[0])
        used |= set(inputs)
        dealt.append(Queues(inputs, outputs))
    return dealt


def _free(available: Sequence[int], kept: Set[int], needed: int) -> tuple[int, ...]:
    """So many numbers that are not kept, the available ones first."""
    past = count(max((*available, *kept), default=-1) + 1)
    every = (number for part in (available, past) for number in part if number not in kept)
    return tuple(islice(every, needed))


def _needs(phase: Phase, target: Target) -> tuple[int, int]:
    """How many input and output queues a phase has."""
    sides, bound = sides_of(phase), target.binds_output_queues
    return sum(one.receives for one in sides), sum(one.outputs(bound=bound) for one in sides)


@dataclass(frozen=True, eq=False)
class _Slot:
    """What needs a number: a lane of a phase, and the PEs that have it. `in_phase` says that it is
    nobody's beyond its phase, `follows` that its operations run on another one's microthread."""

    phase: int
    mask: Bools
    in_phase: bool = False
    follows: bool = False

    def meets(self, other: _Slot) -> bool:
        """Whether some PE has both, and one of them is kept over phases."""
        if self.in_phase and other.in_phase and self.phase != other.phase:
            return False
        return bool((self.mask & other.mask).any())


def shared_queues(taken: Taken, target: Target) -> list[Queues]:
    """Queues that lanes share that no PE has both of: the first output queues that leave input
    queues to all; where none do, as many as are missing are made up."""
    inputs_of, outputs_of = list(_inputs(taken)), list(_outputs(taken, target))
    together = _under_way(taken)
    found = _both(inputs_of, outputs_of, together, target)
    if found is None:
        dealt = _dealt(outputs_of, target.output_queues, lambda _: frozenset())
        beside = _beside(outputs_of, dealt, together)
        found = _dealt(inputs_of, target.input_queues, beside), dealt
    inputs, outputs = map(iter, found)
    needs = (_needs(phase, target) for _, phase in taken)
    return [Queues(tuple(islice(inputs, into)), tuple(islice(outputs, out))) for into, out in needs]


def _inputs(taken: Taken) -> Iterator[_Slot]:
    for at, (collective, phase) in enumerate(taken):
        masks = masks_of(collective, phase, _lanes(lambda lane: lane.receives))
        for name, side in zip(phase.lanes, sides_of(phase), strict=True):
            if side.receives:
                yield _Slot(at, masks[name])


def _outputs(taken: Taken, target: Target) -> Iterator[_Slot]:
    bound = target.binds_output_queues
    for at, (collective, phase) in enumerate(taken):
        masks = masks_of(collective, phase, _lanes(lambda lane: lane.sends))
        in_turn = not bound and not are_one_word(_phases_of(taken, collective))
        for name, side in zip(phase.lanes, sides_of(phase), strict=True):
            if side.outputs(bound=bound):
                yield _Slot(at, masks[name], in_turn, side.follows)


def _lanes(does: Callable[[Lane], object]) -> Callable[[Role], Iterable[str]]:
    """The names of the lanes of a role that do something."""
    return lambda role: [lane.name for lane in role.lanes if does(lane)]


def _under_way(taken: Taken) -> dict[int, set[int]]:
    """For phases beside whose receiving operations others send, the phases that do."""
    together = {at: {at} for at, (_, phase) in enumerate(taken) if runs_beside(phase)}
    for at, (collective, phase) in enumerate(taken):
        phases = _phases_of(taken, collective)
        if are_one_word(phases) and phase is phases[-1]:
            together[at] = {n for n, (one, _) in enumerate(taken) if one is collective}
    return together


def _phases_of(taken: Taken, collective: Collective) -> list[Phase]:
    return [phase for one, phase in taken if one is collective]


Met = tuple[tuple[int, ...], ...]  # of each slot, the ones before it that some PE has, too


def _met_before(slots: Sequence[_Slot]) -> Met:
    return tuple(
        tuple(i for i, other in enumerate(slots[:at]) if slot.meets(other))
        for at, slot in enumerate(slots)
    )


def _both(
    inputs_of: Sequence[_Slot],
    outputs_of: Sequence[_Slot],
    together: Mapping[int, set[int]],
    target: Target,
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Input and output queues within the target's; None if none are found."""
    out_met, in_met = _met_before(outputs_of), _met_before(inputs_of)
    ways_in = [target.input_queues] * len(inputs_of)
    ways_out = [target.output_queues] * len(outputs_of)
    nothing = (frozenset[int](),) * max(len(outputs_of), len(inputs_of))
    if next(assignments(in_met, ways_in, nothing), None) is None:
        return None
    for outputs in islice(assignments(out_met, ways_out, nothing), _MOST_DEALS):
        beside = _beside(outputs_of, outputs, together)
        inputs = next(assignments(in_met, ways_in, [*map(beside, inputs_of)]), None)
        if inputs is not None:
            return inputs, outputs
    return None


Kept = Callable[[_Slot], frozenset[int]]


def _beside(
    outputs_of: Sequence[_Slot], numbers: Sequence[int], together: Mapping[int, set[int]]
) -> Kept:
    """The numbers of output queues that operations run on beside those of an input queue: those of
    the phases whose operations are under way `together` with those of its own."""
    of_phase: dict[int, set[int]] = {}
    for slot, number in zip(outputs_of, numbers, strict=True):
        if not slot.follows:
            of_phase.setdefault(slot.phase, set()).add(number)
    return lambda slot: frozenset(
        number for phase in together.get(slot.phase, ()) for number in of_phase.get(phase, ())
    )


def _dealt(slots: Sequence[_Slot], available: Sequence[int], kept: Kept) -> tuple[int, ...]:
    """For each slot the first number that is not `kept` from it and that no slot of its PEs has
    yet; past the last one they are made up."""
    dealt: list[int] = []
    for slot in slots:
        before = zip(slots, dealt, strict=False)
        taken = kept(slot) | {number for other, number in before if slot.meets(other)}
        dealt.extend(_free(available, taken, 1))
    return tuple(dealt)


def with_queues(plan: Plan, queues: Sequence[Queues]) -> Plan:
    """The plan with these queues of its phases."""
    inputs = tuple(number for of in queues for number in of.inputs)
    return replace(
        plan, input_queues=inputs, output_queues=tuple(n for of in queues for n in of.outputs)
    )


@by_identity(64)
def with_shared_queues(plan: Plan) -> Plan:
    """The plan with queues that lanes share, if it has more than there are: the same plan each
    time, so that what is known of it is found again."""
    target = plan.target
    few = set(plan.input_queues) <= set(target.input_queues)
    if few and set(plan.output_queues) <= set(target.output_queues):
        return plan
    taken = [(plan.collective, phase) for phase in plan.phases]
    return with_queues(plan, shared_queues(taken, target))
