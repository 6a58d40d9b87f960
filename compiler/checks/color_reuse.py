"""A color of a program is one thing at a time: one symbolic color of a phase, and one setting.

Phases that follow each other on a color either find it torn down, or set all its routers alike.
"""

from collections import Counter
from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.checks.color_hand_over import InProgram, played
from collc.plan.configuration import differing
from collc.plan.placement import colors_of
from collc.plan.program import ProgramPlan


def turns(plan: ProgramPlan) -> Iterator[Diagnostic]:
    """C333: colors of a phase that are not distinct, or uses of a color that set its routers
    differently, with nothing between."""
    for use in plan.uses:
        one = InProgram(plan, use)
        found = next(_without_color(one), None) or next(_on_one_color(one), None)
        if found:
            yield found
    for k, color in enumerate(plan.colors):
        if not color.torn_down:
            yield from _set_differently(plan, k)


def _without_color(one: InProgram) -> Iterator[Diagnostic]:
    """Symbolic colors that the program has no color for."""
    known = range(len(one.plan.colors))
    lacking = {name for name, k in one.use.positions if k not in known}
    lacking |= {*colors_of([one.phase])} - {name for name, _ in one.use.positions}
    for color in sorted(lacking):
        pe = _first_pe(one, color)
        message = f"{one.name} has no color of the program for its `{color}`: {pe} begins it, has "
        message += f"no router to set for `{color}`, waits for ever, and {one.next_on(None)} is "
        message += f"not begun at {pe}"
        yield one.diagnostic("C333", message, one.following(None), "would come after it")


def _on_one_color(one: InProgram) -> Iterator[Diagnostic]:
    """Two symbolic colors that have one color of the program."""
    times = Counter(k for _, k in one.use.positions)
    for k in (k for k, count in times.items() if count > 1):
        first, second = [name for name, at in one.use.positions if at == k][:2]
        message = f"{one.name} has `{first}` and `{second}` on color {one.plan.colors[k].number}: "
        message += f"{_first_pe(one, second)} sets its router for `{second}`, a vector on "
        message += f"`{first}` comes through it and takes the route of the other, and "
        message += f"{one.next_on(k)} begins with vectors where none is due"
        yield one.after_it("C333", message, k)


def _first_pe(one: InProgram, color: str) -> str:
    """The first PE that sets its router for a symbolic color."""
    places = (
        one.pe(x, y)
        for role, x, y in played(one.phase)
        if color in {used.color for used in role.colors}
    )
    return next(places, "a PE")


def _set_differently(plan: ProgramPlan, color: int) -> Iterator[Diagnostic]:
    """Two uses of a color that stays as it is."""
    found = differing(plan, color)
    if found is None:
        return
    before, after, where = found
    one, label, number = InProgram(plan, before), plan.label(after), plan.colors[color].number
    message = f"{one.name} and `{label}` both use color {number}, which stays as it is, but set "
    message += f"its routers differently {where}: {one.name} ends, its routers stay as it has set "
    message += f"them, `{label}` begins there, and its vectors follow the routes of {one.name}"
    yield one.diagnostic("C333", message, after, f"has color {number} as well")
