"""Operations that run beside each other run on different microthreads.

An operation runs on the microthread with the number of its output queue, else of its input queue.
The lanes of an exchange send and receive at the same time. Those that run in turn run on one, that
of the first of them. In a one-word collective (`collc.plan.one_word`) PEs receive what is broadcast
beside all that they do.
"""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.checks.queue_users import one_microthread
from collc.plan import Plan
from collc.plan.one_call import of_one_call
from collc.plan.placement import runs_beside


def microthreads(plan: Plan) -> Iterator[Diagnostic]:
    """C324: an input queue and an output queue with one number, of an exchange or a word."""
    program, told = of_one_call(plan), set[int]()
    for use, number in one_microthread(program):
        phase = plan.phases[use.phase]
        if use.phase in told:
            continue
        told.add(use.phase)
        fewer = "use fewer steps" if runs_beside(phase) else "reserve less"
        yield Diagnostic(
            "C324",
            f"`{phase.name}` sends and receives at the same time on queues with number {number}, "
            "which have one microthread",
            phase.span,
            help=f"{fewer}, so that other queues are free",
        )
