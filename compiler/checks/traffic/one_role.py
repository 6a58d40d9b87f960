"""In every phase each PE that takes part plays exactly one role."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from collc.base.diagnostics import Diagnostic
from collc.base.grids import Grid
from collc.checks.by_phase import in_phase
from collc.plan import Phase, Plan, Region, Strided


def one_role(plan: Plan) -> Iterator[Diagnostic]:
    """C312: a PE with no role, with two, or one that is not there."""
    collective = plan.collective
    for phase in plan.phases:
        grid = collective.lined if phase.path else collective.grid
        outside = not all(_inside(region, grid) for region, _ in phase.regions)
        problem = _grid_problem(phase, grid) if phase.axis == "xy" else _line_problem(phase, grid)
        problem = problem or ("a role lies outside the grid" if outside else "")
        if problem:
            remedy = "the regions of a phase have to cover its PEs once; please report this"
            yield in_phase("C312", phase, problem, remedy)


def _line_problem(phase: Phase, grid: Grid) -> str:
    """Every region spans all lines; along a line each coordinate is in one region. Ranks that have
    an order may stand on a stretch of it."""
    counts: Counter[int] = Counter()
    lines = {region.sides(phase.axis)[1] for region, _ in phase.regions}
    if len(lines) != 1 or any(one.step > 1 or one.repeats > 1 for one in lines):
        return "the roles do not span the same lines"
    for region, _ in phase.regions:
        counts.update(region.sides(phase.axis)[0])
    ends = (min(counts), max(counts))
    low, high = (0, grid.extent(phase.axis) - 1) if phase.order is None else ends
    wrong = [c for c in sorted({*range(low, high + 1), *counts}) if counts[c] != 1]
    return f"the PE with {phase.axis} = {wrong[0]} has {counts[wrong[0]]} roles" if wrong else ""


def _grid_problem(phase: Phase, grid: Grid) -> str:
    """Regions are disjoint and as large as the grid together."""
    regions = [region for region, _ in phase.regions]
    covered = sum(len(region.x) * len(region.y) for region in regions)
    if covered != grid.width * grid.height:
        return f"{covered} PEs have a role, the grid has {grid.width * grid.height}"
    for one, other in combinations(regions, 2):
        if _meet(one.x, other.x) and _meet(one.y, other.y):
            return (
                f"PE ({max(one.x.first, other.x.first)}, {max(one.y.first, other.y.first)}) "
                "has two roles"
            )
    return ""


def _inside(region: Region, grid: Grid) -> bool:
    """Whether a region lies in the grid."""
    ends = ((region.x, grid.width), (region.y, grid.height))
    return all(run.first >= 0 and run.end < extent for run, extent in ends)


def _meet(one: Strided, other: Strided) -> bool:
    """Whether two runs have a coordinate in common."""
    if one.first > other.end or other.first > one.end:
        return False
    return any(coordinate in other for coordinate in one)
