"""Plans of examples, and what their calls begin with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from collc.base.columns import Words
from collc.driver.pipeline import compile_text
from collc.machine import cuts
from collc.plan import Plan
from collc.plan.plan import ProgramPlan

EXAMPLES = Path(__file__).parents[2] / "examples"


def written(name: str) -> tuple[str, str]:
    """The text of an example, and its name."""
    path = EXAMPLES / f"{name}.coll"
    return path.read_text(encoding="utf-8"), str(path)


@cache
def plan_of(name: str, target: str, **parameters: int) -> Plan:
    """The plan of an example of one collective."""
    return compile_text(*written(name), parameters, target).program.plans[0]


@cache
def program_of(name: str, **parameters: int) -> ProgramPlan:
    """The plan of an example of several."""
    return compile_text(*written(name), parameters, "wse2").program


def beginning(plans: Sequence[Plan]) -> list[Words]:
    """What PEs hold before calls of these plans: random numbers, [PEs, atoms]."""
    rng = np.random.default_rng(1)
    return [
        rng.integers(1, 1 << 63, size=(_pes(plan), len(cuts(plan)) - 1), dtype=np.uint64)
        for plan in plans
    ]


def _pes(plan: Plan) -> int:
    return plan.collective.grid.width * plan.collective.grid.height
