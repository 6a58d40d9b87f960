"""The emitted text that hands a color on, changed: fabsim names what goes wrong, or nothing does.

A router is torn down, its handler notes that, a phase that waits for it begins, sets routes and
switch positions and ends the teardown. Each of these left out or done too early must not lead to a
wrong result that nobody is told of, whatever the timing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

import collc
from collc.driver.bundle import Bundle
from mutants import programs

SKEWS = (0, 40, 200)
TWICE = "two operations use input queue"
LIVE = "is configured while it is live"
STUCK = "nothing can move any more"


def started_without_waiting(text: str) -> str:
    """A phase begun whether its colors are torn down or not."""
    return re.sub(r"if \(missing == 0\) \{\s*(opened_\w+\(\);)\s*\} else \{[^}]*\}", r"\1", text)


def teardown_not_noted(text: str) -> str:
    """The handler of a color without what it notes."""
    return text.replace("in_use &= ~mask;", "")


def teardown_not_ended(text: str) -> str:
    """The color stays torn down."""
    return text.replace("tile_config.teardown.exit(config.id);", "")


def routes_left_as_they_are(text: str) -> str:
    """The routes of the phase before, or those of the layout."""
    return re.sub(r"color_config\.reset_routes\(config\.id, [^;]*;", "", text)


def position_left_as_it_is(text: str) -> str:
    """A switch at position 1 stays there."""
    return text.replace("switch_config.clear_current_position(config.id);", "")


Change = Callable[[str], str]
CHANGES: tuple[tuple[Change, str, str], ...] = tuple(
    (change, target, told)
    for change, told in (
        (started_without_waiting, f"{TWICE}|{LIVE}|{STUCK}"),
        (teardown_not_noted, f"{TWICE}|{STUCK}"),
        (teardown_not_ended, STUCK),
        (routes_left_as_they_are, STUCK),
        (position_left_as_it_is, STUCK),
    )
    for target in ("wse2", "wse3")
)
each_change = pytest.mark.parametrize(
    ("change", "target", "told"),
    CHANGES,
    ids=[f"{change.__name__}-{target}" for change, target, _ in CHANGES],
)


bundle_of = cache(programs.bundle_of)


def changed(bundle: Bundle, change: Change) -> Bundle:
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
