"""A program that is one call of one collective."""

from __future__ import annotations

from dataclasses import replace

from collc.base.memoize import by_identity
from collc.plan.placement import colors_of
from collc.plan.plan import Plan, ProgramPlan, SharedColor, Use
from collc.spec.program import program_of_one


def called_once(program: ProgramPlan) -> Plan | None:
    """The plan of the one collective that a program calls, once and always by the same steps; None
    where there are more calls, or a choice. What a run does can be told phase by phase then."""
    one = len(program.plans) == len(program.program.calls) == program.program.rounds == 1
    return program.plans[0] if one else None


def by_itself_in(program: ProgramPlan) -> Plan | None:
    """The same if the collective has what it would have by itself, no color of it being torn down
    between phases."""
    return None if any(color.torn_down for color in program.colors) else called_once(program)


@by_identity(2)
def of_one_call(plan: Plan) -> ProgramPlan:
    """The plan of the program that calls one collective once, which has all to itself: the same one
    each time, so that what is known of it is found again."""
    at = {name: position for position, (name, _) in enumerate(plan.colors)}
    uses = tuple(
        Use(0, index, tuple((name, at[name]) for name in colors_of([phase]) if name in at))
        for index, phase in enumerate(plan.phases)
    )
    colors = tuple(SharedColor(number, None, torn_down=False) for _, number in plan.colors)
    size = plan.code_bytes, plan.data_bytes
    return ProgramPlan(plan.target, program_of_one(plan.collective), (plan,), uses, colors, *size)


def adds_nothing(program: ProgramPlan) -> bool:
    """Whether a program is that of one call of its one collective, by the numbers of its plan."""
    if len(program.plans) > 1:
        return False
    return replace(program, plans=()) == replace(of_one_call(program.plans[0]), plans=())
