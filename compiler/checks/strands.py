"""Strands of a program, whose calls are in flight at the same time, have nothing in common."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from collc.arithmetic import arithmetic_of
from collc.diagnostics import Diagnostic
from collc.lowering.sharing import OWN_TASKS, fits, shared_dsrs, shared_tasks
from collc.program import ProgramPlan


def strands(plan: ProgramPlan) -> Iterator[Diagnostic]:
    """C334: too little for all strands, or something that two of them have; C335: a call-back."""
    for strand in plan.strands:
        yield from _call_backs(plan, strand)
    lacking = [(strand, what) for strand in plan.strands for what in _lacks(strand)]
    for what in dict.fromkeys(what for _, what in lacking):
        who = ", ".join(_names(strand) for strand, lacks in lacking if lacks == what)
        message = f"there are too few {what} for {who} beside what is in flight at the same time"
        help = "run some of them one after the other, or use patterns with fewer colors"
        yield _refused(plan, "C334", message, help)
    if lacking:
        return  # numbers were made up for them
    for one, other in combinations(plan.strands, 2):
        for what, numbers in _occupied(one).items():
            common = numbers & _occupied(other)[what]
            if common:
                message = f"{_names(one)} and {_names(other)} are in flight at the same time, "
                message += f"and both have {what} {min(common)}"
                yield _refused(plan, "C334", message, "run one after the other: leave `and` out")


def _occupied(strand: ProgramPlan) -> dict[str, set[int]]:
    """What a strand uses on a PE. Queues of both kinds count as one: a microthread has the number
    of the one or the other."""
    queues = {n for color in strand.colors for n in (color.input_queue, color.output_queue)}
    return {
        "color": {color.number for color in strand.colors},
        "queue": queues,
        "task id": set(strand.task_ids) | {color.number for color in strand.colors},
        "DSR": set(strand.dsr_ids),
    }


def _lacks(strand: ProgramPlan) -> Iterator[str]:
    """What a strand lacks of what the others leave."""
    most = strand.program.colors
    tasks = OWN_TASKS + shared_tasks(strand.plans)
    if not fits(strand, len(strand.colors) if most is None else most):
        yield "colors and queues"
    if not set(strand.task_ids[:tasks]) <= set(strand.target.local_task_ids):
        yield "task ids"
    if len(strand.dsr_ids) < shared_dsrs(strand.plans):
        yield "DSRs"


def _call_backs(plan: ProgramPlan, strand: ProgramPlan) -> Iterator[Diagnostic]:
    """A call-back waits, in the middle of a PE's code, for what it combines."""
    joined = {
        plan.program.calls[call] for turn in plan.program.turns if len(turn) > 1 for call in turn
    }
    for one in strand.plans:
        contract, name = one.collective.contract, one.collective.name
        whole = any(phase.exchange is None for phase in one.phases)
        if (
            name in joined
            and whole
            and arithmetic_of(contract.element, contract.operation).kind == "map"
        ):
            message = f"`{name}` combines by a call-back, which waits for what it receives and "
            message += "holds up what is in flight beside it"
            help = "run it by itself: leave `and` out"
            yield _refused(plan, "C335", message, help)


def _names(strand: ProgramPlan) -> str:
    return ", ".join(f"`{one.collective.name}`" for one in strand.plans)


def _refused(plan: ProgramPlan, code: str, message: str, help: str) -> Diagnostic:
    return Diagnostic(code, message, plan.program.span, help=help)
