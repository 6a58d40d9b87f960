"""An output queue takes at once what a one-word collective (`collc.plan.one_word`) sends by
operations that its code waits for: a word, and a control wavelet behind it.

A PE has ended a call when it has the result, to which its word has gone, so the queue has nothing
of an earlier call but a control wavelet, on a way that is open. The code then waits for no PE.
"""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.plan import BY_WAVELET, Phase, Plan
from collc.plan.one_word import is_one_word


def output_words(plan: Plan) -> Iterator[Diagnostic]:
    """C305: an output queue that holds less than what is put into it without a task in between."""
    if not is_one_word(plan):
        return
    holds = plan.target.output_queue_words
    for phase, queue in zip(plan.phases, plan.output_queues, strict=False):
        sent = words_at_once(phase)
        if queue < len(holds) and holds[queue] < sent:
            yield Diagnostic(
                "C305",
                f"`{phase.name}` sends {sent} words, one right behind the other, by output queue "
                f"{queue}, which holds {holds[queue]} on {plan.target.name}",
                phase.span,
                help="reserve other queues, so that one that holds more is free",
            )


def words_at_once(phase: Phase) -> int:
    """Words that some PE of a phase puts into its output queue one right behind the other."""
    return max(
        (1 + (op.advance in BY_WAVELET) for role in phase.roles for op in role.ops if op.sends),
        default=0,
    )
