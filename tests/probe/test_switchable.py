"""docs/probes.md says of every rule that the blind test cannot switch off why that is so."""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby
from pathlib import Path

import pytest

from collc.probe.survey import rules

fabsim = pytest.importorskip("fabsim")

PAGE = Path(__file__).parents[2] / "docs" / "probes.md"
HEAD = "| rules | why there is no other form of them |\n|---|---|\n"


def table() -> str:
    """Rules by the reason why they are fixed, the most frequent first."""
    by_reason = defaultdict(list)
    for rule in rules():
        reason = fabsim.fixed_rule(rule.number)
        if reason:
            by_reason[reason].append(rule.number)
    ranked = sorted(by_reason.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    rows = (f"| {len(of)}: {listed(of)} | {reason} |" for reason, of in ranked)
    return HEAD + "\n".join(rows) + "\n"


def listed(numbers: list[str]) -> str:
    """`M3-1 to 3, 5; M4-2`."""
    parts = []
    split = [number.rsplit("-", 1) for number in numbers]
    for section, some in groupby(split, key=lambda pair: pair[0]):
        runs = groupby(enumerate(int(n) for _, n in some), key=lambda pair: pair[1] - pair[0])
        spans = [[number for _, number in run] for _, run in runs]
        words = (f"{s[0]} to {s[-1]}" if len(s) > 1 else f"{s[0]}" for s in spans)
        parts.append(f"{section}-{', '.join(words)}")
    return "; ".join(parts)


def test_the_page_names_every_fixed_rule_and_why(request: pytest.FixtureRequest) -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, found, rest = text.partition(HEAD)
    assert found, "the page has the table"
    _, blank, behind = rest.partition("\n\n")
    if request.config.getoption("--update-expect"):
        PAGE.write_text(f"{before}{table().rstrip()}{blank}{behind}", encoding="utf-8")
        return
    assert f"{HEAD}{rest.partition(blank)[0]}\n" == table()


def test_a_rule_is_switchable_or_fixed_and_never_both() -> None:
    switchable = {number for number, _ in fabsim.switchable_rules()}
    for rule in rules():
        assert (rule.number in switchable) != bool(fabsim.fixed_rule(rule.number)), rule.number


def test_runs_of_numbers_are_joined() -> None:
    assert listed(["M3-1", "M3-2", "M3-5", "M4-2"]) == "M3-1 to 2, 5; M4-2"
