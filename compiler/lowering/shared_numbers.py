"""Numbers of queues and DSRs that phases share, where not each can have its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import count

from collc.lowering.registers import dsrs_needed, vector_pairs
from collc.lowering.resources import take
from collc.plan import Plan, Registers
from collc.plan.slots import Slot, Slots, slots_of


def with_shared_numbers(plan: Plan) -> Plan:
    """The plan with queues and registers that phases share, where there are not enough for each to
    have its own."""
    slots, target = slots_of(plan), plan.target
    if not set(plan.output_queues) <= set(target.output_queues) or not set(
        plan.input_queues
    ) <= set(target.input_queues):
        inputs, outputs = _shared_queues(plan, slots)
        plan = replace(plan, input_queues=inputs, output_queues=outputs)
    if dsrs_needed(plan.phases) <= len(target.dsr_ids):
        return plan
    first = vector_pairs(plan.phases)
    pairs = _dealt(slots.pairs, range(first, first + len(slots.pairs)), lambda _: frozenset())
    sources = _dealt(slots.sources, range(len(slots.sources)), lambda _: frozenset())
    shared = Registers((*range(first), *pairs), sources)
    needed = max((*shared.pairs, *shared.sources), default=-1) + 1
    return replace(plan, dsr_ids=take(target.dsr_ids, needed), registers=shared)


def _shared_queues(plan: Plan, slots: Slots) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Input and output queues; within an exchange, whose operations run beside each other, none
    that it receives from has the number of one that it sends to."""
    target = plan.target
    outputs = _dealt(slots.outputs, target.output_queues, lambda _: frozenset())
    exchanges = {i for i, phase in enumerate(plan.phases) if phase.exchange is not None}

    def beside(slot: Slot) -> frozenset[int]:
        dealt = zip(slots.outputs, outputs, strict=True)
        return frozenset(n for o, n in dealt if o.phase == slot.phase and slot.phase in exchanges)

    return _dealt(slots.inputs, target.input_queues, beside), outputs


def _dealt(
    slots: Sequence[Slot], available: Iterable[int], kept: Callable[[Slot], frozenset[int]]
) -> tuple[int, ...]:
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
