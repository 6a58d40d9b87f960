"""Every lane has an input and an output queue, as far as PEs receive and send on it, and no PE has
one queue for two of them: it is bound to a color when the program begins."""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.checks.queue_users import clashes, count_of
from collc.checks.resource_report import shortage
from collc.plan import Plan
from collc.plan.one_call import of_one_call
from collc.plan.placement import runs_beside

_BOTH = ("input_queues", "output_queues")  # a number that is reserved is kept from both kinds


def queues(plan: Plan) -> Iterator[Diagnostic]:
    """C305: too few queues, or one queue of a PE for two phases."""
    both = (
        ("input", plan.input_queues, plan.target.input_queues),
        ("output", plan.output_queues, plan.target.output_queues),
    )
    for kind, used, available in both:
        needed = count_of(plan, kind)
        most = max(needed.values(), default=0)
        distinct, outside = len(set(used)), not set(used) <= set(available)
        if outside and distinct > len(available):
            what, left = f"{kind} queues", len(available)
            yield shortage(
                "C305", plan, what, needed, left, *_BOTH, total=distinct, time_multiplexed=most
            )
        elif outside and kind == "input" and _exchanges(plan):
            what = "input queues with numbers that no output queue beside them has"
            left = len(set(available) - set(plan.output_queues))
            yield shortage(
                "C305", plan, what, needed, left, *_BOTH, total=distinct, time_multiplexed=most
            )
        elif outside or len(used) < sum(needed.values()) or any(clashes(of_one_call(plan), kind)):
            yield Diagnostic(
                "C305",
                f"`{plan.collective.name}` has the {kind} queues {', '.join(map(str, used))}, "
                f"which {plan.target.name} does not have, or a PE has one of them for two phases",
                plan.collective.span,
                help="give each phase queues of its own",
            )


def _exchanges(plan: Plan) -> bool:
    """Whether operations run beside each other, on microthreads with the numbers of queues."""
    return any(map(runs_beside, plan.phases))
