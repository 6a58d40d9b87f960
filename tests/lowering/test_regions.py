import pytest
from hypothesis import given
from hypothesis import strategies as st

import building as b
from collc.cost.choice import build_plan
from collc.lowering import candidate_plans
from collc.lowering.regions import compress
from collc.plan import Strided
from collc.schedule import build_schedule
from collc.target import WSE2


@given(st.sets(st.integers(0, 200), min_size=1))
def test_runs_hold_exactly_the_ranks_and_are_disjoint(ranks):
    runs = compress(sorted(ranks))
    members = [rank for run in runs for rank in run]
    assert sorted(members) == sorted(ranks)
    assert all((rank in run) == (rank in set(run)) for run in runs for rank in range(201))
    assert all(len(run) == len(list(run)) for run in runs)


@given(st.sets(st.integers(0, 60), min_size=1))
def test_mirrored_runs_hold_the_mirrored_ranks(ranks):
    for run in compress(sorted(ranks)):
        assert sorted(run.mirrored(61)) == sorted(60 - rank for rank in run)


def test_groups_become_one_repeated_run():
    ranks = [group * 10 + rank for group in range(5) for rank in (1, 3, 5)]
    assert compress(ranks) == (Strided(1, 5, 2, 10, 5),)


@pytest.mark.parametrize("ranks", [2, 3, 64, 511, 512, 994])
def test_chain_and_star_have_at_most_four_regions(ranks):
    for tree in (b.chain(ranks), b.star(ranks)):
        (phase,) = build_plan(build_schedule(b.line_reduce(tree)), WSE2).phases
        assert len(phase.regions) <= 4


@pytest.mark.parametrize("ranks", [64, 509, 512, 750, 994])
def test_regions_of_two_phase_trees_do_not_grow_with_the_line(ranks):
    for group in (2, 3, 5, 7, 8, 23, 31, 32):
        schedule = build_schedule(b.line_reduce(b.two_phase(ranks, group)))
        for plan in candidate_plans(schedule, WSE2):
            assert len(plan.phases[0].regions) <= 24
