"""Checks of a plan against the machine: each takes a plan and yields diagnostics.

A check is a file of `budgets`, where is what can be counted, or of `traffic`, where is the form of
roles and routes: the function that is named after the file. They work on roles, regions and one
line of each phase, so their cost follows the pattern and not the grid. Whether all goes on and
every vector arrives, `follow` shows, for plans of the right form: calls are followed through the
machine, and what comes of them is compared with the schedule. No other check knows the schedule.
"""

from collections.abc import Callable, Iterable
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from collc.base.diagnostics import Diagnostic
from collc.checks import budgets, traffic
from collc.checks.follow import followed
from collc.plan import Plan
from collc.schedule import Schedule

Check = Callable[[Plan], Iterable[Diagnostic]]


def _checks_of(folder: ModuleType) -> dict[str, Check]:
    """The checks of a folder, in the order of the codes with which what is said of them begins."""
    names = [one.name for one in iter_modules(folder.__path__)]
    found = {name: getattr(import_module(f"{folder.__name__}.{name}"), name) for name in names}
    return dict(sorted(found.items(), key=lambda one: one[1].__doc__ or one[0]))


_BUDGETS, _TRAFFIC = _checks_of(budgets), _checks_of(traffic)
FOLLOW = "follow"  # the check of plans in which no other one finds anything
BUDGETS, FORM = tuple(_BUDGETS), tuple(_TRAFFIC)
TRAFFIC = (*FORM, FOLLOW)
ALONE: dict[str, Check] = _BUDGETS | _TRAFFIC  # what a plan shows alone
CHECKS = (*ALONE, FOLLOW)
NO_ROOM = "C308"

__all__ = ["ALONE", "BUDGETS", "CHECKS", "FOLLOW", "FORM", "TRAFFIC", "Check", "check_plan"]


def check_plan(
    plan: Plan, schedule: Schedule, names: Iterable[str] = CHECKS
) -> tuple[Diagnostic, ...]:
    """Everything that is wrong with a plan of a schedule, or that these checks find wrong; a plan
    that passes all can be emitted. Calls are followed only where nothing else is wrong; of a plan
    that no PE has room for the form is not looked at either: that may take minutes, and a shorter
    vector has another plan."""
    found: list[Diagnostic] = []
    for name in names:
        if name == FOLLOW:
            found += () if found else followed(plan, schedule)
        elif name in BUDGETS or not any(problem.code == NO_ROOM for problem in found):
            found += ALONE[name](plan)
    return tuple(found)
