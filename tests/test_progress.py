"""What takes long says so on a terminal, and nowhere else."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path

import pytest

from collc.base import progress
from collc.base.progress import shown_on, under_way

TEXT = """target wse2
param P = 8
grid row = P x 1
collective total = allreduce(x: f32[16], add) on row { run auto }
program { total }
"""
# What is under way is told at once and often: then a program of eight PEs is long enough.
AT_ONCE = """
import collc.base.progress as progress
progress.SILENT_SECONDS, progress.PACE_SECONDS = 0, 0.01
from collc.start import main
main()
"""


def on_terminal(*words: str, columns: int = 80) -> tuple[int, str, str]:
    """Status, standard output, and what the terminal on standard error was sent."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    command = (sys.executable, "-c", AT_ONCE, *words)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, text=True) as process:
        os.close(theirs)
        sent = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # as Linux tells that nobody has the other end any more
                break
            sent += piece
        output, _ = process.communicate()
    os.close(ours)
    return process.returncode, output, sent.decode()


def left_on(sent: str) -> list[str]:
    """The lines of a terminal after all that it was sent."""
    lines = []
    for line in sent.replace("\r\n", "\n").split("\n"):
        shown = ""
        for piece in line.split("\r"):
            shown = piece + shown[len(piece) :]
        lines.append(shown.rstrip())
    return lines


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "a.coll"
    path.write_text(TEXT)
    return str(path)


def test_a_terminal_is_told_what_is_under_way_and_nothing_of_it_stays(file: str) -> None:
    status, output, sent = on_terminal("run", file)
    assert status == 0 and "verified" in output
    for what in ("reading (", "choosing: ", " candidates (", "simulating"):
        assert what in sent
    assert left_on(sent) == [""]


def test_what_is_said_of_a_wrong_program_stands_alone(file: str) -> None:
    status, _, sent = on_terminal("check", file, "-D", "P=751")
    assert status == 1 and "reading" in sent
    lines = left_on(sent)
    assert "C123" in lines[0] and not any("reading" in line for line in lines)


def test_a_line_is_cut_at_the_width_of_the_terminal(file: str) -> None:
    _, _, sent = on_terminal("check", file, columns=20)
    assert "choosing" in sent
    assert all(len(line) < 20 for line in sent.split("\r"))


def test_nothing_is_told_where_programs_read(file: str) -> None:
    status, output, sent = on_terminal("check", file, "--json")
    assert status == 0 and output.startswith("{")
    assert sent == ""
    piped = (sys.executable, "-c", AT_ONCE, "check", file)
    assert subprocess.run(piped, capture_output=True, check=True).stderr == b""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_is_told_of_what_takes_less_than_a_second() -> None:
    stream = Terminal()
    with shown_on(stream), under_way("proving"):
        time.sleep(0.05)
    assert stream.getvalue() == ""


def test_the_outermost_stage_is_told_and_no_thread_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SILENT_SECONDS", 0.0)
    stream, before = Terminal(), threading.active_count()
    with shown_on(stream):
        with pytest.raises(ValueError, match="found"), under_way("choosing") as tell:
            tell("1 of 2 candidates")
            with under_way("proving") as other:
                other("rank 3")
                time.sleep(0.5)
                raise ValueError("found")
        assert threading.active_count() == before
    assert "\rchoosing: 1 of 2 candidates (0 s)" in stream.getvalue()
    assert left_on(stream.getvalue()) == [""]
    assert "proving" not in stream.getvalue()


def test_a_terminal_that_has_gone_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SILENT_SECONDS", 0.0)
    stream = Terminal()
    with shown_on(stream), under_way("proving"):
        time.sleep(0.05)
        stream.close()
        time.sleep(0.3)
