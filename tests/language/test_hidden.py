"""What nobody sees in a text is told, and shown by `fmt`."""

from __future__ import annotations

from pathlib import Path

import pytest

from collc.driver.pipeline import compile_text
from collc.format import format_text
from collc.language import parse_source

PROGRAM = """target wse2
grid g = 4 x 1 // {}
collective c = reduce(x: f32[4], add) on g {{ reduce chain to 0 }}
program {{ c }}
"""
HIDDEN = [
    "\u202e",
    "\u2066",
    "\u200b",
    "\u00ad",
    "\ufeff",
    "\u2028",
    "\x1b",
    "\u3164",
    "\U000e0041",
]
SEEN = ["\t", "é", "→", "日本", "\u00a0|"]


@pytest.mark.parametrize("character", HIDDEN)
def test_a_character_that_is_not_visible_is_told_with_its_place(character: str) -> None:
    (notice,) = parse_source(PROGRAM.format(f"a{character}b")).notices
    assert notice.code == "C811" and f"U+{ord(character):04X}" in notice.message
    assert notice.at is not None and (notice.at.line, notice.at.column) == (2, 20)


@pytest.mark.parametrize("character", SEEN)
def test_what_is_visible_is_left_alone(character: str) -> None:
    text = PROGRAM.format(f"a{character}b")
    assert parse_source(text).notices == ()
    assert f"a{character}b" in format_text("a.coll", text)


@pytest.mark.parametrize("character", HIDDEN)
def test_fmt_writes_an_escape_which_is_no_warning(character: str) -> None:
    text = PROGRAM.format(f"a{character}b")
    formatted = format_text("a.coll", text)
    assert character not in formatted and f"{ord(character):04x}" in formatted
    assert parse_source(formatted).notices == ()
    assert format_text("a.coll", formatted) == formatted


def test_there_is_one_warning_a_line_and_none_for_the_ends_of_lines() -> None:
    (notice,) = parse_source(PROGRAM.format("\u202ea\u202c \u200b")).notices
    assert "and 2 more in this line" in notice.message
    windows = PROGRAM.format("a").replace("\n", "\r\n")
    assert parse_source("\ufeff" + windows).notices == ()


def test_imported_files_and_their_names_are_looked_at(tmp_path: Path) -> None:
    (tmp_path / "t\u200brees.coll").write_text(
        "// \u202e\ntree mine(n) = star(n)\n", encoding="utf-8"
    )
    text = 'import "t\u200brees.coll"\n' + PROGRAM.format("a")
    notices = parse_source(text, file=str(tmp_path / "a.coll")).notices
    assert [Path(one.at.file).name for one in notices if one.at] == ["a.coll", "t\u200brees.coll"]


def test_the_warning_reaches_the_bundle() -> None:
    bundle = compile_text(PROGRAM.format("\u202e"), "a.coll", {})
    assert "C811" in [warning.code for warning in bundle.warnings]
