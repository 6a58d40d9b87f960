"""The bounds lie below everything that can be had, and close to it where they are said to."""

from dataclasses import replace
from functools import cache, lru_cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import building as b
from collc.base.diagnostics import CollcError
from collc.cost import predict
from collc.cost.bound import bound_of
from collc.cost.choice import build_plan
from collc.cost.tree_bound import least_cycles
from collc.driver.pipeline import compile_text, prove_text
from collc.language.optimal_tree import optimum
from collc.patterns import all_patterns, instance
from collc.patterns.facts import contracts_of
from collc.schedule import build_schedule, home_pe
from collc.spec import ContractKind, ElementType
from collc.target import TARGETS, WSE2
from collc_research.reproduce.row_model import cycles as model_cycles

VISIT = 2 * WSE2.ramp + 1
LENGTHS = (1, 2, 3, 7, 16, 40, 200)


@cache
def trees(ranks):
    """All pre-order trees: the last child of the root and its ranks, then the ranks before."""
    if ranks == 1:
        return [((),)]
    found = []
    for first in range(1, ranks):
        for near, far in product(trees(first), trees(ranks - first)):
            moved = [tuple(child + first for child in below) for below in far]
            found.append(((*near[0], first), *near[1:], *moved))
    return found


def bound(collective):
    return bound_of_schedule(build_schedule(collective))


def bound_of_schedule(schedule):
    return bound_of(schedule.collective, home_pe(schedule), WSE2)


@pytest.mark.parametrize("ranks", range(2, 8))
def test_no_tree_is_below_the_bound_of_trees(ranks):
    for length in LENGTHS:
        least = min(model_cycles(one, length) for one in trees(ranks))
        assert bound(b.line_reduce(b.chain(ranks), length)) <= least
        assert least_cycles(ranks, length, VISIT) <= least


def test_the_best_tree_is_within_a_quarter_of_the_bound_of_trees():
    for length in (1, 4, 16, 64, 300, 1000):
        times = optimum(200, np.array([length]), WSE2.ramp).times[:, 0]
        for ranks in range(2, 201):
            least = least_cycles(ranks, length, VISIT)
            assert least <= times[ranks] <= 1.25 * least


def test_longer_lines_and_vectors_are_never_easier():
    table = [[least_cycles(p, n, VISIT) for n in range(1, 40)] for p in range(1, 40)]
    assert (np.diff(table, axis=0) >= 0).all() and (np.diff(table, axis=1) >= 0).all()


def test_a_long_path_has_a_bound_at_once():
    assert least_cycles(700_000, 8, VISIT) == 8 + 699_999 + VISIT


@pytest.mark.parametrize("length", [1, 2, 3, 4, 8, 16, 50])
def test_mixing_trees_of_three_pes_stays_above_the_bound(length):
    """PE 2 has its first elements added by PE 1 and sends the others past it: the best mixture is
    below every tree, so only the bound for any program holds for it."""
    fastest = min(mixed(length, added) for added in range(length + 1))
    assert bound(b.line_reduce(b.chain(3), length)) <= fastest


def mixed(length, added):
    """Cycles, if no arrival has to wait for anything but the root."""
    ready = [time + VISIT + 1 for time in range(1, added + 1)]  # at PE 1, to be added
    free, sent = 0, []
    for own in range(1, length - added + 1):  # PE 1 sends its own elements while it waits
        sent.append(own)
    for time in ready:
        free = max(free + 1, time)
        while free in sent:
            free += 1
        sent.append(free)
    arrivals = [time + VISIT + 1 for time in sent]
    arrivals += [time + VISIT + 2 for time in range(added + 1, length + 1)]
    end = 0
    for arrival in sorted(arrivals):
        end = max(end + 1, arrival)
    return end


def test_a_mixture_is_faster_than_any_tree():
    best = min(mixed(8, added) for added in range(9))
    assert best < least_cycles(3, 8, VISIT)


def test_halves_of_a_word_are_counted_as_one():
    collective = b.broadcast(5, 1, 0, 0, 20)
    halves = replace(collective.contract, element=ElementType.F16)
    assert bound(collective) == 20 + 4 + VISIT
    assert bound(replace(collective, contract=halves)) == 10 + 4 + VISIT


@lru_cache
def patterns():
    return {pattern.name: pattern for pattern in all_patterns()}


@lru_cache
def contract_of(name) -> ContractKind:
    return contracts_of(patterns()[name])[0]


@settings(max_examples=8, deadline=None)
@given(
    st.deferred(lambda: st.sampled_from(sorted(patterns()))),
    st.sampled_from(sorted(TARGETS)),
    st.integers(1, 12),
    st.sampled_from(LENGTHS),
)
def test_no_pattern_is_predicted_below_the_bounds(name, target, pes, length):
    pattern, contract = patterns()[name], contract_of(name)
    try:
        choice, _, _ = instance(pattern, contract, pes, length, target=target)
        prediction = compile_text(choice.text, choice.use, choice.parameters, target).prediction
    except CollcError:
        return
    assert prediction.bound <= prediction.cycles
    assert prediction.tree_bound is None or prediction.tree_bound <= prediction.cycles


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(sorted(TARGETS)),
    st.integers(2, 40),
    st.integers(0, 10**6),
    st.sampled_from(LENGTHS),
    st.booleans(),
)
def test_random_trees_are_above_the_bound_of_trees(target, ranks, seed, length, spread):
    tree = b.random_tree(ranks, seed)
    make = b.line_allreduce if spread else b.line_reduce
    prediction = predict(build_plan(build_schedule(make(tree, length)), TARGETS[target]))
    assert prediction.bound <= prediction.cycles
    assert prediction.tree_bound is not None
    assert prediction.tree_bound <= prediction.cycles


TOLD = """target {target}
grid g = {width} x {height}
collective told = {contract} on g {{
    order west_to_east
    reduce columns by {tree} to {y}
    then reduce row by {tree} to {x}
    {told}
}}
program {{ told }}
"""


@settings(max_examples=12, deadline=None)
@given(
    st.sampled_from(sorted(TARGETS)),
    st.sampled_from([(2, 2), (5, 2), (2, 16), (9, 3)]),
    st.sampled_from(["reduce", "allreduce", "barrier"]),
    st.sampled_from(["x: f32[1], add", "x: f16[3], max", "x: u32[2], min", "x: f32[33], mul"]),
    st.sampled_from(["star", "chain", "optimal"]),
    st.integers(0, 10**6),
)
def test_trees_on_grids_are_above_the_bound_of_trees(target, size, kind, vector, tree, seed):
    (width, height), x, y = size, seed % size[0], seed % size[1]
    told = "" if kind == "reduce" else f"then broadcast from ({x}, {y})"
    contract = "barrier()" if kind == "barrier" else f"{kind}({vector})"
    text = TOLD.format(**locals())
    prediction = compile_text(text, "told", {}).prediction
    assert prediction.tree_bound is not None
    assert prediction.bound <= prediction.tree_bound <= prediction.cycles


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_two_neighbours_meet_the_bound_of_trees(target):
    for length in (2, 7, 40):
        prediction = predict(
            build_plan(build_schedule(b.line_reduce(b.chain(2), length)), TARGETS[target])
        )
        late = prediction.cycles - prediction.tree_bound
        assert late == 0, "there is only one tree, and nothing of it waits"


SLICES = {
    "gather": "gather(x: f32[B]) on row { run linear_gather }",
    "scatter": "scatter(x: f32[B]) on row { run linear_scatter }",
    "allgather": "allgather(x: f32[B]) on row { run ring_allgather }",
    "reduce_scatter": "reduce_scatter(x: f32[B], add) on row { run ring_reduce_scatter }",
    "all_to_all": "all_to_all(x: f32[P * B]) on row { run linear_all_to_all }",
}


def text_of(kind, pes, length):
    """A contract about slices on a line, each rank in its place."""
    text = f"target wse2\nparam P = {pes}\nparam B = {length}\ngrid row = P x 1\n"
    return f"{text}collective own = {SLICES[kind]}\nprogram {{ own }}\n"


def slices_bound(kind, pes, length):
    return bound_of_schedule(prove_text(text_of(kind, pes, length), "own", {})[1])


def by_every_pair(kind, owned):
    """The bound of a contract about slices, counted pair by pair and cut by cut. `owned` has the
    words of the PE at (x, y); the root of gather and scatter is at (0, 0)."""
    pes = list(owned)
    least = 0
    for one in [(0, 0)] if kind in ("gather", "scatter") else pes:
        others = sorted((abs(x - one[0]) + abs(y - one[1]), owned[x, y]) for x, y in pes)
        for number, (distance, _) in enumerate(others):
            taken = sum(words for _, words in others[number:])
            if kind == "all_to_all":
                taken = max(taken, owned[one] * len(others[number:]))
            if distance and taken:
                least = max(least, taken + distance + VISIT)
    if kind == "all_to_all":
        for axis, cut in product((0, 1), range(1, len(pes))):
            near = [pe for pe in pes if pe[axis] < cut]
            far = [pe for pe in pes if pe[axis] >= cut]
            links = len({pe[1 - axis] for pe in pes})
            for here, there in ((near, far), (far, near)):
                words = sum(owned[pe] for _, pe in product(here, there))
                if words:
                    least = max(least, -(-words // links) + VISIT + 1)
    return least


@pytest.mark.parametrize("kind", SLICES)
@pytest.mark.parametrize("pes", [2, 3, 5, 8])
@pytest.mark.parametrize("length", [1, 2, 5, 8, 19])
def test_a_contract_about_slices_is_bounded_by_every_pair_and_cut(kind, pes, length):
    total = pes * length if kind == "all_to_all" else length
    starts = [rank * total // pes for rank in range(pes + 1)]
    owned = {(rank, 0): starts[rank + 1] - starts[rank] for rank in range(pes)}
    assert slices_bound(kind, pes, length) == by_every_pair(kind, owned)


@pytest.mark.parametrize("kind", ["allgather", "reduce_scatter"])
def test_elements_at_the_other_end_of_a_line_have_all_of_it_to_go(kind):
    # 15 of 16 elements are of others; the last PE's has 511 hops to go to the first
    assert slices_bound(kind, 512, 16) == 1 + 511 + VISIT


@pytest.mark.parametrize("kind", SLICES)
@pytest.mark.parametrize("pes", [2, 5])
def test_no_run_takes_less_than_the_bound(kind, pes):
    bundle = compile_text(text_of(kind, pes, 3), "own", {})
    assert bundle.prediction.bound <= bundle.run().cycles
