"""Each help of tests/errors, taken at its word, leads to a program without that error, and without
another one that was not there before."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from taking_help import EDITS, ERRORS, LEFT, NEXT, followed

from collc.base.diagnostics import CollcError, Diagnostic, Edit, Span, edited
from collc.driver.pipeline import compile_text
from tests.test_errors import CASES, definitions_and_target


def found(text: str, path: Path, folder: Path) -> tuple[Diagnostic, ...]:
    """What is wrong with a text, with the command line that it begins with."""
    changed = folder / path.name
    changed.write_text(text, encoding="utf-8")
    definitions, target = definitions_and_target(changed)
    try:
        compile_text(text, path.name, definitions, target)
    except CollcError as error:
        return error.diagnostics
    return ()


def said(diagnostics: tuple[Diagnostic, ...]) -> Counter[tuple[str, str]]:
    return Counter((one.code, one.message) for one in diagnostics)


READ = [path for path in CASES if path.stem not in ("latin_1", "not_utf8")]


@pytest.mark.parametrize("path", READ, ids=lambda path: path.stem)
def test_a_help_taken_at_its_word_works(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    before = found(text, path, tmp_path)
    by_hand, new = [], Counter[tuple[str, str]]()
    for one in (one for one in before if one.help):
        changed = followed(text, one)
        if changed is None:
            by_hand.append(one)
            continue
        after, what = said(found(changed, path, tmp_path)), (one.code, one.message)
        assert after[what] < said(before)[what], one.help
        new |= after - said(before)
    assert bool(new) == (path.stem in NEXT), new
    if not by_hand:
        assert path.stem not in {*EDITS, *LEFT}, "every help of it is applied without them"
    if not by_hand or path.stem in LEFT:
        return
    assert path.stem in EDITS, f"what does a reader write? {by_hand[0].help}"
    for piece, written in EDITS[path.stem]:
        assert piece in text
        text = text.replace(piece, written, 1)
    after = said(found(text, path, tmp_path))
    assert [one.help for one in by_hand if (one.code, one.message) in after] == []


def test_edits_and_those_left_are_of_programs_that_are_there() -> None:
    names = {path.stem for path in CASES}
    assert set(EDITS) | set(LEFT) | set(NEXT) <= names
    assert not set(EDITS) & set(LEFT)
    assert all(LEFT.values())
    assert all(NEXT.values())


def test_a_help_that_is_wrong_is_found(tmp_path: Path) -> None:
    path = ERRORS / "unknown_tree.coll"
    text = path.read_text(encoding="utf-8")
    (one,) = found(text, path, tmp_path)
    assert followed(text, one) != text
    same = followed(text, replace(one, fix=(Edit(one.fix[0].at, "binomal"),)))
    assert same is not None
    assert said(found(same, path, tmp_path)) == said((one,))


def test_edits_of_one_text_replace_delete_and_insert() -> None:
    def at(line: int, first: int, last: int) -> Span:
        return Span("a.coll", line, first, line, last)

    two = Edit(Span("a.coll", 2, 4, 3, 2), "")
    edits = (Edit(at(1, 6, 9), "row"), Edit(at(1, 9, 9), "s\n"), two)
    assert edited("grid col\nabcdef\nxyz", edits) == "grid rows\n\nabcyz"
