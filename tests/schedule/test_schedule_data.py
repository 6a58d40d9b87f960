"""From the data of a schedule alone NumPy gets the same bits as the simulator is compared with."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from collc.language import parse_source
from collc.run.expected import expected, make_input
from collc.schedule import ReducePhase, Schedule, build_schedule
from collc.schedule.data import schedule_as_data
from collc.schedule.promised import promised
from collc.schedule.show import SHOWN_ORDERS, show_schedule
from collc.spec.exchange import StepsPhase
from commands import collc

EXAMPLES = Path(__file__).parents[2] / "examples"
Vectors = npt.NDArray[np.float32]


def schedule_of(clauses: str, kind: str, size: str) -> Schedule:
    collective = f"collective c = {kind}(x: f32[131], add) on g {{ {clauses} }}"
    text = f"target wse2 grid g = {size} {collective} program {{ c }}"
    return build_schedule(parse_source(text).collectives[0])


def done_again(data: dict[str, Any], given: Vectors) -> Vectors:
    """The vectors of all PEs, [height, width, length], after every phase of the data."""
    state = given.copy()
    for phase in data["phases"]:
        if phase["kind"] == "broadcast":
            x, y = phase["from"]
            state[:] = state[y, x].copy()
            continue
        first, last = phase["lines"]
        for line in range(first, last + 1):
            pes = [pe_of(data, phase, line, place) for place in phase["coordinates"]]
            {"tree": tree, "steps": steps}[phase["kind"]](phase, state, pes, line)
    return state


def pe_of(data: dict[str, Any], phase: dict[str, Any], line: int, place: int) -> tuple[int, int]:
    """The place in the array of a rank."""
    if data["path"]:
        x, y = data["path"][place]
        return y, x
    return (line, place) if phase["axis"] == "x" else (place, line)


def tree(phase: dict[str, Any], state: Vectors, pes: list[tuple[int, int]], _: int) -> None:
    for rank in reversed(range(len(pes))):
        for child in phase["children"][rank]:
            state[pes[rank]] += state[pes[child]]


def steps(phase: dict[str, Any], state: Vectors, pes: list[tuple[int, int]], line: int) -> None:
    bounds = phase["slice_bounds"]
    base = phase["blocks"][str(line)] if phase["blocks"] else 0
    for step in phase["steps"]:
        before = {pe: state[pe].copy() for pe in pes}
        for source, target, slice_, into, count, combines in zip(
            *(step[key] for key in ("source", "destination", "slice", "into", "count", "combines")),
            strict=True,
        ):
            sent = before[pes[source]][base + bounds[slice_] : base + bounds[slice_ + count]]
            there = state[pes[target]][base + bounds[into] : base + bounds[into + count]]
            there[:] = there + sent if combines else sent


@pytest.mark.parametrize(
    ("clauses", "kind", "size"),
    [
        ("reduce optimal to 0", "reduce", "64 x 1"),
        ("reduce binomial to 23", "reduce", "64 x 1"),
        ("order east_to_west reduce root_bypass(chain) to 3", "reduce", "20 x 1"),
        ("run ring_allreduce", "allreduce", "64 x 1"),
        ("run recursive_doubling", "allreduce", "64 x 1"),
        ("run columns by ring_allreduce then run rows by recursive_doubling", "allreduce", "5 x 4"),
        ("reduce rows by optimal then reduce column by chain", "reduce", "20 x 18"),
        (
            "run columns by ring_reduce_scatter then run rows by ring_allreduce "
            "then run columns by ring_allgather",
            "allreduce",
            "4 x 3",
        ),
        ("order snake run ring_allreduce", "allreduce", "6 x 4"),
        (
            "reduce rows by chain then reduce column by chain then broadcast from (0, 0)",
            "allreduce",
            "6 x 3",
        ),
    ],
)
def test_a_sum_is_the_same_to_the_bit_when_done_again(clauses: str, kind: str, size: str) -> None:
    schedule = schedule_of(clauses, kind, size)
    given = make_input(schedule.collective, 1)
    again = done_again(json.loads(json.dumps(schedule_as_data(schedule))), given)
    due = promised(schedule)
    assert due.any()
    wanted = expected(schedule, given)
    assert np.array_equal(again[due].view(np.uint32), wanted[due].view(np.uint32))


def test_another_order_gives_other_bits() -> None:
    """The inputs are such that the order matters: else nothing above would be shown."""
    schedule = schedule_of("reduce optimal to 0", "reduce", "64 x 1")
    given = make_input(schedule.collective, 1)
    data = schedule_as_data(schedule)
    data["phases"][0]["children"] = [[r + 1] for r in range(63)] + [[]]
    assert not np.array_equal(done_again(data, given)[0, 0], expected(schedule, given)[0, 0])


def test_the_dump_as_data_has_the_transfers_of_a_long_line() -> None:
    file = EXAMPLES / "ring_allreduce.coll"
    found = json.loads(collc("build", file, "-D", "P=64", "--dump", "schedule", "--json").stdout)
    (phase,) = found["schedules"][0]["phases"]
    assert sum(len(step["source"]) for step in phase["steps"]) == 8064


@pytest.mark.parametrize(
    "pattern", ["optimal", "binomial", "star", "two_phase(S = 8)", "root_bypass(star)"]
)
def test_the_parents_in_the_text_are_those_of_the_tree(pattern: str) -> None:
    schedule = schedule_of(f"reduce {pattern} to 0", "reduce", "64 x 1")
    (phase,) = schedule.phases
    assert isinstance(phase, ReducePhase)
    _, _, told = show_schedule(schedule).partition("by ascending rank: ")
    found: dict[int, list[int]] = {}
    for part in told.partition("rank 0 =")[0].split(","):
        sources, parents = (numbers(side) for side in part.split("=>"))
        for index, source in enumerate(sources):
            found.setdefault(parents[min(index, len(parents) - 1)], []).append(source)
    assert found == {rank: list(below) for rank, below in enumerate(phase.children) if below}


def numbers(run: str) -> range:
    first, _, last = run.strip().partition("..")
    return range(int(first), int(last or first) + 1)


def test_the_order_of_a_slice_and_the_rule_for_the_others_are_that_of_the_sum() -> None:
    schedule = schedule_of("run ring_allreduce", "allreduce", "20 x 1")
    (phase,) = schedule.phases
    assert isinstance(phase, StepsPhase)
    given = make_input(schedule.collective, 1)
    text = show_schedule(schedule)
    assert "slice i: the same with i added to every rank, modulo 20" in text
    order = re.search(r"slice 0 at every rank = (.*)", text)[1]
    wanted = expected(schedule, given)
    for slice_ in range(20):
        part = slice(*phase.slicing.bounds[slice_ : slice_ + 2])
        turned = re.sub(r"\d+", lambda found: f"v[{(int(found[0]) + slice_) % 20}]", order)  # noqa: B023
        value = eval(turned, {"v": given[0, :, part]})
        assert (wanted[0, :, part] == value).all()


def test_of_many_different_orders_the_first_are_told_and_the_others_counted() -> None:
    text = show_schedule(schedule_of("run recursive_doubling", "allreduce", "64 x 1"))
    assert text.count("    rank ") == SHOWN_ORDERS
    assert f"and {64 - SHOWN_ORDERS} other orders" in text
    assert "`--json` has them all" in text
