"""Where ranks are: grids and their parts, where on them a collective stands (`on last`, `on each
row of pes`), the orders of a program with the paths that they are on a grid, and lines of ranks.

The PEs of all ranks of an order are computed at once; it has to come to every PE of the grid once.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from collc.base.columns import Ints
from collc.base.diagnostics import Span
from collc.base.grids import Grid, Site
from collc.base.grids import Lines as Along
from collc.base.paths import Path, Pe, hilbert
from collc.base.values import dataclass
from collc.language.declarations import Declarations, as_used, told_inside, values_of
from collc.language.expressions import FunctionOf, Scope, number, numbers_for_all, numbers_of
from collc.language.kinds import BY_WORD, FIXED, HILBERT, ORDER_WORDS, RING, undeclared
from collc.language.problems import KnownProblemError, Problems, problem
from collc.language.syntax import (
    ExtentDecl,
    FormulaDecl,
    GridDecl,
    LocalDecl,
    OrderClause,
    OrderDecl,
    PartDecl,
    PeDecl,
    PlaceDecl,
    TreeUse,
    Word,
)
from collc.spec import Order
from collc.target import Target

# Orders, and their paths on a grid.


MAX_PLACES = 65_534  # emitted programs count places, and two more, in 16 bits


@dataclass(eq=False)
class Orders(Declarations[OrderDecl]):
    """All orders a program may use."""

    def path(self, use: TreeUse, grid: Grid, scope: Scope) -> Path:
        """The path of an order on a grid; raises `ProblemError`."""
        name = use.name.text
        self.check_whole(use.name)
        if name == FIXED:
            message = "`fixed` is not an order of PEs"
            help = "write `order fixed` as a separate clause, beside the order of the PEs"
            raise problem("C111", message, use.name.span, help=help)
        if name != HILBERT and name not in self.declared:
            known = (*ORDER_WORDS, *self.declared)
            raise undeclared(BY_WORD["order"], use.name, known, self.others)
        if grid.width * grid.height > MAX_PLACES:
            message = f"an order of all PEs has at most {MAX_PLACES} of them"
            help = "go by columns and rows: `reduce columns by ...`, `then reduce row by ...`"
            raise problem("C165", message, use.span, grid.declared, help=help)
        if name == HILBERT:
            check_no_arguments(use)
            return Path(name, tuple(hilbert(grid.width, grid.height)))
        return self._declared(self.declared[name], use, grid, scope)

    def _declared(self, declaration: OrderDecl, use: TreeUse, grid: Grid, scope: Scope) -> Path:
        """The path of an order that is declared, in the file or in the prelude."""
        sides = grid.width, grid.height
        values = values_of(declaration, use.arguments, sides, scope, use.span)
        around = self.scope_of(declaration, values)
        text = as_used(declaration, values, len(sides))
        with told_inside(use, f"in {text} on {grid.width} x {grid.height} PEs"):
            places = _places(declaration, grid, around)
            _check_places(declaration, places, grid)
        return Path(text, places)


def check_no_arguments(use: TreeUse) -> None:
    """Orders of the language have no parameters."""
    if use.arguments:
        message = f"{use.name.text} takes no arguments"
        raise problem("C114", message, use.span, help=f"write {use.name.text}")


def _places(declaration: OrderDecl, grid: Grid, around: Scope) -> tuple[Pe, ...]:
    if not isinstance(declaration.pes, FormulaDecl):
        return tuple((number(pe.x, around), number(pe.y, around)) for pe in declaration.pes)
    formula, size = declaration.pes, grid.width * grid.height
    arrays = {formula.rank.text: np.arange(size, dtype=np.int64)}
    inner = replace(around, arrays=arrays, size=size, rank=formula.rank.text)
    for local in formula.locals:
        inner, around = _with_local(local, inner, around)
    x, y = (numbers_for_all(part, inner) for part in (formula.pe.x, formula.pe.y))
    return tuple(zip(x.tolist(), y.tolist(), strict=True))


def _with_local(local: LocalDecl, inner: Scope, around: Scope) -> tuple[Scope, Scope]:
    """With one more name: what the PE sees, and what functions see, which is no rank."""
    name = local.name.text
    if local.parameters is not None:
        function = {name: FunctionOf(local, around)}
        return (
            replace(inner, functions={**inner.functions, **function}),
            replace(around, functions={**around.functions, **function}),
        )
    value: int | Ints = numbers_of(local.value, inner)
    if isinstance(value, int):
        return replace(inner, numbers={**inner.numbers, name: value}), around
    return replace(inner, arrays={**inner.arrays, name: value}), around


def _check_places(declaration: OrderDecl, places: tuple[Pe, ...], grid: Grid) -> None:
    """C165: a PE that is not on the grid, one that comes twice, or too few."""
    rank_of: dict[Pe, int] = {}
    for rank, (x, y) in enumerate(places):
        if not (0 <= x < grid.width and 0 <= y < grid.height):
            message = f"rank {rank} would be PE ({x}, {y}), which is not on the grid"
            raise problem("C165", message, _span(declaration, rank).span, grid.declared)
        if (x, y) in rank_of:
            message = f"PE ({x}, {y}) is rank {rank_of[x, y]} and rank {rank}"
            help = "an order comes to every PE once"
            raise problem("C165", message, _span(declaration, rank).span, grid.declared, help=help)
        rank_of[x, y] = rank
    if len(places) < grid.width * grid.height:
        message = f"{declaration.name.text} has {len(places)} PEs, the grid has more"
        help = "an order comes to every PE once"
        raise problem("C165", message, declaration.span, grid.declared, help=help)


def _span(declaration: OrderDecl, rank: int) -> PeDecl:
    """Where the PE of a rank is said."""
    pes = declaration.pes
    return pes.pe if isinstance(pes, FormulaDecl) else pes[rank]


# Lines of ranks under the orders that a collective names.


HORIZONTAL = frozenset((Order.WEST_TO_EAST, Order.EAST_TO_WEST))


@dataclass(frozen=True)
class Line:
    """One direction of a grid: how ranks run along it and how many there are."""

    order: Order
    length: int
    span: Span | None  # where the order is said; None: it is the default
    ring: bool = False  # ranks go out on every other place and come back on those between

    @property
    def words(self) -> str:
        """What the lines of this direction are called."""
        return "row" if self.order in HORIZONTAL else "columns"

    def coordinate(self, rank: int) -> int:
        """Coordinate of a rank along the line."""
        return self.places[rank]

    @property
    def places(self) -> tuple[int, ...]:
        """Coordinate of every rank along the line."""
        if self.ring:
            last_odd = self.length - 1 - self.length % 2
            return (*range(0, self.length, 2), *range(last_odd, 0, -2))
        forward = self.order in (Order.WEST_TO_EAST, Order.NORTH_TO_SOUTH)
        return tuple(range(self.length) if forward else reversed(range(self.length)))

    @property
    def word(self) -> str:
        """The order as the language says it."""
        return RING if self.ring else self.order.value


@dataclass(frozen=True)
class Lines:
    """Both directions of a grid."""

    grid: Grid
    horizontal: Line
    vertical: Line
    said: tuple[Order, ...]  # the orders that the collective names, as they follow each other
    path: Path | None = None  # an order of all PEs; `horizontal` is that path unfolded then

    @property
    def single(self) -> Line | None:
        """The one line of a grid that is no wider or no higher than one PE, or the path."""
        if self.path is not None:
            return self.horizontal
        if self.grid.width > 1 and self.grid.height > 1:
            return None
        if self.grid.width == self.grid.height:
            across = not self.said or set(self.said) & HORIZONTAL
            return self.horizontal if across else self.vertical
        return self.horizontal if self.grid.width > 1 else self.vertical

    @property
    def counts_along(self) -> str:
        """The axis that is named first: along it the ranks of a grid follow each other."""
        return "y" if self.said and self.said[0] not in HORIZONTAL else "x"

    def place(self, rank: int, line: Line) -> tuple[int, int]:
        """PE of a rank of a single line."""
        if self.path is not None:
            return self.path.places[line.coordinate(rank)]
        along = line.coordinate(rank)
        if line.order in HORIZONTAL:
            return along, self.vertical.coordinate(0)
        return self.horizontal.coordinate(0), along

    @property
    def corner(self) -> tuple[int, int]:
        """The PE where both orders start."""
        if self.path is not None:
            return self.path.places[0]
        return self.horizontal.coordinate(0), self.vertical.coordinate(0)


def elaborate_lines(
    grid: Grid, clauses: tuple[OrderClause, ...], orders: Orders, scope: Scope, problems: Problems
) -> Lines | None:
    """Directions of a grid under the orders that a collective names; None if its path is wrong."""
    chosen: dict[bool, tuple[Order, Span]] = {}
    uses = tuple(use for clause in clauses for use in clause.uses)
    path = next((use for use in uses if use.name.text not in ORDER_WORDS - {HILBERT}), None)
    if path is not None:
        if path.name.text != FIXED:
            _check_alone(path, uses, problems)
        return problems.attempt(_path, path, grid, orders, scope)
    for use in uses:
        problems.attempt(check_no_arguments, use)
    words = tuple(use.name for use in uses)
    if any(word.text == RING for word in words):
        return _ring(grid, uses, problems)
    for word in words:
        order = _ORDERS[word.text]
        horizontal = order in HORIZONTAL
        if horizontal in chosen:
            before = (chosen[horizontal][1], "its order is given here")
            lines = "rows" if horizontal else "columns"
            message = f"the order along {lines} is given twice"
            problems.add(problem("C108", message, word.span, before))
        else:
            chosen[horizontal] = (order, word.span)
    _check_direction(grid, chosen, problems)
    across, across_span = chosen.get(True, (Order.WEST_TO_EAST, None))
    down, down_span = chosen.get(False, (Order.NORTH_TO_SOUTH, None))
    said = tuple(order for order, _ in chosen.values())
    horizontal_line = Line(across, grid.width, across_span)
    return Lines(grid, horizontal_line, Line(down, grid.height, down_span), said)


def _path(use: TreeUse, grid: Grid, orders: Orders, scope: Scope) -> Lines:
    """All PEs in one order."""
    path = orders.path(use, grid, scope)
    row, rest = Line(Order.WEST_TO_EAST, len(path), use.span), Line(Order.NORTH_TO_SOUTH, 1, None)
    return Lines(grid, row, rest, (), path)


def _check_alone(use: TreeUse, uses: tuple[TreeUse, ...], problems: Problems) -> None:
    """C108: an order of all PEs is the only one."""
    for other in uses:
        if other is not use:
            before = (use.span, "its order is given here")
            message = f"{use.name.text} is an order of all PEs"
            help = "leave one of them out"
            problems.add(problem("C108", message, other.span, before, help=help))


def _ring(grid: Grid, uses: tuple[TreeUse, ...], problems: Problems) -> Lines:
    """Lines whose ranks form rings; `ring` stands for both directions."""
    first = uses[0].name
    for use in uses[1:]:
        before = (first.span, "its order is given here")
        problems.add(problem("C108", "`ring` is an order for all lines", use.name.span, before))
    span = first.span
    across = Line(Order.WEST_TO_EAST, grid.width, span, ring=True)
    down = Line(Order.NORTH_TO_SOUTH, grid.height, span, ring=True)
    return Lines(grid, across, down, ())


_ORDERS: Mapping[str, Order] = {order.value: order for order in Order}


def _check_direction(
    grid: Grid, chosen: Mapping[bool, tuple[Order, Span]], problems: Problems
) -> None:
    """Order given alone has to run along the one line of a grid that is a line."""
    if len(chosen) != 1 or (grid.width > 1) == (grid.height > 1):
        return
    horizontal = grid.width > 1
    if horizontal in chosen:
        return
    order, span = chosen[not horizontal]
    kind, fitting = ("row", HORIZONTAL) if horizontal else ("column", set(Order) - HORIZONTAL)
    message = f"{grid.name} is a {kind} of PEs, {order.value} runs across it"
    words = sorted(fitting_order.value for fitting_order in fitting)
    help = f"write {' or '.join(words)}"
    problems.add(problem("C143", message, span, grid.declared, help=help, fix=words[-1]))


# Grids, their parts, and places on them.


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
    words = {word.value: word for word in Along}
    if lines.text not in words or of.text != "of":
        wrong = of if lines.text in words else lines
        message = f"a collective is on a grid, or on `each row of` one, not `{wrong.text}`"
        help = f"write `on each row of {grid.name}`, or `column`"
        raise problem("C105", message, wrong.span, help=help)
    across = words[lines.text] is Along.ROW
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
