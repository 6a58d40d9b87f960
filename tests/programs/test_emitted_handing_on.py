"""The emitted text that hands a color on, changed: fabsim names what goes wrong, or nothing does.

A router is torn down, its switch is set, then its routes, which opens it. Each of these left out or
put elsewhere must not lead to a wrong result that nobody is told of, whatever the timing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

import collc
from collc.bundle import ProgramBundle
from mutants import programs

SKEWS = (0, 40, 200)
LIVE = "is configured while it is live"
STUCK = "nothing can move any more"


def opened_before_its_switch_is_set(text: str) -> str:
    """The color's register, which opens the router, written before that of the switch."""
    return re.sub(
        r"^( *if \(\w+\.moves\) \{ @set_config.*\n)( *@set_config.*\n)", r"\2\1", text, flags=re.M
    )


def switch_left_as_it_is(text: str) -> str:
    """The register of the switch not written."""
    return re.sub(r"^ *if \(\w+\.moves\) \{ @set_config.*\n", "", text, flags=re.M)


def opened_without_a_look(text: str) -> str:
    """The bit that tells of the teardown not looked at; on WSE-3 it still waits for `learn`."""
    text = text.replace("if (all == 0) { return false; }", "")
    return re.sub(r"^ *& \(if \(\w+\.used\) @get_config.*\n", "", text, flags=re.M)


def nothing_learned(text: str) -> str:
    """What registers are to hold is not found out, so no phase begins."""
    return text.replace("registers.learn();", "")


def numbers_instead_of_what_is_learned(text: str) -> str:
    """Phases begin, and write numbers of sides where they would write what registers hold."""
    return text.replace("registers.learn();", "registers.known = 0x4000;")


Change = Callable[[str], str]
CHANGES: tuple[tuple[Change, str, str], ...] = (
    (opened_before_its_switch_is_set, "wse2", LIVE),
    (opened_before_its_switch_is_set, "wse3", LIVE),
    (switch_left_as_it_is, "wse2", STUCK),
    (switch_left_as_it_is, "wse3", STUCK),
    (opened_without_a_look, "wse2", LIVE),
    (opened_without_a_look, "wse3", LIVE),
    (nothing_learned, "wse3", STUCK),
    (numbers_instead_of_what_is_learned, "wse3", STUCK),
)
each_change = pytest.mark.parametrize(
    ("change", "target", "told"),
    CHANGES,
    ids=[f"{change.__name__}-{target}" for change, target, _ in CHANGES],
)


bundle_of = cache(programs.bundle_of)


def changed(bundle: ProgramBundle, change: Change) -> ProgramBundle:
    files = {
        name: change(text) if name.endswith(".csl") else text for name, text in bundle.files.items()
    }
    assert files != bundle.files
    return replace(bundle, files=files)


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("skew", SKEWS)
@pytest.mark.parametrize("name", programs.SUCCESSIONS)
def test_the_text_as_it_is_delivers(name: str, skew: int, target: str) -> None:
    report = bundle_of(name, target, skew).run(seed=1)
    assert report.verified, report.problem


@each_change
def test_a_change_is_told_where_it_matters(change: Change, target: str, told: str) -> None:
    with pytest.raises(collc.RunError, match=told):
        changed(bundle_of("lines", target, 200), change).run(seed=1)


@each_change
@pytest.mark.parametrize("name", programs.SUCCESSIONS)
def test_no_change_leads_to_a_wrong_result(
    name: str, change: Change, target: str, told: str
) -> None:
    """What goes wrong is told, whatever it is; and some of it goes well with some timings."""
    for skew in SKEWS:
        try:
            report = changed(bundle_of(name, target, skew), change).run(seed=1)
        except collc.RunError:
            continue
        assert report.verified, (skew, report.problem)
