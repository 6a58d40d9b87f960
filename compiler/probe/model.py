"""The timing probes, and what fabsim says of them: readings by name, for any constants."""

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

from collc.base.values import dataclass
from collc.probe.decide import evaluate
from collc.probe.fabsim import BASE, Fabsim, fabsim_module
from collc.probe.job import Job, Status, Tool, job_of
from collc.probe.program import ARCHS, Program, read

#: Numbers of a table that count no cycles: forms of code.
FORMS = ("optimized", "exclusive_main", "measured_rates")

Readings = dict[str, int]


@dataclass(frozen=True)
class Measured:
    """What the timing probes give on a tool: readings by name, and what went wrong by probe."""

    readings: Readings
    problems: dict[str, str]


def timing_programs() -> list[Program]:
    """The timing probes, by name; their headers have a title and no rules."""
    folder = files("collc.probe").joinpath("timing")
    paths = sorted(folder.iterdir(), key=lambda path: path.name)
    texts = {path.name.removesuffix(".csl"): path.read_text() for path in paths}
    return [read(name, f"// timing: {text[3:]}") for name, text in texts.items()]


def names(program: Program) -> dict[str, str]:
    """The readings of a probe by name: differences of words."""
    pairs = (line.partition(" = ") for line in program.values("reading", ARCHS[0]))
    return {f"{program.name}: {name}": value for name, _, value in pairs}


@lru_cache
def _jobs(arch: str) -> tuple[tuple[Program, Job], ...]:
    return tuple((program, job_of(program, arch)) for program in timing_programs())


def measure(tool: Tool, arch: str) -> Measured:
    """Run the timing probes. A reading is a difference of stamps of one PE: it does not depend on
    when the host began, nor on what a stamp takes."""
    readings: Readings = {}
    problems: dict[str, str] = {}
    for program, job in _jobs(arch):
        seen = tool.do(job)
        if seen.status is not Status.RAN:
            problems[program.name] = f"{seen.status.value}: {seen.said}"
            continue
        for name, value in names(program).items():
            found = evaluate(value, seen)
            if found is not None:
                readings[name] = found
    return Measured(readings, problems)


class Model:
    """fabsim's readings for any constants of an architecture."""

    def __init__(self, arch: str) -> None:
        self.arch = arch
        self.base: dict[str, int] = dict(fabsim_module().timing_numbers(BASE, arch))
        self._fabsim = Fabsim()
        self._known: dict[tuple[int, ...], Readings | None] = {}

    @property
    def constants(self) -> list[str]:
        """The numbers that a fit may change."""
        return [name for name in self.base if name not in FORMS]

    @property
    def limits(self) -> list[str]:
        """Those of them of which 0 stands for none: hundredths of an element a cycle."""
        return [name for name in self.constants if name.endswith("_hundredths")]

    def readings(self, constants: Mapping[str, int]) -> Readings | None:
        """The readings with these constants; None if no machine has them together."""
        key = tuple(constants[name] for name in self.base)
        if key not in self._known:
            tool = self._fabsim.with_constants({self.arch: constants})
            found = measure(tool, self.arch)
            self._known[key] = None if found.problems else found.readings
        return self._known[key]
