"""Plans as they would be written in a `.coll` file: clauses, and their text.

Nothing is written to be read again: `Written.clauses` go into the declaration in place of the steps
that it leaves open, `Written.text` says to people what they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field, replace

from collc.base.values import dataclass
from collc.language import syntax
from collc.language.expressions import AUTO
from collc.language.printer import show
from collc.language.syntax import StepClause

_SIZE = re.compile(r"(?<=\(S = )\d+(?=\))")

Clauses = tuple[syntax.Clause, ...]


def with_open_sizes(text: str) -> str:
    """The text of a plan with the sizes of a tree's groups left open."""
    return _SIZE.sub(AUTO, text)


@dataclass(frozen=True)
class Written:
    """A plan, and what is known before it is elaborated: that it takes at least so many cycles,
    most of them for `term`, or at least as many as another plan, which has the best trees of the
    model; or that it does the same as another plan, the other axis first or by another root, and is
    worth a look only if that one is nearly the best. The others are named by their texts."""

    text: str
    clauses: Clauses = field(compare=False)
    at_least: int = 0
    term: str = ""
    as_many_as: str = ""
    mirrors: str = ""

    @property
    def unbounded(self) -> bool:
        """Whether nothing is known of it."""
        return not (self.at_least or self.as_many_as or self.mirrors)


def written(
    clauses: Sequence[syntax.Clause],
    at_least: int = 0,
    term: str = "",
    *,
    as_many_as: str = "",
    mirrors: str = "",
) -> Written:
    """The plan of these clauses, orders before steps."""
    orders = [one for one in clauses if isinstance(one, syntax.OrderClause)]
    first, *others = [one for one in clauses if not isinstance(one, syntax.OrderClause)]
    said = (*orders, first, *map(_joined, others))
    return Written(" ".join(map(show, said)), said, at_least, term, as_many_as, mirrors)


def _joined(step: syntax.Clause) -> syntax.Clause:
    """A step behind another one."""
    assert isinstance(step, StepClause)
    return replace(step, then=True)
