"""Schedules on networks: formulas, published times, link use."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import building as b
from collc.base.diagnostics import CollcError
from collc.schedule import build_schedule
from collc_research.networks import cost, cost_on, show_cost, two_tier_patterns
from collc_research.networks import uniform_forms as forms
from collc_research.networks.cost import MAX_LENGTH
from collc_research.networks.network import Dimension, Mesh, Topology, TwoTier, Uniform
from collc_research.networks.rounds import Round
from collc_research.networks.two_tier import Loads
from collc_research.networks.uniform import uniform_cost
from collc_research.reproduce.patterns import allreduction, proved

CLUSTER = Uniform(1000.0, 2.0, 0.5, one_way_alpha=0.75, one_way_beta=0.5)
RING = Dimension(Topology.RING, 2, 500, 50, 10, splits=4)


def close(one, other):
    return one == pytest.approx(other, rel=1e-9)


# ---- uniform cost


@given(st.integers(2, 40), st.integers(1, 300))
def test_a_binomial_tree_takes_what_its_formula_says(ranks, length):
    schedule = proved(f"reduce(x: f32[{length}], add)", "reduce binomial to 0", ranks)
    assert close(cost_on(schedule, CLUSTER).time_ns, forms.tree_reduce(ranks, 4 * length, CLUSTER))


@given(st.integers(1, 5), st.integers(1, 20))
def test_halving_and_doubling_takes_what_its_formula_says(exponent, times):
    ranks = 2**exponent
    schedule = allreduction("halving_doubling", ranks, ranks * times)
    found = cost_on(schedule, CLUSTER)
    assert close(found.time_ns, forms.halving_doubling(ranks, 4 * ranks * times, CLUSTER))
    assert close(found.overlapped_ns, found.time_ns)


def test_the_other_formulas():
    for ranks in (2, 3, 4, 7, 8):
        n = 4 * 840
        ring = cost_on(allreduction("ring_allreduce", ranks, 840), CLUSTER)
        assert close(ring.time_ns, forms.ring_allreduce(ranks, n, CLUSTER))
        steps = "reduce binomial to 0 then broadcast from 0"
        tree = cost_on(proved("allreduce(x: f32[840], add)", steps, ranks), CLUSTER)
        assert close(tree.time_ns, forms.tree_allreduce(ranks, n, CLUSTER))
        reduced = proved("reduce(x: f32[840], add)", "run reduce_scatter_gather", ranks)
        assert cost_on(reduced, CLUSTER).bytes_combined == n - n // ranks
    for ranks in (2, 4, 16):
        doubling = cost_on(allreduction("recursive_doubling", ranks, 840), CLUSTER)
        assert close(doubling.time_ns, forms.recursive_doubling(ranks, 4 * 840, CLUSTER))


def test_one_message_follows_the_other_at_a_rank():
    columns = ([1, 2, 3], [0, 0, 0], [5, 5, 5], [5, 5, 5])
    everybody = Round(*map(np.array, columns))
    net = Uniform(10.0, 1.0, 1.0, one_way_alpha=0.5)
    found = uniform_cost(net, [everybody], 4, 1)
    assert found.time_ns == 3 * (5 + 5) + 15
    assert (found.rounds, found.one_way, found.bytes_sent, found.bytes_combined) == (1, 1, 15, 15)


def test_ranks_that_wait_for_their_partners_only_are_not_slower():
    for name in ("binary_blocks", "recursive_doubling", "halving_doubling"):
        for ranks in (3, 7, 13, 21):
            found = cost_on(allreduction(name, ranks, 64), CLUSTER)
            assert found.overlapped_ns <= found.time_ns * (1 + 1e-12)


def test_one_rank_alone_costs_nothing():
    schedule = build_schedule(b.line_allreduce(b.chain(1)))
    assert cost_on(schedule, CLUSTER).time_ns == 0
    assert cost_on(schedule, RING).time_ns == 0


# ---- one dimension


def test_published_times_to_the_nanosecond():
    length = (1 << 20) // 4
    assert cost_on(allreduction("ring_allreduce", 8, length), RING).time_ns == 45_680
    large = 1024 * length
    switch = replace(RING, topology=Topology.SWITCH, links=1)
    full = replace(RING, topology=Topology.FULL, links=7)
    assert cost_on(allreduction("ring_allreduce", 8, large), RING).time_ns == 17_534_228
    assert cost_on(allreduction("halving_doubling", 8, large), switch).time_ns == 35_026_692
    found = cost_on(allreduction("direct_allreduce", 8, large), full)
    assert (found.time_ns, found.bytes_sent) == (5_004_924, 7 * (1 << 30) // 4)


@given(st.integers(3, 12), st.integers(1, 4000), st.integers(1, 5), st.sampled_from([1, 2, 4]))
def test_a_ring_takes_what_its_rule_says(ranks, slice_length, splits, links):
    net = Dimension(Topology.RING, links, 300, 20, 7, splits=splits, memory_bytes_per_ns=500)
    schedule = allreduction("ring_allreduce", ranks, ranks * slice_length * splits)
    size = 4 * slice_length
    message = int(300 + size / (links * 20 * 2**30 / 1e9))
    memory = 3 * (size // 500)
    part = (2 * ranks - 1) * 7 + 2 * (ranks - 1) * message + (ranks - 1) * memory
    assert cost_on(schedule, net).time_ns == splits * part


@given(st.integers(2, 5), st.integers(1, 3000))
def test_halving_on_a_switch_takes_what_its_rule_says(exponent, slice_length):
    ranks = 2**exponent
    net = Dimension(Topology.SWITCH, 1, 300, 20, 7, memory_bytes_per_ns=500)
    size = 4 * ranks * slice_length
    sizes = [size >> k for k in range(1, exponent + 1)]
    message = sum(2 * int(600 + m / (20 * 2**30 / 1e9)) for m in sizes)
    memory = sum(3 * (m // 500) for m in sizes[1:])
    found = cost_on(allreduction("halving_doubling", ranks, size // 4), net)
    assert found.time_ns == (2 * exponent + 1) * 7 + message + memory


def test_hops_of_a_ring_are_counted_where_that_is_asked_for():
    schedule = allreduction("recursive_doubling", 8, 8)
    near = cost_on(schedule, replace(RING, splits=1))
    far = cost_on(schedule, replace(RING, splits=1, counts_hops=True))
    assert far.time_ns - near.time_ns == 500 * ((2 - 1) + (4 - 1))
    one_way = cost_on(schedule, replace(RING, splits=1, links=1, counts_hops=True))
    assert one_way.time_ns - near.time_ns == 500 * ((7 - 1) + (6 - 1) + (4 - 1))


def test_more_parts_than_elements_are_as_many_parts_as_elements():
    found = cost_on(allreduction("recursive_doubling", 4, 3), replace(RING, splits=8))
    assert found.splits == 3


def test_a_full_connection_needs_a_link_for_each_other_rank():
    net = replace(RING, topology=Topology.FULL, links=6)
    with pytest.raises(CollcError) as caught:
        cost_on(allreduction("direct_allreduce", 8, 8), net)
    assert caught.value.diagnostics[0].code == "C604"


# ---- two-tier networks


SMALL = TwoTier(supernodes=4, nodes=2, cores=2)


@given(st.integers(0, 15), st.integers(0, 15))
def test_a_message_takes_at_most_a_link_of_each_class_on_its_way(source, destination):
    loads = Loads(SMALL)
    loads.add_ranks(np.array([source]), np.array([destination]), 10)
    (here, out), (there, last) = divmod(source // 2, 2), divmod(destination // 2, 2)
    crosses = here != there
    leaves, enters = there % 2, here % 2
    l1 = (out != leaves) + (enters != last) if crosses else (out != last)
    assert loads.l2.sum() == 10 * crosses
    assert loads.l1.sum() == 10 * l1
    assert not loads.l2.diagonal().any()


def test_all_links_are_used_alike_where_everybody_sends_to_everybody():
    schedule = proved("all_to_all(x: f32[16])", "run linear_all_to_all", 16)
    use = cost_on(schedule, SMALL)
    assert (use.l2.used, use.l2.links) == (12, 12)
    assert use.l2.least_bytes == use.l2.most_bytes == 4 * 4 * 4
    assert (use.l1.used, use.l1.links) == (8, 8)


def test_a_program_with_more_ranks_than_cores_is_refused():
    with pytest.raises(CollcError) as caught:
        cost_on(allreduction("ring_allreduce", 17, 17), SMALL)
    assert caught.value.diagnostics[0].code == "C604"


def test_two_tier_patterns_move_what_they_have_to():
    net = TwoTier(supernodes=6, nodes=3, cores=2)
    scatter = two_tier_patterns.scatter(net, 1.0)
    assert scatter.l2[0].sum() == 5 * 6 and scatter.l2[1:].sum() == 0
    gathered = two_tier_patterns.allgather(net, 1.0)
    assert (gathered.l2[~np.eye(6, dtype=bool)] == 6).all()
    reduced = two_tier_patterns.reduce_scatter(net, 36.0)
    assert (reduced.l2[~np.eye(6, dtype=bool)] == 6).all()
    assert two_tier_patterns.reduce(net, 36.0).l2[1:, 0].tolist() == [12.0] * 5
    with pytest.raises(ValueError, match="supernodes"):
        two_tier_patterns.broadcast(TwoTier(2, 2, 1), 1.0)


# ---- the mesh


def test_the_links_of_a_row_carry_whole_vectors():
    use = cost_on(build_schedule(b.line_allreduce(b.chain(5), length=7)), Mesh())
    east, west, south, north = use.directions
    assert (east.used, east.most_wavelets, west.used, west.most_wavelets) == (4, 7, 4, 7)
    assert (south.links, north.links, use.wavelet_hops) == (0, 0, 2 * 4 * 7)
    star = cost_on(build_schedule(b.line_reduce(b.star(5), length=7)), Mesh())
    assert star.directions[1].most_wavelets == 4 * 7
    assert star.wavelet_hops == 7 * (1 + 2 + 3 + 4)


def test_a_broadcast_goes_along_a_row_and_all_columns():
    use = cost_on(build_schedule(b.broadcast(4, 3, 1, 2, length=5)), Mesh())
    assert [(d.used, d.links) for d in use.directions] == [(2, 9), (1, 9), (0, 8), (8, 8)]
    assert use.wavelet_hops == 5 * (4 * 3 - 1)


@given(st.integers(2, 30), st.integers(0, 1000), st.integers(1, 9))
def test_wavelet_hops_are_lengths_times_distances(ranks, seed, length):
    tree = b.random_tree(ranks, seed)
    use = cost_on(build_schedule(b.line_reduce(tree, length=length)), Mesh())
    hops = sum(child - rank for rank, below in enumerate(tree) for child in below)
    assert use.wavelet_hops == length * hops


def test_folding_a_ring_onto_a_line_changes_distances_and_not_loads():
    plain = cost_on(proved("allgather(x: f32[32])", "run ring_allgather", 8), Mesh())
    folded = cost_on(proved("allgather(x: f32[32])", "order ring run ring_allgather", 8), Mesh())
    assert plain.wavelet_hops == folded.wavelet_hops
    assert {d.most_wavelets for d in plain.directions if d.links} == {28}
    assert {d.most_wavelets for d in folded.directions if d.links} == {28}


# ---- as text


@pytest.mark.parametrize("net", [CLUSTER, RING, SMALL, Mesh()])
def test_every_cost_can_be_shown(net):
    text = show_cost(cost_on(allreduction("ring_allreduce", 8, 64), net))
    assert text.endswith("\n") and "{" not in text


# ---- what is too large


@pytest.mark.parametrize("net", [CLUSTER, RING, SMALL, Mesh()])
def test_the_longest_vectors_are_counted_and_longer_ones_refused(net):
    found = cost_on(allreduction("ring_allreduce", 8, MAX_LENGTH), net)
    assert "-" not in show_cost(found)
    with pytest.raises(CollcError) as caught:
        cost_on(allreduction("ring_allreduce", 8, MAX_LENGTH + 1), net)
    assert [d.code for d in caught.value.diagnostics] == ["C604"]


def test_wavelet_hops_of_the_longest_vectors_are_right():
    length = MAX_LENGTH
    use = cost_on(build_schedule(b.line_reduce(b.star(700), length=length)), Mesh())
    assert use.wavelet_hops == length * sum(range(700))


def test_more_messages_than_can_be_followed_are_refused(monkeypatch):
    monkeypatch.setattr(cost, "MAX_MESSAGES", 10)
    schedule = build_schedule(b.line_reduce(b.chain(12)))
    with pytest.raises(CollcError) as caught:
        cost_on(schedule, CLUSTER)
    assert [d.code for d in caught.value.diagnostics] == ["C604"]
    assert cost_on(schedule, Mesh()).wavelet_hops == 11 * 16
