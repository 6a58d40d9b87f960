"""Writing a bundle is all or nothing, whatever fails and whenever."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from collc import files
from collc.files import write_files

OLD = {"a.csl": "old a", "b.csl": "old b"}
NEW = {"a.csl": "new a", "b.csl": "new b", "go.sh": "new go"}


def contents(directory: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in directory.iterdir()}


def test_files_are_written_into_a_directory_that_is_made(tmp_path: Path) -> None:
    write_files(tmp_path / "deep" / "out", NEW)
    assert contents(tmp_path / "deep" / "out") == NEW


def test_files_are_replaced_and_others_left_alone(tmp_path: Path) -> None:
    write_files(tmp_path, {**OLD, "notes.txt": "mine"})
    write_files(tmp_path, NEW)
    assert contents(tmp_path) == {**NEW, "notes.txt": "mine"}


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
