"""Which coordinates the functions of a layout module ask for: those that they look at."""

import re
from collections.abc import Iterable

from collc.base.values import dataclass
from collc.emit.conditions import Cases
from collc.emit.grid_places import SiteModel
from collc.emit.phases import PhaseModel

COORDINATES = ("x", "y")


@dataclass(frozen=True)
class ArgumentsModel:
    """The parameters of a phase's functions, as they are declared, and what they are given: of the
    one that finds the role of a PE, and of the one that says what its program has to know."""

    role: str
    role_given: str
    params: str
    params_given: str


def arguments_of_phase(phase: PhaseModel, site: SiteModel) -> ArgumentsModel:
    """The arguments of the functions of a phase of a collective at a site."""
    names = _looked_at(phase.cases, ("p",) if phase.on_path else COORDINATES)
    given = {"x": site.x, "y": site.y, "p": "p"}
    role_given = ", ".join(given[name] for name in names)
    place = f"{site.x}, {site.y}" if phase.on_path else role_given
    values = (value for role in phase.roles for value in role.values)
    params = _named((site.takes_part, place, *values), COORDINATES)
    return ArgumentsModel(_declared(names), role_given, _declared(params), ", ".join(params))


def arguments_of_part(site: SiteModel) -> tuple[str, str]:
    """Parameters of the function that says whether a PE takes part, and what it is given."""
    names = _named((site.takes_part,), COORDINATES)
    return _declared(names), ", ".join(names)


def arguments_of_result(cases: Cases, on_path: bool, site: SiteModel) -> tuple[str, str]:
    """The same of the function that says whether a PE holds the result."""
    names = _looked_at(cases, ("p",) if on_path else COORDINATES)
    given = {"x": site.x, "y": site.y, "p": f"path_place({site.x}, {site.y})"}
    return _declared(names), ", ".join(given[name] for name in names)


def _looked_at(cases: Cases, names: tuple[str, ...]) -> tuple[str, ...]:
    table = (cases.table_condition, cases.index) if cases.table else ()
    return _named((*(condition for condition, _ in cases.conditions), *table), names)


def _named(texts: Iterable[str], names: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the names that stand in some text."""
    found = {word for text in texts for word in re.findall(r"\b\w+\b", text)}
    return tuple(name for name in names if name in found)


def _declared(names: tuple[str, ...]) -> str:
    return ", ".join(f"{name}: u16" for name in names)
