"""One style: the same words and comments, formatted once and for all."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from collc.base.diagnostics import CollcError, Span
from collc.format import format_text, pieces_of
from collc.language.parser import parse_text
from commands import collc
from grammar_texts import GrammarTexts

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
TEXTS = [*sorted((ROOT / "examples").rglob("*.coll")), ROOT / "grammar" / "prelude.coll"]


def without_places(value: object) -> object:
    """A declaration as tuples, without where it is."""
    if isinstance(value, Span):
        return None
    if isinstance(value, tuple):
        return tuple(map(without_places, value))
    if dataclasses.is_dataclass(value):
        fields = dataclasses.fields(value)
        return type(value).__name__, *(without_places(getattr(value, f.name)) for f in fields)
    return value


def comments(text: str) -> list[str]:
    pieces = [piece for group in pieces_of(text) for piece in group]
    return [c for p in pieces for c in (*(a.text for a in p.above), p.beside) if c]


@pytest.mark.parametrize("seed", range(8, 12))
def test_random_texts_keep_their_words_and_comments_and_are_formatted_once(seed: int) -> None:
    texts, taken = GrammarTexts(seed=seed), 0
    while taken < 250:
        text = texts.text()
        try:
            before = parse_text("drawn.coll", text)
        except CollcError:
            continue  # a number of no size, say: what the grammar takes and the builder refuses
        taken += 1
        formatted = format_text("drawn.coll", text)
        assert format_text("drawn.coll", formatted) == formatted
        assert comments(formatted) == comments(text)
        after = parse_text("drawn.coll", formatted)
        assert without_places(after) == without_places(before)


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.stem)
def test_every_example_and_the_prelude_are_formatted(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert format_text(str(file), text) == text


def test_no_line_that_can_be_broken_is_longer_than_a_hundred_columns() -> None:
    tree = "tree long = 0 <- [" + ", ".join(map(str, range(1, 400))) + "]\n"
    formatted = format_text("long.coll", tree)
    assert max(map(len, formatted.splitlines())) <= 100
    assert re.sub(r"\s+", " ", formatted).strip() == tree.strip()


STYLES = {
    "parameters are aligned": (
        "param P=4 where P>=1// PEs\nparam BB = 16   where BB >= 1 // elements\n",
        "param P = 4   where P >= 1   // PEs\nparam BB = 16 where BB >= 1  // elements\n",
    ),
    "a block begun on its line stays there": (
        "program   {total}",
        "program { total }\n",
    ),
    "a block with lines of its own keeps them": (
        "program{\ntotal   within colors<=2}",
        "program {\n    total\n    within colors <= 2\n}\n",
    ),
    "a minus before one operand has no space behind it": (
        "param a = - 1-b- -c",
        "param a = -1 - b - -c\n",
    ),
    "blank lines are one, and none at the edge of a block": (
        "\n\nparam a\n\n\n\nparam b\nprogram {\n\ntotal\n\n}\n\n",
        "param a\n\nparam b\nprogram {\n    total\n}\n",
    ),
    "comments within a line break it": (
        "tree t(n) = n == 1 // alone\n  ? leaf : star(n)",
        "tree t(n) = n == 1  // alone\n    ? leaf : star(n)\n",
    ),
    "a comment above a closing brace is within the block": (
        "program {\ntotal\n// the end\n}",
        "program {\n    total\n    // the end\n}\n",
    ),
    "what follows a name that nobody calls has a space before it": (
        "grid g=P x(Q)\ncontract c(n){\nafter each r:r has(q)\n}",
        "grid g = P x (Q)\ncontract c(n) {\n    after each r : r has (q)\n}\n",
    ),
}


@pytest.mark.parametrize(("text", "wanted"), STYLES.values(), ids=STYLES)
def test_the_style(text: str, wanted: str) -> None:
    parse_text("input.coll", text)
    assert format_text("input.coll", text) == wanted


def test_a_text_that_does_not_parse_is_refused() -> None:
    with pytest.raises(CollcError, match="C105"):
        format_text("input.coll", "param = 4")


def test_check_and_diff_write_nothing_and_a_file_is_written_once(tmp_path: Path) -> None:
    file = tmp_path / "a.coll"
    file.write_text("program   { total }\n")
    checked = collc("fmt", "--check", str(file))
    assert (checked.returncode, checked.stdout) == (1, f"{file} is not formatted\n")
    assert "+program { total }" in collc("fmt", "--diff", str(tmp_path)).stdout
    assert file.read_text() == "program   { total }\n"
    file.chmod(0o600)
    assert collc("fmt", str(tmp_path)).returncode == 0
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("program { total }\n", 0o600)
    before = file.stat().st_mtime_ns, file.stat().st_ino
    assert collc("fmt", "--check", str(file)).returncode == 0
    assert collc("fmt", str(file)).returncode == 0
    assert (file.stat().st_mtime_ns, file.stat().st_ino) == before


def test_one_file_that_does_not_parse_does_not_keep_others_from_it(tmp_path: Path) -> None:
    bad, good = tmp_path / "bad.coll", tmp_path / "good.coll"
    bad.write_text("param = 4\n")
    good.write_text("program   { total }\n")
    done = collc("fmt", str(bad), str(good))
    assert done.returncode == 1
    assert "bad.coll:1:7: error[C105]" in done.stderr
    assert (bad.read_text(), good.read_text()) == ("param = 4\n", "program { total }\n")


def test_standard_input_is_printed() -> None:
    done = collc("fmt", "-", stdin="program   { total }")
    assert (done.returncode, done.stdout) == (0, "program { total }\n")


def test_a_file_that_is_not_there_is_wrong_usage() -> None:
    assert collc("fmt", "nowhere.coll").returncode == 2
