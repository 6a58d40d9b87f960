"""The report of a survey: JSON that is the same for the same findings, and a table for people."""

from collections.abc import Iterator
from typing import Any

from collc.base.version import __version__
from collc.probe.decide import Verdict
from collc.probe.fabsim import BASE
from collc.probe.fit import Equation, Fit
from collc.probe.survey import RuleReport, Survey, Timed

#: The form of the JSON; it changes with every key that changes its meaning.
SCHEMA = 1
_SHOWN = 100  # characters of what was seen, in the table


def as_json(survey: Survey) -> dict[str, Any]:
    """The report, without dates or anything else that changes by itself."""
    return {
        "schema": SCHEMA,
        "collc": __version__,
        "tool": survey.tool,
        "archs": list(survey.archs),
        "rules": {report.rule.number: _rule(report) for report in survey.rules},
        "timing": {arch: _timing(timed) for arch, timed in survey.timing.items()},
    }


def _rule(report: RuleReport) -> dict[str, Any]:
    return {
        "verdict": report.verdict.value,
        "states": report.rule.text,
        "probes": [
            {
                "probe": finding.probe,
                "arch": finding.arch,
                "verdict": finding.verdict.value,
                "seen": finding.seen,
            }
            for finding in report.findings
        ],
    }


def _timing(timed: Timed) -> dict[str, Any]:
    facts = {"readings": timed.measured.readings, "problems": timed.measured.problems}
    return facts | ({"fit": _fit(timed.fit)} if timed.fit else {})


def _fit(fit: Fit) -> dict[str, Any]:
    return {
        "determined": {
            name: {"cycles": value, "by": list(by)} for name, (value, by) in fit.determined.items()
        },
        "not_told_apart": [
            {"sum": sum_text(equation), "cycles": equation.value, "by": list(equation.by)}
            for equation in fit.equations
        ],
        "bounded": fit.bounded,
        "untold": fit.untold,
        "unexplained": {
            name: {"measured": measured, "fabsim": ours}
            for name, (measured, ours) in fit.unexplained.items()
        },
        "table": {"rates": BASE, "constants": fit.table},
    }


def table_of(survey: Survey) -> dict[str, Any]:
    """The content of a file for `fabsim ... --timing FILE`: what was fitted, by architecture; what
    no probe tells apart is as in fabsim's own table, as far as sums allow it."""
    fits = ((arch, timed.fit) for arch, timed in survey.timing.items())
    return {arch: {"rates": BASE, "constants": fit.table} for arch, fit in fits if fit}


def sum_text(equation: Equation) -> str:
    """`2 * a + b`."""
    terms = [(name, by) for name, by in equation.factors.items()]
    texts = [name if by == 1 else f"{by} * {name}" for name, by in terms]
    return " + ".join(texts)


def as_text(survey: Survey) -> Iterator[str]:
    """The table: counts, what is refuted, what the timing came to."""
    yield f"{survey.tool}; {', '.join(survey.archs)}"
    counts = {verdict: 0 for verdict in Verdict}
    for report in survey.rules:
        counts[report.verdict] += 1
    yield "rules: " + ", ".join(f"{count} {verdict.value}" for verdict, count in counts.items())
    for report in survey.rules:
        if report.verdict is Verdict.REFUTED:
            yield from _refuted(report)
    for arch, timed in survey.timing.items():
        yield from _timing_lines(arch, timed)


def _refuted(report: RuleReport) -> Iterator[str]:
    yield f"  {report.rule.number} is refuted: {_short(report.rule.text)}"
    for finding in report.findings:
        if finding.verdict is Verdict.REFUTED:
            yield f"    {finding.probe}, {finding.arch}: {_short(finding.seen)}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]} ..."


def _timing_lines(arch: str, timed: Timed) -> Iterator[str]:
    yield f"cycles, {arch}: {len(timed.measured.readings)} readings"
    for probe, problem in timed.measured.problems.items():
        yield f"  {probe}: {_short(problem)}"
    if timed.fit is None:
        yield "  fabsim is not installed: nothing is fitted"
        return
    fit = timed.fit
    for name, (value, _) in fit.determined.items():
        yield f"  {name:<24} {value}"
    for equation in fit.equations:
        yield f"  {sum_text(equation)} = {equation.value}"
    for what, names in (("only bounded", fit.bounded), ("told by no probe", fit.untold)):
        if names:
            yield f"  {what}: {', '.join(names)}"
    for name, (measured, ours) in fit.unexplained.items():
        yield f"  {name}: {measured} measured, {ours} by any constants that fit the rest"
