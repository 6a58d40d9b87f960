"""Schedule to Plan: roles, routes and switch positions, then numbers.

`build_plan` tries every way of lowering each reduce phase (`STRATEGIES`) that keeps the limit of
colors and takes the one with the fewest predicted cycles, of equals the one with fewer colors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from collc.lowering import memory, resources
from collc.lowering.broadcast import broadcast_phase
from collc.lowering.line import Behaviour
from collc.lowering.roles import reduce_phase
from collc.lowering.show import show_plan
from collc.lowering.static import static
from collc.lowering.two_color import two_color
from collc.plan import Phase, Plan
from collc.schedule import BroadcastPhase, ReducePhase, Schedule
from collc.target import Target

__all__ = ["STRATEGIES", "build_plan", "show_plan"]

Strategy = Callable[[ReducePhase, int, int], tuple[Behaviour, ...]]

STRATEGIES: dict[str, Strategy] = {"two_color": two_color, "static": static}


def build_plan(schedule: Schedule, target: Target) -> Plan:
    """The best plan within the limit of colors; if none is, the one with the fewest colors, which
    the check of colors refuses.
    """
    return next(_plans(schedule, target))


def _plans(schedule: Schedule, target: Target) -> Iterator[Plan]:
    """A plan for every choice of strategies, one per reduce phase."""
    choices = [
        tuple(STRATEGIES.values()) if isinstance(phase, ReducePhase) else (two_color,)
        for phase in schedule.phases
    ]
    for strategies in product(*choices):
        phases = tuple(
            _phase(schedule, phase, strategy, target)
            for phase, strategy in zip(schedule.phases, strategies, strict=True)
        )
        yield numbered_plan(schedule, phases, target)


def _phase(
    schedule: Schedule, phase: ReducePhase | BroadcastPhase, strategy: Strategy, target: Target
) -> Phase:
    if isinstance(phase, BroadcastPhase):
        return broadcast_phase(phase)
    length = schedule.collective.contract.length
    return reduce_phase(phase, strategy(phase, length, target.max_extent))


def numbered_plan(schedule: Schedule, phases: tuple[Phase, ...], target: Target) -> Plan:
    """The phases with numbers for all they use."""
    contract = schedule.collective.contract
    colors = resources.number_colors(phases, target)
    return Plan(
        target=target,
        collective=schedule.collective,
        phases=phases,
        colors=colors,
        input_queues=resources.number_input_queues(phases, target),
        output_queues=resources.take(target.output_queues, len(phases)),
        task_ids=resources.number_task_ids(phases, (number for _, number in colors), target),
        dsr_ids=resources.number_dsr_ids(phases, target),
        code_bytes=memory.code_bytes(phases),
        data_bytes=memory.data_bytes(contract.element, contract.length),
    )
