"""Every color has a number, one that the target routes and that no other color has."""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.plan import Plan
from collc.plan.placement import colors_of


def color_numbers(plan: Plan) -> Iterator[Diagnostic]:
    """C303: a color without number, with a number the target lacks, or with another's number."""
    numbers = dict(plan.colors)
    holder: dict[int, str] = {}
    enough = len(numbers) <= len(plan.target.colors)  # else C302 says what is lacking
    for name in colors_of(plan.phases):
        number = numbers.get(name)
        if number is None:
            yield _diagnostic(plan, f"color `{name}` has no number")
            continue
        if number not in plan.target.colors and enough:
            available = plan.target.colors
            has = f"{len(available)} from {available[0]} to {available[-1]}"
            message = f"color `{name}` has number {number}, {plan.target.name} has {has}"
            yield _diagnostic(plan, message)
        if number in holder:
            both = f"colors `{holder[number]}` and `{name}` both have number {number}"
            yield _diagnostic(plan, f"{both}, so their vectors would mix")
        holder.setdefault(number, name)


def _diagnostic(plan: Plan, message: str) -> Diagnostic:
    remedy = "give each color a number of its own; fewer colors or steps leave more numbers free"
    return Diagnostic("C303", message, plan.collective.span, help=remedy)
