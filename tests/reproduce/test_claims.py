"""Every claim of the sources comes out as it is on record."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest
from click.testing import CliRunner
from rich.console import Console

from collc.cli import commands
from collc.commands import reproduce as command
from collc_research.reproduce.claims import Claim, Depth, Finding, Row, Verdict, close, exact, slip
from collc_research.reproduce.show import rows_as_data, summary, tables_of
from collc_research.reproduce.table import checked, claims
from commands import collc

CLAIMS = claims()
QUICK = Depth(thorough=False)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_a_claim_comes_out_as_recorded(claim):
    row = checked(claim, QUICK)
    assert row.verdict is claim.recorded, f"{row.ours}; {row.note}"


def test_identifiers_are_distinct_and_every_source_has_some():
    assert len({claim.id for claim in CLAIMS}) == len(CLAIMS) == 99
    assert {claim.id[0] for claim in CLAIMS} == set("TRANW")


def test_as_many_verdicts_of_each_kind_as_on_record():
    counts = {v: sum(c.recorded is v for c in CLAIMS) for v in Verdict}
    assert counts == {
        Verdict.EXACT: 28,
        Verdict.HOLDS: 25,
        Verdict.CLOSE: 15,
        Verdict.SLIP: 23,
        Verdict.DIFFERS: 5,
        Verdict.OPEN: 3,
    }


@pytest.mark.parametrize("claim", [c for c in CLAIMS if c.recorded is Verdict.SLIP])
def test_a_slip_says_what_the_text_has_and_what_is_sound(claim):
    row = checked(claim, QUICK)
    assert row.printed not in ("", "-")
    assert row.ours not in ("", "-", row.printed)


def wrong(claim: Claim) -> Claim:
    """A claim on record as something else."""
    return replace(claim, recorded=Verdict.DIFFERS)


def test_a_claim_that_comes_out_otherwise_is_told():
    row = checked(wrong(CLAIMS[0]), QUICK)
    assert not row.as_recorded
    assert summary([row]).endswith("not as recorded: T01")
    assert rows_as_data([row])["as_recorded"] is False


def test_the_command_fails_where_a_claim_comes_out_otherwise(monkeypatch):
    row = checked(wrong(CLAIMS[0]), QUICK)
    monkeypatch.setattr(command, "reproduce", lambda quick: [row])
    found = CliRunner().invoke(commands, ["reproduce", "--quick"])
    assert found.exit_code == 1
    assert "not DIFFERS" in found.output


def test_the_tables_fit_a_terminal():
    both = (Verdict.EXACT, Verdict.HOLDS)
    rows = [Row("T01", "a source", "a" * 90, "-", "b" * 90, "c" * 90, *both, "a note")]
    console = Console(width=80, record=True, file=io.StringIO())
    for table in tables_of(rows):
        console.print(table)
    assert all(len(line) <= 80 for line in console.export_text().splitlines())


def test_the_command_prints_every_claim_as_data():
    found = collc("reproduce", "--quick", "--json")
    assert found.returncode == 0
    data = json.loads(found.stdout)
    assert [row["id"] for row in data["claims"]] == [claim.id for claim in CLAIMS]
    assert data["as_recorded"] is True


# ---- how verdicts come about


def test_values_of_the_same_size_are_close_and_equal_ones_exact():
    assert close([(10, 11)], "", "").verdict is Verdict.CLOSE
    assert close([(10, 10)], "", "").verdict is Verdict.EXACT
    assert close([(10, 20)], "", "").verdict is Verdict.DIFFERS
    assert exact(False, "").verdict is slip(False, "", "").verdict is Verdict.DIFFERS


def test_a_quick_look_takes_the_ends_of_a_range():
    values = range(3, 1000)
    some = QUICK.of(values, 8)
    assert (len(some), some[0], some[-1]) == (8, 3, 999)
    assert Depth(thorough=True).of(values) is values
    assert QUICK.of((1, 2), 8) == (1, 2)


def test_a_finding_may_be_without_a_note():
    assert Finding("1", Verdict.EXACT).note == ""
