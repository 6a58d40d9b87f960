"""What a PE pays before, between and after the elements of its operations: one record for a plan.

All of it follows from the emitted text (`templates/collective_pe.csl.j2`), and this is the one
place to change when that changes. An operation is prepared by scalar instructions, then loads its
operands that are not in registers, then is issued. An asynchronous one runs beside the code that
started it; that code comes first, so the first element waits until every function up to the task
has returned. `Place` keeps count of how many those are. `@map` runs in the code itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

from collc.arithmetic import Arithmetic, arithmetic_of
from collc.packing import PAIR, WIDE
from collc.plan import Plan
from collc.spec import Contract
from collc.target import Target


@dataclass(frozen=True)
class Preparation:
    """Before an operation is issued: scalar instructions, and loads of operands into registers."""

    instructions: int
    loads: int


# In a vector operation the fabric operands are in registers since the program was loaded.
BY_VECTOR = {
    "store": Preparation(3, 2),  # `stored` made from `base`; it is destination and source
    "store_again": Preparation(3, 2),
    "send": Preparation(1, 1),  # `vector` read; it is the source
    "add": Preparation(1, 1),  # the same, by an instruction of its own
    "add_after_store": Preparation(0, 0),  # loaded while the vectors came in
    "control": Preparation(0, 0),  # all is in registers
    "copy": Preparation(1, 1),  # `vector` read; it is the destination
    "negate": Preparation(2, 2),  # `vector` read twice: destination and source
}
# A call-back gets all its operands as descriptors: two that are read and one that is written.
BY_CALL_BACK = BY_VECTOR | {
    "store": Preparation(3, 3),
    "store_again": Preparation(3, 3),
    "add": Preparation(1, 3),
    "add_after_store": Preparation(1, 3),
}

# Where the length is given at run time, the own vector's register is destination and source, too.
BY_LENGTH = BY_VECTOR | {
    "store": Preparation(10, 2),  # the operand for this length looked for first
    "store_one": Preparation(1, 1),  # `vector` read and loaded
    "store_again": Preparation(0, 0),
}

# scalar instructions from the launch to the call of the first phase
LAUNCH = 2  # the pointer to the buffer is read, `run` of the module called
BUFFER = 4  # `base` set; `vector` read, changed and set
NEXT_ROUND = 6  # the number of the round read, raised, set; read, compared, branched on
LAST_ROUND = 1  # the number of the round set back
# functions that a PE without a part in a phase runs through: to store and to send, to send and to
# copy
SLOTS = 2
ROUND_OF_CALL_BACKS = 4  # the loop around `@map`: compared, branched, raised, jumped back


@dataclass(frozen=True)
class Place:
    """Where a PE's code is: the cycle of its next instruction, and how many functions deep."""

    time: int
    depth: int


@dataclass(frozen=True)
class Costs:
    """All in cycles, but `length` and the queues, which are in wavelets, and `elements` and the
    rates. `length` is that of a vector in the phase under evaluation.

    `combine` is the time of an element where two are combined, `answer` that from taking an
    element to sending the result on. `task` is the time from an activation to the task's first
    instruction, `frames` how many functions deep that is, `dispatch` the part of it in which a task
    that several phases have finds out whose it is. `group` wavelets are taken by an instruction.
    """

    length: int
    elements: int
    arithmetic: Arithmetic
    combine: int
    answer: int
    negate_rate: int
    apply_rate: int
    move_rate: int
    preparations: dict[str, Preparation]
    load: int
    issue: int
    task: int
    scalar: int
    ramp: int
    hop: int
    router_queue: int
    output_queue: int
    input_queue: int
    frames: int = 1
    dispatch: int = 0
    group: int = 1

    @property
    def per_wavelet(self) -> int:
        """Elements of a wavelet in the phase under evaluation."""
        return self.elements // self.length if self.length else 1

    @property
    def maps(self) -> bool:
        """Whether elements are combined by a call-back."""
        return self.arithmetic.kind == "map"

    @property
    def by_length(self) -> bool:
        """Whether the length is given at run time, and vectors combined by vector operations."""
        return "store_one" in self.preparations

    @property
    def negates(self) -> bool:
        """Whether vectors change their sign before and after."""
        return self.arithmetic.kind == "negated_dsd"

    def latency(self, distance: int) -> int:
        """From the cycle an element is sent to the cycle it is used, `distance` routers on."""
        return 2 * self.ramp + self.hop * distance + 1

    def buffered(self, distance: int) -> int:
        """Wavelets under way between two PEs when the receiver does not take any."""
        return self.router_queue * (distance + 1) + self.output_queue + self.input_queue

    def called(self, place: Place) -> Place:
        """In the function that the code at `place` calls."""
        return Place(place.time + self.scalar, place.depth + 1)

    def issued(self, place: Place, operation: str) -> int:
        """The cycle in which an operation prepared at `place` is issued."""
        prepared = self.preparations[operation]
        return (
            place.time
            + prepared.instructions * self.scalar
            + prepared.loads * self.load
            + self.issue
        )

    def returned(self, place: Place, issued: int) -> int:
        """The first cycle that the code leaves to an operation issued at its end."""
        return issued + place.depth * self.scalar

    def after(self, end: int) -> Place:
        """The task that an operation activates with its last element in cycle `end`."""
        return Place(end + 1 + self.task, self.frames)

    @property
    def negated_cycles(self) -> int:
        """A pass over the vector that changes its sign."""
        return self.issued(Place(0, 0), "negate") + ceil(self.elements / self.negate_rate)

    def negated(self, place: Place) -> Place:
        """Behind such a pass."""
        return Place(place.time + self.negated_cycles, place.depth)

    def done(self, end: int) -> int:
        """The cycle in which a PE is done whose last operation ends in cycle `end`: the caller's
        task starts and calls the host interface.
        """
        return self.after(end).time + self.scalar

    def done_by_code(self, place: Place) -> int:
        """The same where code ends the PE's part: `finish` is called and activates the task,
        which starts when all has returned.
        """
        inside = self.called(place)
        return inside.time + (1 + inside.depth) * self.scalar + self.task + self.scalar

    def first_call(self, plan: Plan) -> Place:
        """Where the first phase is called; the launch is in cycle 0."""
        place = Place((LAUNCH + BUFFER * bool(plan.phases)) * self.scalar, 2)
        return self.negated(place) if self.negates else place


def costs_of(plan: Plan) -> Costs:
    """The costs of a plan's operations on its target, with the queues of its first phase."""
    target, contract = plan.target, plan.collective.contract
    arithmetic = arithmetic_of(contract.element, contract.operation)
    combine = arithmetic.cycles_per_element(target)
    return Costs(
        length=contract.length,
        elements=contract.length,
        arithmetic=arithmetic,
        combine=combine,
        answer=combine - 1,
        negate_rate=target.negate_words // (contract.element.bytes // 2),
        apply_rate=_combining_rate(contract, target),
        move_rate=target.negate_words // (contract.element.bytes // 2),
        preparations=_preparations(contract, arithmetic),
        load=target.dsr_load,
        issue=target.op_issue,
        task=target.task_start,
        scalar=target.scalar,
        ramp=target.ramp,
        hop=target.hop,
        router_queue=target.router_queue,
        output_queue=0,
        input_queue=0,
    )


def _combining_rate(contract: Contract, target: Target) -> int:
    """Elements a cycle that are combined in memory."""
    operation, size = contract.operation, contract.element.bytes
    alone = operation is not None and (operation.value, size) in target.one_by_one
    return 1 if alone else target.negate_words // (size // 2)


def _preparations(contract: Contract, arithmetic: Arithmetic) -> dict[str, Preparation]:
    if arithmetic.kind == "map":
        return BY_CALL_BACK
    return BY_VECTOR if contract.run_length is None else BY_LENGTH


def costs_of_phase(costs: Costs, plan: Plan, index: int) -> Costs:
    """The costs with the queues that serve a phase (the first ones of its lanes), and with the
    wavelets of a vector in it."""
    target, position, paired = plan.target, index, plan.phases[index].paired
    index = sum(len(p.exchange.lanes) if p.exchange else 1 for p in plan.phases[:index])
    return replace(
        costs,
        output_queue=depth_of(target.output_queue_words, plan.output_queues[index]),
        input_queue=depth_of(target.input_queue_words, plan.input_queues[index]),
        length=costs.elements // PAIR if paired else costs.elements,
        group=WIDE if plan.phases[position].wide else 1,
    )


def depth_of(words: tuple[int, ...], queue: int) -> int:
    """Wavelets that a queue holds; a plan may ask for more queues than there are."""
    return words[min(queue, len(words) - 1)]
