"""Numbers of queues that phases share, where not each can have its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count, islice

from collc.base.memoize import by_identity
from collc.lowering.resources import assignments
from collc.plan import Plan
from collc.plan.form import form_of
from collc.plan.one_word import is_one_word
from collc.plan.slots import Slot, Slots, slots_of


@by_identity(64)
def with_shared_numbers(plan: Plan) -> Plan:
    """The plan with queues that phases share, where there are not enough for each to
    have its own: the same one each time, so that what is known of it is found again."""
    slots, target = slots_of(plan), plan.target
    if not set(plan.output_queues) <= set(target.output_queues) or not set(
        plan.input_queues
    ) <= set(target.input_queues):
        inputs, outputs = _shared_queues(plan, slots)
        plan = replace(plan, input_queues=inputs, output_queues=outputs)
    return plan


def _shared_queues(plan: Plan, slots: Slots) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Input and output queues; none that an operation receives from has the number of one by which
    operations send that run beside it: within an exchange, or, in a one-word collective, beside the
    multicast. The first output queues that leave input queues to all slots; where none do, the
    first."""
    target, phases = plan.target, range(len(plan.phases))
    together = {i: {i} for i in phases if form_of(plan.phases[i]).is_cut}
    if is_one_word(plan):
        together[phases[-1]] = set(phases)
    out_met, in_met = _met_before(slots.outputs), _met_before(slots.inputs)
    inputs_of = [target.input_queues] * len(slots.inputs)
    outputs_of = [target.output_queues] * len(slots.outputs)
    nothing = (frozenset[int](),) * max(len(slots.outputs), len(slots.inputs))
    if next(assignments(in_met, inputs_of, nothing), None) is not None:
        for outputs in islice(assignments(out_met, outputs_of, nothing), _MOST_DEALS):
            beside = _beside(slots.outputs, outputs, together)
            inputs = next(assignments(in_met, inputs_of, [*map(beside, slots.inputs)]), None)
            if inputs is not None:
                return inputs, outputs
    outputs = _dealt(slots.outputs, target.output_queues, lambda _: frozenset())
    beside = _beside(slots.outputs, outputs, together)
    return _dealt(slots.inputs, target.input_queues, beside), outputs


Kept = Callable[[Slot], frozenset[int]]

_MOST_DEALS = 256  # of output queues that are tried: how long is searched, no number of a machine


def _beside(
    outputs: Sequence[Slot], numbers: Sequence[int], together: Mapping[int, set[int]]
) -> Kept:
    """The numbers of output queues that operations run on beside those of an input queue: those of
    the phases whose operations are under way `together` with those of its own."""
    of_phase: dict[int, set[int]] = {}
    for slot, number in zip(outputs, numbers, strict=True):
        if not slot.follows:
            of_phase.setdefault(slot.phase, set()).add(number)
    return lambda slot: frozenset(
        number for phase in together.get(slot.phase, ()) for number in of_phase.get(phase, ())
    )


Met = tuple[tuple[int, ...], ...]  # of each slot, the ones before it that some PE has, too


def _met_before(slots: Sequence[Slot]) -> Met:
    return tuple(
        tuple(i for i, other in enumerate(slots[:at]) if slot.meets(other))
        for at, slot in enumerate(slots)
    )


def _dealt(slots: Sequence[Slot], available: Iterable[int], kept: Kept) -> tuple[int, ...]:
    """For each slot the first number that is not `kept` from it and that no slot of its PEs has
    yet; past the last one they are made up."""
    numbers = tuple(available)
    dealt: list[int] = []
    for slot in slots:
        before = zip(slots, dealt, strict=False)
        taken = kept(slot) | {number for other, number in before if slot.meets(other)}
        past = count(max((*numbers, *taken), default=-1) + 1)
        dealt.append(next(n for part in (numbers, past) for n in part if n not in taken))
    return tuple(dealt)
