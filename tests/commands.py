"""The `collc` command as a user starts it, in a process of its own with its own folder, streams and
exit status, forked from one that has imported every command: that takes longer than most commands
do. What is about starting, signals or terminals starts Python itself."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory
from typing import Any

from collc.cli import COMMANDS

_FORKED = get_context("forkserver")
_FORKED.set_forkserver_preload([f"collc.commands.{name}" for name in COMMANDS])


def collc(
    *arguments: str | Path, cwd: Path | None = None, stdin: str = ""
) -> CompletedProcess[str]:
    """Run the command to its end, for a terminal of 100 columns."""
    words = [str(word) for word in arguments]
    with TemporaryDirectory() as folder:
        streams = [Path(folder) / name for name in ("stdin", "stdout", "stderr")]
        streams[0].write_text(stdin, encoding="utf-8")
        environment = os.environ | {"COLUMNS": "100"}
        place = cwd or Path.cwd()
        process: Any = _FORKED.Process(target=_run, args=(words, place, environment, streams))
        process.start()
        process.join()
        said, complained = (path.read_text(encoding="utf-8") for path in streams[1:])
        return CompletedProcess(words, process.exitcode, said, complained)


def _run(words: list[str], place: Path, environment: dict[str, str], streams: list[Path]) -> None:
    """In the process: what Python does before it runs a command, and the command."""
    os.chdir(place)
    os.environ.clear()
    os.environ.update(environment)
    for number, path in enumerate(streams):
        flags = os.O_WRONLY | os.O_CREAT if number else os.O_RDONLY
        os.dup2(os.open(path, flags), number)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, "w" if number else "r", encoding="utf-8", closefd=False)  # noqa: SIM115
        for number in range(len(streams))
    )
    sys.argv = ["collc", *words]
    try:
        import_module("collc.start").main()
    finally:
        with suppress(OSError):  # of a stream that nobody reads
            sys.stdout.flush()
        sys.stderr.flush()
