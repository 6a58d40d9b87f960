"""Back ends that are two commands, one that compiles and one that runs a host script."""

import importlib.util
import os
import sys

from collc.backends.interface import (
    Compiled,
    CompileError,
    Job,
    Outcome,
    Settings,
    UnavailableError,
)
from collc.backends.sdk import Tools, find_tools
from collc.backends.work import WorkFolder, run_command

ARTIFACT = "out"


class _Commands:
    """A compiler and a Python for host scripts, each with the words that begin its command line."""

    name = ""

    def __init__(self, settings: Settings, tools: Tools, extra: tuple[str, ...] = ()) -> None:
        self._settings = settings
        self._tools = tools
        self._extra = extra
        self._work = WorkFolder(settings.keep, self.name)

    @property
    def tools(self) -> str:
        """What is called."""
        return self._tools.told

    def compile(self, job: Job) -> Compiled:
        """As `BackEnd.compile`."""
        directory = self._work.copy_of(job.folder)
        words = (*self._tools.cslc, job.layout, *job.options, "-o", ARTIFACT)
        done = run_command(words, directory, self._settings.timeout_seconds, "compile")
        said = (done.output + done.errors).strip()
        if done.status:
            raise CompileError(said or f"{words[0]} ended with status {done.status}")
        return Compiled(directory, ARTIFACT, said)

    def run(self, compiled: Compiled, script: str, arguments: tuple[str, ...] = ()) -> Outcome:
        """As `BackEnd.run`."""
        words = (*self._tools.cs_python, script, "--name", compiled.artifact, *self._extra)
        limit = self._settings.timeout_seconds
        told = (*words, *arguments)
        return run_command(told, compiled.directory, limit, "run", self._variables())

    def _variables(self) -> dict[str, str]:
        """What is added to the environment of a run."""
        return {}

    def close(self) -> None:
        """As `BackEnd.close`."""
        self._work.close()


class Fabsim(_Commands):
    """fabsim by its command line, as the stand-ins for the vendor's commands call it."""

    name = "fabsim"

    def __init__(self, settings: Settings) -> None:
        if importlib.util.find_spec("fabsim") is None:
            raise UnavailableError("fabsim is not installed (pip install ./fabsim)")
        begin = (sys.executable, "-m", "fabsim")
        super().__init__(settings, Tools((*begin, "cslc"), (*begin, "python"), "fabsim"))

    def _variables(self) -> dict[str, str]:
        """Its options, with late starts if there are to be some."""
        late = self._settings.late_cycles
        given = os.environ.get("FABSIM_OPTIONS", "")
        return {"FABSIM_OPTIONS": f"{given} --late-starts {late}"} if late else {}


class Simfabric(_Commands):
    """The vendor's simulator, by the commands of a local SDK."""

    name = "simfabric"

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, find_tools(settings.sdk, os.environ))


class CsSystem(_Commands):
    """A CS system, by the commands of a local SDK and the system's address."""

    name = "cs"

    def __init__(self, settings: Settings) -> None:
        if not settings.address:
            raise UnavailableError("the address of a system is not given: --cmaddr IP:PORT")
        tools = find_tools(settings.sdk, os.environ)
        super().__init__(settings, tools, ("--cmaddr", settings.address))
