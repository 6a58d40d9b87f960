"""Messages are in color on terminals only, and only where that is wanted."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

WRONG = Path(__file__).parent / "errors" / "tree_of_wrong_size.coll"


def on_a_terminal(**environment: str) -> str:
    """What `collc check` prints on standard error where that is a terminal."""
    ours, theirs = pty.openpty()
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "TERM")}
    command = [sys.executable, "-m", "collc", "check", str(WRONG)]
    subprocess.run(command, stderr=theirs, env=clean | environment, check=False)
    os.close(theirs)
    printed = b""
    try:
        while piece := os.read(ours, 4096):
            printed += piece
    except OSError:  # Linux's end of a terminal
        pass
    os.close(ours)
    return printed.decode()


def test_a_terminal_gets_color_for_what_is_wrong_where_and_what_to_do() -> None:
    printed = on_a_terminal(TERM="xterm")
    assert "\x1b[31m\x1b[1merror[C132]:\x1b[0m mine has 3 ranks" in printed
    assert "\x1b[31m\x1b[1m^^^^\x1b[0m" in printed
    assert "\x1b[36m\x1b[1mnote\x1b[0m: mine is declared here" in printed
    assert "\x1b[32m\x1b[1mhelp\x1b[0m: a tree needs" in printed


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1", "TERM": "xterm"}, {"TERM": "dumb"}])
def test_a_terminal_gets_none_where_it_is_not_wanted(environment: dict[str, str]) -> None:
    assert "\x1b" not in on_a_terminal(**environment)


def test_a_pipe_gets_color_only_by_force() -> None:
    command = [sys.executable, "-m", "collc", "check", str(WRONG)]
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    for forced in ({}, {"FORCE_COLOR": "1"}):
        run = subprocess.run(
            command, capture_output=True, text=True, env=clean | forced, check=False
        )
        assert ("\x1b[" in run.stderr) == bool(forced)
