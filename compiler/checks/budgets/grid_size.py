"""The grid fits the largest rectangle of PEs that a program can have."""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.plan import Plan


def grid_size(plan: Plan) -> Iterator[Diagnostic]:
    """C301: more columns or rows than the target has."""
    grid, target = plan.collective.grid, plan.target
    if grid.width > target.max_width or grid.height > target.max_height:
        yield Diagnostic(
            "C301",
            f"grid `{grid.name}` is {grid.width} x {grid.height} PEs, {target.name} has "
            f"{target.max_width} x {target.max_height} for a program",
            grid.span,
            help="make the grid smaller",
        )
