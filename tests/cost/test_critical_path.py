"""What is waited for, as the machine with a clock tells it."""

import pytest

import building as b
import collc
from collc.cost import predict, predict_by_itself
from collc.cost.choice import build_plan
from collc.cost.critical_path import critical_path
from collc.plan.one_call import of_one_call
from collc.schedule import build_schedule
from collc.target import TARGETS


def path_of(collective, target="wse2"):
    (path,) = predict(build_plan(build_schedule(collective), TARGETS[target])).critical_path
    return path.waits


@pytest.mark.parametrize("target", sorted(TARGETS))
@pytest.mark.parametrize("length", [1, 8, 500])
def test_the_critical_path_of_a_chain_visits_every_rank(target, length):
    waits = path_of(b.line_reduce(b.chain(5), length), target)
    assert [(wait.rank, wait.what) for wait in waits] == [(rank, "vector") for rank in (4, 3, 2, 1)]


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_the_root_of_a_star_takes_one_vector_after_the_other(target):
    first, *others = path_of(b.line_reduce(b.star(6), 300), target)
    assert (first.rank, first.what) == (1, "vector")
    assert [(wait.rank, wait.what, wait.source) for wait in others] == [
        (0, "previous", rank) for rank in (2, 3, 4, 5)
    ]
    waited = [wait.cycles for wait in others]
    assert waited == sorted(waited), "the farther away the longer has a vector been there"
    assert 4 * 300 - 20 < waited[-1] <= 4 * 300


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_a_multicast_waits_for_the_way_to_the_farthest_pe(target):
    *_, last = predict(
        build_plan(build_schedule(b.broadcast(9, 7, 2, 5, 10)), TARGETS[target])
    ).critical_path
    assert [(wait.rank, wait.what) for wait in last.waits] == [(11, "distance")]


STEPS = """target {target}
grid row = 6 x 1
collective c = {contract} on row {{
    order {order}
    run {algorithm}
}}
program {{ c }}
"""


@pytest.mark.parametrize("target", sorted(TARGETS))
@pytest.mark.parametrize(
    ("contract", "order", "algorithm"),
    [
        ("allreduce(x: f32[60], add)", "ring", "ring_allreduce"),
        ("allgather(x: f32[60])", "west_to_east", "ring_allgather"),
        ("all_to_all(x: f32[60])", "west_to_east", "linear_all_to_all"),
        ("gather(x: f32[60])", "west_to_east", "linear_gather"),
    ],
)
def test_what_is_cut_waits_for_slices_or_for_tasks(contract, order, algorithm, target):
    text = STEPS.format(**locals())
    prediction = collc.compile(text=text, verify_text=False).prediction
    waits = [wait for path in prediction.critical_path for wait in path.waits]
    assert waits
    assert {wait.what for wait in waits} <= {"slices", "start", "previous", "router"}
    assert all(0 <= wait.rank < 6 for wait in waits)
    assert all(0 <= wait.cycles < prediction.cycles for wait in waits)


def test_nothing_is_waited_for_on_a_single_pe():
    assert (
        predict(
            build_plan(build_schedule(b.line_reduce(b.chain(1), 9)), TARGETS["wse2"])
        ).critical_path
        == ()
    )


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_what_lines_tell_is_what_the_grid_tells(target, monkeypatch):
    collective = b.grid_allreduce(b.two_phase(7, 3), b.star(5), 40)
    program = of_one_call(build_plan(build_schedule(collective), TARGETS[target]))
    by_lines = critical_path(program)
    assert len(by_lines) == 3
    monkeypatch.setattr("collc.cost.clocked.told_by_lines", lambda *_: None)
    assert critical_path(program) == by_lines


def test_a_collective_on_each_row_of_a_part_has_ranks_of_its_own_lines():
    text = """target wse2
grid pes = 9 x 4
grid part = pes[2 .. 7, 1 .. 3]
collective total = reduce(x: f32[40], add) on each row of part {
    order west_to_east
    reduce chain to 0
}
program { total }
"""
    bundle = collc.compile(text=text, verify_text=False)
    (path,) = predict_by_itself(bundle.plans[0]).critical_path
    assert [wait.rank for wait in path.waits] == [5, 4, 3, 2, 1]
