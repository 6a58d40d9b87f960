"""Back ends that are two commands, one that compiles and one that runs a host script."""

import importlib.util
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from collc.backends.interface import (
    Compiled,
    CompileError,
    Job,
    Outcome,
    Settings,
    UnavailableError,
)
from collc.backends.work import WorkFolder, run_command
from collc.base.values import dataclass

VARIABLE = "COLLC_SDK"
NAMES = ("cslc", "cs_python")


@dataclass(frozen=True)
class Tools:
    """What begins the command lines of a compiler and of a Python for host scripts; both for
    people."""

    cslc: tuple[str, ...]
    cs_python: tuple[str, ...]
    told: str


def find_tools(given: Path | None, environment: Mapping[str, str]) -> Tools:
    """The commands of a local SDK. Raises UnavailableError, which says where they are not."""
    place, where = _search_path(given, environment)
    found = {name: shutil.which(name, path=place) for name in NAMES}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        raise UnavailableError(f"no {' and no '.join(missing)} {where}")
    for name, path in found.items():
        if is_stand_in(Path(str(path))):
            raise UnavailableError(f"{name} {where} is fabsim's stand-in ({path}), no SDK")
    cslc, cs_python = (os.path.abspath(str(found[name])) for name in NAMES)
    return Tools((cslc,), (cs_python,), f"{cslc}, {cs_python}")


def _search_path(given: Path | None, environment: Mapping[str, str]) -> tuple[str, str]:
    """The folders to look into, as PATH has them, and where that is, in words."""
    if given is not None:
        return _folders(str(given)), f"in {given} (--sdk)"
    if named := environment.get(VARIABLE):
        return _folders(named), f"in {named} ({VARIABLE})"
    return environment.get("PATH", ""), f"on PATH (nor is --sdk or {VARIABLE} given)"


def _folders(sdk: str) -> str:
    return os.pathsep.join((sdk, os.path.join(sdk, "bin")))


def is_stand_in(path: Path) -> bool:
    """Whether a command is one of those that `fabsim shims` writes, or a link or a copy of it."""
    try:
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError:
        return False
    return head.startswith(b"#!") and b"fabsim" in head


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
