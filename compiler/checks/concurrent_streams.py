"""CallStreams of a program, whose calls are in flight at the same time, have nothing in common."""

from collections.abc import Iterator
from itertools import combinations

from collc.base.diagnostics import Diagnostic
from collc.checks.budgets.dsr_ids import in_turn
from collc.checks.counted import tasks_in_turn
from collc.checks.resource_report import kept_by
from collc.plan.program import ProgramPlan
from collc.spec.arithmetic import arithmetic_of

# what call streams may lack, and the target's fields that it is about
_RESOURCES = {
    "colors with queues": ("colors", "input_queues", "output_queues"),
    "task ids": ("local_task_ids", "colors"),
    "DSRs": ("dsr_ids",),
}


def call_streams(plan: ProgramPlan) -> Iterator[Diagnostic]:
    """C334: too little for all call streams, or something that two of them have; C335: a
    call-back."""
    for call_stream in plan.call_streams:
        yield from _call_backs(plan, call_stream)
    lacking = {what for call_stream in plan.call_streams for what in _lacks(call_stream)}
    for what, resources in _RESOURCES.items():
        if what in lacking:
            yield _shortage(plan, what, resources)
    if lacking:
        return  # numbers were made up for them
    for one, other in combinations(plan.call_streams, 2):
        for what, numbers in _occupied(one).items():
            common = numbers & _occupied(other)[what]
            if common:
                message = f"{_names(one)} and {_names(other)} are in flight at the same time, "
                message += f"and both have {what} {min(common)}"
                yield _refused(plan, "C334", message, "run one after the other: leave `and` out")


def _shortage(plan: ProgramPlan, what: str, resources: tuple[str, ...]) -> Diagnostic:
    """What each call stream needs of something, and what there is of it for all."""
    each = [
        f"{_needs(call_stream, what)} for {_names(call_stream)}"
        for call_stream in plan.call_streams
    ]
    needed = f"{', '.join(each[:-1])} and {each[-1]}"
    message = f"too few {what} for what is in flight at the same time, {needed}: "
    message += f"{plan.target.name} has {_available(plan, what)}"
    help = "run some of them one after the other, or use patterns with fewer colors"
    kept = kept_by(plan.program.reserved, *resources)
    if kept:
        help += ", or reserve less"
    return Diagnostic("C334", message, plan.program.span, kept, help)


def _needs(call_stream: ProgramPlan, what: str) -> int:
    """How much a call stream needs of something by itself."""
    if what == "task ids":
        return call_stream.own_tasks + tasks_in_turn(call_stream.plans)
    return in_turn(call_stream.plans) if what == "DSRs" else len(call_stream.colors)


def _available(plan: ProgramPlan, what: str) -> str:
    """What there is of something for all call streams together."""
    target = plan.target
    if what == "task ids":
        colors = {color.number for color in plan.colors}
        free = sum(number not in colors for number in target.local_task_ids)
        return f"{free} beside memcpy and these colors"
    if what == "DSRs":
        return f"{len(target.dsr_ids)} of a file beside memcpy"
    of_program = plan.program.colors
    most = len(target.colors) if of_program is None else of_program
    into, out = set(target.input_queues), set(target.output_queues)
    queues = f"{len(into | out)} numbers for queues, {len(into)} of input and {len(out)} of output"
    return f"{min(most, len(target.colors))} colors and {queues}"


def _occupied(call_stream: ProgramPlan) -> dict[str, set[int]]:
    """What a call stream uses on a PE. Queues of both kinds count as one: a microthread has the
    number of the one or the other."""
    queues = {n for color in call_stream.colors for n in (color.input_queue, color.output_queue)}
    return {
        "color": {color.number for color in call_stream.colors},
        "queue": queues,
        "task id": set(call_stream.task_ids) | {color.number for color in call_stream.colors},
        "DSR": set(call_stream.dsr_ids),
    }


def _lacks(call_stream: ProgramPlan) -> Iterator[str]:
    """What a call stream lacks of what the others leave."""
    most = call_stream.program.colors
    tasks = call_stream.own_tasks + tasks_in_turn(call_stream.plans)
    if not call_stream.fits(len(call_stream.colors) if most is None else most):
        yield "colors with queues"
    if not set(call_stream.task_ids[:tasks]) <= set(call_stream.target.local_task_ids):
        yield "task ids"
    if len(call_stream.dsr_ids) < in_turn(call_stream.plans):
        yield "DSRs"


def _call_backs(plan: ProgramPlan, call_stream: ProgramPlan) -> Iterator[Diagnostic]:
    """A call-back waits, in the middle of a PE's code, for what it combines."""
    joined = {
        plan.program.calls[call] for turn in plan.program.turns if len(turn) > 1 for call in turn
    }
    for one in call_stream.plans:
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


def _names(call_stream: ProgramPlan) -> str:
    return ", ".join(f"`{one.collective.name}`" for one in call_stream.plans)


def _refused(plan: ProgramPlan, code: str, message: str, help: str) -> Diagnostic:
    return Diagnostic(code, message, plan.program.span, help=help)
