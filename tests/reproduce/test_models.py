"""What claims are checked with."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import building as b
from collc.proof import follow
from collc.spec.exchange import Slicing
from collc_research.networks.rounds import rounds_of_steps
from collc_research.reproduce.closed_forms import RAMP
from collc_research.reproduce.patterns import (
    all_trees,
    best_tree,
    own_algorithms,
    proved,
    schedule_of_tree,
    steps_of,
    tree,
    written,
)
from collc_research.reproduce.rank_order import keeps_rank_order
from collc_research.reproduce.row_model import cycles, cycles_by_element
from collc_research.reproduce.thesis_structure import hilbert
from collc_research.reproduce.two_tier import _reads_as
from tests.trees import model_cycles


@given(st.integers(2, 24), st.integers(0, 10_000), st.integers(1, 40))
def test_following_vectors_is_following_elements(ranks, seed, length):
    children = b.random_tree(ranks, seed)
    expected = cycles_by_element(children, length)
    assert cycles(children, length) == expected == model_cycles(children, length, RAMP)


def test_there_are_catalan_many_trees_and_the_best_is_among_them():
    assert [len(list(all_trees(n))) for n in range(1, 8)] == [1, 1, 2, 5, 14, 42, 132]
    assert len(set(all_trees(7))) == 132
    assert best_tree(7, 3, RAMP) in set(all_trees(7))


@given(st.integers(1, 30), st.integers(0, 10_000))
def test_a_tree_written_out_is_the_tree(ranks, seed):
    children = b.random_tree(ranks, seed)
    if ranks > 1:
        phase = schedule_of_tree(children).phases[0]
        assert phase.children == children
        assert follow(phase)[0] == ((0, ranks - 1),)
    assert written(b.chain(3)) == "0 <- [1 <- [2]]"


def test_trees_of_the_prelude_are_those_built_by_hand():
    assert tree("two_phase(S = 3)", 20) == b.two_phase(20, 3)
    assert tree("binomial", 21) == b.binomial(21)


@pytest.mark.parametrize("ranks", [2, 3, 5, 6, 7, 8, 12, 13])
def test_the_reduction_by_halving_ends_at_every_root(ranks):
    for root in range(ranks):
        steps = f"run halving_doubling_reduce(root = {root}) to {root}"
        proved("reduce(x: f32[10], add)", steps, ranks, own_algorithms())
        assert keeps_rank_order(steps_of("halving_doubling_reduce", ranks, root=root))


def test_rank_order_is_kept_and_lost_where_it_should_be():
    assert keeps_rank_order(steps_of("recursive_doubling", 11))
    assert keeps_rank_order(steps_of("pipelined_reduce", 6, c=3))
    assert not keeps_rank_order(steps_of("pairwise_reduce_scatter", 5))
    assert not keeps_rank_order(steps_of("ring_allreduce", 4))


def test_steps_can_be_had_for_lines_longer_than_a_wafer():
    algorithm = steps_of("binomial_scatter", 16384)
    assert sum(map(len, rounds_of_steps(algorithm.steps, Slicing(16384, 16384)))) == 16383


def test_hilberts_curve_takes_every_cell_by_single_steps():
    cells = hilbert(4)
    assert len(set(cells)) == 256
    gaps = {abs(a - c) + abs(d - e) for (a, d), (c, e) in pairwise(cells)}
    assert gaps == {1}


def test_a_printed_number_is_read_in_either_unit_rounded_or_cut():
    assert _reads_as("64 MB", 64 * 2**20) and _reads_as("64 MB", 64e6)
    assert _reads_as("1.09 GB", 1.0899e9) and _reads_as("15.1 GB", 15.17e9)
    assert not _reads_as("64 MB", 65 * 2**20)
    assert _reads_as(63, 63) and not _reads_as(63, 64)
