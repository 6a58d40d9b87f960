"""Grids, their parts, and where on them a collective stands: `on last`, `on each row of pes`."""

from collections.abc import Mapping

from collc.base.grids import Grid, Lines, Site
from collc.language.evaluation import number
from collc.language.kinds import BY_WORD, undeclared
from collc.language.problems import KnownProblemError, Problems, problem
from collc.language.scope import Scope
from collc.language.syntax import ExtentDecl, GridDecl, PartDecl, PlaceDecl, Word
from collc.target import Target

Declared = Mapping[str, GridDecl | PartDecl]
Grids = Mapping[str, Grid | None]


def elaborate_grids(
    declared: Mapping[str, GridDecl | PartDecl], scope: Scope, target: Target, problems: Problems
) -> dict[str, Grid | None]:
    """Every grid of a file, None where its problem has been reported. A part may be declared before
    the grid that it is a part of."""
    grids: dict[str, Grid | None] = {
        name: problems.attempt(_grid, declaration, scope, target)
        for name, declaration in declared.items()
        if isinstance(declaration, GridDecl)
    }
    parts = {n: part for n, part in declared.items() if isinstance(part, PartDecl)}
    while parts:
        ready = [part for part in parts.values() if part.of.text not in parts]
        for part in ready:
            grids[part.name.text] = problems.attempt(_part, part, grids, scope)
        for part in () if ready else parts.values():
            grids[part.name.text] = None
            message = f"{part.name.text} is a part of {part.of.text}, and so on without end"
            help = "declare one grid by its size: `grid pes = 32 x 24`"
            problems.add(problem("C128", message, part.span, help=help))
        parts = {n: part for n, part in parts.items() if n not in grids}
    return {name: grids[name] for name in declared}


def _grid(declaration: GridDecl, scope: Scope, target: Target) -> Grid:
    """Grid with its size; raises `ProblemError` if the target has no room for it."""
    if declaration.by.text != "x":
        message = f"a size is written `width x height`, not with `{declaration.by.text}`"
        help = "with spaces around the x: `grid g = 32 x 24`"
        raise problem("C105", message, declaration.by.span, help=help, fix="x")
    name = declaration.name.text
    width, height = number(declaration.width, scope), number(declaration.height, scope)
    for size, most, word, at in (
        (width, target.max_width, "wide", declaration.width.span),
        (height, target.max_height, "high", declaration.height.span),
    ):
        if size < 1:
            message = f"{name} is {size} PEs {word}; a grid has at least 1"
            raise problem("C124", message, at, help="write 1 or more", fix="1")
        if size > most:
            message = f"{name} is {size} PEs {word}, {target.name} has {most}"
            help = f"choose a size of at most {target.max_width} x {target.max_height}"
            raise problem("C123", message, at, help=help, fix=f"{most}")
    return Grid(name, width, height, declaration.span)


def _part(declaration: PartDecl, grids: Grids, scope: Scope) -> Grid:
    """A rectangle of another grid, which has to lie on it."""
    of = _named(declaration.of, grids, scope.others)
    left, width = _extent(declaration.columns, of.width, "columns", of, scope)
    top, height = _extent(declaration.rows, of.height, "rows", of, scope)
    site = of.site or Site(of, 0, 0)
    return Grid(
        declaration.name.text,
        width,
        height,
        declaration.span,
        Site(site.whole, site.x + left, site.y + top),
    )


def _extent(
    declaration: ExtentDecl, size: int, what: str, of: Grid, scope: Scope
) -> tuple[int, int]:
    """The first of some columns or rows, and how many they are."""
    first = number(declaration.first, scope)
    last = first if declaration.last is None else number(declaration.last, scope)
    if last < first:
        message = f"{what} {first} to {last} are none; a part has at least 1"
        raise problem("C124", message, declaration.span, of.declared)
    if first < 0 or last >= size:
        shown = f"{what} {first} to {last}" if first < last else f"{what[:-1]} {first}"
        message = f"{of.name} has no {shown}"
        help = f"{what} are 0 to {size - 1}"
        first, last = (min(max(one, 0), size - 1) for one in (first, last))
        near = f"{first}" if declaration.last is None else f"{first} .. {last}"
        raise problem("C142", message, declaration.span, of.declared, help=help, fix=near)
    return first, last - first + 1


def elaborate_place(declaration: PlaceDecl, grids: Grids, others: Mapping[str, str]) -> Grid:
    """The grid that a collective runs on; for one on each row or column, one such line."""
    grid = _named(declaration.grid, grids, others)
    lines, of = declaration.lines, declaration.of
    if lines is None or of is None:
        return grid
    words = {word.value: word for word in Lines}
    if lines.text not in words or of.text != "of":
        wrong = of if lines.text in words else lines
        message = f"a collective is on a grid, or on `each row of` one, not `{wrong.text}`"
        help = f"write `on each row of {grid.name}`, or `column`"
        raise problem("C105", message, wrong.span, help=help)
    across = words[lines.text] is Lines.ROW
    site = grid.site or Site(grid, 0, 0)
    return Grid(
        f"each {lines.text} of {grid.name}",
        grid.width if across else 1,
        1 if across else grid.height,
        grid.span,
        Site(site.whole, site.x, site.y, words[lines.text], grid),
    )


def _named(word: Word, grids: Grids, others: Mapping[str, str]) -> Grid:
    if word.text not in grids:
        help = "declare one: `grid row = 64 x 1`"
        raise undeclared(BY_WORD["grid"], word, grids, others, help)
    grid = grids[word.text]
    if grid is None:
        raise KnownProblemError
    return grid
