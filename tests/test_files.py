"""Writing a bundle is all or nothing, whatever fails and whenever."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from multiprocessing import get_context
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from collc.base import files
from collc.base.files import write_files

OLD = {"a.csl": "old a", "b.csl": "old b"}
NEW = {"a.csl": "new a", "b.csl": "new b", "go.sh": "new go"}


def contents(directory: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in directory.iterdir()}


def test_files_are_written_into_a_directory_that_is_made(tmp_path: Path) -> None:
    write_files(tmp_path / "deep" / "out", NEW)
    assert contents(tmp_path / "deep" / "out") == NEW


def test_files_that_would_be_the_same_are_left_alone_with_their_times(tmp_path: Path) -> None:
    write_files(tmp_path, with_manifest(OLD))
    for path in tmp_path.iterdir():
        os.utime(path, ns=(10**9, 10**9))
    write_files(tmp_path, with_manifest(OLD))
    assert {path.stat().st_mtime_ns for path in tmp_path.iterdir()} == {10**9}
    write_files(tmp_path, with_manifest({**OLD, "a.csl": "new a"}))
    touched = {path.name for path in tmp_path.iterdir() if path.stat().st_mtime_ns != 10**9}
    assert touched == {"a.csl", "manifest.json"}


def test_a_file_that_lost_its_text_or_its_rights_is_written_again(tmp_path: Path) -> None:
    write_files(tmp_path, with_manifest(NEW))
    for path in tmp_path.iterdir():
        os.utime(path, ns=(10**9, 10**9))
    (tmp_path / "a.csl").write_text("edited")
    (tmp_path / "go.sh").chmod(0o600)
    (tmp_path / "b.csl").unlink()
    (tmp_path / "b.csl").symlink_to("a.csl")
    write_files(tmp_path, with_manifest(NEW))
    assert contents(tmp_path) == with_manifest(NEW)
    assert not (tmp_path / "b.csl").is_symlink()
    assert (tmp_path / "go.sh").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "manifest.json").stat().st_mtime_ns == 10**9


def test_files_are_replaced_and_others_left_alone(tmp_path: Path) -> None:
    write_files(tmp_path, {**OLD, "notes.txt": "mine"})
    write_files(tmp_path, NEW)
    assert contents(tmp_path) == {**NEW, "notes.txt": "mine"}


def with_manifest(texts: dict[str, str]) -> dict[str, str]:
    hashes = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    return {**texts, "manifest.json": json.dumps({"sha256": hashes})}


def test_files_of_the_bundle_before_are_taken_away(tmp_path: Path) -> None:
    write_files(tmp_path, with_manifest(OLD))
    (tmp_path / "notes.txt").write_text("mine")
    new = with_manifest({"a.csl": "new a"})
    assert write_files(tmp_path, new) == ()
    assert contents(tmp_path) == {**new, "notes.txt": "mine"}


def test_a_file_that_was_changed_stays_and_is_named(tmp_path: Path) -> None:
    write_files(tmp_path, with_manifest(OLD))
    (tmp_path / "b.csl").write_text("changed")
    new = with_manifest({"a.csl": "new a"})
    assert write_files(tmp_path, new) == ("b.csl",)
    assert contents(tmp_path) == {**new, "b.csl": "changed"}


@pytest.mark.parametrize(
    "manifest", ["", "[]", "{}", '{"sha256": 3}', '{"sha256": {"../b.csl": "", "no.csl": ""}}']
)
def test_a_manifest_that_says_something_else_takes_nothing_away(
    manifest: str, tmp_path: Path
) -> None:
    (tmp_path / "b.csl").write_text("mine")
    inside = tmp_path / "out"
    write_files(inside, {"manifest.json": manifest, "b.csl": "mine too"})
    assert write_files(inside, with_manifest({"a.csl": "new a"})) == ()
    assert (tmp_path / "b.csl").read_text() == "mine"
    assert (inside / "b.csl").read_text() == "mine too"


def test_files_written_beside_a_bundle_leave_it_alone(tmp_path: Path) -> None:
    write_files(tmp_path, with_manifest(OLD))
    write_files(tmp_path, {"table.csv": "1,2"})
    assert contents(tmp_path) == {**with_manifest(OLD), "table.csv": "1,2"}


def test_an_interrupt_before_the_last_is_taken_away_puts_all_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = with_manifest({**OLD, "c.csl": "old c"})
    write_files(tmp_path, old)
    plain = os.replace

    def interrupted(source: Path, destination: Path) -> None:
        if source == tmp_path / "c.csl" and not destination.exists():
            raise KeyboardInterrupt
        plain(source, destination)

    monkeypatch.setattr(files.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_files(tmp_path, with_manifest({"a.csl": "new a"}))
    assert contents(tmp_path) == old


def test_scripts_are_executable_and_texts_are_not(tmp_path: Path) -> None:
    write_files(tmp_path, NEW)
    assert (tmp_path / "go.sh").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "a.csl").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failed_write_leaves_the_old_files(
    error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, OLD)
    plain = Path.write_bytes

    def failing(path: Path, content: bytes) -> int:
        if path.name == "b.csl":
            raise error
        return plain(path, content)

    monkeypatch.setattr(Path, "write_bytes", failing)
    with pytest.raises(type(error)):
        write_files(tmp_path, NEW)
    assert contents(tmp_path) == OLD


@pytest.mark.parametrize("moves", range(5))
def test_an_interrupt_between_two_moves_puts_the_old_files_back(
    moves: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, OLD)
    plain, done = os.replace, []

    def interrupted(source: Path, destination: Path) -> None:
        if len(done) == moves:
            done.append(source)
            raise KeyboardInterrupt
        plain(source, destination)
        done.append(source)

    monkeypatch.setattr(files.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_files(tmp_path, NEW)
    assert contents(tmp_path) == OLD


def test_a_directory_in_the_place_of_a_file_is_refused_and_kept(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.csl": "old a"})
    (tmp_path / "b.csl").mkdir()
    with pytest.raises(IsADirectoryError):
        write_files(tmp_path, NEW)
    assert (tmp_path / "a.csl").read_text() == "old a"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csl", "b.csl"]


def test_directories_made_in_vain_are_taken_away_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space"):
        write_files(tmp_path / "deep" / "out", NEW)
    assert not list(tmp_path.iterdir())


def killed_at(line: int, work: Callable[[], object]) -> bool:
    """Run `work` in a process that is killed before the given line of files.py that it runs;
    whether it was, or came to its end."""
    child = os.fork()
    if child == 0:
        left = line

        def trace(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal left
            if frame.f_code.co_filename != files.__file__:
                return None
            left -= event == "line"
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return trace

        sys.settrace(trace)
        work()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def test_whoever_is_killed_while_writing_leaves_no_mixture(tmp_path: Path) -> None:
    old = with_manifest({**OLD, "c.csl": "old c"})
    new = with_manifest(NEW)
    line, killed, seen = 0, True, set()
    while killed:
        place = tmp_path / str(line)
        write_files(place, {**old, "notes.txt": "mine"})
        killed = killed_at(line, lambda place=place: write_files(place, new))
        found = {path.name: path.read_text() for path in place.iterdir() if path.is_file()}
        whole = "old" if old.items() <= found.items() else "new"
        assert "manifest.json" not in found or found == {
            **{"old": old, "new": new}[whole],
            "notes.txt": "mine",
        }
        write_files(place, {"table.csv": "1,2"})
        after = contents(place)
        assert after in (
            {**old, "notes.txt": "mine", "table.csv": "1,2"},
            {**new, "notes.txt": "mine", "table.csv": "1,2"},
        )
        seen.add((whole, "manifest.json" in found))
        line += 1
    assert line > 40
    assert {("old", True), ("new", True), ("new", False)} <= seen


def test_whoever_is_killed_while_putting_back_leaves_it_to_the_next(tmp_path: Path) -> None:
    old, new = with_manifest(OLD), with_manifest(NEW)
    line, killed = 0, True
    while killed:
        place = tmp_path / str(line)
        write_files(place, old)
        stage = place / ".collc-left"
        (stage / "replaced").mkdir(parents=True)
        (stage / "moving").write_text(json.dumps(["go.sh"]))
        for name in old:
            (place / name).rename(stage / "replaced" / name)
        (place / "go.sh").write_text("new go")
        (place / "a.csl").write_text("new a")
        killed = killed_at(line, lambda place=place: write_files(place, {"table.csv": "1,2"}))
        write_files(place, {"table.csv": "1,2"})
        assert contents(place) == {**old, "table.csv": "1,2"}
        line += 1
    assert new and line > 40


def written_often(place: Path, texts: Mapping[str, str]) -> None:
    for _ in range(30):
        write_files(place, texts)


def test_of_three_that_write_at_once_one_is_the_last(tmp_path: Path) -> None:
    bundles = [
        with_manifest({f"{n}.csl": str(n), "a.csl": f"a of {n}", "b.csl": f"b of {n}"})
        for n in range(3)
    ]
    context = get_context("fork")
    writers = [context.Process(target=written_often, args=(tmp_path, one)) for one in bundles]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert contents(tmp_path) in bundles


def test_what_killed_writers_of_before_left_is_taken_away(tmp_path: Path) -> None:
    (tmp_path / ".collc-abc").mkdir()
    (tmp_path / ".collc-abc" / "a.csl").write_text("half")
    write_files(tmp_path, NEW)
    assert contents(tmp_path) == NEW
