"""The plan of a program of several collectives as text: what is shared, then each plan."""

from __future__ import annotations

from collections.abc import Iterator

from collc.lowering.reconfiguration import reconfiguration_bytes
from collc.lowering.show import show_plan
from collc.plan import Plan
from collc.program import ProgramPlan


def show_program(plan: ProgramPlan) -> str:
    """The colors of the program, how each gets from one use to the next and why, then the plans."""
    program = plan.program
    head = [
        f"program on {plan.target.name}: {' '.join(program.calls)}, {program.rounds} rounds",
        *(f"  {line}" for line in _colors(plan)),
        f"  task ids: {', '.join(map(str, plan.task_ids))}",
        f"  memory: {plan.code_bytes} bytes of code, {plan.data_bytes} bytes of data; of these "
        f"{reconfiguration_bytes(plan)} bytes for reconfiguration",
    ]
    return "\n".join([*head, *(_own(one) for one in plan.plans)])


def _colors(plan: ProgramPlan) -> Iterator[str]:
    for index, color in enumerate(plan.colors):
        users = [plan.label(use) for use in plan.uses if index in dict(use.positions).values()]
        queues = f"queues {color.input_queue} and {color.output_queue}"
        if color.torn_down:
            how = "torn down behind each use"
            how += ", since it has several" if len(users) > 1 else ", since the program says so"
        else:
            how = "stays as it is, since it has one use"
        yield f"color {color.number} ({queues}): {how}: {', '.join(users)}"


def _own(one: Plan) -> str:
    """A plan without what is the program's."""
    shared = ("  input queues", "  output queues", "  task ids", "  memory")
    lines = show_plan(one).splitlines()
    return "\n".join(line for line in lines if not line.startswith(shared)) + "\n"
