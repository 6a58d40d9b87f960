"""The table of kinds of declarations: the grammar, editors and the docs have the same, and one
check of names serves all."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from collc.base.diagnostics import CollcError, Diagnostic
from collc.language import parse_source, syntax
from collc.language.kinds import BY_WORD, KINDS
from collc.language.names import _SIGHT
from collc.language.parser import words_beginning
from collc.lsp.document import Document

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "editors" / "vscode" / "syntaxes" / "coll.tmLanguage.json"
TEXT = """
target wse2
param P = 4
grid row = P x 1
order zigzag = [(0, 0), (1, 0), (2, 0), (3, 0)]
tree mine(n) = chain(n)
algorithm steps(n) { step { each r where r == 1 : r => 0 } }
operation larger(a, b: i32) commutative = max(a, b)
contract sums(n) { after each r where r == 0 : r has 0 }
collective total = reduce(x: i32[8], add) on row { reduce mine to 0 }
program { total }
"""


def found_in(text: str) -> list[Diagnostic]:
    """What is wrong with a text."""
    with pytest.raises(CollcError) as refused:
        parse_source(text)
    return list(refused.value.diagnostics)


def changed(old: str, new: str) -> list[Diagnostic]:
    """What is wrong with TEXT when it says something else in one place."""
    assert TEXT.count(old) == 1
    return found_in(TEXT.replace(old, new))


def test_what_begins_a_declaration_in_the_grammar_is_in_the_table() -> None:
    assert words_beginning("start") == {kind.word for kind in KINDS} | {"requires"}


def test_words_that_begin_what_stands_in_braces_come_from_the_grammar() -> None:
    assert words_beginning("_action") == {"step", "for", "run"}
    assert words_beginning("_item") == {"repeat", "within", "reserve", "reconfigure"}


def test_every_class_of_declarations_is_of_one_kind() -> None:
    classes = [made for kind in KINDS for made in kind.classes]
    every = set(syntax.Declaration.__args__) - {syntax.NeedsDecl}
    assert len(classes) == len(every)
    assert set(classes) == every


def test_every_kind_whose_names_expressions_use_has_its_names_checked() -> None:
    general = {made for kind in KINDS if kind.space for made in kind.classes}
    assert general - set(_SIGHT) == {syntax.CollectiveDecl}  # looked up as it is elaborated


def test_the_extension_highlights_what_declares_a_name() -> None:
    grammar = json.loads(EXTENSION.read_text(encoding="utf-8"))
    (rule,) = grammar["repository"]["declarations"]["patterns"]
    words = set(re.search(r"\(\?:([a-z|]+)\)", rule["match"])[1].split("|"))  # type: ignore[index]
    assert words == {kind.word for kind in KINDS if kind.space} | {"target"}


def test_the_guide_has_the_table() -> None:
    page = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \| (.*?) \|$", page, re.MULTILINE)
    shown = [row for row in rows if row[0] in BY_WORD]
    times = {True: "once", False: "any number"}
    assert shown == [
        (
            *(one.word, one.meaning, times[one.once]),
            "yes" if one.imported or one.word == "import" else "no",
        )
        for one in KINDS
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("reduce mine to 0", "reduce steps to 0", "steps is an algorithm, where a tree is wanted"),
        ("reduce mine to 0", "run mine", "mine is a tree, where an algorithm is wanted"),
        ("reduce mine", "order mine reduce mine", "mine is a tree, where an order is wanted"),
        ("on row {", "on zigzag {", "zigzag is an order, where a grid is wanted"),
        ("add) on", "sums) on", "sums is a contract, where an operation is wanted"),
        ("= reduce(x", "= larger(x", "larger is an operation, where a contract is wanted"),
        ("{ total }", "{ row }", "row is a grid, where a collective is wanted"),
        ("P x 1", "mine x 1", "mine is a tree, where a number is wanted"),
        ("= chain(n)", "= row", "row is a grid, where a number or a tree is wanted"),
        ("r => 0", "r => total", "total is a collective, where a number is wanted"),
        ("has 0", "has zigzag", "zigzag is an order, where a number is wanted"),
        ("max(a, b)", "max(a, mine)", "mine is a tree, where a number is wanted"),
    ],
)
def test_a_name_of_another_kind_is_told_by_what_it_is(old: str, new: str, message: str) -> None:
    assert message in [one.message for one in changed(old, new)]


def test_a_step_of_the_other_sort_is_told_how_it_is_written() -> None:
    (found,) = changed("reduce mine to 0", "run mine")
    assert found.help == "write `reduce mine`"
    (found,) = changed("reduce mine to 0", "reduce steps to 0")
    assert found.help == "write `run steps`"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("P = 4", "P = 1 == 1 ? 4 : nobody"),
        ("P x 1", "(1 == 1 ? P : nobody) x 1"),
        ("[(0, 0)", "[(nobody, 0)"),
        ("= chain(n)", "= n == 4 ? chain(n) : nobody"),
        ("r => 0", "r => (1 == 1 ? 0 : nobody)"),
        ("max(a, b)", "1 == 1 ? max(a, b) : nobody"),
        ("has 0", "has (1 == 1 ? 0 : nobody)"),
    ],
)
def test_an_unknown_name_is_found_wherever_it_stands(old: str, new: str) -> None:
    found = changed(old, new)
    assert "C110" in [one.code for one in found]
    assert all("nobody" in one.message for one in found)


def test_a_name_that_is_known_in_a_part_that_is_not_reached_is_accepted() -> None:
    parse_source(TEXT.replace("P x 1", "(1 == 1 ? P : isqrt(P)) x 1"))


def test_a_parameter_sees_those_before_it_and_its_condition_itself() -> None:
    parse_source(TEXT.replace("param P = 4", "param Q = 2 where Q < 3 param P = 2 * Q"))
    found = changed("param P = 4", "param P = 2 * Q param Q = 2")
    assert [one.message for one in found] == ["there is no number called Q here"]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.space], ids=lambda one: one.word)
def test_a_name_is_declared_once(kind: object) -> None:
    line = next(one for one in TEXT.split("\n") if one.startswith(f"{kind.word} "))  # type: ignore[attr-defined]
    assert [one.code for one in found_in(f"{TEXT}{line}\n")] == ["C108"]


def test_an_outline_has_every_declaration_with_its_name() -> None:
    symbols = list(Document(Path("t.coll"), TEXT).symbols)
    assert [kind for _, kind, _, _ in symbols] == [one.word for one in KINDS[1:]]
    assert [TEXT[start:end] for _, _, _, (start, end) in symbols] == [name for name, *_ in symbols]


def test_an_editor_shows_faintly_what_the_program_does_without() -> None:
    found = [message for message, _ in Document(Path("t.coll"), TEXT).unused]
    assert found == [
        *("order zigzag is not used", "algorithm steps is not used"),
        *("operation larger is not used", "contract sums is not used"),
    ]


def test_what_a_file_declares_for_others_is_not_called_unused() -> None:
    library = TEXT[TEXT.index("order") : TEXT.index("collective")]
    assert list(Document(Path("t.coll"), library).unused) == []
