"""An output queue takes at once what the code of a short collective (`collc.plan.short`) sends by
operations that it waits for: a word, and a control wavelet behind it.

A PE has ended a call when it has the result, to which its word has gone, so the queue has nothing
of an earlier call but a control wavelet, on a way that is open. The code then waits for no PE.
"""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.plan import BY_WAVELET, Phase, Plan
from collc.plan.short import is_short


def output_words(plan: Plan) -> Iterator[Diagnostic]:
    """C305: an output queue that holds less than what is put into it without a task in between."""
    if not is_short(plan):
        return
    holds = plan.target.output_queue_words
    for phase, queue in zip(plan.phases, plan.output_queues, strict=False):
        sent = words_at_once(phase)
        if queue < len(holds) and holds[queue] < sent:
            yield Diagnostic(
                "C305",
                f"`{phase.name}` sends {sent} words, one right behind the other, by output queue "
                f"{queue}, which holds {holds[queue]} on {plan.target.name}",
                phase.pattern.span,
                help="reserve other queues, so that one that holds more is free",
            )


def words_at_once(phase: Phase) -> int:
    """Words that some PE of a phase puts into its output queue one right behind the other."""
    return max(
        (1 + (op.advance in BY_WAVELET) for role in phase.roles for op in role.ops if op.sends),
        default=0,
    )
