"""The lines of a grid: which way ranks run, and where rank 0 is."""

from collections.abc import Mapping

from collc.base.diagnostics import Span
from collc.base.grids import Grid
from collc.base.paths import Path
from collc.base.values import dataclass
from collc.language.kinds import FIXED, HILBERT, ORDER_WORDS, RING
from collc.language.orders import Orders, check_no_arguments
from collc.language.problems import Problems, problem
from collc.language.scope import Scope
from collc.language.syntax import OrderClause, TreeUse
from collc.spec import Order

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
