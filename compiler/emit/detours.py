"""The detours of an order that is not contiguous, router by router: few different settings, and a
number for each PE that says which are its own."""

from collc.base.grids import Grid
from collc.base.paths import Pe
from collc.base.values import dataclass
from collc.emit.roles import RoutesModel, routes_model
from collc.plan import ColorUse, Detour


@dataclass(frozen=True)
class DetoursModel:
    """For each PE, row by row, which of the settings it has, counted from 1, or 0; and these."""

    table: tuple[int, ...]
    settings: tuple[RoutesModel, ...]


def detours_model(detours: tuple[Detour, ...], grid: Grid) -> DetoursModel | None:
    """The settings of all routers on some detours; nothing if there are no detours."""
    if not detours:
        return None
    at: dict[Pe, list[ColorUse]] = {}
    for detour in detours:
        for pe, route in detour.routes:
            at.setdefault(pe, []).append(ColorUse(detour.color, (route,)))
    settings = {pe: tuple(sorted(uses, key=lambda use: use.color)) for pe, uses in at.items()}
    rows = ((x, y) for y in range(grid.height) for x in range(grid.width))
    numbers: dict[tuple[ColorUse, ...], int] = {(): 0}
    table = tuple(numbers.setdefault(settings.get(pe, ()), len(numbers)) for pe in rows)
    models = (
        routes_model(f"detour == {number}", [(use, None) for use in uses])
        for uses, number in numbers.items()
        if number
    )
    return DetoursModel(table, tuple(models))
