from dataclasses import replace
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

import building as b
from collc.proof import follow, prove, show_vector
from collc.schedule import Action, Transfer, build_schedule
from collc.spec import BroadcastStep, ContractKind, Order, Tree

CHAIN = b.reduce_step(b.chain(3))
TO_ALL = BroadcastStep(0, 0, b.HERE)


def problems(collective):
    return [(d.code, d.message) for d in prove(build_schedule(collective))]


def codes(collective):
    return [code for code, _ in problems(collective)]


def with_transfers(transfers, operation=None):
    """A reduce over four ranks whose transfers are replaced."""
    schedule = build_schedule(b.line_reduce(b.chain(4)))
    phase = replace(schedule.phases[0], transfers=tuple(Transfer(*t) for t in transfers))
    collective = schedule.collective
    if operation is not None:
        contract = replace(collective.contract, operation=operation)
        collective = replace(collective, contract=contract)
    return list(prove(replace(schedule, phases=(phase,), collective=collective)))


def combine(*pairs):
    return [(source, destination, Action.COMBINE) for source, destination in pairs]


@given(st.integers(1, 60), st.integers(0, 10**6))
def test_every_pre_order_tree_is_proved(ranks, seed):
    assert problems(b.line_allreduce(b.random_tree(ranks, seed))) == []


@given(st.integers(2, 40), st.integers(0, 10**6), st.data())
def test_a_dropped_transfer_is_always_found(ranks, seed, data):
    schedule = build_schedule(b.line_reduce(b.random_tree(ranks, seed)))
    phase = schedule.phases[0]
    dropped = data.draw(st.integers(0, len(phase.transfers) - 1))
    left = phase.transfers[:dropped] + phase.transfers[dropped + 1 :]
    (problem,) = prove(replace(schedule, phases=(replace(phase, transfers=left),)))
    assert problem.code == "C201"


def test_a_missing_contribution_is_named_with_what_arrived_and_what_was_due():
    (problem,) = with_transfers(combine((3, 2), (1, 0)))
    assert problem.code == "C201"
    assert "rank 2 never reaches" in problem.message
    assert "ends with 0..1, due is 0..3" in problem.message


def test_a_rank_that_sends_too_early_is_found():
    (problem,) = with_transfers(combine((2, 1), (3, 2), (1, 0)))
    assert "rank 3 never reaches" in problem.message


def test_a_rank_that_sends_twice_is_found():
    (problem,) = with_transfers(combine((3, 2), (2, 1), (3, 1), (1, 0)))
    assert problem.code == "C202"
    assert "rank 3" in problem.message


def test_copying_where_combining_is_due_loses_contributions():
    transfers = [*combine((3, 2), (2, 1)), (1, 0, Action.COPY)]
    (problem,) = with_transfers(transfers)
    assert "the contribution of rank 0 never" in problem.message


def test_order_matters_only_where_the_operation_is_not_commutative():
    ordered = SimpleNamespace(commutative=False)
    swapped = combine((2, 0), (1, 0), (3, 0))
    (problem,) = with_transfers(swapped, ordered)
    assert problem.code == "C203"
    assert "combines rank 2 where rank 1 is due" in problem.message
    assert with_transfers(combine((1, 0), (2, 0), (3, 0)), ordered) == []


def test_a_tree_that_is_not_in_pre_order_is_refused_even_if_the_sum_is_right():
    assert codes(b.line_reduce(((2, 1), (), ()))) == ["C206"]


def test_the_tree_has_as_many_ranks_as_the_line():
    assert codes(b.collective(2, 1, [CHAIN])) == ["C205"]
    assert codes(b.collective(3, 1, [CHAIN])) == []
    assert codes(b.collective(4, 1, [CHAIN])) == ["C204"]


def test_two_trees_that_meet_reduce_the_line_and_one_alone_does_not():
    middle = replace(CHAIN, root=2, far=Tree("tree", ((1,), ()), b.HERE))
    assert codes(b.collective(5, 1, [middle])) == []
    assert codes(b.collective(5, 1, [replace(middle, far=None)])) == ["C204"]
    assert codes(b.collective(5, 1, [middle, middle])) == ["C202"]


def test_an_allreduce_ends_with_a_broadcast():
    assert problems(b.collective(3, 1, [CHAIN], ContractKind.ALLREDUCE)) == [
        ("C204", "PE (1, 0) does not end with the result, which every PE is due")
    ]


def test_the_broadcast_sends_the_sum():
    from_end = BroadcastStep(2, 0, b.HERE)
    assert codes(b.collective(3, 1, [CHAIN, from_end], ContractKind.ALLREDUCE)) == ["C204"]
    mirrored = b.reduce_step(b.chain(3), Order.EAST_TO_WEST)
    assert codes(b.collective(3, 1, [mirrored, from_end], ContractKind.ALLREDUCE)) == []


def test_a_grid_is_reduced_over_both_axes():
    ((code, message),) = problems(b.collective(3, 2, [CHAIN]))
    assert code == "C204" and "the columns are not reduced" in message


def test_a_sum_is_not_summed_again():
    assert codes(b.collective(3, 1, [CHAIN, TO_ALL, CHAIN], ContractKind.ALLREDUCE)) == ["C202"]


def test_a_broadcast_combines_nothing():
    steps = [CHAIN, TO_ALL]
    assert codes(b.collective(3, 1, steps, ContractKind.BROADCAST, operation=None)) == ["C204"]


def test_one_pe_holds_every_contract_without_a_phase():
    assert problems(b.line_allreduce(b.chain(1))) == []


def test_vectors_keep_runs_of_ranks_together():
    (phase,) = build_schedule(b.line_reduce(b.two_phase(500, 20))).phases
    assert follow(phase)[0] == ((0, 499),)
    assert show_vector(((0, 3), (5, 5))) == "0..3, 5"
