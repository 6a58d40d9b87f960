"""What calls of a program take more than by themselves, and what there is too little of."""

from collections.abc import Iterator, Sequence
from math import log2

from collc.base.diagnostics import Diagnostic, Span
from collc.cost import cycles_of, predict_by_itself
from collc.cost.choice import build_plan
from collc.lowering.resources import left_by
from collc.lowering.sharing import apart
from collc.machine.prediction import Prediction
from collc.plan import Plan
from collc.plan.one_call import adds_nothing
from collc.plan.plan import ProgramPlan
from collc.schedule import Schedule
from collc.target import Target

# Cycles that a call of a program may take more than alone, and more for each doubling of the number
# of collectives: what it takes to choose the code of a call (docs/laws.md).
OF_A_CALL, OF_A_DOUBLING = 60, 20


def given_up(
    program: ProgramPlan, schedules: Sequence[Schedule], prediction: Prediction
) -> Iterator[Diagnostic]:
    """C806: the program takes more than its calls by themselves and what it takes to choose one;
    `schedules` are those of its collectives.

    Nothing is said of a program whose author limits its colors, or whose calls are given lengths or
    roots, for which no other plan is made; nor of a call that has the plan it would have alone.
    """
    asked = program.program
    if asked.colors is not None or asked.has_lengths or asked.rooted or adds_nothing(program):
        return
    target = left_by(asked.reserved, program.target)
    alone = tuple(build_plan(schedule, target) for schedule in schedules)
    cycles = [cycles_of(one) for one in alone]
    calls = [[cycles[program.calls[call]] for call in turn] for turn in asked.turns]
    by_themselves = asked.rounds * sum(map(max, calls))
    of_a_call = OF_A_CALL + OF_A_DOUBLING * log2(len(program.plans))
    more = asked.rounds * sum(map(len, calls)) * of_a_call
    if prediction.cycles <= by_themselves + more:
        return
    message = f"the program takes {prediction.cycles} cycles, and its calls take {by_themselves} "
    message += f"by themselves: {_reason(program, alone, target)}"
    slower = tuple(_slower(program, cycles, prediction))
    yield Diagnostic("C806", message, asked.span, slower, help=_HELP)


_HELP = "put collectives that are not called in turn into programs of their own"


def _slower(
    program: ProgramPlan, cycles: Sequence[int], prediction: Prediction
) -> Iterator[tuple[Span, str]]:
    """The collectives that take more than alone, each with what it takes by both: in the program,
    but of calls beside each other, which end in any order, by its plan there."""
    asked = program.program
    for plan, alone in zip(program.plans, cycles, strict=True):
        name, calls = plan.collective.name, asked.rounds * asked.calls.count(plan.collective.name)
        here = prediction.breakdown.get(name, 0) // calls
        if program.call_streams:
            here = predict_by_itself(plan).cycles
        if here > alone + OF_A_CALL:
            yield plan.collective.span, f"`{name}` takes {here} cycles here, and {alone} alone"


def _reason(program: ProgramPlan, alone: tuple[Plan, ...], target: Target) -> str:
    """What there is too little of for each phase to have its own."""
    if program.call_streams:
        return "calls that are in flight at the same time do not stream"
    own = apart(alone, program.program, target, alike=True)
    shared = sum(color.torn_down for color in program.colors)
    shares = f"phases share {shared} colors over time" if shared else "phases go by other plans"
    if len(own.colors) > len(target.colors):
        return f"{shares}, since {len(own.colors)} colors would be needed for each to have its own"
    if not own.fits(len(target.colors)):
        return f"{shares}, since there are too few queues for each to have its own"
    return f"{shares}, since there are too few registers for each to have its own"
