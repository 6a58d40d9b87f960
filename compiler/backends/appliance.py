"""The vendor's client package: programs are compiled and run on an appliance.

The package wants Python 3.11 and versions of its own of common packages, so it is called in a
process: of this Python, or of another that has it.
"""

import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from collc.backends.interface import (
    Compiled,
    CompileError,
    Job,
    Outcome,
    Settings,
    UnavailableError,
)
from collc.backends.work import WorkFolder, run_command
from collc.base.reading import json_of

ARTIFACT = "out"  # what cslc's output is called; the appliance's archive has it inside
ARCHIVE = "artifact"  # the folder with that archive, in the working directory
SCRATCH = "client"  # where the client leaves its own files
_VERSION = "import importlib.metadata as m, cerebras.sdk.client; print(m.version('cerebras_sdk'))"


class Appliance:
    """An appliance: its simulator, or a machine. Every Python file of a job is put beside the
    artifact, for scripts that import others."""

    name = "appliance"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        given = settings.client_python
        self._python = os.path.abspath(shutil.which(given) or given) if given else sys.executable
        self._version = _version(self._python, given=given is not None)
        self._work = WorkFolder(settings.keep, self.name)

    @property
    def tools(self) -> str:
        """The client package, and the Python that has it."""
        return f"cerebras_sdk {self._version} of {self._python}"

    def compile(self, job: Job) -> Compiled:
        """As `BackEnd.compile`."""
        directory = self._work.copy_of(job.folder)
        (directory / ARCHIVE).mkdir()
        request = {
            "action": "compile",
            "folder": str(directory),
            "layout": job.layout,
            "options": [*job.options, "-o", ARTIFACT],
            "out": str(directory / ARCHIVE),
        }
        reply = self._asked(request, directory)
        if "problem" in reply:
            raise CompileError(_said(reply))
        return Compiled(directory, ARTIFACT, str(reply["log"]))

    def run(self, compiled: Compiled, script: str, arguments: tuple[str, ...] = ()) -> Outcome:
        """As `BackEnd.run`; the status of a script that fails is 1, whatever it was."""
        (archive,) = (compiled.directory / ARCHIVE).iterdir()
        system = ("--cmaddr", "%CMADDR%") if self._settings.machine else ()
        words = ("python", script, "--name", compiled.artifact, *system, *arguments)
        staged = {script, *(path.name for path in compiled.directory.glob("*.py"))}
        request = {
            "action": "run",
            "artifact": str(archive),
            "machine": self._settings.machine,
            "stage": [str(compiled.directory / name) for name in sorted(staged)],
            "command": shlex.join(words),
            "out": str(compiled.directory),
        }
        reply = self._asked(request, compiled.directory)
        failed = str(reply.get("failed") or reply.get("problem", ""))
        output = str(reply.get("output", ""))
        return Outcome(1 if failed else 0, output, failed, float(reply["seconds"]))

    def close(self) -> None:
        """As `BackEnd.close`."""
        self._work.close()

    def _asked(self, request: dict[str, Any], directory: Path) -> dict[str, Any]:
        """What the client answers to a request. Raises UnavailableError where it gets no answer."""
        scratch = directory / SCRATCH
        scratch.mkdir(exist_ok=True)
        asked, answered = scratch / "request.json", scratch / "reply.json"
        answered.unlink(missing_ok=True)
        asked.write_text(json.dumps(request), encoding="utf-8")
        with as_file(files("collc.backends").joinpath("appliance_client.py")) as program:
            words = (self._python, str(program), str(asked), str(answered))
            limit = self._settings.timeout_seconds
            done = run_command(words, scratch, limit, str(request["action"]))
        if not answered.exists():
            raise UnavailableError(f"the client ended without an answer: {_last(done)}")
        try:
            reply: dict[str, Any] = dict(json_of(answered.read_bytes()))
        except (ValueError, TypeError) as error:
            raise UnavailableError(f"the client's answer cannot be read: {error}") from None
        if reply.get("kind") == "unavailable":
            raise UnavailableError(f"no appliance: {reply['problem'].strip()}")
        return reply | {"seconds": done.wall_seconds}


def _version(python: str, *, given: bool) -> str:
    """The version of the client package that a Python has. Raises UnavailableError."""
    if not given and importlib.util.find_spec("cerebras") is None:
        raise UnavailableError(
            "the client package is not installed: pip install 'collc[appliance]' with Python 3.11, "
            "or --client-python names a Python that has cerebras_sdk"
        )
    try:
        done = subprocess.run([python, "-c", _VERSION], capture_output=True, text=True, check=False)
    except OSError as error:
        raise UnavailableError(f"{python} cannot be started: {error.strerror}") from error
    if done.returncode:
        raise UnavailableError(f"{python} has no cerebras_sdk: {_line(done.stderr)}")
    return done.stdout.strip()


def _said(reply: dict[str, Any]) -> str:
    """The problem and what the compiler said, which only the client's logger gets."""
    return f"{reply['log'].strip()}\n{reply['problem'].strip()}".strip()


def _last(done: Outcome) -> str:
    return _line(done.errors) or f"status {done.status}"


def _line(text: str) -> str:
    """The last line of what was said."""
    return text.strip().rpartition("\n")[2]
