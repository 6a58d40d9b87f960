"""What a back end is: something that compiles a folder of CSL and runs a host script on the result.

In reading order: what the user says about the tools (`Settings`), what is compiled (`Job`), what
comes of it (`Compiled`, `Outcome`), the ways in which it can fail, and the interface itself.
A back end knows nothing of collectives: emitted programs and probes are run alike.
"""

from pathlib import Path
from typing import Protocol

from collc.base.values import dataclass


class UnavailableError(Exception):
    """The tools of a back end are not here; the text says what is missing and where it was looked
    for."""


class CompileError(Exception):
    """The tools refused the program; the text is their own."""


@dataclass(frozen=True)
class Settings:
    """Where the tools are and what they use.

    `sdk` is a folder with `cslc` and `cs_python`; `client_python` a Python with the appliance
    client, `machine` whether the appliance is asked for a system instead of its simulator;
    `address` is IP:port of a CS system. The files of every run are kept in `keep`, a folder for
    each back end; without it they are removed. A command that takes longer than `timeout_seconds`
    is ended. PEs begin launches up to `late_cycles` late where the back end itself can let them, as
    fabsim can.
    """

    sdk: Path | None = None
    client_python: str | None = None
    machine: bool = False
    address: str | None = None
    keep: Path | None = None
    timeout_seconds: float | None = None
    late_cycles: int = 0


@dataclass(frozen=True)
class Job:
    """A program in a folder: its top file, and the words of cslc's command line behind that, but
    for `-o`: `--arch=wse2`, `--fabric-dims=8,3` and so on."""

    folder: Path
    options: tuple[str, ...]
    layout: str = "layout.csl"


@dataclass(frozen=True)
class Compiled:
    """A compiled program: the working directory of its runs, which holds a copy of the job's files
    and later sim.log and the like, what cslc named its output, and what it said."""

    directory: Path
    artifact: str
    log: str


@dataclass(frozen=True)
class Outcome:
    """A host script that has ended: its status, standard output and error, and how long it took.

    Files that it wrote are in the directory of the `Compiled`.
    """

    status: int
    output: str
    errors: str
    wall_seconds: float


class BackEnd(Protocol):
    """Tools that compile and run. The constructor raises UnavailableError where there are none."""

    @property
    def name(self) -> str:
        """As `--on` has it."""

    @property
    def tools(self) -> str:
        """What was found, for people: paths, versions."""

    def compile(self, job: Job) -> Compiled:
        """Copy the job's folder to a working directory and compile it there. Raises CompileError,
        and UnavailableError where the tools cannot be reached."""

    def run(self, compiled: Compiled, script: str, arguments: tuple[str, ...] = ()) -> Outcome:
        """Run a host script of the folder with `--name ARTIFACT`, `--cmaddr` where there is a
        system, and these arguments. Raises UnavailableError where the tools cannot be reached."""

    def close(self) -> None:
        """Remove what is not to be kept."""
