"""What starting an operation costs, and how fast its elements go: one record for a whole plan.

An operation starts when its memory operands have been loaded into registers (`dsr_load` each) and
it has been issued; fabric operands are in registers since the program was loaded. Operations of a
PE follow one another by task activation. `LOADS` is what the emitted code does, and the one place
to change when that changes.
"""

from __future__ import annotations

from dataclasses import dataclass

from collc.arithmetic import arithmetic_of
from collc.plan import Plan
from collc.target import Target

# loads into registers before each operation
LOADS = {
    "store": 2,  # adding into memory: the vectors as destination and as source
    "send": 1,  # sending, with or without adding: the vector
    "send_after_store": 0,  # the vector is in a register since the store began
    "control": 1,  # the control wavelet's descriptor
    "copy": 1,  # receiving over the vector
    "negate": 2,  # the vector as destination and as source
}


@dataclass(frozen=True)
class Costs:
    """All in cycles, but `length` and the queues, which are in elements (one element a wavelet).

    `store`, `send`, `send_after_store`, `control` and `copy` are start-ups: from the first
    instruction of a task to the cycle before the first element. `task` is the time from the last
    element of an operation to the next task's first instruction, `combine` that of an element
    where two are combined, `negate` that of a whole pass over the vector (0 if it is not needed).
    """

    length: int
    combine: int
    store: int
    send: int
    send_after_store: int
    control: int
    copy: int
    negate: int
    task: int
    scalar: int
    ramp: int
    hop: int
    router_queue: int
    end_queues: int

    def latency(self, distance: int) -> int:
        """From the cycle an element is sent to the cycle it is used, `distance` routers on."""
        return 2 * self.ramp + self.hop * distance + 1

    def buffered(self, distance: int) -> int:
        """Elements under way between two PEs when the receiver does not take any."""
        return self.router_queue * (distance + 1) + self.end_queues


def costs_of(plan: Plan) -> Costs:
    """The costs of a plan's operations on its target."""
    target, contract = plan.target, plan.collective.contract
    arithmetic = arithmetic_of(contract.element, contract.operation)
    negates = arithmetic.kind == "negated_dsd"
    return Costs(
        length=contract.length,
        combine=arithmetic.cycles_per_element(target),
        store=_start_up(target, "store"),
        send=_start_up(target, "send"),
        send_after_store=_start_up(target, "send_after_store"),
        control=_start_up(target, "control"),
        copy=_start_up(target, "copy"),
        negate=_start_up(target, "negate") + contract.length if negates else 0,
        task=target.task_start,
        scalar=target.scalar,
        ramp=target.ramp,
        hop=target.hop,
        router_queue=target.router_queue,
        end_queues=target.end_queues,
    )


def _start_up(target: Target, operation: str) -> int:
    """Cycles from a task's first instruction to the cycle before the operation's first element."""
    return target.scalar + LOADS[operation] * target.dsr_load + target.op_issue
