"""A Python 3.11 with the vendor's client package, made once, and an appliance on this computer."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "client311"
PACKAGE = "cerebras_sdk==2.10.0"
LOOPBACK = Path(__file__).parent / "loopback.py"


@pytest.fixture(scope="session")
def client_python() -> str:
    """Its path. All processes of the suite share it; the first one that asks makes it."""
    python = _python311()
    if python is None:
        pytest.skip("the appliance's client needs Python 3.11: there is no python3.11 here")
    FOLDER.parent.mkdir(exist_ok=True)
    with (FOLDER.parent / "client311.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        problem = "" if (FOLDER / ".made").exists() else _make(python)
    if problem:
        pytest.skip(f"{PACKAGE} cannot be installed: {problem}")
    return str(FOLDER / "bin" / "python")


def _python311() -> str | None:
    """A Python 3.11 that starts; a name on PATH need not."""
    for python in (sys.executable, shutil.which("python3.11")):
        if python is not None:
            words = [python, "-c", "import sys; print(sys.version_info[:2])"]
            said = subprocess.run(words, capture_output=True, text=True, check=False).stdout
            if said.strip() == "(3, 11)":
                return python
    return None


def _make(python: str) -> str:
    """Make the environment; gives what went wrong."""
    # this Python's pip installs for the other, which need not have one of its own
    pip = [sys.executable, "-m", "pip", "--python", str(FOLDER / "bin" / "python"), "install"]
    pip += ["-q", "--no-compile", "--disable-pip-version-check", PACKAGE]
    for words in ([python, "-m", "venv", "--without-pip", str(FOLDER)], pip):
        # the client wants versions of its own
        free = {name: value for name, value in os.environ.items() if name != "PIP_CONSTRAINT"}
        done = subprocess.run(words, env=free, capture_output=True, text=True, check=False)
        if done.returncode:
            return (done.stderr.strip().splitlines() or ["no message"])[-1]
    (FOLDER / ".made").touch()
    return ""


@dataclass(frozen=True)
class Loopback:
    """A server that runs, and what was asked of it since the first so many calls."""

    state: Path
    since: int = 0

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {"CSCONFIG_PATH": str(self.state / "csconfig.json")}

    def calls(self, name: str) -> list[dict[str, Any]]:
        lines = self._lines()[self.since :]
        return [call for call in map(json.loads, lines) if call["call"] == name]

    def anew(self) -> Loopback:
        """The same for another test."""
        return Loopback(self.state, len(self._lines()))

    def _lines(self) -> list[str]:
        path = self.state / "calls.jsonl"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture(scope="module")
def loopback(
    client_python: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Loopback]]:
    """Servers by the faults that are asked for; they end with the module."""
    started: dict[tuple[str, ...], Loopback] = {}
    with contextlib.ExitStack() as stack:

        def start(*faults: str) -> Loopback:
            if faults in started:
                return started[faults].anew()
            state = tmp_path_factory.mktemp("appliance")
            words = [
                client_python,
                str(LOOPBACK),
                "--fabsim",
                sys.executable,
                "--state",
                str(state),
            ]
            words += [word for fault in faults for word in ("--fault", fault)]
            process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            stack.callback(_end, process)
            assert process.stdout is not None
            assert process.stdout.readline().strip().endswith("csconfig.json")
            started[faults] = Loopback(state)
            return started[faults]

        yield start


def _end(process: subprocess.Popen[str]) -> None:
    with process:
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
