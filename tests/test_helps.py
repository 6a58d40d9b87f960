"""Each help of tests/errors, taken at its word, leads to a program without that error."""

from __future__ import annotations

from pathlib import Path

import pytest
from taking_help import EDITS, ERRORS, followed

from collc.base.diagnostics import CollcError, Diagnostic
from collc.driver.pipeline import compile_text
from tests.test_errors import CASES, definitions_and_target

# Helps that list what there is, or name a limit, without saying what to write for it.
LEFT = set((ERRORS / "helps_left.txt").read_text(encoding="utf-8").split())


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


def said(diagnostics: tuple[Diagnostic, ...]) -> set[tuple[str, str]]:
    return {(one.code, one.message) for one in diagnostics}


READ = [path for path in CASES if path.stem not in ("latin_1", "not_utf8")]


@pytest.mark.parametrize("path", READ, ids=lambda path: path.stem)
def test_a_help_taken_at_its_word_works(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    helped = [one for one in found(text, path, tmp_path) if one.help]
    by_hand = []
    for one in helped:
        changed = followed(text, one)
        if changed is None:
            by_hand.append(one)
        else:
            assert (one.code, one.message) not in said(found(changed, path, tmp_path)), one.help
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
    assert set(EDITS) | LEFT <= names
    assert not set(EDITS) & LEFT


def test_a_help_that_is_wrong_is_found(tmp_path: Path) -> None:
    path = ERRORS / "unknown_tree.coll"
    text = path.read_text(encoding="utf-8")
    (one,) = found(text, path, tmp_path)
    assert followed(text, one) != text
    wrong = Diagnostic(one.code, one.message, one.at, help="did you mean `binomal`?")
    same = followed(text, wrong)
    assert same is not None
    assert said(found(same, path, tmp_path)) == said((one,))
