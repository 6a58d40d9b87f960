"""A plan's text says all of the plan: it is read back as the same plan."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collc.cost.choice import build_plan
from collc.driver.pipeline import compile_text
from collc.lowering import candidate_plans
from collc.plan import (
    VECTOR,
    Action,
    Advance,
    Buffer,
    Entry,
    Filter,
    Memory,
    Number,
    Op,
    Plan,
    Slices,
)
from collc.plan.show import show_entry, show_number, show_op, show_plan
from collc.schedule import build_schedule
from collc.target import TARGETS
from emitting import every_kind_of_collective
from tests.reading_plans import read_entry, read_number, read_op, read_plan

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.coll"))

small = st.integers(0, 40)
numbers = st.builds(
    Number,
    small,
    st.integers(-9, 9),
    st.integers(1, 5),
    small,
    st.integers(1, 5),
    st.lists(small, max_size=5).map(tuple),
)
memories = st.one_of(
    st.just(VECTOR),
    st.builds(Memory, st.just(Buffer.STAGE), small),
)
places = st.one_of(memories, st.sampled_from(["", "row_even", "exchange_forward_0"]))
ranges = st.builds(Slices, numbers, numbers)
slices = st.builds(Slices, numbers, numbers, st.booleans())
ops = st.builds(
    Op,
    receive=places,
    action=st.sampled_from(Action),
    send=places,
    slices=slices,
    advance=st.sampled_from(Advance),
    filter=st.none() | st.builds(Filter, ranges, ranges, ranges),
    vectors=st.integers(1, 9),
    elements=st.none() | numbers,
    where=numbers,
)


@given(numbers)
def test_a_number_is_read_back(number: Number) -> None:
    assert read_number(show_number(number)) == number


@given(ops)
def test_an_operation_is_read_back(op: Op) -> None:
    assert read_op(show_op(op)) == op


@given(st.builds(Entry, st.lists(ops, max_size=3).map(tuple), numbers))
def test_an_entry_is_read_back(entry: Entry) -> None:
    assert read_entry(show_entry(entry)) == entry


def same(plan: Plan) -> bool:
    return read_plan(show_plan(plan), plan.schedule, plan.target) == plan


@pytest.mark.parametrize("name", sorted(every_kind_of_collective()))
def test_the_plan_of_a_tree_or_a_multicast_is_read_back(name: str) -> None:
    schedule = build_schedule(every_kind_of_collective()[name])
    assert all(map(same, candidate_plans(schedule, TARGETS["wse2"])))


@pytest.mark.parametrize("path", EXAMPLES[::4], ids=lambda path: path.stem)
def test_the_plans_of_examples_are_read_back(path: Path) -> None:
    assert all(map(same, compile_text(path.read_text(), path.name, {}).plans))


def test_a_text_that_says_something_else_is_another_plan() -> None:
    schedule = build_schedule(every_kind_of_collective()["two_phase"])
    plan = build_plan(schedule, TARGETS["wse2"])
    text = show_plan(plan)
    changed = text.replace("advance control", "advance reset", 1)
    assert changed != text
    assert read_plan(changed, plan.schedule, plan.target) != plan


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (read_number, "p + 1"),
        (read_number, "(3 + 1 * p"),
        (read_op, "send memory -> row"),
        (read_op, "copy memory -> row, softly"),
        (read_op, "copy memory -> row, 2 vectors, 3 vectors"),
    ],
)
def test_what_is_no_plan_is_refused(read, text: str) -> None:
    with pytest.raises(ValueError):
        read(text)
