"""The whole survey: timing probes and their fit, then every rule, on one tool."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase

from collc.backends import UnavailableError
from collc.probe.decide import Finding, Verdict, decide
from collc.probe.fit import Fit, fit
from collc.probe.fitted import Fitted
from collc.probe.job import Tool
from collc.probe.model import Measured, Model, measure
from collc.probe.program import Program, programs
from collc.probe.rules import Rule, rules

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
