from dataclasses import replace

import pytest

import building as b
from collc.cost import predict, show_prediction, unmet_expectations
from collc.cost.choice import build_plan
from collc.cost.show import shortened
from collc.schedule import build_schedule
from collc.spec import Expectation
from collc.target import WSE2


def unmet(tree, quantity, relation, factor, times_bound=False):
    expected = Expectation(quantity, relation, factor, times_bound, "this", b.HERE)
    collective = replace(b.line_reduce(tree, 100), expectations=(expected,))
    schedule = build_schedule(collective)
    plan = build_plan(schedule, WSE2)
    found = unmet_expectations((expected,), plan, predict(plan))
    return [problem.message for problem in found]


def test_a_chain_is_close_to_the_bound_and_a_star_is_not():
    assert unmet(b.chain(4), "cycles", "<=", 1.6, times_bound=True) == []
    (message,) = unmet(b.star(4), "cycles", "<=", 1.6, times_bound=True)
    assert "bound 111" in message


@pytest.mark.parametrize(
    ("cycles", "bound", "told"),
    [(7, 0, "7"), (2_000_001, 2, "1000000.5 * bound"), (301, 200, "1.51 * bound")],
)
def test_a_factor_of_the_bound_that_is_met_is_told_unless_a_single_pe_has_none(cycles, bound, told):
    collective = b.line_reduce(b.chain(4), 100)
    plan = build_plan(build_schedule(collective), WSE2)
    prediction = replace(predict(plan), cycles=cycles, bound=bound)
    expected = Expectation("cycles", "<=", 1.0, True, "this", b.HERE)
    (problem,) = unmet_expectations((expected,), plan, prediction)
    assert [edit.text for edit in problem.fix] == [f"expect cycles <= {told}"]


@pytest.mark.parametrize(("limit", "problems"), [(2, 0), (1, 1)])
def test_colors_are_counted(limit, problems):
    assert len(unmet(b.chain(4), "colors", "<=", limit)) == problems


@pytest.mark.parametrize(("limit", "problems"), [(4096, 0), (400, 1)])
def test_memory_is_code_and_data(limit, problems):
    assert len(unmet(b.chain(4), "memory_bytes", "<", limit)) == problems


@pytest.mark.parametrize(
    ("waits", "told"), [(6, "012345"), (7, "0123456"), (8, "012 (2 more) 567")]
)
def test_no_place_of_a_chain_is_kept_for_a_single_one(waits, told):
    entries = list(map(str, range(waits)))
    assert "".join(f" ({one}) " if "more" in one else one for one in shortened(entries)) == told


def test_a_long_critical_path_is_cut():
    schedule = build_schedule(b.line_allreduce(b.chain(300)))
    text = show_prediction(predict(build_plan(schedule, WSE2)))
    assert "293 more" in text
    assert "the way to the farthest PE (299 hops)" in text
    assert text.startswith("predicted: ")
