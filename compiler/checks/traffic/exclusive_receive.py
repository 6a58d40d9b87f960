"""At any time a router receives a color from one direction.

A position names one direction, so within a phase it is enough that no role sets a color twice.
Phases overlap in time: a PE may begin the next while its neighbours still are in the one before.
So a number must not serve two phases whose PEs touch.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from collc.base.diagnostics import Diagnostic
from collc.plan import Phase, Plan, Region
from collc.plan.placement import colors_of


def exclusive_receive(plan: Plan) -> Iterator[Diagnostic]:
    """C313: two directions could deliver one color to one router at a time."""
    numbers = dict(plan.colors)
    for phase in plan.phases:
        for role in phase.roles:
            counts = Counter(numbers.get(use.color) for use in role.colors)
            for number in (number for number, count in counts.items() if count > 1):
                message = f"role `{role.name}` of `{phase.name}` sets color {number} twice"
                yield Diagnostic("C313", message, phase.span, help="use two colors")
    for one, other in combinations(plan.phases, 2):
        shared = _numbers(one, numbers) & _numbers(other, numbers)
        if shared and _touch(one, other):
            yield Diagnostic(
                "C313",
                f"`{one.name}` and `{other.name}` both use color {min(shared)} on PEs that touch, "
                "so a router may receive it from two directions",
                other.span,
                ((one.span, "the other phase"),),
                "give the phases different colors",
            )


def _numbers(phase: Phase, numbers: dict[str, int]) -> set[int]:
    return {numbers[name] for name in colors_of([phase]) if name in numbers}


def _touch(one: Phase, other: Phase) -> bool:
    """Whether the rectangles around two phases' PEs overlap or are next to each other."""
    a, b = _bounds(one), _bounds(other)
    return a[0] <= b[1] + 1 and b[0] <= a[1] + 1 and a[2] <= b[3] + 1 and b[2] <= a[3] + 1


def _bounds(phase: Phase) -> tuple[int, int, int, int]:
    """First and last x, first and last y of a phase's regions."""
    if phase.path is not None:
        xs, ys = phase.path.x, phase.path.y
        return int(xs.min()), int(xs.max()), int(ys.min()), int(ys.max())
    regions: list[Region] = [region for region, _ in phase.regions]
    return (
        min(region.x.first for region in regions),
        max(region.x.end for region in regions),
        min(region.y.first for region in regions),
        max(region.y.end for region in regions),
    )
