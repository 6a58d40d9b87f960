"""Operations that run beside each other run on different microthreads.

An operation runs on the microthread with the number of its output queue, else of its input queue.
The lanes of an exchange send and receive at the same time. Those that run in turn run on one, that
of the first of them. In a one-word collective (`collc.plan.one_word`) PEs receive what is broadcast
beside all that they do.
"""

from collections.abc import Iterable, Iterator

from collc.base.diagnostics import Diagnostic
from collc.checks.counted import input_queues_of, output_queues_of, preceding_lanes, sending_lanes
from collc.plan import Plan
from collc.plan.form import form_of
from collc.plan.one_word import is_one_word


def microthreads(plan: Plan) -> Iterator[Diagnostic]:
    """C324: an input queue and an output queue with one number, of an exchange or a word."""
    into = out = 0
    bound = plan.target.binds_output_queues
    for phase in plan.phases:
        preceding = preceding_lanes(phase)
        begin = into, out
        lanes = [lane for lane in sending_lanes(phase) if bound or lane not in preceding]
        into, out = into + input_queues_of(phase), out + output_queues_of(phase, bound=bound)
        inputs, outputs = plan.input_queues[begin[0] : into], plan.output_queues[begin[1] : out]
        beside: Iterable[int] = ()
        fewer = "use fewer steps" if form_of(phase).is_cut else "reserve less"
        if form_of(phase).is_cut:
            own = zip(lanes, outputs, strict=False)
            beside = (number for lane, number in own if lane not in preceding)
        elif is_one_word(plan) and phase is plan.phases[-1]:
            beside = plan.output_queues[: begin[1]]
        shared = set(inputs).intersection(beside)
        if shared:
            yield Diagnostic(
                "C324",
                f"`{phase.name}` sends and receives at the same time on queues with number "
                f"{min(shared)}, which have one microthread",
                phase.span,
                help=f"{fewer}, so that other queues are free",
            )
