from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

import building as b
from collc.cost.choice import build_plan
from collc.lowering import candidate_plans
from collc.lowering.colorings import by_parity, without_control
from collc.lowering.line import line_tree
from collc.plan import VECTOR, Action, Advance, Direction, Op, Route
from collc.plan.placement import roles_of_ranks
from collc.schedule import build_schedule
from collc.spec import Order
from collc.target import WSE2

WEST, EAST, RAMP = Direction.WEST, Direction.EAST, Direction.RAMP
trees = st.builds(b.random_tree, st.integers(2, 40), st.integers(0, 10**6))


def roles_of(collective, coloring=0):
    """The roles along the first line of the first phase, under a coloring."""
    schedule = build_schedule(collective)
    plan = list(candidate_plans(schedule, WSE2))[coloring]
    return roles_of_ranks(plan.phases[0])


def sends_of(roles):
    return [op for role in roles for op in role.ops if op.sends]


@given(trees)
def test_two_colors_and_two_positions_suffice(tree):
    roles = roles_of(b.line_reduce(tree))
    uses = [use for role in roles for use in role.colors]
    assert len({use.color for use in uses}) <= 2
    assert max(len(use.positions) for use in uses) <= 2


@given(trees)
def test_without_control_no_sending_side_changes(tree):
    roles = roles_of(b.line_reduce(tree), coloring=1)
    for use in (use for role in roles for use in role.colors):
        assert all(before.send == after.send for before, after in pairwise(use.positions))
    assert all(step.advance is not Advance.CONTROL for step in sends_of(roles))


@given(trees)
def test_a_rank_and_its_parent_receive_on_different_colors(tree):
    line = line_tree(tree)
    for coloring in (by_parity, without_control):
        colors = coloring(line)
        assert all(
            colors[rank] != colors[above]
            for rank, above in enumerate(line.parent)
            if above is not None
        )


@given(trees)
def test_every_rank_receives_as_many_vectors_as_it_has_children(tree):
    for role, sources in zip(roles_of(b.line_reduce(tree)), tree, strict=True):
        stored = sum(turns * op.vectors for op, turns in role.repeated if op.stores)
        fused = sum(1 for op in role.ops if op.combines_from)
        assert stored + fused == len(sources)


def test_a_chain_is_static():
    roles = roles_of(b.line_reduce(b.chain(9)))
    assert all(len(use.positions) == 1 for role in roles for use in role.colors)
    assert {step.advance for step in sends_of(roles)} == {Advance.NOTHING}


def test_a_star_takes_one_color_and_moves_own_routers():
    roles = roles_of(b.line_reduce(b.star(5)))
    assert roles[0].repeated == ((Op("reduce_even", Action.COMBINE, VECTOR, vectors=4), 1),)
    (use,) = roles[2].colors
    assert use.positions == (Route(RAMP, (WEST,)), Route(EAST, (WEST,)))
    assert [s.advance for s in sends_of(roles)] == [Advance.OWN_ROUTER] * 3 + [Advance.RESET]


def test_groups_of_four_need_control_wavelets_on_two_colors_and_none_on_three():
    tree = b.two_phase(12, 4)
    two, three = (roles_of(b.line_reduce(tree), coloring) for coloring in (0, 1))
    assert Advance.CONTROL in {step.advance for step in sends_of(two)}
    assert Advance.CONTROL not in {step.advance for step in sends_of(three)}
    assert len({use.color for role in three for use in role.colors}) == 3


def test_orders_are_mirrored():
    step = b.reduce_step(b.two_phase(11, 3), Order.EAST_TO_WEST)
    schedule = build_schedule(b.collective(11, 1, [step]))
    (phase,) = build_plan(schedule, WSE2).phases
    (root,) = [region for region, index in phase.regions if phase.roles[index].name == "root"]
    assert (10, 0) in root
    leaf = phase.roles[-1]
    assert leaf.colors[0].positions[0].send == (EAST,)


def test_vectors_are_stored_by_one_operation_if_it_fits_and_else_one_by_one():
    roles = roles_of(b.line_reduce(b.star(4), length=10000))
    assert roles[0].repeated[0][1] == 1
    roles = roles_of(b.line_reduce(b.star(5), length=10000))
    assert roles[0].repeated[0][1] == 4
