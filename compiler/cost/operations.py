"""What starting an operation costs, and how fast its elements go: one record for a whole plan.

An operation starts when its memory operands have been loaded into registers (`dsr_load` each) and
it has been issued; fabric operands are in registers since the program was loaded. Operations of a
PE follow one another by task activation.

    adding into memory       destination and source in memory    2 loads
    sending, adding or not   the vector                          1 load
    copying                  the vector                          1 load
    control wavelet          its descriptor                      1 load
    negating                 destination and source              2 loads
"""

from __future__ import annotations

from dataclasses import dataclass

from collc.arithmetic import arithmetic_of
from collc.plan import Plan


@dataclass(frozen=True)
class Costs:
    """All in cycles, but `length` and the queues, which are in elements (one element a wavelet).

    `two_loads` and `one_load` run from the first instruction of a task to the cycle before the
    first element; `task` from the last element of an operation to the next task's first
    instruction; `combine` is the time an element takes where two are combined.
    """

    length: int
    combine: int
    two_loads: int
    one_load: int
    task: int
    scalar: int
    ramp: int
    hop: int
    router_queue: int
    end_queues: int
    negates: bool

    @property
    def negate(self) -> int:
        """One pass over the vector in memory that negates it, if the operation asks for it."""
        return self.two_loads + self.length if self.negates else 0

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
    return Costs(
        length=contract.length,
        combine=arithmetic.cycles_per_element(target),
        two_loads=target.scalar + 2 * target.dsr_load + target.op_issue,
        one_load=target.scalar + target.dsr_load + target.op_issue,
        task=target.task_start,
        scalar=target.scalar,
        ramp=target.ramp,
        hop=target.hop,
        router_queue=target.router_queue,
        end_queues=target.end_queues,
        negates=arithmetic.kind == "negated_dsd",
    )
