"""The plan of a program of several collectives as text: what is shared, then each plan. It is read
back by `collc.plan.read`, alone."""

from collections.abc import Iterator

from collc.language.show import show_spec
from collc.lowering.between_uses import between_uses
from collc.lowering.reconfiguration import reconfiguration_bytes
from collc.plan.one_call import adds_nothing
from collc.plan.plan import ProgramPlan, SharedColor
from collc.plan.show import (
    LEGEND,
    body_of,
    of_the_call,
    readable,
    show_plan,
    show_target,
)
from collc.spec import Spec


def show_program(plan: ProgramPlan) -> str:
    """The colors of the program, how each gets from one use to the next and why, then the plans; of
    a program that adds nothing to its one plan that."""
    if adds_nothing(plan):
        return show_plan(plan.plans[0])
    return LEGEND + "\n".join(_program(plan)) + "\n"


def _program(plan: ProgramPlan) -> Iterator[str]:
    program = plan.program
    yield f"program on {plan.target.name}: {' '.join(program.calls)}, {program.rounds} rounds"
    yield "  collectives"
    collectives = tuple(readable(one.collective) for one in plan.plans)
    spec = Spec("plan.coll", plan.target.name, (), collectives, program)
    yield from (f"    {line}" for line in show_spec(spec).splitlines() if line)
    yield from (f"  {line}" for line in show_target(plan.target))
    yield from (f"  # {color.show()}" for color in between_uses(plan))
    yield f"  colors: {'; '.join(map(_color, plan.colors)) or 'none'}"
    yield f"  memory: {plan.code_bytes} bytes of code, {plan.data_bytes} bytes of data"
    yield f"  # of these {reconfiguration_bytes(plan)} bytes are for reconfiguration"
    for use in plan.uses:
        positions = ", ".join(f"{name} = {at}" for name, at in use.positions) or "none"
        yield f"  use {plan.label(use)}: {positions}"
    for one in plan.plans:
        yield f"  plan {one.collective.name}"
        yield "    # memory if it were by itself, and so queues where colors above have some"
        yield from (f"    {line}" for line in (*of_the_call(one.collective), *body_of(one)))
    for stream in plan.call_streams:
        yield "  call stream"
        yield from (f"    {line}" for line in _program(stream))


def _color(color: SharedColor) -> str:
    """`3 through queues 2 and 5, torn down`."""
    through = " through queues {} and {}".format(*color.queues) if color.queues else ""
    return f"{color.number}{through}" + ", torn down" * color.torn_down
