"""Working directories of back ends, and commands that run in them."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from collc.backends.interface import Outcome, UnavailableError

GRACE_SECONDS = 5  # for a command that is interrupted to clean up
TIMED_OUT = 124  # the status of a command that was ended, as `timeout` has it


class WorkFolder:
    """A folder for the jobs of a back end, kept where one is named, else removed at the end."""

    def __init__(self, keep: Path | None, name: str) -> None:
        self._kept = keep is not None
        self._root = (
            (keep / name).absolute()
            if keep is not None
            else Path(tempfile.mkdtemp(prefix="collc-"))
        )
        self._count = 0

    def copy_of(self, folder: Path) -> Path:
        """A new working directory with the files of `folder`: of a kept root itself the first."""
        self._count += 1
        number = f"-{self._count}" if self._count > 1 else ""
        place = self._root.with_name(self._root.name + number) if self._kept else None
        directory = place or self._root / str(self._count)
        if directory.exists():
            shutil.rmtree(directory)
        shutil.copytree(folder, directory)
        return directory

    def close(self) -> None:
        """Remove it, unless it is kept."""
        if not self._kept:
            shutil.rmtree(self._root, ignore_errors=True)


def run_command(
    words: tuple[str, ...],
    directory: Path,
    limit: float | None,
    log: str,
    variables: Mapping[str, str] | None = None,
) -> Outcome:
    """Run a command to its end, or for `limit` seconds; what it says is left in LOG.log, too;
    `variables` are added to its environment.

    A command that takes too long is ended with all that it has started. Raises UnavailableError
    where it cannot be started.
    """
    began = time.perf_counter()
    try:
        process = subprocess.Popen(
            words,
            cwd=directory,
            env={**os.environ, **(variables or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise UnavailableError(f"{words[0]} cannot be started: {error.strerror}") from error
    status, output, errors = _waited_for(process, limit)
    (directory / f"{log}.log").write_text(output + errors, encoding="utf-8")
    return Outcome(status, output, errors, time.perf_counter() - began)


def _waited_for(process: subprocess.Popen[str], limit: float | None) -> tuple[int, str, str]:
    """Status, output and errors of a process that has ended, or is ended after so many seconds."""
    try:
        output, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        _end(process)
        output, errors = process.communicate()
        return TIMED_OUT, output, f"{errors}ended after {limit:g} s\n"
    except BaseException:
        _end(process)
        raise
    return process.returncode, output, errors


def _end(process: subprocess.Popen[str]) -> None:
    """End a process and those it has started, which are of its own session. It is interrupted
    first, since a job of an appliance stands until its client has ended it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_SECONDS)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
