"""The survey finds out what is changed in a fabsim that takes a tool's place; see tests/blind.py,
the nightly run for other seeds, and `make probes` for twenty and every rule one by one."""

from __future__ import annotations

import pytest
from blind import blind, found_alone, refuted, unknown

from collc.probe.program import ARCHS
from collc.probe.survey import survey


def test_what_is_changed_at_random_is_found():
    machine, found, wrong = blind(0)
    assert not wrong
    assert set(machine.rules_off) <= refuted(found)


def test_constants_alone_refute_no_rule():
    machine = unknown(100, rules=0)
    found = survey(machine.tool, ARCHS, asked=("M2-*", "M2.4-*", "M3.1-*"))
    assert not refuted(found)


@pytest.mark.parametrize("rule", ["M2.2-3", "M2.3-1", "M3.2-2", "M3.9-9", "M6.2-12", "M7-4"])
def test_a_rule_that_is_off_by_itself_is_found(rule):
    assert found_alone(rule)
