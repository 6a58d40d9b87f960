"""Clauses made by the compiler, or by a Python program, in place of ones that were read.

They have no place of their own: whatever is wrong with them is told of the step that they stand
for.
"""

from __future__ import annotations

from collections.abc import Sequence

from collc.base.diagnostics import Span
from collc.base.values import dataclass
from collc.language import syntax
from collc.language.expressions import AUTO
from collc.language.printer import show
from collc.spec.steps import ROOT_BYPASS

Place = int | tuple[int, int] | str  # a rank, a PE, or `auto`

NOWHERE = Span(AUTO, 1, 1, 1, 1)  # it stands where the steps are left to the compiler


@dataclass(frozen=True)
class Use:
    """A tree or an algorithm with its numbers: `two_phase(S = auto)`, `root_bypass(chain)`."""

    name: str
    numbers: tuple[tuple[str, int | str], ...] = ()
    within: Use | None = None

    @property
    def text(self) -> str:
        """As it is written."""
        return show(self.tree)

    @property
    def tree(self) -> syntax.TreeUse:
        """As syntax."""
        return syntax.TreeUse(word(self.name), self._arguments, span=NOWHERE)

    @property
    def _arguments(self) -> tuple[syntax.Argument, ...]:
        given = [
            syntax.Argument(word(name), number(value), span=NOWHERE) for name, value in self.numbers
        ]
        if self.within is not None:
            inner = self.within
            value: syntax.Expression = syntax.Name(inner.name, span=NOWHERE)
            if inner.numbers:
                value = syntax.Call(word(inner.name), inner._arguments, span=NOWHERE)
            given.append(syntax.Argument(None, value, span=NOWHERE))
        return tuple(given)


def bypassing(tree: Use) -> Use:
    """The tree that passes its root by."""
    return Use(ROOT_BYPASS, within=tree)


def order(*names: str) -> syntax.OrderClause:
    """`order snake`."""
    return syntax.OrderClause(tuple(Use(name).tree for name in names), span=NOWHERE)


def reduce(tree: Use, to: Place, along: str = "", upper: Use | None = None) -> syntax.ReduceClause:
    """`reduce columns by chain to 0`."""
    other = upper.tree if upper else None
    return syntax.ReduceClause(_lines(along), tree.tree, other, _place(to), span=NOWHERE)


def broadcast(root: Place) -> syntax.BroadcastClause:
    """`broadcast from 0`."""
    return syntax.BroadcastClause(_place(root), span=NOWHERE)


def run(  # noqa: PLR0913 - a clause with all its words
    algorithm: Use,
    at: Place | None = None,
    end: str = "to",
    *,
    along: str = "",
    on_slices: bool = False,
    simd: bool = False,
) -> syntax.RunClause:
    """`run rows by linear_gather to (3, 0)`, or `from` there if that is the `end`."""
    place = None if at is None else _place(at)
    slices = word("slices") if on_slices else None
    taken = word("simd") if simd else None
    lines, use = _lines(along), algorithm.tree
    return syntax.RunClause(
        lines, use, word(end) if place else None, place, slices, taken, span=NOWHERE
    )


def within_colors(most: int) -> syntax.WithinClause:
    """`within colors <= 3`."""
    return syntax.WithinClause(word("colors"), number(most), span=NOWHERE)


def reserve(kept: Sequence[tuple[str, int]]) -> syntax.ReserveClause:
    """`reserve colors 2, colors 3, tasks 8`."""
    parts = (syntax.ReservationDecl(word(one), number(n), None, span=NOWHERE) for one, n in kept)
    return syntax.ReserveClause(tuple(parts), span=NOWHERE)


def together(*names: str) -> syntax.Word | syntax.TogetherDecl:
    """`rows and columns`; a call by itself is its name."""
    words = tuple(map(word, names))
    return words[0] if len(words) == 1 else syntax.TogetherDecl(words, span=NOWHERE)


def below(name: str, most: int) -> syntax.Comparison:
    """`r < 8`."""
    return syntax.Comparison((number(name), number(most)), ("<",), span=NOWHERE)


def word(text: str) -> syntax.Word:
    """A word, in no place."""
    return syntax.Word(text, NOWHERE)


def number(value: int | str) -> syntax.Expression:
    """A number, or a name that stands for one."""
    if isinstance(value, str):
        return syntax.Name(value, span=NOWHERE)
    return syntax.Number(value, span=NOWHERE)


def _lines(along: str) -> syntax.Word | None:
    return word(along) if along else None


def _place(at: Place) -> syntax.PeDecl | syntax.Expression:
    if isinstance(at, tuple):
        x, y = at
        return syntax.PeDecl(number(x), number(y), span=NOWHERE)
    return number(at)
