"""Which patterns there are: read from the prelude and from the examples, listed nowhere else."""

import re
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache
from importlib.resources import files
from inspect import cleandoc

from collc.base.values import dataclass
from collc.language import parse_source, syntax
from collc.language.kinds import HILBERT, OPTIMAL, ORDER_WORDS
from collc.language.optimal_tree import optimal_tree
from collc.language.parser import parse_text
from collc.language.prelude import Declared, prelude_kinds, prelude_text
from collc.language.syntax import AlgorithmDecl, TreeDecl

SIZES = frozenset("PWH")  # the parameters of examples that are numbers of PEs
_LINES = ORDER_WORDS - {HILBERT}  # orders of the PEs of a line


class Kind(Enum):
    """Where a pattern comes from."""

    TREE = "tree"
    ALGORITHM = "algorithm"
    EXAMPLE = "example"


@dataclass(frozen=True)
class Pattern:
    """A tree or an algorithm of the prelude, or an example that shows anything else.

    `parameters` are those besides the number of ranks; of an example, all. `requires` is the
    condition on them, as written; of an example that has no parameter for it, the number of PEs.
    `text` is the program of an example. `examples` are the names of the examples that use it,
    `other_names` what the literature calls it.
    """

    name: str
    kind: Kind
    about: str
    parameters: tuple[str, ...]
    requires: str
    text: str
    examples: tuple[str, ...]
    other_names: tuple[str, ...]


@lru_cache(maxsize=1)
def all_patterns() -> tuple[Pattern, ...]:
    """Every pattern: those of the prelude in its order, then the examples by name."""
    shown_by = examples()
    uses = {name: _used(text) for name, text in shown_by.items()}
    lines = prelude_lines()
    found = []
    written: dict[str, TreeDecl | AlgorithmDecl] = {**Declared(TreeDecl), **Declared(AlgorithmDecl)}
    for name, declared in written.items():
        of_tree = isinstance(declared, syntax.TreeDecl)
        shown = tuple(example for example, names in uses.items() if names == (name,))
        comment = above(lines[: declared.span.line - 1])
        found.append(
            Pattern(
                name=name,
                kind=Kind.TREE if of_tree else Kind.ALGORITHM,
                about=first_sentence(comment),
                parameters=tuple(word.text for word in declared.parameters[1:]),
                requires=_condition(declared, lines),
                text="",
                examples=shown,
                other_names=other_names(comment),
            )
        )
    return (*_with_choice(found, uses), *_others(shown_by, uses))


def prelude_lines() -> list[str]:
    """The prelude as it is written."""
    return prelude_text().split("\n")


def _with_choice(found: list[Pattern], uses: dict[str, tuple[str, ...]]) -> Iterator[Pattern]:
    """The patterns of the prelude; behind its trees the compiler's choice among all trees."""
    yield from (pattern for pattern in found if pattern.kind is Kind.TREE)
    shown = tuple(example for example, names in uses.items() if names == (OPTIMAL,))
    told = cleandoc(optimal_tree.__doc__ or "").split("\n")
    yield Pattern(OPTIMAL, Kind.TREE, first_sentence(told), (), "", "", shown, other_names(told))
    yield from (pattern for pattern in found if pattern.kind is not Kind.TREE)


def _others(shown_by: dict[str, str], uses: dict[str, tuple[str, ...]]) -> Iterator[Pattern]:
    """The examples that are not one tree or one algorithm of the prelude on one line."""
    for name, text in shown_by.items():
        if len(uses[name]) == 1 and uses[name][0] in (*prelude_kinds(), OPTIMAL):
            continue
        spec, head = parse_source(text), text.partition("\ntarget")[0].split("\n")
        names, grid = tuple(p.name for p in spec.parameters), spec.collectives[0].grid
        pes = "" if set(names) & SIZES else f"P == {grid.width * grid.height}"
        about, others = first_sentence(head), other_names(head)
        yield Pattern(name, Kind.EXAMPLE, about, names, pes, text, (name,), others)


@lru_cache(maxsize=1)
def examples() -> dict[str, str]:
    """Name and text of every example that is one pattern, by name: neither a program of several
    collectives nor one that leaves its steps to the compiler."""
    found = {}
    for entry in files("collc.examples").iterdir():
        if entry.name.endswith(".coll"):
            found[entry.name.removesuffix(".coll")] = entry.read_text(encoding="utf-8")
    return {name: text for name, text in sorted(found.items()) if _is_one_pattern(text)}


def _is_one_pattern(text: str) -> bool:
    spec = parse_source(text)
    return spec.program is None and all(one.undecided is None for one in spec.collectives)


def _used(text: str) -> tuple[str, ...]:
    """What the collective of a program consists of: names of trees and algorithms, "broadcast",
    an order of all PEs of a grid, and what instructions take at once if that is said."""
    used = []
    for clause in _collective(text).clauses:
        if isinstance(clause, syntax.BroadcastClause):
            used.append("broadcast")
        elif isinstance(clause, syntax.OrderClause):
            used += [name for name in _names(clause) if name not in _LINES]
        elif isinstance(clause, syntax.ReduceClause | syntax.RunClause):
            used += [use.name.text for use in _uses(clause)]
            used += (
                [clause.taken.text] if isinstance(clause, syntax.RunClause) and clause.taken else []
            )
    return tuple(used)


def orders_used(text: str) -> tuple[str, ...]:
    """The names of the orders that the collective of a program says."""
    clauses = _collective(text).clauses
    return tuple(
        name
        for clause in clauses
        if isinstance(clause, syntax.OrderClause)
        for name in _names(clause)
    )


def _collective(text: str) -> syntax.CollectiveDecl:
    return next(d for d in parse_text("example", text) if isinstance(d, syntax.CollectiveDecl))


def _names(clause: syntax.OrderClause) -> Iterator[str]:
    yield from (use.name.text for use in clause.uses)


def _uses(clause: syntax.ReduceClause | syntax.RunClause) -> Iterator[syntax.TreeUse]:
    if isinstance(clause, syntax.RunClause):
        yield clause.algorithm
        return
    yield clause.tree
    if clause.upper is not None:
        yield clause.upper


def _condition(declared: syntax.TreeDecl | syntax.AlgorithmDecl, lines: list[str]) -> str:
    """What stands behind `requires`, as it is written."""
    return "" if declared.condition is None else _written(declared.condition, lines)


def _written(expression: syntax.Expression, lines: list[str]) -> str:
    span = expression.span
    chosen = lines[span.line - 1 : span.end_line]
    chosen[-1] = chosen[-1][: span.end_column - 1]
    chosen[0] = chosen[0][span.column - 1 :]
    return " ".join(" ".join(chosen).split())


_OTHERS = re.compile(r"Also called: (.*?)\.(?: |$)")


def above(lines: list[str]) -> list[str]:
    """The comment that ends where these lines end."""
    start = len(lines)
    while start and lines[start - 1].startswith("//"):
        start -= 1
    return lines[start:]


def first_sentence(comment: list[str]) -> str:
    """The first sentence of the first paragraph of a comment."""
    words: list[str] = []
    for line in comment:
        text = line.removeprefix("//").strip()
        if not text:
            break
        words += text.split()
    for index, word in enumerate(words):
        if word.endswith(".") and word != "...":
            return " ".join(words[: index + 1])
    return " ".join(words)


def other_names(comment: list[str]) -> tuple[str, ...]:
    """The names behind "Also called:", with commas between them, up to a full stop."""
    text = " ".join(" ".join(line.removeprefix("//").strip() for line in comment).split())
    found = _OTHERS.search(text)
    return tuple(name.strip() for name in found[1].split(",")) if found else ()
