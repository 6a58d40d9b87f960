"""What a PE pays before, between and after the elements of its operations: one record for a plan.

All of it follows from the emitted text (`templates/collective_pe.csl.j2`); what its pieces take is
measured (`collc.target.constants`). An operation is prepared by scalar instructions, then loads its
operands that are not in registers, then is issued. An asynchronous one runs beside the code that
started it; that code comes first, so the first element waits until every function up to the task
has returned. `Place` says how long that takes. `@map` runs in the code itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil
from typing import TypeVar

from collc.base.columns import Ints
from collc.base.memoize import memoized
from collc.base.values import dataclass
from collc.lowering.resources import queues_of_phase
from collc.plan import Plan
from collc.plan.one_word import is_one_word
from collc.plan.ready import is_ready
from collc.spec import Contract, ContractKind
from collc.spec.arithmetic import Arithmetic, arithmetic_of
from collc.spec.simd import PAIR, WIDE
from collc.target import Target
from collc.target.constants import Code, OneWordCode, RowCode, StreamCode

_Words = TypeVar("_Words", int, Ints)

# By operation, which constant says what it takes to issue it. In a vector operation the fabric
# operands are in registers since the program was loaded.
BY_VECTOR = {
    "store": "store",
    "send": "send",
    "add": "add",
    "add_after_store": "add_after_store",
    "control": "control",
    "copy": "copy",
    "negate": "negate",
}
# A call-back gets all its operands as descriptors.
BY_CALL_BACK = BY_VECTOR | {
    "store": "store_by_map",
    "add": "add_by_map",
    "add_after_store": "add_by_map",
}
# A word that has come to a one-word collective is combined with its own before or behind storing.
BY_WORD = {
    "store": "receive",
    "send": "send",
    "add": "receive",
    "add_after_store": "receive",
    "copy": "copy",
}
# Where the length is given at run time, each vector has an operation of its own.
BY_LENGTH = BY_VECTOR | {"store": "store_one"}


@dataclass(frozen=True)
class Place:
    """Where a PE's code is: the cycle of its next instruction, and how many cycles it takes from
    the issue of its last operation until it has returned and the operation may begin."""

    time: int
    depth: int


@dataclass(frozen=True)
class Costs:
    """All in cycles, but `length` and the queues, which are in wavelets, and `operands` and the
    rates. `length` is that of a vector in the phase under evaluation, `operands` are what
    instructions take of it: elements, or of pairs the `words` of each.

    `combine` is the time of an element where two are combined, and `taken` what it takes more where
    that is a pair and the received one is the result; `answer` is the time from taking the first
    word of an element to sending its result on, `last_answer` that of the last word. `task` is the
    time from an activation to the task's first instruction, `between` that from the end of one task
    to the next, at least; `dispatch` is the part of a task in which one that several phases have
    finds out whose it is. `group` wavelets are taken by an instruction. `control_load` is what it
    takes to load the registers of a control wavelet behind the vector, `map_length` to set the
    length of what a round of call-backs takes. Tasks of an exchange begin rows so many cycles
    `late` at each place, if that is not empty, and there call what prepares a row where it
    `prepares`; `own_steps` says that these tasks have steps of their own. `shared` says that a task
    is a function that the program's tasks call. `code` is what pieces of the text take; `prepared`
    says by operation which of them issues it. With `copies` the vectors are those of another buffer
    at first. `one_word` are the pieces of a one-word collective, whose phase is `fresh` if nothing
    has come before to a PE that only sends in it. A stream may be `ready` (`collc.plan.ready`).
    """

    length: int
    operands: int
    words: int
    arithmetic: Arithmetic
    combine: int
    taken: int
    answer: int
    last_answer: int
    negate_rate: int
    apply_rate: int
    move_rate: int
    copy_rate: int
    code: Code
    rows: RowCode
    streams: StreamCode
    prepared: Mapping[str, str]
    copies: bool
    load: int
    issue: int
    jump: int
    no_jump: int
    task: int
    between: int
    ramp_up: int
    send_start: int
    ramp_down: int
    hop: int
    router_queue: int
    output_queue: int
    input_queue: int
    dispatch: int = 0
    group: int = 1
    control_load: int = 0
    late: tuple[int, ...] = ()
    prepares: tuple[int, ...] = ()
    own_steps: bool = False
    map_length: int = 0
    shared: bool = False
    one_word: OneWordCode | None = None
    fresh: bool = True
    ready: bool = False

    @property
    def per_wavelet(self) -> int:
        """Operands of a wavelet in the phase under evaluation."""
        return self.operands // self.length if self.length else 1

    def wavelets(self, elements: Ints) -> Ints:
        """The wavelets that so many elements, none of them half of a wavelet, take in it."""
        return elements * self.words // self.per_wavelet

    @property
    def maps(self) -> bool:
        """Whether elements are combined by a call-back."""
        return self.arithmetic.kind == "map"

    @property
    def negates(self) -> bool:
        """Whether vectors change their sign before and after."""
        return self.arithmetic.kind == "negated_dsd"

    def latency(self, distance: int) -> int:
        """From the cycle an element is sent to the cycle it is used, `distance` routers on; if the
        operation that sends it receives nothing, `send_start` is to be added."""
        return self.ramp_up + self.hop * distance + self.ramp_down

    def buffered(self, distance: int) -> int:
        """Wavelets under way between two PEs when the receiver does not take any."""
        return self.router_queue * (distance + 1) + self.output_queue + self.input_queue

    def issued(self, place: Place, operation: str) -> int:
        """The cycle in which an operation prepared at `place` is issued."""
        cycles: int = getattr(self.one_word or self.code, self.prepared[operation])
        return place.time + cycles + self.control_load * (operation == "control")

    @property
    def receives(self) -> int:
        """From the issue of an operation that receives until it may have an element."""
        return self.code.receives

    def sent(self, place: Place, *, leaf: bool = False) -> int:
        """The cycle in which the first element moves of a vector that is sent as it is; a `leaf` of
        a one-word collective sends it before anything else."""
        if self.one_word:
            return place.time + (self.one_word.leaf if leaf and self.fresh else self.one_word.send)
        return self.returned(place, self.issued(place, "send"))

    def sent_to_all(self, root: Place) -> int:
        """From which cycle on a multicast is on its way that the code of its root calls at a place;
        the root of a one-word collective has sent it there."""
        return root.time if self.one_word else self.sent(root) + self.send_start

    def returned(self, place: Place, issued: int) -> int:
        """The first cycle that the code leaves to an operation issued at its end."""
        return issued + place.depth

    @property
    def returns(self) -> int:
        """The `depth` of a task's code."""
        return self.code.returns

    def held(self, issued: int, free: int, start: int, end: int) -> int:
        """When code leaves the PE that would do so in cycle `free`, beside an operation that was
        issued in a cycle and receives from `start` to `end`: elements that come go before code
        (docs/machine.md, M3-9). What they meet is a jump, which waits for its target anyway, and
        the return."""
        if start >= free:
            return free
        if start == issued + self.receives:
            return end + free - issued
        return max(free, end + 1 + self.code.frame)

    def after(self, end: int, free: int = 0) -> Place:
        """The task that an operation activates with its last element in cycle `end`; the code that
        issued it has left the PE in cycle `free`."""
        dispatch, soonest = self.dispatch, self.one_word.first_task if self.one_word else 0
        start = max(end + 1 + self.task - dispatch, free + self.between, soonest)
        return Place(start + dispatch, self.returns)

    @property
    def negated_cycles(self) -> int:
        """A pass over the vector that changes its sign."""
        return self.issued(Place(0, 0), "negate") + ceil(self.operands / self.negate_rate)

    def first_pass_cycles(self, *, alone: bool) -> int:
        """A pass over the vector before the first phase, which changes its sign or copies it; one
        PE `alone` has no phase, and only copies."""
        if self.copies:
            return self.issued(Place(0, 0), "negate") + ceil(self.operands / self.copy_rate)
        return self.negated_cycles if self.negates and not alone else 0

    def negated(self, place: Place) -> Place:
        """Behind such a pass."""
        return Place(place.time + self.negated_cycles, place.depth)

    def since(self, cycle: int) -> Costs:
        """The same with cycles counted from one `cycle` after the launch, not from the launch."""
        if self.one_word is None:
            return self
        return replace(
            self, one_word=replace(self.one_word, first_task=self.one_word.first_task - cycle)
        )

    def done(self, end: int, free: int = 0) -> int:
        """The cycle in which a PE is done whose last operation ends in cycle `end`: the caller's
        task starts and calls the host interface. `free` as in `after`.
        """
        return self.after(end, free).time + self.code.done

    def done_by_code(self, place: Place) -> int:
        """The same where code ends the PE's part: `finish` is called and activates the task,
        which starts when all has returned.
        """
        returned = place.time + self.code.tell + max(0, place.depth - self.code.returns)
        return returned + self.task + self.code.done

    def combining(self, words: _Words) -> _Words:
        """Cycles from the first of so many words to the end of the last, where two are combined."""
        return words // self.words * self.combine + words % self.words * (self.answer + 1)

    def first_call(self, plan: Plan) -> Place:
        """Where the first phase is called; the launch is in cycle 0."""
        if self.one_word:
            return Place(self.code.launch + self.one_word.begun, self.code.returns)
        barrier = plan.collective.contract.kind is ContractKind.BARRIER
        begins = self.code.token if barrier else self.code.buffer
        begun = self.code.launch + begins * bool(plan.phases)
        first_pass = self.first_pass_cycles(alone=not plan.phases)
        return Place(begun + first_pass, self.code.returns)


@memoized
def costs_of(plan: Plan, alone: bool = True) -> Costs:
    """The costs of a plan's operations on its target, with the queues of its first phase; a
    collective that is `alone` may be a one-word collective."""
    target, contract = plan.target, plan.collective.contract
    one_word = _one_word(plan) if alone else None
    engine, code = target.cycles.engine, target.code
    arithmetic = arithmetic_of(contract.element, contract.operation)
    combine = arithmetic.cycles_per_element(target)
    pairs = arithmetic.kind == "map" and contract.element.words > 1
    value, index = combine, combine
    if pairs:
        value, index = arithmetic.pair_value_cycles(target), code.pair_kept
    return Costs(
        length=contract.words,
        operands=contract.words,
        words=contract.element.words,
        arithmetic=arithmetic,
        combine=combine,
        taken=code.pair_taken - code.pair_kept if pairs else 0,
        answer=value - 1,
        last_answer=index - 1,
        negate_rate=_rate(engine.negate_words, contract),
        apply_rate=_combining_rate(contract, target),
        move_rate=_rate(engine.negate_words, contract),
        copy_rate=_rate(engine.negate_words, contract, max(contract.apart, contract.stride)),
        code=code,
        rows=target.cycles.rows,
        streams=target.cycles.streams,
        prepared=BY_WORD if one_word else _prepared(contract, arithmetic),
        copies=contract.result is not None,
        load=engine.dsr_load,
        issue=engine.op_issue,
        jump=engine.jump,
        no_jump=engine.no_jump,
        task=engine.task_start,
        between=engine.between_tasks,
        ramp_up=engine.ramp_up,
        send_start=engine.send_start,
        ramp_down=engine.ramp_down,
        hop=engine.hop,
        router_queue=target.router_queue,
        output_queue=0,
        input_queue=0,
        map_length=code.map_length * (contract.run_length is not None),
        one_word=one_word,
        ready=alone and is_ready(plan),
    )


def _one_word(plan: Plan) -> OneWordCode | None:
    """The pieces of a one-word collective, if it is one."""
    if not is_one_word(plan):
        return None
    barrier = plan.collective.contract.kind is ContractKind.BARRIER
    return plan.target.cycles.token if barrier else plan.target.cycles.own


def _combining_rate(contract: Contract, target: Target) -> int:
    """Elements a cycle that are combined in memory."""
    operation, size = contract.operation, contract.element.word.bytes
    alone = operation is not None and (operation.value, size) in target.one_by_one
    return 1 if alone else _rate(target.cycles.engine.combine_words, contract)


def _rate(words: int, contract: Contract, apart: int = 0) -> int:
    """Elements a cycle of an operation in memory that takes so many words of 16 bits in a row; what
    is between elements counts, but one is taken in any case (docs/machine.md, M4-8)."""
    return max(1, words // (contract.element.word.bytes // 2 * (apart or contract.apart)))


def _prepared(contract: Contract, arithmetic: Arithmetic) -> Mapping[str, str]:
    if arithmetic.kind == "map":
        return BY_CALL_BACK
    return BY_VECTOR if contract.run_length is None else BY_LENGTH


@memoized
def costs_of_phase(costs: Costs, plan: Plan, index: int) -> Costs:
    """The costs with the queues that serve a phase (the first ones of its lanes), and with the
    wavelets of a vector in it."""
    target, position, paired = plan.target, index, plan.phases[index].paired
    before = [queues_of_phase(phase, target) for phase in plan.phases[:index]]
    into, out = sum(count for count, _ in before), sum(count for _, count in before)
    sending = plan.output_queues[out:]
    return replace(
        costs,
        output_queue=depth_of(target.output_queue_words, sending[0]) if sending else 0,
        input_queue=depth_of(target.input_queue_words, plan.input_queues[into]),
        length=costs.operands // PAIR if paired else costs.operands,
        group=WIDE if plan.phases[position].wide else 1,
        fresh=all(earlier.axis == plan.phases[index].axis for earlier in plan.phases[:index]),
    )


def depth_of(words: tuple[int, ...], queue: int) -> int:
    """Wavelets that a queue holds; a plan may ask for more queues than there are."""
    return words[min(queue, len(words) - 1)]
