"""In every phase each PE that takes part plays exactly one role."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from collc.base.diagnostics import Diagnostic
from collc.checks.by_phase import due, in_phase
from collc.plan import Phase, Plan, Region, Strided
from collc.schedule import BroadcastPhase, ReducePhase
from collc.spec.exchange import StepsPhase


def one_role(plan: Plan) -> Iterator[Diagnostic]:
    """C312: a PE with no role, with two, or one outside the pattern."""
    for phase in plan.phases:
        pattern = due(plan, phase)
        if isinstance(pattern, ReducePhase | StepsPhase):
            problem = _line_problem(phase, pattern)
        else:
            problem = _grid_problem(phase, pattern)
        if problem:
            remedy = "the regions of a phase have to cover its PEs once; please report this"
            yield in_phase("C312", phase, problem, remedy)


def _line_problem(phase: Phase, pattern: ReducePhase | StepsPhase) -> str:
    """Every region spans all lines; along a line each coordinate is in one region."""
    counts: Counter[int] = Counter()
    for region, _ in phase.regions:
        along, across = region.sides(pattern.axis)
        if across != Strided(*pattern.lines):
            return f"a role does not span lines {pattern.lines[0]} to {pattern.lines[1]}"
        counts.update(along)
    low, high = pattern.stretch
    wrong = [c for c in sorted({*range(low, high + 1), *counts}) if counts[c] != 1]
    outside = [c for c in counts if not low <= c <= high]
    if not wrong and not outside:
        return ""
    first = min([*wrong, *outside])
    return f"the PE with {pattern.axis} = {first} has {counts[first]} roles"


def _grid_problem(phase: Phase, pattern: BroadcastPhase) -> str:
    """Regions are disjoint and as large as the grid together."""
    regions = [region for region, _ in phase.regions]
    covered = sum(len(region.x) * len(region.y) for region in regions)
    if covered != pattern.width * pattern.height:
        return f"{covered} PEs have a role, the grid has {pattern.width * pattern.height}"
    for one, other in combinations(regions, 2):
        if _meet(one.x, other.x) and _meet(one.y, other.y):
            return (
                f"PE ({max(one.x.first, other.x.first)}, {max(one.y.first, other.y.first)}) "
                "has two roles"
            )
    if not all(_inside(region, pattern) for region in regions):
        return "a role lies outside the grid"
    return ""


def _inside(region: Region, pattern: BroadcastPhase) -> bool:
    """Whether a region lies in the grid."""
    ends = ((region.x, pattern.width), (region.y, pattern.height))
    return all(run.first >= 0 and run.end < extent for run, extent in ends)


def _meet(one: Strided, other: Strided) -> bool:
    """Whether two runs have a coordinate in common."""
    if one.first > other.end or other.first > one.end:
        return False
    return any(coordinate in other for coordinate in one)
