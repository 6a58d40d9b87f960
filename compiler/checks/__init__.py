"""Checks of a plan against the machine: each takes a plan and yields diagnostics.

A check is a file of `budgets`, where is what can be counted, or of `traffic`, where is how routers
are set and whether every vector arrives: the function that is named after the file. All work on
roles, regions and one line of each phase, so their cost follows the pattern and not the grid.
"""

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from collc.base.diagnostics import Diagnostic
from collc.checks import budgets, traffic
from collc.plan import Plan

Check = Callable[[Plan], Iterator[Diagnostic]]


def _checks_of(folder: ModuleType) -> dict[str, Check]:
    """The checks of a folder, in the order of the codes with which what is said of them begins."""
    names = [one.name for one in iter_modules(folder.__path__)]
    found = {name: getattr(import_module(f"{folder.__name__}.{name}"), name) for name in names}
    return dict(sorted(found.items(), key=lambda one: one[1].__doc__ or one[0]))


_BUDGETS, _TRAFFIC = _checks_of(budgets), _checks_of(traffic)
BUDGETS, TRAFFIC = tuple(_BUDGETS), tuple(_TRAFFIC)
CHECKS: dict[str, Check] = _BUDGETS | _TRAFFIC
NO_ROOM = "C308"

__all__ = ["BUDGETS", "CHECKS", "TRAFFIC", "Check", "check_plan"]


def check_plan(plan: Plan, names: Iterable[str] = tuple(CHECKS)) -> tuple[Diagnostic, ...]:
    """Everything that is wrong with a plan, or that these checks find wrong; a plan that passes all
    can be emitted. Of one that no PE has room for the traffic is not followed: it may take minutes,
    and a shorter vector has another plan."""
    found: list[Diagnostic] = []
    for name in names:
        if name in BUDGETS or not any(problem.code == NO_ROOM for problem in found):
            found += CHECKS[name](plan)
    return tuple(found)
