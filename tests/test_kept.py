"""What is kept in the cache folder is believed only if it is ours, whatever else is there."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from collc.base import cache as caches
from collc.base.cache import Kept, cache_folder
from collc.base.files import write_files
from collc.language import parser
from collc.sweep import Point, Sweep, Verdict, points

KEY, ANSWER = [["P", 4]], {"verdict": "verified", "cycles": 59}


def kept(folder: Path, question: str = "asked") -> Kept:
    return Kept("sweep", question, folder)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file of a question with one answer."""
    kept(tmp_path).keep(KEY, ANSWER)
    (found,) = (tmp_path / "sweep").iterdir()
    return found


def test_an_answer_is_there_again_and_one_that_was_cut_short_is_not(file: Path) -> None:
    folder = file.parents[1]
    assert kept(folder).get(KEY) == ANSWER
    kept(folder).keep([1], 2)
    text = file.read_bytes()
    file.write_bytes(text[:-1])
    assert (kept(folder).get(KEY), kept(folder).get([1])) == (ANSWER, None)
    kept(folder).keep([1], 3)
    assert kept(folder).get([1]) == 3


def test_each_byte_counts(file: Path) -> None:
    text, chance = file.read_bytes(), random.Random(1)
    for place in chance.sample(range(1, len(text)), 60):
        file.write_bytes(text[:place] + bytes([text[place] ^ 1]) + text[place + 1 :])
        assert kept(file.parents[1]).get(KEY) is None


LINE = json.dumps([KEY, {"verdict": "verified", "cycles": 1}])
FOREIGN = {
    "a line without a seal": LINE,
    "a line with a checksum": f"{hashlib.sha256(LINE.encode()).hexdigest()} {LINE}",
    "a seal of zeros": f"{'0' * 64} {LINE}",
    "a seal of letters": f"{'é' * 64} {LINE}",
    "numbers": "0",
    "an empty list": "[]",
    "an answer that is a number": json.dumps([KEY, 0]),
    "depth": "[" * 100_000,
    "a long number": "9" * 100_000,
    "no text": "\udcff\udcfe" * 50,
    "zeros": "\0" * 5000,
    "nothing": "",
}


@pytest.mark.parametrize("what", FOREIGN)
def test_what_somebody_else_wrote_is_no_answer_and_the_next_one_is_kept(
    what: str, file: Path
) -> None:
    ours = file.read_bytes()
    file.write_bytes(os.fsencode(FOREIGN[what]))
    kept(file.parents[1]).keep([1], 2)
    assert (kept(file.parents[1]).get(KEY), kept(file.parents[1]).get([1])) == (None, 2)
    file.write_bytes(os.fsencode(FOREIGN[what]) + ours)
    assert kept(file.parents[1]).get(KEY) == ANSWER


def test_an_answer_to_another_question_or_of_another_user_is_none(file: Path) -> None:
    folder = file.parents[1]
    kept(folder, "another").keep([1], 1)
    (other,) = {*file.parent.iterdir()} - {file}
    shutil.copy(file, other)
    assert kept(folder, "another").get(KEY) is None
    key = (folder / "key").read_bytes()
    (folder / "key").write_bytes(key[::-1])
    forget()
    assert kept(folder).get(KEY) is None


def forget() -> None:
    """As in the next process."""
    from collc.base import cache  # noqa: PLC0415

    cache._key.cache_clear()


def fill(file: Path) -> None:
    with file.open("wb") as opened:
        opened.truncate(10**12)


PLACES: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a device": lambda file: file.symlink_to("/dev/zero"),
    "a terminal": lambda file: file.symlink_to("/dev/tty"),
    "a link to nothing": lambda file: file.symlink_to("nowhere"),
    "a link to itself": lambda file: file.symlink_to(file.name),
    "a directory": lambda file: file.mkdir(),
    "a large file": fill,
}


@pytest.mark.parametrize("what", PLACES)
def test_what_is_no_file_of_a_size_is_neither_read_nor_waited_for(what: str, file: Path) -> None:
    folder, began = file.parents[1], time.monotonic()
    file.unlink()
    PLACES[what](file)
    asked = kept(folder)
    assert asked.get(KEY) is None
    asked.keep(KEY, ANSWER)
    assert asked.get(KEY) == ANSWER
    assert kept(folder).get(KEY) == (None if what == "a directory" else ANSWER)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("what", [*PLACES, "another length", "a key that others can read"])
def test_a_key_that_is_none_is_replaced(what: str, file: Path) -> None:
    folder = file.parents[1]
    key = folder / "key"
    if what == "a key that others can read":
        key.chmod(0o644)
    elif what == "another length":
        key.write_bytes(b"short")
    else:
        key.unlink()
        PLACES[what](key)
    forget()
    assert kept(folder).get(KEY) is None
    kept(folder).keep(KEY, ANSWER)
    forget()
    if what != "a directory":
        assert kept(folder).get(KEY) == ANSWER
        assert (key.stat().st_mode & 0o777, key.stat().st_size) == (0o600, 32)


def test_without_a_folder_answers_are_kept_for_this_run_only(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", Path("/proc/nothing")):
        asked = kept(folder)
        asked.keep(KEY, ANSWER)
        assert (asked.get(KEY), kept(folder).get(KEY)) == (ANSWER, None)


def test_answers_are_about_the_numbers_of_the_machine_too() -> None:
    names = {path.name for path in caches._parts()}
    assert names >= {"constants.json", "cache.py", "coll.lark", "prelude.coll", "run.py.j2"}


def test_interrupts_that_are_not_answered_in_python_are_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changed: list[tuple[object, ...]] = []
    monkeypatch.setattr(signal, "getsignal", lambda _: None)
    monkeypatch.setattr(signal, "signal", lambda *given: changed.append(given))
    with caches.interrupts_held():
        pass
    assert not changed


PARSER = cache(parser.make_parser)


@pytest.mark.parametrize("what", [*FOREIGN, *(place for place in PLACES if place != "a directory")])
def test_the_tables_of_the_parser_are_made_anew_where_they_are_not_ours(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = PARSER()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    file = cache_folder() / "x.tables.json"
    file.parent.mkdir(parents=True)
    if what in FOREIGN:
        text = os.fsencode(FOREIGN[what])
        file.write_bytes(hashlib.sha256(text).hexdigest().encode() + b"\n" + text)
    else:
        PLACES[what](file)
    assert parser._read(file) is None
    monkeypatch.setattr("collc.language.parser.json.dumps", lambda _: '{"data": 1}')
    parser._write(file, made)
    assert file.is_file() and not file.is_symlink()


def test_a_forged_verdict_is_found_out_anew(tmp_path: Path) -> None:
    program = tmp_path / "a.coll"
    program.write_text("// the judge below does not read it\n")
    asked: list[int] = []

    def judged(given: Mapping[int, Point]) -> Iterator[tuple[int, Verdict]]:
        asked.extend(given)
        yield from ((number, Verdict("failed", message="wrong")) for number in given)

    def swept() -> list[str]:
        over = points.points_of(program, {"B": (8, 16)}, {}, [None])
        sweep = Sweep(list(over), folder=tmp_path)
        assert len(list(sweep.run(judged))) in {0, 1, 2}
        return [verdict.verdict for _, verdict in sweep.verdicts()]

    assert (swept(), swept(), asked) == (["failed"] * 2, ["failed"] * 2, [0, 1])
    (file,) = (tmp_path / "sweep").iterdir()
    first, second = file.read_text().strip().split("\n")
    file.write_text("\n".join([first, second.replace("failed", "verified")]))
    assert (swept(), asked) == (["failed"] * 2, [0, 1, 1])


def test_pipes_beside_a_program_that_imports_are_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "a.coll").write_text('import "b.coll"\n')
    (tmp_path / "b.coll").write_text("// b\n")
    before = points.hash_of(tmp_path / "a.coll")
    os.mkfifo(tmp_path / "c.coll")
    (tmp_path / "d.coll").symlink_to("/dev/zero")
    (tmp_path / "e.coll").mkdir()
    (tmp_path / "f.coll").symlink_to("f.coll")
    assert points.hash_of(tmp_path / "a.coll") == before
    (tmp_path / "b.coll").write_text("// c\n")
    assert points.hash_of(tmp_path / "a.coll") != before


@pytest.mark.parametrize("what", [*FOREIGN, *PLACES])
def test_what_is_left_in_a_folder_of_output_is_written_over_or_left(
    what: str, tmp_path: Path
) -> None:
    place = tmp_path / "out"
    staging = place / ".collc-left"
    (staging / "replaced").mkdir(parents=True)
    (tmp_path / "precious").write_text("mine")
    for file in (place / "manifest.json", staging / "moving"):
        if what in FOREIGN:
            file.write_bytes(os.fsencode(FOREIGN[what]))
        else:
            PLACES[what](file)
    contents = {"a.csl": "a", "manifest.json": '{"sha256": {}}'}
    if what == "a directory":
        with pytest.raises(IsADirectoryError):
            write_files(place, contents)
        return
    write_files(place, contents)
    assert sorted(path.name for path in place.iterdir()) == ["a.csl", "manifest.json"]


def test_a_journal_that_names_files_elsewhere_takes_none_away(tmp_path: Path) -> None:
    left = tmp_path / "out" / ".collc-left"
    (left / "replaced").mkdir(parents=True)
    (tmp_path / "precious").write_text("mine")
    names = ["../precious", str(tmp_path / "precious"), "..", "", None, ["a"]]
    (left / "moving").write_text(json.dumps(names))
    write_files(tmp_path / "out", {"a.csl": "a"})
    assert (tmp_path / "precious").read_text() == "mine"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.csl"]


def test_a_file_that_was_left_half_written_keeps_nobody_from_writing(tmp_path: Path) -> None:
    (tmp_path / ".collc-half").write_text("half")
    write_files(tmp_path, {"a.csl": "a"})
    assert (tmp_path / "a.csl").read_text() == "a"
