"""A plan's text says all of the plan: it is read back as the same plan."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from read_back import problem

from collc.base.grids import Grid
from collc.base.rewrite import rewritten
from collc.cost.choice import build_plan
from collc.driver.pipeline import compile_text
from collc.lowering import candidate_plans
from collc.lowering.show_program import show_program
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
from collc.plan.read import read_entry, read_number, read_op, read_plan, read_program, same
from collc.plan.show import show_entry, show_number, show_op, show_plan
from collc.schedule import build_schedule
from collc.spec import Collective, Tree
from collc.target import TARGETS
from emitting import every_kind_of_collective

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
ranges = st.builds(Slices, numbers, numbers) | st.builds(
    Slices, numbers, numbers, st.just(False), st.integers(2, 9), small
)
slices = st.builds(Slices, numbers, numbers, st.booleans()) | st.builds(
    Slices, numbers, numbers, st.booleans(), st.integers(2, 9), small
)
ops = st.builds(
    Op,
    receive=places,
    action=st.sampled_from(Action),
    send=places,
    slices=slices,
    advance=st.sampled_from(Advance),
    filter=st.none() | st.builds(Filter, ranges, ranges, ranges, st.booleans()),
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


def named(collective: Collective) -> Collective:
    """The collective with names that a program can have."""
    trees: dict[object, str] = {}

    def with_name(node: object) -> object:
        if isinstance(node, Grid):
            return replace(node, name="pes")
        if isinstance(node, Tree):
            return replace(node, text=trees.setdefault(node.children, f"by_hand_{len(trees)}"))
        return None

    return cast(Collective, rewritten(collective, with_name))


def read_back(plan: Plan) -> bool:
    return same(read_plan(show_plan(plan)), plan)


@pytest.mark.parametrize("name", sorted(every_kind_of_collective()))
def test_the_plan_of_a_tree_or_a_multicast_is_read_back(name: str) -> None:
    schedule = build_schedule(named(every_kind_of_collective()[name]))
    assert all(map(read_back, candidate_plans(schedule, TARGETS["wse2"])))


@pytest.mark.parametrize("path", EXAMPLES[::4], ids=lambda path: path.stem)
def test_the_plans_of_examples_are_read_back(path: Path) -> None:
    bundle = compile_text(path.read_text(), path.name, {})
    assert all(map(read_back, bundle.plans))
    assert same(read_program(show_program(bundle.program)), bundle.program)


# 17: collectives in another order than that of calls beside each other; 24: a column
@pytest.mark.parametrize("seed", [*range(8), 17, 24])
def test_the_plans_of_random_programs_are_read_back(seed: int) -> None:
    """`tests/read_back.py` tries thousands."""
    assert not problem(seed)


def text_of_one() -> tuple[Plan, str]:
    plan = build_plan(
        build_schedule(named(every_kind_of_collective()["two_phase"])), TARGETS["wse2"]
    )
    return plan, show_plan(plan)


def test_a_text_that_says_something_else_is_another_plan() -> None:
    plan, text = text_of_one()
    changed = text.replace("advance control", "advance reset", 1)
    assert changed != text
    assert not same(read_plan(changed), plan)


def test_what_explains_a_text_is_not_read() -> None:
    plan, text = text_of_one()
    bare = [line for line in text.splitlines() if not line.startswith("#")]
    assert len(bare) < len(text.splitlines())
    assert same(read_plan("\n".join(bare)), plan)


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("colors: ", "colours: "),
        ("colors: reduce_even = 0", "colors: reduce_even 0"),
        ("order west_to_east\n", "order from_west\n"),
        ("axis x", "axis z"),
        (", lanes vectors", ", lane vectors"),
        ("0. EAST", "1. EAST"),
        ("EAST -> RAMP", "EAST -> RAMPS"),
        ("combine with the vector", "combine with a vector"),
        ("        once", "        twice"),
        ("    role leaf", "    rule leaf"),
        ("at (x 0", "at (x zero"),
        ("bytes of code", "words of code"),
        ("        reduce by_hand", "        gather by_hand"),
    ],
)
def test_a_line_that_is_not_understood_is_named(was: str, becomes: str) -> None:
    _, text = text_of_one()
    changed = text.replace(was, becomes, 1)
    assert changed != text
    line = next(
        n
        for n, one in enumerate(changed.splitlines(), 1)
        if becomes.split("\n", maxsplit=1)[0].strip() in one
    )
    with pytest.raises(ValueError, match=rf"^line {line}: "):
        read_plan(changed)


def test_a_plan_without_its_numbers_is_refused() -> None:
    _, text = text_of_one()
    without = [line for line in text.splitlines() if "input queues" not in line]
    with pytest.raises(ValueError, match="lacks input queues"):
        read_plan("\n".join(without))


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (read_number, "p + 1"),
        (read_number, "(3 + 1 * p"),
        (read_op, "send row and receive it"),
        (read_op, "take the vector and send on row, softly"),
        (read_op, "take the vector and send on row, 2 vectors, 3 vectors"),
    ],
)
def test_what_is_no_plan_is_refused(read, text: str) -> None:
    with pytest.raises(ValueError):
        read(text)
