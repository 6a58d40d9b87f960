"""What the printer writes is read as the same syntax, but for places."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from collc.base.diagnostics import CollcError, Span
from collc.format import format_text
from collc.language import syntax
from collc.language.parser import parse_text
from collc.language.prelude import prelude_text
from collc.language.printer import show, show_tree
from tests.grammar_texts import GrammarTexts

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").rglob("*.coll"))


def plain(part: object) -> object:
    """A piece of syntax without its places."""
    if isinstance(part, tuple):
        return tuple(map(plain, part))
    if not is_dataclass(part) or isinstance(part, Span):
        return part
    values = [getattr(part, field.name) for field in fields(part) if field.name != "span"]
    return (type(part).__name__, *map(plain, values))


def printed(declarations: tuple[syntax.Declaration, ...]) -> str:
    """The declarations of a file, as the printer writes them."""
    return "".join(f"{show(one)}\n" for one in declarations)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_printed_as_what_it_says(path: Path) -> None:
    declarations = parse_text("a.coll", path.read_text(encoding="utf-8"))
    assert plain(parse_text("b.coll", printed(declarations))) == plain(declarations)


def test_the_prelude_is_printed_as_what_it_says() -> None:
    declarations = parse_text("a.coll", prelude_text())
    assert plain(parse_text("b.coll", printed(declarations))) == plain(declarations)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_the_grammar_takes_is_printed_as_what_it_says(seed: int) -> None:
    texts, read = GrammarTexts(seed), 0
    for _ in range(40):
        text = texts.text()
        try:
            declarations = parse_text("a.coll", text)
        except CollcError:
            continue
        read += 1
        again = printed(declarations)
        assert plain(parse_text("b.coll", again)) == plain(declarations), again
    assert read > 9


def test_every_class_of_declarations_and_clauses_is_printed() -> None:
    from collc.language import printer  # noqa: PLC0415 - its tables

    known = {**printer._FORMS, **printer._LINES}
    parts = {*syntax.Declaration.__args__, *syntax.Clause.__args__, *syntax.Action.__args__}
    assert parts <= set(known)


def test_what_is_printed_is_laid_out_as_fmt_does_but_for_columns() -> None:
    text = (ROOT / "examples" / "two_phase.coll").read_text(encoding="utf-8")
    once = printed(parse_text("a.coll", text))
    assert re.sub(r"(?<=\S) +", " ", format_text("a.coll", once)) == once


def test_a_tree_thousands_of_ranks_deep_is_drawn() -> None:
    ranks = 5000
    text = show_tree([(rank + 1,) if rank + 1 < ranks else () for rank in range(ranks)])
    assert text.startswith("0 <- [1 <- [2 <- [")
    assert text.endswith(f"{ranks - 1}{']' * (ranks - 1)}")
    assert show_tree([(1, 2), (), (3,), ()]) == "0 <- [1, 2 <- [3]]"
    assert show_tree([()]) == "0 <- []"
