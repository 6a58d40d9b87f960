"""How emitted code finds a PE's role from its coordinates.

Regular patterns become a few conditions on strided ranges; a tree without a period becomes a
table with one small number a PE of the line, so the text never grows with the whole grid.
"""

from collections.abc import Sequence

from collc.base.values import dataclass
from collc.plan import Region, Strided

# Beyond this many conditions a table is shorter to read than the list (D9).
MOST_CONDITIONS = 24


@dataclass(frozen=True)
class Cases:
    """The body of a function of (x, y) that returns a number.

    First the guards and conditions in order, each `(condition, value)`; then, if `table` is not
    empty, the table called `table_name` at `index` within `table_condition`; then `default`.
    """

    conditions: tuple[tuple[str, int], ...]
    default: int
    table_name: str = ""
    table_condition: str = ""
    table: tuple[int, ...] = ()
    index: str = ""

    def __post_init__(self) -> None:
        assert bool(self.table) == bool(self.table_name), "a table has a name"


def cases_of(
    regions: Sequence[tuple[Region, int]],
    extents: tuple[int, int],
    default: int,
    table_name: str,
    names: tuple[str, str] = ("x", "y"),
) -> Cases:
    """Conditions that give each region's number, and `default` to PEs in no region."""
    if len(regions) <= MOST_CONDITIONS:
        lines = tuple((_condition(r, extents, names), value) for r, value in regions)
        return Cases(lines, default)
    return _table(regions, extents, default, table_name, names)


def _table(
    regions: Sequence[tuple[Region, int]],
    extents: tuple[int, int],
    default: int,
    table_name: str,
    names: tuple[str, str],
) -> Cases:
    width, height = extents
    along_x = len({region.y for region, _ in regions}) == 1
    across = regions[0][0].y if along_x else regions[0][0].x
    entries = [default] * (width if along_x else height)
    for region, value in regions:
        for coordinate in region.x if along_x else region.y:
            entries[coordinate] = value
    x, y = names
    name, size = (y, height) if along_x else (x, width)
    condition = conjunction(within(name, across, size))
    if len(set(entries)) == 1:
        return Cases(((condition, entries[0]),), default)
    return Cases((), default, table_name, condition, tuple(entries), x if along_x else y)


def _condition(region: Region, extents: tuple[int, int], names: tuple[str, str]) -> str:
    parts = within(names[0], region.x, extents[0]) + within(names[1], region.y, extents[1])
    return conjunction(parts)


def conjunction(parts: Sequence[str]) -> str:
    """All of `parts`, each in parentheses if there are several."""
    if len(parts) > 1:
        return " and ".join(f"({part})" for part in parts)
    return parts[0] if parts else "true"


def within(name: str, values: Strided, size: int) -> list[str]:
    """The CSL conditions that `name`, which runs over 0 .. size - 1, is one of `values`.

    None when every value qualifies. The lower bound stands before the remainders, so that the
    unsigned difference is never taken below zero.
    """
    if values.first == values.end:
        return [] if size == 1 else [f"{name} == {values.first}"]
    parts = []
    if values.first > 0:
        parts.append(f"{name} >= {values.first}")
    if values.end < size - 1:
        parts.append(f"{name} <= {values.end}")
    offset = f"({name} - {values.first})" if values.first else name
    if values.repeats > 1:
        offset = f"({offset} % {values.period})"
        parts.append(f"{offset} <= {values.last - values.first}")
    if values.step > 1:
        parts.append(f"({offset} % {values.step}) == 0")
    return parts
