"""Phases made of steps: wiring, staging, loops, and numbers as formulas of the place."""

from __future__ import annotations

import time

import numpy as np
import pytest
import steps_patterns as s
from hypothesis import given
from hypothesis import strategies as st
from with_schedules import check_plan

from collc.cost import predict
from collc.cost.choice import build_plan
from collc.lowering.steps import circuits, relays, traffic_of
from collc.lowering.steps.loops import HEADER, Tables
from collc.lowering.steps.numbers import number_of
from collc.lowering.steps.rows import MOST, RELAYS, SENDS, Rows, padded, rows_of
from collc.plan.entries import FIELDS
from collc.plan.plan import Plan
from collc.plan.show import body_of
from collc.target import TARGETS


def wired(name: str, ranks: int, ring: bool = False):
    places = s.ring_places(ranks) if ring else None
    traffic = traffic_of(s.phase(s.PATTERNS[name][1](ranks), ranks, ranks, places=places))
    return circuits(traffic, ranks, "x", "e"), relays(traffic, ranks, "x", "e")


def colors(wiring) -> set[str]:
    return {use.color for uses in wiring.colors for use in uses}


@pytest.mark.parametrize("ranks", [4, 5, 8, 33])
def test_a_ring_laid_out_in_hops_of_two_takes_three_colors(ranks):
    direct, _ = wired("ring_allreduce", ranks, ring=True)
    assert len(colors(direct)) == 3
    assert direct.lanes == ("stream",)


def test_more_than_two_partners_take_relays_with_two_colors_a_way():
    direct, by_relays = wired("recursive_doubling", 8)
    assert direct is None
    assert by_relays.lanes == ("forward", "backward")
    assert len(colors(by_relays)) == 4


@pytest.mark.parametrize(("length", "joined"), [(1000, 3), (MOST, 1), (MOST + 1, 1), (50_000, 1)])
def test_relays_let_vectors_pass_together_as_far_as_an_operation_counts(length, joined):
    phase = s.phase(s.PATTERNS["recursive_doubling"][1](8), 8, length)
    traffic = traffic_of(phase)
    direct = np.zeros(len(traffic), dtype=bool), np.zeros(len(traffic), dtype=np.int64)
    rows, _ = rows_of(traffic, relays(traffic, 8, "x", "e"), phase.slicing, direct, may_turn=True)
    kind, _, count, _, _ = rows.values.T
    assert count[(kind & RELAYS) > 0].max() == joined * length


def test_two_neighbours_are_two_lanes():
    direct, _ = wired("neighbours", 6)
    assert direct.lanes == ("first", "second")


def decided(plan: Plan) -> str:
    """A plan's text without the collective, in which a tree may be written out."""
    return "\n".join(body_of(plan))


def test_the_size_of_a_plan_does_not_follow_the_line():
    small, large = (
        decided(build_plan(s.Line("ring_allreduce", n, 4 * n, ring=True).schedule(), WSE2))
        for n in (32, 64)
    )
    assert len(large.splitlines()) == len(small.splitlines())


def test_a_long_ring_is_planned_and_checked_in_a_short_text():
    schedule = s.Line("ring_allreduce", 512, 4096, ring=True).schedule()
    began = time.process_time()
    plan = build_plan(schedule, WSE2)
    assert check_plan(plan) == ()
    assert time.process_time() - began < 20  # about 3 s on an idle machine
    texts = s.texts_of(schedule, plan)
    assert sum(len(text) for name, text in texts.items() if name.endswith(".csl")) < 100_000
    assert predict(plan).cycles > 0


@given(
    st.integers(0, 9),
    st.integers(0, 9),
    st.integers(1, 4),
    st.integers(2, 40),
    st.integers(2, 50),
)
def test_a_number_says_what_it_was_made_from(slope, offset, step, count, modulus):
    places = np.arange(count, dtype=np.int64) * step
    for values in (
        (slope * places + offset) % modulus,
        (places // step) // 2 % modulus,
        np.array([hash((slope, int(p))) % 7 for p in places]),
    ):
        number = number_of(places, values, modulus)
        assert [number.at(int(place)) for place in places] == values.tolist()


@given(st.integers(0, 6), st.integers(2, 90), st.integers(0, 1 << 90))
def test_partners_by_a_binary_digit_need_no_long_table(digit, count, asked):
    places = np.arange(count, dtype=np.int64)
    used = np.array([bool(asked >> place & 1) for place in range(count)])
    groups = ((places >> digit) ^ 1) << digit
    number = number_of(places, groups, 0, used)
    at = [number.at(int(place)) for place in places]
    assert [one for one, asked_for in zip(at, used, strict=True) if asked_for] == groups[
        used
    ].tolist()
    assert min(at) >= 0  # where nobody asks, too: the text works it out for all places
    assert len(number.table) <= 4 or not used.all()


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.integers(1, 4))
def test_loops_unroll_to_the_rows_they_were_made_from(firsts, times):
    rows = np.array([[SENDS, first, 1, 0, 0] for first in firsts * times], dtype=np.int64)
    tables = Tables(rows, np.array([0, len(rows)]), 5, reads=SENDS)
    program = tables.program(np.array([0]), np.array([0]))
    numbers, found = program.numbers[0].tolist(), []
    for size, _ in program.form:
        (turns, shift), numbers = numbers[:HEADER], numbers[HEADER:]
        own, numbers = numbers[: size * FIELDS], numbers[size * FIELDS :]
        for turn in range(turns):
            found += [(first + turn * shift) % 5 for first in own[1::FIELDS]]
    assert found == rows[:, 1].tolist()


def test_tables_of_one_size_get_loops_of_one_form_together():
    one = [[SENDS, first, 1, 0, 0] for first in (0, 1, 2, 3)]
    other = [[SENDS, first, 1, 0, 0] for first in (0, 1, 2, 2)]  # which goes on by another shift
    rows, start = np.array([*one, *other], dtype=np.int64), np.array([0, 4, 8])
    apart = Tables(rows, start, 8, reads=SENDS)
    assert apart.forms == [((1, 1),), ((1, 1), (1, 0))]
    together = Tables(rows, start, 8, reads=SENDS, together=True)
    assert together.forms == [((1, 1), (1, 0))] * 2
    program = together.program(np.array([3, 7]), np.array([0, 1]))
    assert program.places.tolist() == [3, 7]
    turns, shift, *first = program.numbers[:, : HEADER + FIELDS].T
    assert (turns.tolist(), shift.tolist(), first[1].tolist()) == ([3, 3], [1, 1], [0, 0])


def test_places_with_fewer_rows_of_a_time_get_empty_ones():
    kinds = np.array([[SENDS, 0, 1, 0, 0], [SENDS, 1, 1, 0, 0], [SENDS, 5, 1, 0, 0]])
    rows = Rows(np.array([0, 2, 3]), np.array([0, 0, 2]), kinds)  # two places, one lane
    (table,) = padded(rows, 1)
    nothing = [0] * FIELDS
    assert table.tolist() == [
        [kinds[0].tolist(), kinds[1].tolist(), nothing],
        [nothing, nothing, kinds[2].tolist()],
    ]


def test_tables_that_are_not_there_are_refused():
    rows = np.array([[SENDS, 0, 1, 0, 0]], dtype=np.int64)
    with pytest.raises(ValueError, match="no such rows"):
        Tables(rows, np.array([0, 2]), 8, reads=SENDS)
    with pytest.raises(ValueError, match="as many rows"):
        Tables(rows, np.array([0, 1, 1]), 8, reads=SENDS, together=True)


WSE2 = TARGETS["wse2"]
