"""No text makes the language fall over or think for long; what it says is always located."""

from __future__ import annotations

import time
from pathlib import Path
from typing import SupportsIndex

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collc.base.diagnostics import CollcError
from collc.language import parse_source, parser, read_source
from collc.language.parser import LATER, parse_text
from collc.language.render import as_json, render
from collc.language.source import MAX_SOURCE_BYTES, decode_source

EXAMPLES = sorted((Path(__file__).parent.parent.parent / "examples").glob("*.coll"))
N = MAX_SOURCE_BYTES // 2 - 100


def codes(text: str) -> list[str]:
    with pytest.raises(CollcError) as caught:
        parse_source(text)
    for diagnostic in caught.value.diagnostics:
        assert render(diagnostic, {"input.coll": text})
        assert as_json(diagnostic)["code"] == diagnostic.code
    return [diagnostic.code for diagnostic in caught.value.diagnostics]


HOSTILE = {
    "sum": "param P = 1" + "+1" * N,
    "open": "param P = " + "(" * N,
    "closed": "param P = " + "(" * N + "1" + ")" * (N - 1),
    "minus": "param P = " + "-" * N + "1",
    "not": "param P = " + "not " * (N // 4) + "1",
    "digits": "param P = " + "9" * N,
    "zeros": "param P = " + "0" * N + "1",
    "choices": "param P = " + "1==1?1:" * (N // 4) + "1",
    "calls": "tree t = " + "join(leaf," * (N // 10) + "leaf" + ")" * (N // 10),
    "ranks": "tree t = " + "0<-[" * (N // 5) + "]" * (N // 5),
    "siblings": "tree t = 0 <- [" + "1," * (N // 2) + "1]",
    "declarations": "param " * (N // 6),
    "strays": "\u00a7" * N,
    "locals": "tree t(n) = leaf where " + ",".join(f"a{i} = n" for i in range(N // 12)),
    "params": "\n".join(f"param p{i} = {f'p{i - 1}' if i else 1}" for i in range(N // 20)),
    "names": "\n".join(f"param p{i} = q{i}" for i in range(N // 22)),
    "body": "tree t(n) = max(" + ",".join(f"q{i}" for i in range(N // 9)) + ")",
    "work": """target wse2 tree t(n, a) = n == 0 ? leaf : join(t(n - 1, 2 * a), t(n - 1, 2 * a + 1))
        where """
    + ",".join(f"a{i} = n" for i in range(7000))
    + """ grid g = 90 x 1
        collective c = reduce(x: f32[1], add) on g { reduce t(0) } program { c }""",
    "collectives": "target wse2 tree t(n) = join(leaf, t(n + 1)) grid g = 9 x 1"
    + "".join(
        f" collective c{i} = reduce(x: f32[1], add) on g {{ reduce t }}" for i in range(N // 60)
    ),
    "clauses": "collective c = reduce(x: f32[1], add) on g {" + "then reduce chain " * (N // 20),
    "nulls": "\0" * N,
    "line": "param x" + " " * N + "= y",
    "huge": "x" * (MAX_SOURCE_BYTES + 1),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_text_is_refused_within_seconds(text: str) -> None:
    started = time.process_time()
    assert codes(text)
    assert time.process_time() - started < 20


@given(st.binary(max_size=300))
def test_any_bytes_give_located_messages(data: bytes) -> None:
    try:
        text = decode_source("input.coll", data)
    except CollcError as error:
        assert error.diagnostics[0].at
        return
    codes(text)


@settings(max_examples=300)
@given(st.data())
def test_a_damaged_program_is_judged_without_a_traceback(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(EXAMPLES)).read_text(encoding="utf-8")
    start = data.draw(st.integers(0, len(text) - 1))
    words = (
        "",
        "(",
        "}",
        "?",
        "<-",
        "0",
        "-1",
        "1.5",
        "leaf",
        "join",
        "x",
        "tree t = ",
        "99999999",
    )
    put = data.draw(st.sampled_from(words) | st.text(max_size=3))
    damaged = text[:start] + put + text[start + data.draw(st.integers(0, 12)) :]
    try:
        parse_source(damaged)
    except CollcError as error:
        for diagnostic in error.diagnostics:
            render(diagnostic, {"input.coll": damaged})


@pytest.mark.parametrize("word", sorted(LATER))
def test_a_word_of_a_later_version_is_refused_by_name(word: str) -> None:
    assert codes(f"target wse2 {word} ring(n) {{ }} program {{ }}")[0] == "C106"


@pytest.mark.parametrize(
    "item", ["repeat {} {{ c }}", "c within colors <= {}", "c reserve tasks {}"]
)
def test_what_a_program_says_is_not_nested_beyond_the_limit(item: str) -> None:
    text = "target wse2 grid g = 2 x 1 "
    text += "collective c = reduce(x: f32[1], add) on g { reduce chain to 0 } "
    assert codes(text + f"program {{ {item.format('-' * 4000 + '1')} }}") == ["C103"]


def test_a_program_of_a_later_version_is_refused_by_name() -> None:
    assert codes("target wse2 program { when n { total } }") == ["C106"]


def test_a_choice_that_stands_in_the_program_is_sent_into_a_collective() -> None:
    assert codes("target wse2 program { select by n { total } }") == ["C105"]


def test_every_declaration_reports_its_first_mistake() -> None:
    assert codes("target 3 param = 4 grid g = 3 x 4 program { ) ) }") == ["C105"] * 3


def test_a_mistake_at_the_end_is_placed_behind_the_last_word() -> None:
    with pytest.raises(CollcError) as caught:
        parse_source("target wse2\nparam P = 3 +   // and?\n\n")
    at = caught.value.diagnostics[0].at
    assert at is not None
    assert (at.line, at.column) == (2, 14)


def test_a_bad_byte_is_located() -> None:
    with pytest.raises(CollcError) as caught:
        decode_source("a.coll", b"\xef\xbb\xbftarget\n// \xc3\xa4 \xff")
    at = caught.value.diagnostics[0].at
    assert at is not None
    assert (at.line, at.column) == (2, 6)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.coll"):
        with pytest.raises(CollcError) as caught:
            read_source(path)
        assert caught.value.diagnostics[0].code == "C101"


@pytest.mark.parametrize(
    "kept", ["nothing", "the tables", "something else", "half", "bytes", "no folder"]
)
def test_a_text_reads_the_same_whatever_is_kept_of_the_grammar(
    kept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "param A = 1 + 2 * 3\ngrid g = A x 1\nparam = 3\n"

    def read() -> list[str]:
        with pytest.raises(CollcError) as caught:
            parse_text("here.coll", text)
        return [str(diagnostic) for diagnostic in caught.value.diagnostics]

    expected, folder = read(), tmp_path / "cache"
    if kept == "no folder":
        folder.write_text("a file where the folder would be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    parser._lark.cache_clear()
    try:
        if kept not in ("nothing", "no folder"):
            read()
            parser._lark.cache_clear()
            (tables,) = (folder / "collc").glob("*.tables.json")
            damaged = {
                "something else": b"no tables",
                "half": tables.read_bytes()[: tables.stat().st_size // 2],
                "bytes": bytes(range(256)),
            }
            tables.write_bytes(damaged.get(kept, tables.read_bytes()))
        assert read() == expected
    finally:
        parser._lark.cache_clear()


SIZED = """target wse2
param P = 2
grid row = P x 1
collective total = reduce(x: f32[4], add) on row { reduce chain to 0 }
program { total }
"""


@pytest.mark.parametrize("value", [np.int64(4), np.uint8(4), 4])
def test_a_parameter_is_an_integer_of_any_kind(value: SupportsIndex) -> None:
    (parameter,) = parse_source(SIZED, {"P": value}).parameters
    assert parameter.value == 4
    assert type(parameter.value) is int


@pytest.mark.parametrize("value", [4.0, "4", None, True, np.float32(4)])
def test_a_parameter_that_is_no_integer_is_named(value: object) -> None:
    with pytest.raises(TypeError, match="parameter P is an integer, not"):
        parse_source(SIZED, {"P": value})  # type: ignore[dict-item]
