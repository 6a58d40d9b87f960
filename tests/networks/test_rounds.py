"""Schedules as rounds of messages."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import building as b
from collc.schedule import build_schedule
from collc_research.networks.limited import one_neighbour, ports, rounds_taken, transfers_of
from collc_research.networks.rounds import rounds_of, transfers_in, tree_rounds
from collc_research.reproduce.patterns import allreduction, proved, steps_of


def pairs(rounds):
    return [list(zip(r.source.tolist(), r.destination.tolist(), strict=True)) for r in rounds]


def test_a_rank_takes_one_vector_a_round_and_then_sends():
    assert pairs(tree_rounds(b.star(4), 1)) == [[(1, 0)], [(2, 0)], [(3, 0)]]
    assert pairs(tree_rounds(b.chain(3), 1)) == [[(2, 1)], [(1, 0)]]
    assert pairs(tree_rounds(b.binomial(4), 1)) == [[(1, 0), (3, 2)], [(2, 0)]]


@given(st.integers(1, 40), st.integers(0, 1000))
def test_in_a_tree_every_rank_but_the_root_sends_once_after_all_it_receives(ranks, seed):
    tree = b.random_tree(ranks, seed)
    sent, received = {}, {}
    for number, one in enumerate(pairs(tree_rounds(tree, 5))):
        assert len({to for _, to in one}) == len(one)
        for source, destination in one:
            assert source not in sent
            sent[source] = number
            received.setdefault(destination, []).append((number, source))
    assert sorted(sent) == list(range(1, ranks))
    for rank, arrivals in received.items():
        assert [source for _, source in sorted(arrivals)] == list(tree[rank])
        assert rank == 0 or max(arrivals)[0] < sent[rank]


def test_a_broadcast_goes_along_a_binomial_tree_from_its_root():
    found = pairs(rounds_of(build_schedule(b.broadcast(5, 1, 3, 0))))
    assert found == [[(3, 4)], [(3, 0), (4, 1)], [(3, 2)]]


def test_ranks_of_a_line_have_their_own_numbers_wherever_they_stand():
    schedule = proved("allgather(x: f32[12])", "order ring run ring_allgather", 6)
    for one in pairs(rounds_of(schedule)):
        assert all(to == (source + 1) % 6 for source, to in one)


def test_a_grid_is_numbered_row_by_row_and_all_its_lines_go_at_once():
    schedule = build_schedule(b.grid_allreduce(b.chain(3), b.chain(2)))
    first, second, third, *rest = pairs(rounds_of(schedule))
    assert first == [(3, 0), (4, 1), (5, 2)]
    assert (second, third) == ([(2, 1)], [(1, 0)])
    assert sum(map(len, rest)) == 5
    assert transfers_in(schedule) == 3 + 2 + 5


def test_slices_without_elements_are_not_sent_but_tokens_are():
    ring = tuple(rounds_of(allreduction("ring_allreduce", 4, 2)))
    assert sum(r.elements.sum() for r in ring) == 2 * 2 * 3
    assert all((r.elements > 0).all() for r in ring)
    barrier = tuple(rounds_of(proved("barrier()", "run dissemination_barrier", 4)))
    assert [len(r) for r in barrier] == [4, 4]


def test_a_shorter_vector_has_the_same_rounds():
    schedule = allreduction("halving_doubling", 8, 64)
    whole, half = tuple(rounds_of(schedule)), tuple(rounds_of(schedule, 32))
    assert pairs(whole) == pairs(half)
    assert all((a.elements == 2 * c.elements).all() for a, c in zip(whole, half, strict=True))


def test_what_combines_and_what_overwrites_is_told_apart():
    rounds = tuple(rounds_of(allreduction("ring_allreduce", 4, 8)))
    assert [bool(r.combined.all()) for r in rounds] == [True] * 3 + [False] * 3


@given(st.integers(2, 12), st.integers(1, 12))
def test_a_pipeline_takes_a_round_for_each_rank_and_chunk(ranks, chunks):
    transfers = transfers_of(steps_of("pipelined_reduce", ranks, c=chunks))
    assert rounds_taken(transfers, ports(1, 1)) == ranks + chunks - 2


@given(st.integers(3, 9), st.integers(1, 9))
def test_one_neighbour_a_round_takes_twice_the_chunks(ranks, chunks):
    transfers = transfers_of(steps_of("pipelined_allreduce", ranks, c=chunks))
    assert rounds_taken(transfers, one_neighbour(ranks)) == 2 * ranks + 2 * chunks - 3
