"""Operations that run beside each other run on different microthreads.

An operation runs on the microthread with the number of its output queue, else of its input queue.
The lanes of an exchange send and receive at the same time.
"""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.checks.counted import input_queues_of, output_queues_of
from collc.plan import Plan


def microthreads(plan: Plan) -> Iterator[Diagnostic]:
    """C324: an input queue and an output queue of an exchange with one number."""
    into = out = 0
    for phase in plan.phases:
        pattern = phase.pattern
        begin = into, out
        into, out = into + input_queues_of(phase), out + output_queues_of(phase)
        inputs, outputs = plan.input_queues[begin[0] : into], plan.output_queues[begin[1] : out]
        shared = set(inputs) & set(outputs)
        if phase.exchange and shared:
            yield Diagnostic(
                "C324",
                f"`{phase.name}` sends and receives at the same time on queues with number "
                f"{min(shared)}, which have one microthread",
                pattern.span,
                help="use fewer steps, so that other queues are free",
            )
