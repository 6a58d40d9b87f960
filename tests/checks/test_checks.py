"""Each check: a plan it rejects, one it accepts, a near miss; and what passes is sound."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from changing import advancing_by, with_ops, with_runs
from hypothesis import given
from hypothesis import strategies as st
from with_schedules import check, check_plan

import building as b
import collc.explanations
from collc.base.diagnostics import Edit
from collc.cost.choice import build_plan
from collc.lowering import candidate_plans
from collc.plan import VECTOR, Action, Advance, Direction, Op, Region, Route, Strided
from collc.plan.plan import NO_SLICES
from collc.schedule import build_schedule
from collc.spec import ElementType, Operation, Order
from collc.target import WSE2, WSE3


def planned(collective, target=WSE2):
    return build_plan(build_schedule(collective), target)


def codes(name, plan):
    return [problem.code for problem in check(name, plan)]


def on(plan, **fields):
    """The plan on a target with some numbers changed."""
    return replace(plan, target=replace(plan.target, **fields))


def with_roles(plan, change, phase=0):
    """The plan with every role of a phase changed."""
    old = plan.phases[phase]
    new = replace(old, roles=tuple(change(role) for role in old.roles))
    phases = (*plan.phases[:phase], new, *plan.phases[phase + 1 :])
    return replace(plan, phases=phases)


def with_regions(plan, change, phase=0):
    old = plan.phases[phase]
    new = replace(old, regions=tuple(change(region, index) for region, index in old.regions))
    return replace(plan, phases=(*plan.phases[:phase], new, *plan.phases[phase + 1 :]))


ALLREDUCE = planned(b.line_allreduce(b.two_phase(12, 4)))
LIMITED = planned(b.line_reduce(b.two_phase(12, 4), colors=2))  # with control wavelets


def test_a_grid_is_no_larger_than_the_target():
    assert codes("grid_size", planned(b.line_reduce(b.star(750)))) == []
    assert codes("grid_size", planned(b.line_reduce(b.star(751)))) == ["C301"]
    assert codes("grid_size", planned(b.line_reduce(b.star(751)), WSE3)) == []


def test_a_limit_of_colors_is_kept():
    assert codes("colors", planned(b.line_reduce(b.chain(5), colors=2))) == []
    assert codes("colors", planned(b.line_reduce(b.chain(5), colors=1))) == ["C302"]
    assert codes("colors", planned(b.line_reduce(b.star(5), colors=1))) == []


def test_colors_says_what_is_needed_available_and_where():
    plan = planned(b.line_reduce(b.chain(5), colors=1))
    (problem,) = check("colors", plan)
    assert "needs 2 colors (`reduce` 2), the limit allows 1" in problem.message
    assert "allow 2 colors" in problem.help


def test_a_limit_of_colors_is_told_where_it_is_written_and_raised_by_a_fix():
    line = replace(b.HERE, line=7)
    limited = b.line_reduce(b.chain(5), colors=1)
    plan = planned(replace(limited, limits=replace(limited.limits, colors_span=line)))
    (problem,) = check("colors", plan)
    assert problem.at == line
    assert problem.fix == (Edit(line, "within colors <= 2"),)
    # where the target has fewer than the limit allows, that would not help
    roomy = replace(plan.collective, limits=replace(limited.limits, colors=2, colors_span=line))
    (problem,) = check("colors", on(replace(plan, collective=roomy), colors=(0,)))
    assert (problem.at, problem.fix) == (line, ())
    (problem,) = check("colors", on(planned(b.line_reduce(b.chain(5))), colors=(0,)))
    assert (problem.at, problem.fix) == (b.HERE, ())


def test_each_color_has_a_number_of_its_own_that_the_target_routes():
    plan = ALLREDUCE
    assert codes("color_numbers", plan) == []
    names = [name for name, _ in plan.colors]
    same = replace(plan, colors=tuple((name, 4) for name in names))
    assert set(codes("color_numbers", same)) == {"C303"}
    foreign = replace(plan, colors=tuple(zip(names, (0, 1, 21, 3), strict=False)))
    assert codes("color_numbers", foreign) == ["C303"]
    other = replace(plan, colors=tuple(zip(names, (20, 1, 7, 3), strict=False)))
    assert codes("color_numbers", other) == []


def test_a_color_whose_routers_move_has_switches():
    plan = LIMITED
    assert codes("switch_colors", plan) == []
    assert codes("switch_colors", on(plan, switch_colors=frozenset({0}))) == ["C304"]
    static = planned(b.line_reduce(b.chain(5)))
    assert codes("switch_colors", on(static, switch_colors=frozenset())) == []


def test_each_phase_has_queues_of_its_own():
    plan = ALLREDUCE
    assert codes("queues", plan) == []
    assert codes("queues", on(plan, output_queues=(2,))) == ["C305"]
    assert codes("queues", on(plan, output_queues=(2, 3))) == []
    assert codes("queues", replace(plan, input_queues=(2, 2))) == ["C305"]


def test_the_length_that_a_help_names_is_the_longest_that_fits():
    assert codes("memory", planned(b.line_reduce(b.chain(5), 9000))) == []
    plan = planned(b.line_reduce(b.chain(5), 10000))
    (problem,) = check("memory", plan)
    assert problem.code == "C308"
    most = int(problem.help.split("at most ")[1].split()[0])
    assert codes("memory", planned(b.line_reduce(b.chain(5), most))) == []
    assert codes("memory", planned(b.line_reduce(b.chain(5), most + 1))) == ["C308"]


def in_rounds(rounds):
    """A role that stores all its vectors in so many rounds."""

    def change(role):
        runs = (
            (replace(op, vectors=op.vectors * turns // rounds), rounds)
            if op.stores
            else (op, turns)
            for op, turns in role.repeated
        )
        return with_runs(role, runs)

    return change


def test_an_operation_is_no_longer_than_the_target_counts():
    assert codes("extents", planned(b.line_reduce(b.star(5), 0x7FFE))) == []
    assert codes("extents", planned(b.line_reduce(b.star(5), 0x7FFF))) == ["C309"]
    plan = planned(b.line_reduce(b.star(5), 10000))
    assert codes("extents", plan) == []
    once = with_roles(plan, in_rounds(1))
    assert codes("extents", once) == ["C309"]


def test_an_extent_counts_elements_or_the_two_words_of_each_pair():
    def found(length, element, operation):
        steps = [b.reduce_step(b.star(5))]
        whole = b.collective(5, 1, steps, length=length, element=element, operation=operation)
        contract = replace(whole.contract, length_span=replace(b.HERE, line=7))
        problems = check("extents", planned(replace(whole, contract=contract)))
        return [(one.message.split(" has ")[1], one.fix[0].text) for one in problems]

    number = ElementType.F32, Operation.ADD
    assert found(0x7FFE, *number) == []
    assert found(0x7FFF, *number) == [("32767 elements, wse2 counts to 32766", "32766")]
    pair = ElementType.F32_U32, Operation.ARGMAX
    assert found(0x3FFF, *pair) == []
    assert found(0x4000, *pair) == [("32768 words, wse2 counts to 32766", "16383")]


def test_a_switch_has_no_more_positions_than_the_target():
    plan = LIMITED
    assert codes("positions", plan) == []
    assert "C310" in codes("positions", on(plan, switch_positions=1))
    assert codes("positions", on(plan, switch_positions=2)) == []


def both_sides(role):
    """A role whose first color turns from receiving to sending its own."""
    first, *others = role.colors
    positions = (
        Route(Direction.EAST, (Direction.RAMP,)),
        Route(Direction.RAMP, (Direction.WEST,)),
    )
    return replace(role, colors=(replace(first, positions=positions), *others))


def test_a_switch_changes_one_side_only_where_the_target_changes_one():
    plan = LIMITED
    assert codes("position_sides", plan) == []
    assert set(codes("position_sides", with_roles(plan, both_sides))) == {"C311"}
    static = planned(b.line_reduce(b.chain(3)))
    changed = with_roles(static, both_sides)
    assert codes("position_sides", on(changed, switch_both_sides=True)) == []


def test_own_routers_are_not_asked_to_change_the_sending_side():
    plan = LIMITED

    change = advancing_by(lambda advance: Advance.OWN_ROUTER)
    assert codes("position_sides", with_roles(plan, change)) == []
    sending_side = (
        Route(Direction.EAST, (Direction.RAMP,)),
        Route(Direction.EAST, (Direction.WEST,)),
    )
    own = Op(VECTOR, Action.COPY, "c", advance=Advance.OWN_ROUTER)

    def turned(role):
        use = replace(role.colors[0], color="c", positions=sending_side)
        return with_runs(replace(role, colors=(use,)), [(own, 1)])

    assert "C311" in codes("position_sides", with_roles(plan, turned))


def test_each_pe_of_a_line_has_one_role():
    plan = ALLREDUCE
    assert codes("one_role", plan) == []
    start = Strided(0, 0)

    def moved(region, index):
        return (Region(start, start), index) if index == 1 else (region, index)

    (problem,) = check("one_role", with_regions(plan, moved))
    assert problem.code == "C312"
    assert "the PE with x = 0 has 2 roles" in problem.message


def test_each_pe_of_a_grid_has_one_role():
    plan = planned(b.broadcast(5, 4, 2, 1))
    assert codes("one_role", plan) == []
    dropped = replace(plan.phases[0], regions=plan.phases[0].regions[1:])
    assert codes("one_role", replace(plan, phases=(dropped,))) == ["C312"]


def test_a_tree_sends_behind_what_it_stores():
    plan = LIMITED
    assert codes("steps", plan) == []
    sending = with_roles(plan, lambda role: with_runs(role, role.repeated[-1:]))
    assert codes("steps", sending) == []
    backwards = with_roles(
        plan, lambda role: with_runs(role, (*role.repeated[::-1], *role.repeated))
    )
    assert set(codes("steps", backwards)) == {"C318"}


def test_vectors_are_stored_by_one_operation_or_each_by_its_own():
    plan = planned(b.line_reduce(b.star(5), 10000))
    divided = (with_roles(plan, in_rounds(rounds)) for rounds in (1, 2, 4))
    assert [codes("steps", one) for one in divided] == [[], ["C318"], []]
    without = with_roles(plan, in_rounds(8))
    never = with_roles(plan, lambda role: with_runs(role, ((op, 0) for op in role.ops)))
    assert codes("steps", without) == ["C318"]
    assert set(codes("steps", never)) == {"C318"}


def test_roles_of_a_phase_do_not_store_in_different_ways():
    plan = planned(b.line_reduce(b.binomial(16), 8))

    def one_by_one(role):
        runs = ((replace(op, vectors=1), op.vectors * n) for op, n in role.repeated)
        return with_runs(role, runs)

    assert codes("steps", with_roles(plan, one_by_one)) == []
    root = plan.phases[0].roles[0]
    assert root.ops[0].vectors > 1
    mixed = with_roles(plan, lambda role: one_by_one(role) if role is root else role)
    assert set(codes("steps", mixed)) == {"C318"}


def test_steps_takes_whole_vectors_of_one_lane():
    plan = LIMITED
    part = with_roles(plan, lambda role: with_ops(role, lambda op: replace(op, slices=NO_SLICES)))
    assert set(codes("steps", part)) == {"C318"}
    twice = with_roles(plan, lambda role: replace(role, lanes=role.lanes * 2))
    assert set(codes("steps", twice)) == {"C318"}


def test_every_pe_of_a_multicast_has_something_to_do():
    plan = planned(b.broadcast(5, 4, 2, 1))
    assert codes("steps", plan) == []
    silent = with_roles(plan, lambda role: replace(role, lanes=()))
    assert set(codes("steps", silent)) == {"C318"}


def test_vectors_that_leave_the_line_are_found():
    """The root passes its vector on as well, with nobody left to take it."""
    plan = planned(b.line_reduce(b.star(3)))
    leaf = plan.phases[0].roles[1]
    beyond = with_roles(plan, lambda role: leaf if role.name == "root" else role)
    assert "C314" in codes("follow", beyond)


def test_phases_of_one_color_do_not_touch():
    plan = ALLREDUCE
    assert codes("exclusive_receive", plan) == []
    names = [name for name, _ in plan.colors]
    shared = {name: number for number, name in enumerate(names)} | {"broadcast": 0}
    mixed = replace(plan, colors=tuple(shared.items()))
    assert codes("exclusive_receive", mixed) == ["C313"]
    apart = with_regions(mixed, lambda r, i: (replace(r, y=Strided(2, 2)), i), phase=1)
    assert codes("exclusive_receive", apart) == []
    near = with_regions(mixed, lambda r, i: (replace(r, y=Strided(1, 1)), i), phase=1)
    assert codes("exclusive_receive", near) == ["C313"]


def test_a_lost_advance_gets_stuck():
    plan = LIMITED
    assert codes("follow", plan) == []
    for lost in (Advance.CONTROL, Advance.OWN_ROUTER):
        broken = with_roles(
            plan, advancing_by(lambda a, lost=lost: Advance.NOTHING if a is lost else a)
        )
        assert "C314" in codes("follow", broken)


def test_a_control_wavelet_may_move_only_its_own_router():
    plan = planned(b.line_reduce(b.star(3)))
    control = with_roles(
        plan, advancing_by(lambda a: Advance.CONTROL if a is Advance.OWN_ROUTER else a)
    )
    assert codes("follow", control) == []


def test_who_waits_for_what_is_named():
    plan = LIMITED
    broken = with_roles(
        plan, advancing_by(lambda a: Advance.NOTHING if a is Advance.CONTROL else a)
    )
    (problem,) = check("follow", broken)
    assert problem.message == (
        "`reduce` gets stuck: PE (0, 0) waits for ever: the router of PE (1, 0) is in position 1 "
        "of `reduce_even`, for words from the east, and those wait for words of PE (3, 0), which "
        "it does not let in in its next call"
    )


def test_vectors_of_another_rank_are_found():
    plan = planned(b.line_reduce(b.star(3)))
    chain = planned(b.line_reduce(((2, 1), (), ())))
    assert codes("follow", plan) == []
    of_chain = replace(plan, collective=chain.collective)
    assert codes("follow", of_chain) == ["C315"]


def test_stray_control_wavelets_are_found():
    """Rank 2 is made to send a control wavelet while the router of rank 1 still has a position."""
    plan = planned(b.line_reduce(b.star(3)))
    relay = Route(Direction.EAST, (Direction.WEST,))
    further = Route(Direction.EAST, (Direction.WEST, Direction.RAMP))

    def change(role):
        uses = tuple(
            replace(use, positions=(*use.positions, further)) if relay in use.positions else use
            for use in role.colors
        )
        return replace(role, colors=uses)

    more = with_roles(plan, change)
    assert codes("follow", more) == []
    control = with_roles(more, advancing_by(lambda a: Advance.CONTROL if a is Advance.RESET else a))
    (problem,) = check("follow", control)
    assert problem.code == "C314"
    assert "words on `reduce_even` come to PE (1, 0), which receives no more" in problem.message


def test_switches_return_behind_the_last_vector():
    """Near miss: the control wavelet comes, but behind the nearer of two vectors."""
    plan = planned(b.line_reduce(b.star(4)))
    assert codes("follow", plan) == []
    never = with_roles(plan, advancing_by(lambda a: Advance.NOTHING if a is Advance.RESET else a))
    assert codes("follow", never) == ["C314"]
    early = with_roles(
        plan, advancing_by(lambda a: Advance.RESET if a is Advance.OWN_ROUTER else a)
    )
    (problem,) = check("follow", early)
    assert problem.code == "C315"
    assert "takes in call 0 words that PE (1, 0) sends in call 1" in problem.message


def test_static_switches_need_no_return():
    plan = planned(b.line_reduce(b.chain(4)))
    assert codes("follow", plan) == []


@pytest.mark.parametrize("x", [0, 1, 4])
@pytest.mark.parametrize("y", [0, 2, 3])
def test_a_multicast_reaches_all(x, y):
    plan = planned(b.broadcast(5, 4, x, y))
    assert codes("follow", plan) == []

    def deaf(role):
        if role.name == "root":
            return role
        (use,) = role.colors
        ways = use.positions[0].send
        return replace(role, colors=(replace(use, positions=(Route(Direction.RAMP, ways),)),))

    assert codes("follow", with_roles(plan, deaf)) == ["C317"]


def test_pes_that_no_multicast_reaches_are_found():
    plan = planned(b.broadcast(5, 1, 0, 0))

    def ends(role):
        if role.name == "root":
            return role
        (use,) = role.colors
        route = replace(use.positions[0], send=(Direction.RAMP,))
        return replace(role, colors=(replace(use, positions=(route,)),))

    (problem,) = check("follow", with_roles(plan, ends))
    assert "for words from the west, where PE (1, 0) sends none" in problem.message


@given(
    st.integers(1, 40),
    st.integers(0, 10**6),
    st.sampled_from([1, 17, 1000]),
    st.sampled_from(list(Order)),
)
def test_every_plan_for_a_pre_order_tree_passes(ranks, seed, length, order):
    along_row = order in (Order.WEST_TO_EAST, Order.EAST_TO_WEST)
    size = (ranks, 1) if along_row else (1, ranks)
    step = b.reduce_step(b.random_tree(ranks, seed), order)
    schedule = build_schedule(b.collective(*size, [step], length=length))
    for target in (WSE2, WSE3):
        assert check_plan(build_plan(schedule, target)) == ()
        for plan in candidate_plans(schedule, target):
            assert codes("follow", plan) == []
            assert codes("one_role", plan) == []


@given(st.integers(2, 30), st.integers(0, 10**6), st.data())
def test_a_lost_advance_is_always_found(ranks, seed, data):
    plan = planned(b.line_reduce(b.random_tree(ranks, seed), colors=2))
    moving = [
        index
        for index, role in enumerate(plan.phases[0].roles)
        if any(op.advance is not Advance.NOTHING for op in role.ops)
    ]
    if moving:
        chosen = plan.phases[0].roles[data.draw(st.sampled_from(moving))].name
        still = advancing_by(lambda advance: Advance.NOTHING)
        broken = with_roles(plan, lambda role: still(role) if role.name == chosen else role)
        assert {"C314", "C315"} & set(codes("follow", broken))


@given(st.integers(1, 6), st.integers(1, 6), st.data())
def test_every_broadcast_passes(width, height, data):
    x, y = data.draw(st.integers(0, width - 1)), data.draw(st.integers(0, height - 1))
    plan = planned(b.broadcast(width, height, x, y))
    assert check_plan(plan) == ()


def test_a_whole_wafer_passes():
    collective = b.grid_allreduce(b.two_phase(750, 27), b.two_phase(994, 31), 64)
    assert check_plan(planned(collective)) == ()


def test_both_ends_of_a_link_see_the_vectors_in_one_order():
    """Derived from the tree alone: what leaves a router is what enters the next."""
    for seed in range(50):
        tree = b.random_tree(24, seed)
        streams = streams_of(tree)
        for near, far in pairwise(range(24)):
            for color in (0, 1):
                leaving = [s for s, _, to in streams.get((far, color), []) if to == "near"]
                entering = [s for s, came, _ in streams.get((near, color), []) if came == "far"]
                assert leaving == entering


def streams_of(tree):
    """Vectors through each router and parity in time order: sender, from where, to where."""
    parent = {child: rank for rank, sources in enumerate(tree) for child in sources}
    depth = [0] * len(tree)
    for rank in range(1, len(tree)):
        depth[rank] = depth[parent[rank]] + 1
    streams = {}
    for rank, sources in enumerate(tree):
        for child in sources:
            streams.setdefault((rank, depth[rank] % 2), []).append((child, "far", "ramp"))
        if rank:
            own = (rank, depth[parent[rank]] % 2)
            streams.setdefault(own, []).append((rank, "ramp", "near"))
    for rank in range(1, len(tree)):
        for router in range(parent[rank] + 1, rank):
            key = (router, depth[parent[rank]] % 2)
            streams.setdefault(key, []).append((rank, "far", "near"))
    return streams


def test_every_code_has_a_page():
    (folder,) = collc.explanations.__path__
    pages = {page.stem for page in Path(folder).glob("*.md")}
    source = Path(folder).parent
    texts = [path.read_text() for of in ("checks", "proof") for path in (source / of).glob("*.py")]
    used = {word.strip('",') for text in texts for word in text.split() if word.startswith('"C')}
    assert {code for code in used if code[1:].isdigit()} <= pages


def test_operations_do_not_change_the_routes():
    add, least = (
        planned(b.collective(5, 1, [b.reduce_step(b.chain(5))], operation=operation))
        for operation in (Operation.ADD, Operation.MIN)
    )
    assert add.phases == least.phases
