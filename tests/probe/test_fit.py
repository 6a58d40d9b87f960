"""Constants from readings that are sums of them, by the letter."""

from __future__ import annotations

from collc.probe.fit import fit

START = {"a": 3, "b": 5, "c": 7, "d": 1}


def fitted(predict, truth):
    return fit(predict(truth), START, list(START), predict)


def test_what_each_reading_determines_is_found_and_by_which():
    found = fitted(lambda t: {"one": 2 * t["a"], "two": t["a"] + 3 * t["b"]}, START | {"a": 9})
    assert found.determined == {"a": (9, ("one",)), "b": (5, ("one", "two"))}
    assert found.untold == ["c", "d"]
    assert not found.equations and not found.unexplained


def test_a_sum_that_is_not_told_apart_is_an_equation():
    found = fitted(lambda t: {"sum": t["a"] + 2 * t["c"]}, START | {"c": 9})
    assert not found.determined
    assert [(one.factors, one.value) for one in found.equations] == [({"a": 1, "c": 2}, 21)]


def test_a_reading_that_bends_determines_nothing_but_is_kept():
    found = fitted(lambda t: {"longer": max(t["a"], t["b"])}, START | {"a": 8})
    assert not found.determined
    assert found.bounded == ["a", "b"]
    assert not found.unexplained


def test_readings_that_contradict_each_other_are_named():
    measured = {"one": 4, "other": 9}

    def predict(table):
        return {"one": table["a"], "other": 2 * table["a"]}

    found = fit(measured, START, list(START), predict)
    assert set(found.unexplained) == {"other"} or set(found.unexplained) == {"one"}


def test_no_constant_goes_below_nothing():
    found = fitted(lambda t: {"sum": t["a"] + t["d"]}, START | {"a": 0})
    assert min(found.table.values()) >= 0
    assert not found.unexplained


def test_what_no_machine_can_have_is_not_tried():
    def predict(table):
        return {"a": table["a"]} if table["a"] <= 4 else None

    found = fit({"a": 9}, START, list(START), predict)
    assert found.table["a"] <= 4
    assert found.unexplained == {"a": (9, found.table["a"])}


def rates(table):
    return {"copy": 3200 // table["d"] if table["d"] else 8, "sum": 4 * table["a"]}


def test_a_limit_far_from_none_is_looked_up_and_moves_nothing_else():
    start = START | {"d": 0}
    found = fit(rates(start | {"d": 2, "a": 4}), start, list(start), rates, ["d"])
    assert found.table == start | {"d": 2, "a": 4}
    assert found.determined == {"a": (4, ("sum",))}
    assert found.bounded == ["d"] and not found.unexplained


def test_a_limit_that_slows_nothing_down_stays_none():
    start = START | {"d": 0}
    found = fit(rates(start | {"a": 4}), start, list(start), rates, ["d"])
    assert found.table["d"] == 0 and found.determined["a"][0] == 4


def test_a_reading_that_is_faster_than_without_a_limit_is_not_explained_by_one():
    start = START | {"d": 0}
    found = fit({"copy": 5}, start, list(start), rates, ["d"])
    assert found.table["d"] == 0 and found.unexplained == {"copy": (5, 8)}
