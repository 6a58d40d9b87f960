"""Checks of a plan against the machine: each takes a plan and yields diagnostics.

One check a file, named after it. Budgets first, then how the routers are set, then whether every
vector arrives. All work on roles, regions and one line of each phase, so their cost follows the
pattern and not the grid.
"""

from collections.abc import Callable, Iterable, Iterator

from collc.base.diagnostics import Diagnostic
from collc.checks.circuits import circuits
from collc.checks.color_numbers import color_numbers
from collc.checks.colors import colors
from collc.checks.delivery import delivery
from collc.checks.dsr_ids import dsr_ids
from collc.checks.exclusive_receive import exclusive_receive
from collc.checks.extents import extents
from collc.checks.filters import filters
from collc.checks.grid_size import grid_size
from collc.checks.memory import memory
from collc.checks.microthreads import microthreads
from collc.checks.multicast import multicast
from collc.checks.one_role import one_role
from collc.checks.paths import paths
from collc.checks.position_sides import position_sides
from collc.checks.positions import positions
from collc.checks.queues import queues
from collc.checks.root_route import root_route
from collc.checks.simd import paired
from collc.checks.step_table_delivery import rows_delivery
from collc.checks.step_table_entries import row_shapes
from collc.checks.step_table_hazards import rows_hazards
from collc.checks.steps import steps
from collc.checks.streams import streams
from collc.checks.switch_colors import switch_colors
from collc.checks.switches_return import switches_return
from collc.checks.task_ids import task_ids
from collc.checks.teardown import nothing_torn_down
from collc.plan import Plan

Check = Callable[[Plan], Iterator[Diagnostic]]

CHECKS: dict[str, Check] = {
    "grid_size": grid_size,
    "colors": colors,
    "color_numbers": color_numbers,
    "switch_colors": switch_colors,
    "queues": queues,
    "microthreads": microthreads,
    "task_ids": task_ids,
    "dsr_ids": dsr_ids,
    "filters": filters,
    "memory": memory,
    "extents": extents,
    "paired": paired,
    "steps": steps,
    "positions": positions,
    "position_sides": position_sides,
    "one_role": one_role,
    "paths": paths,
    "exclusive_receive": exclusive_receive,
    "delivery": delivery,
    "root_route": root_route,
    "switches_return": switches_return,
    "multicast": multicast,
    "nothing_torn_down": nothing_torn_down,
    "row_shapes": row_shapes,
    "circuits": circuits,
    "rows_hazards": rows_hazards,
    "rows_delivery": rows_delivery,
    "streams": streams,
}

BUDGETS = tuple(CHECKS)[: tuple(CHECKS).index("steps")]  # what is counted, not followed

__all__ = ["BUDGETS", "CHECKS", "Check", "check_plan"]


def check_plan(plan: Plan, names: Iterable[str] = tuple(CHECKS)) -> tuple[Diagnostic, ...]:
    """Everything that is wrong with a plan, or that these checks find wrong; a plan that passes all
    can be emitted."""
    checks = (CHECKS[name] for name in names)
    return tuple(problem for check in checks for problem in check(plan))
