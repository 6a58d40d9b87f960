"""How emitted code finds the place of PE (x, y) on a part of the grid, or on its own line."""

from collc.base.grids import Grid, Lines, Site
from collc.base.values import dataclass
from collc.emit.conditions import conjunction, within
from collc.plan import Phase, Strided
from collc.spec import RootChoice


@dataclass(frozen=True)
class SiteModel:
    """Where a collective stands on the grid of its program.

    `takes_part` is the condition that PE (x, y) is on it, empty if all are; there `x` and `y` are
    its coordinates as the collective counts them. `pes` are the numbers of the PEs in NumPy text, a
    row for each group that has a collective to itself.
    """

    takes_part: str
    x: str
    y: str
    pes: str


def site_model(grid: Grid) -> SiteModel:
    """Where a grid lies on the one that it is a part of."""
    whole, site = grid.whole, grid.site
    if site is None:
        return SiteModel("", "x", "y", "PES.reshape(1, -1)")
    area = site.area or grid
    columns = within("x", Strided(site.x, site.x + area.width - 1), whole.width)
    rows = within("y", Strided(site.y, site.y + area.height - 1), whole.height)
    return SiteModel(
        conjunction([*columns, *rows]) if columns or rows else "",
        "0" if site.lines is Lines.COLUMN else _behind("x", site.x),
        "0" if site.lines is Lines.ROW else _behind("y", site.y),
        _pes(site, area),
    )


def _pes(site: Site, area: Grid) -> str:
    """The PEs of a part as an expression of `PES`, all PEs by rows and columns."""
    found = f"PES[{site.y} : {site.y + area.height}, {site.x} : {site.x + area.width}]"
    if site.lines is Lines.ROW:
        return found
    return f"{found}.T" if site.lines is Lines.COLUMN else f"{found}.reshape(1, -1)"


def _behind(name: str, first: int) -> str:
    """A coordinate counted from `first` on."""
    return f"({name} - {first})" if first else name


def where(grid: Grid) -> str:
    """The grid of a collective in words."""
    size = f"{grid.width} x {grid.height} PEs"
    site = grid.site
    if site is None:
        return size
    area = site.area or grid
    place = f"{area.width} x {area.height} PEs from PE ({site.x}, {site.y}) on"
    return f"each {site.lines.value} of {place}" if site.lines else place


def coordinates(phase: Phase) -> tuple[str, str]:
    """What the emitted code calls the coordinates that a phase's regions are of."""
    return ("x", "y") if phase.path is None else ("p", "0")


def places_at(phase: Phase, grid: Grid) -> tuple[str, str]:
    """What the layout calls a PE's place on its line, and the line's coordinate."""
    site = site_model(grid)
    at = (site.x, site.y) if phase.axis == "x" else (site.y, site.x)
    return ("p", "0") if phase.path else at


def rank_of(choice: RootChoice, site: SiteModel, path_place: str = "") -> str:
    """The rank of PE (x, y) among those that a root may be, in CSL; 0 for one that has no part. On
    a path `path_place` is the function of the layout that says the place."""
    place = site.x if choice.axis == "x" else site.y
    place = f"{path_place}({site.x}, {site.y})" if path_place else place
    rank = place if choice.places[0] == 0 else f"({len(choice.places) - 1} - {place})"
    return f"if ({site.takes_part}) {rank} else 0" if site.takes_part else rank
