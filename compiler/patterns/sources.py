"""Which patterns there are: read from the prelude and from the examples, listed nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from importlib.resources import files

from collc.language import optimal, parse_source
from collc.language.names import PRELUDE_FILE, prelude
from collc.language.parser import parse_text
from collc.language.syntax import (
    AlgorithmDecl,
    BroadcastClause,
    CollectiveDecl,
    Expression,
    OrderDecl,
    ReduceClause,
    RunClause,
    TreeDecl,
    TreeUse,
)
from collc.language.words import OPTIMAL


class Kind(Enum):
    """Where a pattern comes from."""

    TREE = "tree"
    ALGORITHM = "algorithm"
    EXAMPLE = "example"


@dataclass(frozen=True)
class Pattern:
    """A tree or an algorithm of the prelude, or an example that shows anything else.

    `parameters` are those besides the number of ranks; of an example, all. `requires` is the
    condition on them, as written. `text` is the program of an example. `examples` are the names of
    the examples that use it.
    """

    name: str
    kind: Kind
    about: str
    parameters: tuple[str, ...]
    requires: str
    text: str
    examples: tuple[str, ...]


@lru_cache(maxsize=1)
def all_patterns() -> tuple[Pattern, ...]:
    """Every pattern: those of the prelude in its order, then the examples by name."""
    examples = _examples()
    uses = {name: _used(text) for name, text in examples.items()}
    text = files("collc.grammar").joinpath(PRELUDE_FILE).read_text(encoding="utf-8")
    lines = text.split("\n")
    found = []
    for name, declared in prelude().items():
        if isinstance(declared, OrderDecl):
            continue
        of_tree = isinstance(declared, TreeDecl)
        shown = tuple(example for example, names in uses.items() if names == (name,))
        found.append(
            Pattern(
                name=name,
                kind=Kind.TREE if of_tree else Kind.ALGORITHM,
                about=_comment(lines[: declared.span.line - 1]),
                parameters=tuple(word.text for word in declared.parameters[1:]),
                requires=_condition(declared, lines),
                text="",
                examples=shown,
            )
        )
    return (*_with_choice(found, uses), *_others(examples, uses))


def _with_choice(found: list[Pattern], uses: dict[str, tuple[str, ...]]) -> Iterator[Pattern]:
    """The patterns of the prelude; behind its trees the compiler's choice among all trees."""
    yield from (pattern for pattern in found if pattern.kind is Kind.TREE)
    shown = tuple(example for example, names in uses.items() if names == (OPTIMAL,))
    about = _first_sentence((optimal.__doc__ or "").split("\n"))
    yield Pattern(OPTIMAL, Kind.TREE, about, (), "", "", shown)
    yield from (pattern for pattern in found if pattern.kind is not Kind.TREE)


def _others(examples: dict[str, str], uses: dict[str, tuple[str, ...]]) -> Iterator[Pattern]:
    """The examples that are not one tree or one algorithm of the prelude on one line."""
    for name, text in examples.items():
        if len(uses[name]) == 1 and uses[name][0] in (*prelude(), OPTIMAL):
            continue
        names = tuple(parameter.name for parameter in parse_source(text).parameters)
        head = text.partition("\ntarget")[0].split("\n")
        yield Pattern(name, Kind.EXAMPLE, _first_sentence(head), names, "", text, (name,))


def _examples() -> dict[str, str]:
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
    """What the collective of a program consists of: names of trees and algorithms, "broadcast"."""
    declared = parse_text("example", text)
    collective = next(d for d in declared if isinstance(d, CollectiveDecl))
    used = []
    for clause in collective.clauses:
        if isinstance(clause, BroadcastClause):
            used.append("broadcast")
        elif isinstance(clause, ReduceClause | RunClause):
            used += [use.name.text for use in _uses(clause)]
    return tuple(used)


def _uses(clause: ReduceClause | RunClause) -> Iterator[TreeUse]:
    if isinstance(clause, RunClause):
        yield clause.algorithm
        return
    yield clause.tree
    if clause.upper is not None:
        yield clause.upper


def _condition(declared: TreeDecl | AlgorithmDecl, lines: list[str]) -> str:
    """What stands behind `requires`, as it is written."""
    if isinstance(declared, TreeDecl) or declared.condition is None:
        return ""
    return _written(declared.condition, lines)


def _written(expression: Expression, lines: list[str]) -> str:
    span = expression.span
    chosen = lines[span.line - 1 : span.end_line]
    chosen[-1] = chosen[-1][: span.end_column - 1]
    chosen[0] = chosen[0][span.column - 1 :]
    return " ".join(" ".join(chosen).split())


def _comment(before: list[str]) -> str:
    """The first sentence of the comment that ends where these lines end."""
    start = len(before)
    while start and before[start - 1].startswith("//"):
        start -= 1
    return _first_sentence(before[start:])


def _first_sentence(lines: list[str]) -> str:
    """The first sentence of the first paragraph of a comment."""
    words: list[str] = []
    for line in lines:
        text = line.removeprefix("//").strip()
        if not text:
            break
        words += text.split()
    for index, word in enumerate(words):
        if word.endswith(".") and word != "...":
            return " ".join(words[: index + 1])
    return " ".join(words)
