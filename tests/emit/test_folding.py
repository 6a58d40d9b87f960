"""Lines of emitted CSL end before column 121, whatever the names in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from collc.emit.render import WIDTH, folded

GOLDEN = sorted((Path(__file__).parent / "golden").rglob("*.csl"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_no_emitted_line_is_longer(path: Path) -> None:
    assert [line for line in path.read_text().splitlines() if len(line) > WIDTH] == []


def test_a_line_that_fits_is_left_alone() -> None:
    line = f"  call({'a' * (WIDTH - 12)}, b);"
    assert len(line) == WIDTH
    assert folded(line) == [line]
    assert len(folded(line.replace("b", "bb"))) == 2


def test_a_call_is_broken_where_it_is_nested_least() -> None:
    name = "x" * 50
    line = f"    @fmovs({name}, {name}, .{{ .async = true, .activate = done }});"
    assert folded(line) == [
        f"    @fmovs({name}, {name},",
        "      .{ .async = true, .activate = done });",
    ]


def test_fields_keep_their_indentation() -> None:
    line = "      " + " ".join(f".field_{i} = {i}," for i in range(20))
    found = folded(line)
    assert len(found) > 1
    assert all(part.startswith("      .field_") and part.endswith(",") for part in found)
    assert " ".join(part.strip() for part in found) == line.strip()


def test_a_comment_behind_code_goes_in_front_of_it() -> None:
    code, comment = f"  const {'n' * 80}: u16 = 1;", "// what this number of steps is used for"
    assert folded(f"{code}  {comment}") == [f"  {comment}", code]


def test_a_comment_is_broken_between_words_and_behind_its_label() -> None:
    found = folded("//   0 to 7: " + "sends and receives, " * 10)
    assert all(len(part) <= WIDTH for part in found)
    assert len(found) > 1
    assert all(part.startswith(f"//{' ' * 11}") and part[13] != " " for part in found[1:])


def test_a_word_without_an_end_stays_whole() -> None:
    line = f"const {'n' * 200} = 1;"
    assert folded(line) == [line]
