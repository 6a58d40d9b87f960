"""Plans as they would be written in a `.coll` file: clauses, each with its text.

Nothing is written to be read again: `Written.clauses` go into the declaration in place of the steps
that it leaves open, `Written.text` says to people what they are.
"""

from __future__ import annotations

import re
from dataclasses import field, replace

from collc.base.diagnostics import Span
from collc.base.values import dataclass
from collc.language import syntax
from collc.language.expressions import AUTO
from collc.language.step_places import StepClause
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
        given = [f"{name} = {value}" for name, value in self.numbers]
        given += [self.within.text] if self.within else []
        return f"{self.name}({', '.join(given)})" if given else self.name

    @property
    def tree(self) -> syntax.TreeUse:
        """As syntax."""
        return syntax.TreeUse(_word(self.name), self._arguments, span=NOWHERE)

    @property
    def _arguments(self) -> tuple[syntax.Argument, ...]:
        given = [
            syntax.Argument(_word(name), _number(value), span=NOWHERE)
            for name, value in self.numbers
        ]
        if self.within is not None:
            inner = self.within
            value: syntax.Expression = syntax.Name(inner.name, span=NOWHERE)
            if inner.numbers:
                value = syntax.Call(_word(inner.name), inner._arguments, span=NOWHERE)
            given.append(syntax.Argument(None, value, span=NOWHERE))
        return tuple(given)


_SIZE = re.compile(r"(?<=\(S = )\d+(?=\))")


def with_open_sizes(text: str) -> str:
    """The text of a plan with the sizes of a tree's groups left open."""
    return _SIZE.sub(AUTO, text)


def bypassing(tree: Use) -> Use:
    """The tree that passes its root by."""
    return Use(ROOT_BYPASS, within=tree)


@dataclass(frozen=True)
class Piece:
    """A clause and its text."""

    text: str
    clause: syntax.Clause = field(compare=False)


Pieces = tuple[Piece, ...]


@dataclass(frozen=True)
class Written:
    """A plan, and what is known before it is elaborated: that it takes at least so many cycles,
    most of them for `term`, or at least as many as another plan, which has the best trees of the
    model; or that it does the same as another plan, the other axis first or by another root, and is
    worth a look only if that one is nearly the best. The others are named by their texts."""

    text: str
    clauses: tuple[syntax.Clause, ...] = field(compare=False)
    at_least: int = 0
    term: str = ""
    as_many_as: str = ""
    mirrors: str = ""

    @property
    def unbounded(self) -> bool:
        """Whether nothing is known of it."""
        return not (self.at_least or self.as_many_as or self.mirrors)


def written(
    pieces: Pieces, at_least: int = 0, term: str = "", *, as_many_as: str = "", mirrors: str = ""
) -> Written:
    """The plan of these pieces, orders before steps."""
    orders = [one.text for one in pieces if isinstance(one.clause, syntax.OrderClause)]
    steps = [one.text for one in pieces if not isinstance(one.clause, syntax.OrderClause)]
    text = " ".join([*orders, " then ".join(steps)])
    clauses = (
        _joined(one.clause) if place > len(orders) else one.clause
        for place, one in enumerate(pieces)
    )
    return Written(text, tuple(clauses), at_least, term, as_many_as, mirrors)


def _joined(step: syntax.Clause) -> syntax.Clause:
    """A step behind another one."""
    assert isinstance(step, StepClause)
    return replace(step, then=True)


def order(name: str) -> Piece:
    """`order snake`."""
    return Piece(f"order {name}", syntax.OrderClause((Use(name).tree,), span=NOWHERE))


def reduce(tree: Use, to: Place, along: str = "") -> Piece:
    """`reduce columns by chain to 0`."""
    clause = syntax.ReduceClause(_lines(along), tree.tree, None, _place(to), span=NOWHERE)
    return Piece(f"reduce {_by(along)}{tree.text} to {to}", clause)


def broadcast(root: Place) -> Piece:
    """`broadcast from 0`."""
    return Piece(f"broadcast from {root}", syntax.BroadcastClause(_place(root), span=NOWHERE))


def run(  # noqa: PLR0913 - a clause with all its words
    algorithm: Use,
    at: Place | None = None,
    word: str = "to",
    *,
    along: str = "",
    on_slices: bool = False,
    simd: bool = False,
) -> Piece:
    """`run rows by linear_gather to (3, 0)`, or `from` there if that is the `word`."""
    text = f"run {_by(along)}{algorithm.text}"
    text += "" if at is None else f" {word} {at}"
    text += " on slices" * on_slices + " in simd" * simd
    place = None if at is None else _place(at)
    slices = _word("slices") if on_slices else None
    taken = _word("simd") if simd else None
    return Piece(
        text, syntax.RunClause(_lines(along), algorithm.tree, place, slices, taken, span=NOWHERE)
    )


def _by(along: str) -> str:
    return f"{along} by " if along else ""


def _lines(along: str) -> syntax.Word | None:
    return _word(along) if along else None


def _word(text: str) -> syntax.Word:
    return syntax.Word(text, NOWHERE)


def _place(at: Place) -> syntax.PeDecl | syntax.Expression:
    if isinstance(at, tuple):
        x, y = at
        return syntax.PeDecl(_number(x), _number(y), span=NOWHERE)
    return _number(at)


def _number(value: int | str) -> syntax.Expression:
    return (
        syntax.Name(value, span=NOWHERE)
        if isinstance(value, str)
        else syntax.Number(value, span=NOWHERE)
    )
