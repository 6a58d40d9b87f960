"""Predicted cycles of a program of several collectives.

Each call is evaluated by itself, as if all PEs began it together, and what lets a call begin behind
another is added: a task, and where colors are torn down the registers that are set. PEs that are
done early with a call go on to the next, so a program mostly takes less than the sum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from collc.cost.bound import bound_of
from collc.cost.predict import Prediction, predict
from collc.program import ProgramPlan

ROUTER_INSTRUCTIONS = 9  # asking whether a color is torn down, and setting its router


@dataclass(frozen=True)
class ProgramPrediction(Prediction):
    """Of a program; `bound` is that of its longest call, which says little of the whole."""

    @property
    def gap(self) -> float | None:
        """None: calls overlap, so their bounds do not add up."""
        return None


def predict_program(plan: ProgramPlan) -> Prediction:
    """The sum over all calls of all rounds; `bound` is that of the longest of them."""
    alone = [
        predict(schedule, replace(one, task_ids=plan.task_ids))
        for schedule, one in zip(plan.schedules, plan.plans, strict=True)
    ]
    rounds = plan.program.rounds
    breakdown: dict[str, int] = {}
    for index in plan.calls:
        name = plan.plans[index].collective.name
        breakdown[name] = breakdown.get(name, 0) + rounds * alone[index].cycles
    breakdown["switch-over"] = rounds * sum(_switch_over(plan, index) for index in plan.calls)
    bounds = [bound_of(schedule, plan.target) for schedule in plan.schedules]
    return ProgramPrediction(sum(breakdown.values()), max(bounds), breakdown, ())


def _switch_over(plan: ProgramPlan, index: int) -> int:
    """Cycles before a call: a task for each phase, and the routers of the phase's busiest PE."""
    target = plan.target
    cycles = 0
    for _, use in plan.uses_of(index):
        torn = {name for name, k in use.positions if plan.colors[k].torn_down}
        roles = plan.phase(use).roles
        routers = max(len(torn & {use.color for use in role.colors}) for role in roles)
        cycles += target.task_start + target.scalar * ROUTER_INSTRUCTIONS * routers
    return cycles
