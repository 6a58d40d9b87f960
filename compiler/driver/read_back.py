"""A bundle's text, read back: compiled with fabsim's front end, which shares nothing with collc.

The layout is evaluated for the whole grid where that takes about a quarter of a second. Of a larger
grid it is evaluated for columns and rows that between them have a PE of every role, with its
neighbours, unless those are more than half of the grid; the other PEs get no code, so what is said
there is about the same text.
"""

import importlib
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import Any

from collc.base.diagnostics import CollcError, Diagnostic
from collc.driver.bundle import Bundle
from collc.plan import Phase, Plan, Strided
from collc.run import compiled

# Steps of compile-time evaluation that take about a quarter of a second, and PEs that take longer
# in nearly every program: above, the whole grid is not even tried.
STEPS = 3_000_000
PES = 60_000
TOO_MANY = "takes too many steps"

_COLUMNS = "for (@range(u16, {})) |x_coordinate| {{"
_ROWS = "for (@range(u16, {})) |y_coordinate| {{"


def verify_text(bundle: Bundle) -> None:
    """Compile the text for every target it has commands for; without fabsim nothing is done.

    Raises CollcError with the front end's messages where it does not take the text.
    """
    try:
        fabsim = importlib.import_module("fabsim")
    except ImportError:
        return
    (width, height), places = _size(bundle), places_of(bundle.plans)
    saves = len(places[0]) * len(places[1]) * 2 < width * height
    whole = not saves or width * height <= PES
    for arch in _targets(bundle.files):
        problem = TOO_MANY
        if whole:
            problem = _compiled(fabsim, bundle.files, arch, unlimited=not saves)
            whole = TOO_MANY not in problem  # for one target: then for the others as well
        if not whole:
            smaller = cut_down(bundle.files["layout.csl"], (width, height), places)
            files = {**bundle.files, "layout.csl": smaller}
            problem = _compiled(fabsim, files, arch, unlimited=True)
        if problem:
            raise CollcError([_internal(problem, arch)])


def _targets(files: Mapping[str, str]) -> Iterator[str]:
    for name in files:
        commands = re.fullmatch(r"commands_(\w+)\.sh", name)
        if commands:
            yield commands[1]


def _internal(problem: str, arch: str) -> Diagnostic:
    message = f"collc is at fault: the emitted text does not compile for {arch}:\n{problem}"
    help = "please report this with the program; --no-verify-text writes the text all the same"
    return Diagnostic("C506", message, None, help=help)


def _size(bundle: Bundle) -> tuple[int, int]:
    rectangle = re.search(r"@set_rectangle\((\d+), (\d+)\);", bundle.files["layout.csl"])
    assert rectangle is not None, "every layout sets its rectangle"
    return int(rectangle[1]), int(rectangle[2])


def _compiled(
    fabsim: Any,  # noqa: ANN401 - an optional module
    files: Mapping[str, str],
    arch: str,
    unlimited: bool = False,
) -> str:
    """What the front end says; nothing if it takes the text."""
    limit = {} if unlimited else {"max_comptime_steps": STEPS}
    try:
        compiled(fabsim, files, arch, {}, **limit)
    except fabsim.CslError as error:
        return str(error)
    return ""


Places = tuple[frozenset[int], frozenset[int]]


def places_of(plans: Sequence[Plan]) -> Places:
    """Columns and rows that between them have a PE of every role, with its neighbours."""
    found = {pe for plan in plans for phase in plan.phases for pe in _pes_of(plan, phase)}
    near = {(x + dx, y + dy) for x, y in found for dx, dy in _AROUND}
    grid = plans[0].collective.grid.whole
    columns = {x for x, _ in near if 0 <= x < grid.width}
    return frozenset(columns), frozenset(y for _, y in near if 0 <= y < grid.height)


_AROUND = ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))


def _pes_of(plan: Plan, phase: Phase) -> Iterator[tuple[int, int]]:
    """PEs on the whole grid that have the roles of a phase, or a route that leads past one."""
    site = plan.collective.grid.site
    left, top = (site.x, site.y) if site else (0, 0)
    for region, _ in phase.regions:
        for x, y in product(_members(region.x), _members(region.y)):
            column, row = phase.path.places[x] if phase.path else (x, y)
            yield left + column, top + row
    for detour in phase.detours:
        for column, row in detour.pes:
            yield left + column, top + row


def _members(values: Strided) -> tuple[int, ...]:
    """The first members of the first run and of the second, and the last."""
    first = range(values.first, values.last + 1, values.step)[:2]
    again = (values.first + values.period,) if values.repeats > 1 else ()
    return (*first, values.last, *again, values.end)


def cut_down(layout: str, size: tuple[int, int], places: Places) -> str:
    """A layout that goes through some columns and rows; the other PEs get no code."""
    columns, rows = (
        [[n for n in range(length) if (n in chosen) == taken] for taken in (True, False)]
        for length, chosen in zip(size, places, strict=True)
    )
    loops = (_COLUMNS.format(size[0]), _ROWS.format(size[1]))
    for loop, chosen, name in zip(loops, (columns[0], rows[0]), ("columns", "rows"), strict=True):
        assert layout.count(loop) == 1, "every layout goes through its PEs once"
        layout = layout.replace(loop, loop.replace(_range_of(loop), f"read_{name}"))
        layout = _array(f"read_{name}", chosen) + layout
    rest = [
        text
        for outer, inner in ((columns[1], range(size[1])), (columns[0], rows[1]))
        for text in _empty(outer, inner)
    ]
    head = f"@set_rectangle({size[0]}, {size[1]});"
    return layout.replace(head, "\n".join([head, *rest]))


def _range_of(loop: str) -> str:
    return loop[loop.index("@range") : loop.index(") |")]


def _array(name: str, values: Sequence[int]) -> str:
    return f"const {name} = [{len(values)}]u16{{ {', '.join(map(str, values))} }};\n"


def _empty(columns: Sequence[int], rows: Sequence[int]) -> Iterator[str]:
    """Loops over the PEs without code, run by run."""
    for first, end in _runs(columns):
        for top, bottom in _runs(rows):
            yield (
                f"for (@range(u16, {first}, {end}, 1)) |x| {{"
                f" for (@range(u16, {top}, {bottom}, 1)) |y| {{ @set_tile_code(x, y); }} }}"
            )


def _runs(values: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Consecutive numbers as (first, one behind the last)."""
    breaks = [n for n, (a, b) in enumerate(pairwise(values), 1) if b != a + 1]
    for start, stop in zip([0, *breaks], [*breaks, len(values)], strict=True):
        if start < stop:
            yield values[start], values[stop - 1] + 1
