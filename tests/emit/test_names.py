"""The user's names never meet ours, CSL's or Python's: they get a prefix where they would."""

from __future__ import annotations

import builtins
import keyword
from pathlib import Path

import pytest

from collc.driver.pipeline import compile_text, read
from collc.driver.read_back import verify_text
from collc.emit.reserved import KEYWORDS
from collc.emit.spelling import PREFIX, _renamer, _taken
from emitting import by_commands

# What broke programs, and what such names meet.
FOUND = [
    "y", "buffer", "try", "class", "np", "main", "print", "int", "float", "sum", "check",
    "follow", "options", "PES", "make_input", "rows_of", "configure", "total", "total_total",
    "total_run", "begin_0", "known",
]  # fmt: skip
ALONE = (
    *sorted(KEYWORDS | set(keyword.kwlist)),
    "memcpy", "sys", "run", "finished", "x_coordinate", "memcpy_params", "collectives", "y",
)  # fmt: skip


def program(names: list[str], buffers: list[str]) -> str:
    """Collectives of these names, one after the other, twice."""
    collectives = "\n".join(
        f"collective {name} = allreduce({buffer}: u32[4], add) on row"
        " { reduce star to 0 then broadcast from 0 }"
        for name, buffer in zip(names, buffers, strict=True)
    )
    calls = " ".join(names)
    return f"target wse2\ngrid row = 3 x 1\n{collectives}\nprogram {{ repeat 2 {{ {calls} }} }}\n"


def spellings(names: list[str], collective: bool) -> list[str]:
    """How emitted text spells names of collectives, or of buffers."""
    found = _renamer(names, collective)
    return [found.get(name, name) for name in names]


def executed(text: str, folder: Path) -> str:
    """What run.py says, run on fabsim's stand-ins."""
    bundle = compile_text(text, "names.coll", {})
    verify_text(bundle)
    bundle.write(folder)
    return by_commands(folder)


def usable(word: str) -> bool:
    """Whether the language takes a word as a name."""
    try:
        read(program([word], [f"{word}_b"]), "names.coll", {})
    except Exception:
        return False
    return True


def test_names_that_broke_programs_do_not(tmp_path: Path) -> None:
    buffers = [name if name not in {"total", "known"} else f"b_{name}" for name in FOUND]
    half = len(FOUND) // 2
    for part, names in enumerate((FOUND[:half], FOUND[half:])):
        held = [f"of_{name}" for name in names] if part else buffers[half:][: len(names)]
        assert "SUCCESS!" in executed(program(list(names), held), tmp_path / str(part))


@pytest.mark.parametrize("word", ["try", "y", "np", "task", "memcpy"])
def test_a_collective_by_itself_may_have_any_name(word: str, tmp_path: Path) -> None:
    text = program([word], [f"{word}_ptr"]).replace("repeat 2 ", "").replace("{ { ", "{ ")
    text = text.replace(" } }\n", " }\n")
    assert "SUCCESS!" in executed(text, tmp_path)


def test_every_word_gets_a_name_that_is_free() -> None:
    words = {*ALONE, *dir(builtins), *FOUND, *_taken(True).names, *_taken(False).names}
    count = 0
    for word in sorted(filter(usable, words)):
        for collective in (True, False):
            (one,) = spellings([word], collective)
            assert not _taken(collective).meets(one, [])
            assert one in {word, PREFIX + word}
        count += 1
    assert count > 150


def test_a_prefixed_name_does_not_meet_another_of_the_users() -> None:
    names = spellings(["task", f"{PREFIX}task", "chain_token", "chain"], True)
    assert names == [f"{PREFIX}{PREFIX}task", f"{PREFIX}task", f"{PREFIX}chain_token", "chain"]


def test_names_that_meet_nothing_stay() -> None:
    assert spellings(["sum", "try"], True) == ["sum", "try"]  # words of Python, which no CSL meets
    assert spellings(["x", "values"], False) == ["x", "values"]
