"""The plan of a program of several collectives as text: what is shared, then each plan."""

from collc.lowering.between_uses import between_uses
from collc.lowering.reconfiguration import reconfiguration_bytes
from collc.plan import Plan
from collc.plan.program import ProgramPlan
from collc.plan.show import show_plan


def show_program(plan: ProgramPlan) -> str:
    """The colors of the program, how each gets from one use to the next and why, then the plans; of
    a collective that is alone its plan."""
    if plan.alone:
        return show_plan(plan.plans[0])
    program = plan.program
    head = [
        f"program on {plan.target.name}: {' '.join(program.calls)}, {program.rounds} rounds",
        *(f"  {color.show()}" for color in between_uses(plan)),
        f"  task ids: {', '.join(map(str, plan.task_ids))}",
        f"  memory: {plan.code_bytes} bytes of code, {plan.data_bytes} bytes of data; of these "
        f"{reconfiguration_bytes(plan)} bytes for reconfiguration",
    ]
    return "\n".join([*head, *(_own(one) for one in plan.plans)])


def _own(one: Plan) -> str:
    """A plan without what is the program's."""
    shared = ("  input queues", "  output queues", "  task ids", "  memory")
    lines = show_plan(one).splitlines()
    return "\n".join(line for line in lines if not line.startswith(shared)) + "\n"
