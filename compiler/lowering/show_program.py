"""The plan of a program of several collectives as text: what is shared, then each plan."""

from __future__ import annotations

from collections.abc import Iterator

from collc.lowering.configuration import configurations, differing
from collc.lowering.reconfiguration import reconfiguration_bytes
from collc.lowering.show import show_plan
from collc.plan import Plan
from collc.program import ProgramPlan
from collc.spec import Reconfigure


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
        how = _torn_down(plan, index) if color.torn_down else _stays(plan, index, len(users))
        yield f"color {color.number} ({queues}): {how}: {', '.join(users)}"


def _torn_down(plan: ProgramPlan, color: int) -> str:
    found = differing(plan, color)
    if found is None:
        forced = plan.program.reconfigure is Reconfigure.TEARDOWN
        why = "the program says so" if forced else "a color in use with it is"
        return f"torn down behind each use, since {why}"
    one, other, where = found
    who = f"{plan.label(one)} and {plan.label(other)}"
    return f"torn down behind each use, since {who} set its routers differently {where}"


def _stays(plan: ProgramPlan, color: int, users: int) -> str:
    moves = any(len(one) > 1 for _, sets in configurations(plan, color) for one in sets.settings)
    back = " and its switches are set back behind the last vector" if moves else ""
    kinds = {sets for _, sets in configurations(plan, color)}
    alike = (
        "set its routers alike"
        if len(kinds) == 1
        else "set its routers alike, or have none in common"
    )
    why = "it has one use" if users == 1 else f"its {users} uses {alike}"
    return f"stays as it is, since {why}{back}"


def _own(one: Plan) -> str:
    """A plan without what is the program's."""
    shared = ("  input queues", "  output queues", "  task ids", "  memory")
    lines = show_plan(one).splitlines()
    return "\n".join(line for line in lines if not line.startswith(shared)) + "\n"
