"""Checks notice what has gone wrong: a formula, a rule or a pattern bent a little is found."""

from __future__ import annotations

import pytest

from collc_research.networks import dimension, uniform_forms
from collc_research.reproduce import (
    astra,
    closed_forms,
    patterns,
    rabenseifner,
    thesis_structure,
    tuwien,
    two_tier,
)
from collc_research.reproduce.claims import Depth
from collc_research.reproduce.table import checked, claims

CLAIMS = {claim.id: claim for claim in claims()}

OTHERS = {"halving_doubling": "recursive_doubling", "pipelined_reduce": "binary_tree_reduce"}
NUMBERS = {
    "T04": "star 517, binomial 557, chain 3067, optimum 517",
    "T14": "3578 / 1727 = 2.07",
    "T15": "B = 2353, 4.60 P (sound visits: 2363, 4.62 P)",
    "T17": "tree to B = 61, two-phase to 2352, then chain",
    "T22": "the ring wins from B = 2046, 4.00 P",
    "T24": "1.48 at P = 3, 1.31 at 4; the ring wins to P = 18",
    "T26": "at least 1.237 times the best naive one (P = 9, B = 18)",
    "T28b": "2, 2 positions, changes: 168 of the sending side, 423 of the receiving side only",
    "T28c": "2, 2 positions, changes: 212 of the sending side, 234 of the receiving side only",
    "R08": "3.5 n beta and 1.125 n gamma, not 3.75 and 1.375",
    "N13": "52 of 66 as worded, 55 with three departures",
    "W03": "11 and 11; 17 and 27; 47 and 57; 137 and 237",
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_stay_what_they_are(name):
    assert checked(CLAIMS[name], Depth(thorough=False)).ours == NUMBERS[name]


def as_recorded(name: str) -> bool:
    return checked(CLAIMS[name], Depth(thorough=False)).as_recorded


@pytest.mark.parametrize(
    ("form", "names"),
    [
        ("chain", ["T01", "T13", "T18"]),
        ("star", ["T01", "T03", "T08"]),
        ("binomial", ["T06"]),
        ("two_phase", ["T09"]),
        ("left_right", ["T18"]),
        ("ring_reduce", ["T19", "T21"]),
    ],
)
def test_a_formula_that_is_off(monkeypatch, form, names):
    right = getattr(closed_forms, form)
    monkeypatch.setattr(closed_forms, form, lambda *a, **k: right(*a, **k) + 17)
    assert not all(as_recorded(name) for name in names)


@pytest.mark.parametrize(
    ("form", "name"),
    [("halving_doubling", "R04"), ("halving_doubling_reduce", "R05"), ("ring_allreduce", "R06")],
)
def test_a_formula_of_uniform_cost_that_is_off(monkeypatch, form, name):
    right = getattr(uniform_forms, form)
    monkeypatch.setattr(uniform_forms, form, lambda p, n, net: right(p, n, net) + 1e-3)
    assert not as_recorded(name)


@pytest.mark.parametrize(("constant", "value"), [("_ACCESSES", 2), ("_GIB", 10**9)])
def test_a_rule_for_messages_that_is_off(monkeypatch, constant, value):
    astra._cost.cache_clear()
    monkeypatch.setattr(dimension, constant, value)
    assert not as_recorded("A01")
    astra._cost.cache_clear()


def test_an_algorithm_that_is_another_one(monkeypatch):
    right = patterns.steps_of

    def other(name, ranks, **values):
        swapped = {
            "halving_doubling": "recursive_doubling",
            "pipelined_reduce": "binary_tree_reduce",
        }
        return right(swapped.get(name, name), ranks, **values)

    for module in (rabenseifner, tuwien):
        monkeypatch.setattr(module, "steps_of", other)
    assert not any(as_recorded(name) for name in ("R02", "R04", "R09", "W01", "W02"))


def test_a_plan_with_other_colors(monkeypatch):
    star = thesis_structure.reduction("reduce star to 0", 512)
    monkeypatch.setattr(thesis_structure, "reduction", lambda *_: star)
    assert [as_recorded(f"T28{letter}") for letter in "abcd"] == [False, False, False, True]


def test_links_that_are_counted_otherwise(monkeypatch):
    monkeypatch.setattr(two_tier, "UNIT", 2 * two_tier.UNIT)
    two_tier._use.cache_clear()
    assert not any(as_recorded(name) for name in ("N04", "N09", "N13"))
    two_tier._use.cache_clear()
