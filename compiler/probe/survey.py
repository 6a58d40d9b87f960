"""The whole survey: timing probes and their fit, then every rule, on one tool."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from importlib.resources import files

from collc.backends import UnavailableError
from collc.base.values import dataclass
from collc.probe.decide import Finding, Verdict, decide
from collc.probe.fabsim import Fabsim
from collc.probe.fit import Fit, fit
from collc.probe.job import Job, Seen, Tool
from collc.probe.model import Measured, Model, measure
from collc.probe.program import Program, programs

_SHIFTS = (1, -1, 2, -2, 4)
_LARGEST = max(map(abs, _SHIFTS))

Table = dict[str, int]


class Fitted:
    """fabsim with the fitted constants, by architecture."""

    def __init__(self, fits: Mapping[str, Fit]) -> None:
        self._fits = fits
        self._fabsim = Fabsim()
        self._others: dict[str, list[Table]] = {}

    def shows(self, job: Job, seen: Seen) -> bool:
        """Whether a job comes to what was seen with the fitted constants, or now to one thing and
        now to another with those that fit as well."""
        fit = self._fits.get(job.arch)
        if fit is None:
            return False
        first = self._done(job, fit.table)
        return alike(first, seen) or any(
            not alike(self._done(job, table), first) for table in self._as_good(job.arch, fit)
        )

    def _as_good(self, arch: str, fit: Fit) -> list[Table]:
        """The other tables that give the same readings; what no machine can have gives none."""
        if arch not in self._others:
            model = Model(arch)
            readings = model.readings(fit.table)
            self._others[arch] = [one for one in others(fit) if model.readings(one) == readings]
        return self._others[arch]

    def _done(self, job: Job, table: Table) -> Seen:
        return self._fabsim.with_constants({job.arch: table}).do(job)


def alike(one: Seen, other: Seen) -> bool:
    """Whether two runs came to the same, whatever the cycles in their messages."""
    return (one.status, one.kind, one.words) == (other.status, other.kind, other.words)


def others(fit: Fit) -> Iterator[Table]:
    """Tables in which every sum that is known is dealt out otherwise to its constants, and each
    constant that is only bounded is another; as far as none is below nothing. A limit that is none
    stays so: the next number is the tightest."""
    moving = [name for name in fit.bounded if name not in fit.limits or fit.table[name] > _LARGEST]
    for shift in _SHIFTS:
        for end in (0, -1):
            table = dict(fit.table)
            for equation in fit.equations:
                names = list(equation.factors)
                one, other = names[end], names[-1 - end]
                its, of = equation.factors[one], equation.factors[other]
                moved = {one: table[one] + shift * of, other: table[other] - shift * its}
                if min(moved.values()) >= 0:
                    table |= moved
            table |= {name: max(0, table[name] + shift) for name in moving}
            yield table


_ITEM = re.compile(r"- \*\*(M[\d.]+-\d+)\*\* (.*)")


@dataclass(frozen=True)
class Rule:
    """One statement about the machine or the language."""

    number: str
    text: str


def rules() -> list[Rule]:
    """All of them, in the order of the page."""
    found: list[list[str]] = []
    inside = False
    for line in files("collc.probe").joinpath("machine.md").read_text().splitlines():
        item = _ITEM.fullmatch(line)
        if item:
            found.append([item[1], item[2]])
        elif inside and line.startswith("  "):
            found[-1].append(line.strip())
        inside = bool(item) or (inside and line.startswith("  "))
    return [Rule(number, " ".join(text)) for number, *text in found]


Progress = Callable[[str], None]
_STRENGTH = (Verdict.REFUTED, Verdict.CONFIRMED, Verdict.OPEN)


@dataclass(frozen=True)
class Timed:
    """The timing probes of an architecture; `fit` is None without fabsim, which it needs."""

    measured: Measured
    fit: Fit | None


@dataclass(frozen=True)
class RuleReport:
    """What is known of a rule, and by which probes."""

    rule: Rule
    verdict: Verdict
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Survey:
    """What was found on a tool."""

    tool: str
    archs: tuple[str, ...]
    rules: tuple[RuleReport, ...]
    timing: dict[str, Timed]


def survey(
    tool: Tool,
    archs: Sequence[str],
    *,
    asked: Sequence[str] = (),
    jobs: int = 1,
    progress: Progress | None = None,
) -> Survey:
    """Run the probes of all rules, or of those that one of the patterns `asked` fits."""
    say = progress or (lambda _: None)
    timing = {}
    for arch in archs:
        say(f"timing probes, {arch}")
        timing[arch] = timed(tool, arch)
    fitted = _fitted(timing)
    wanted = [rule for rule in rules() if _fits(rule.number, asked)]
    findings = _findings(tool, archs, {rule.number for rule in wanted}, fitted, jobs, say)
    reports = []
    for rule in wanted:
        own = tuple(finding for names, finding in findings if rule.number in names)
        reports.append(RuleReport(rule, _together(own), own))
    return Survey(tool.told, tuple(archs), tuple(reports), timing)


def timed(tool: Tool, arch: str) -> Timed:
    """Run the timing probes and fit fabsim's constants to them."""
    measured = measure(tool, arch)
    try:
        model = Model(arch)
    except UnavailableError:
        return Timed(measured, None)
    found = fit(measured.readings, model.base, model.constants, model.readings, model.limits)
    return Timed(measured, found)


def _fitted(timing: dict[str, Timed]) -> Fitted | None:
    """Fabsim with cycles that fit, where it is installed."""
    fits = {arch: timed.fit for arch, timed in timing.items() if timed.fit is not None}
    return Fitted(fits) if fits else None


def _fits(number: str, asked: Sequence[str]) -> bool:
    return not asked or any(fnmatchcase(number, pattern) for pattern in asked)


def _findings(  # noqa: PLR0913, PLR0917 - what to do, and how
    tool: Tool,
    archs: Sequence[str],
    wanted: set[str],
    fitted: Fitted | None,
    jobs: int,
    say: Progress,
) -> list[tuple[tuple[str, ...], Finding]]:
    """What every probe of these rules shows, with the rules it is about, in the order of names."""
    todo = [
        (program, arch)
        for program in programs()
        if wanted & set(program.rules)
        for arch in program.archs
        if arch in archs
    ]

    def do(one: tuple[Program, str]) -> tuple[tuple[str, ...], Finding]:
        program, arch = one
        say(f"{program.name}, {arch}")
        return program.rules, decide(program, arch, tool, fitted)

    if jobs == 1:
        return [do(one) for one in todo]
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(do, todo))


def _together(findings: Sequence[Finding]) -> Verdict:
    """One probe that refutes a rule refutes it; one that confirms it confirms it, unless."""
    found = {finding.verdict for finding in findings}
    return next((verdict for verdict in _STRENGTH if verdict in found), Verdict.OPEN)
