"""No router has more filters than its PE has, counted color by color and PE by PE."""

from collections.abc import Iterable, Iterator

import numpy as np

from collc.base.diagnostics import Diagnostic
from collc.plan import Phase, Plan, filters_of
from collc.plan.pe_masks import filtering, union_by_key
from collc.plan.plan import ProgramPlan
from collc.spec import Collective

Setting = tuple[Collective, Phase, dict[str, int]]  # with the numbers of the phase's colors


def filters(plan: Plan) -> Iterator[Diagnostic]:
    """C340: more filters at one PE than there are."""
    own = plan.collective
    most = _most((own, phase, dict(plan.colors)) for phase in plan.phases)
    if most > plan.target.filters:
        left = f"{plan.target.name} has {plan.target.filters} beside memcpy"
        message = f"`{own.name}` needs {most} counter filters at a PE, {left}"
        yield Diagnostic(
            "C340", message, own.span, help="let fewer steps scatter or exchange slices"
        )


def filters_of_program(plan: ProgramPlan) -> Iterator[Diagnostic]:
    """The same of all collectives of a program together."""
    settings = (
        (plan.plans[use.collective].collective, plan.phase(use), dict(use.positions))
        for use in plan.uses
    )
    most = _most(settings)
    if most > plan.target.filters:
        left = f"{plan.target.name} has {plan.target.filters} beside memcpy"
        message = f"the program needs {most} counter filters at a PE, {left}"
        help = "let fewer collectives scatter or exchange slices"
        yield Diagnostic("C340", message, plan.program.span, help=help)


def _is_counted(collective: Collective, phase: Phase) -> bool:
    """Whether a phase has filters, on PEs that are there, which other checks look at."""
    grid = collective.lined if phase.path else collective.grid
    inside = all(
        all(0 <= x < grid.width for x in area.x) and all(0 <= y < grid.height for y in area.y)
        for area, _ in phase.regions
    )
    return inside and any(map(filters_of, phase.roles))


def _most(settings: Iterable[Setting]) -> int:
    """The filters of the PE that has most: one for each of its colors that has one."""
    by_color = union_by_key(
        (numbers[color], mask)
        for collective, phase, numbers in settings
        if _is_counted(collective, phase)
        for color, mask in filtering(collective, phase).items()
    )
    if not by_color:
        return 0
    return int(np.sum(list(by_color.values()), axis=0, dtype=np.int64).max())
