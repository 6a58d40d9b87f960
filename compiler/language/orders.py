"""The orders of a program, and the path that one of them is on a grid.

The PEs of all ranks are computed at once. An order has to come to every PE of the grid once.
"""

from dataclasses import replace

import numpy as np

from collc.base.columns import Ints
from collc.base.grids import Grid
from collc.base.paths import Path, Pe, hilbert
from collc.base.values import dataclass
from collc.language.declarations import Declarations, as_used, told_inside, values_of
from collc.language.evaluation import number, numbers_for_all, numbers_of
from collc.language.kinds import BY_WORD, FIXED, HILBERT, ORDER_WORDS, undeclared
from collc.language.problems import problem
from collc.language.scope import FunctionOf, Scope
from collc.language.syntax import FormulaDecl, LocalDecl, OrderDecl, PeDecl, TreeUse

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
