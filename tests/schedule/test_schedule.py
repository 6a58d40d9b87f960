import re
from dataclasses import replace

import building as b
from collc.language import parse_source
from collc.run.expected import expected, make_input
from collc.schedule import BroadcastPhase, ReducePhase, build_schedule, step_of
from collc.schedule.show import operand_order, show_schedule
from collc.spec import BroadcastStep, ContractKind, Order, Tree


def only_phase(collective):
    (phase,) = build_schedule(collective).phases
    return phase


def test_a_line_of_one_pe_needs_no_phase():
    assert build_schedule(b.line_allreduce(b.chain(1))).phases == ()


def test_a_grid_of_one_column_skips_the_row():
    schedule = build_schedule(b.grid_allreduce(b.chain(1), b.chain(4)))
    assert [phase.name for phase in schedule.phases] == ["reduce", "broadcast"]


def test_columns_are_many_lines_and_the_row_is_the_one_with_their_sums():
    steps = [b.reduce_step(b.chain(3), Order.SOUTH_TO_NORTH), b.reduce_step(b.chain(4))]
    columns, row = build_schedule(b.collective(4, 3, steps)).phases
    assert isinstance(columns, ReducePhase) and isinstance(row, ReducePhase)
    assert (columns.name, columns.lines) == ("columns", (0, 3))
    assert (row.name, row.lines) == ("row", (2, 2))


def test_names_of_phases_are_distinct():
    steps = [BroadcastStep(0, 0, b.HERE), BroadcastStep(0, 0, b.HERE)]
    schedule = build_schedule(b.collective(3, 1, steps, ContractKind.BROADCAST, operation=None))
    assert [phase.name for phase in schedule.phases] == ["broadcast", "broadcast_2"]


def test_phases_are_told_from_each_other_where_their_steps_are_at_one_place():
    """As those are that `auto` stands for."""
    trees = [b.reduce_step(b.chain(3), Order.SOUTH_TO_NORTH), b.reduce_step(b.chain(4))]
    steps = [*trees, BroadcastStep(3, 2, b.HERE)]
    collective = b.collective(4, 3, steps, ContractKind.ALLREDUCE)
    phases = build_schedule(collective).phases
    assert {step.span for step in steps} == {b.HERE}
    assert [step_of(collective, phase) for phase in phases] == steps


def test_transfers_give_back_the_tree():
    for seed in range(20):
        tree = b.random_tree(17, seed)
        assert only_phase(b.line_reduce(tree)).children == tree


def test_a_rank_sends_after_it_has_received():
    sent = set()
    for transfer in only_phase(b.line_reduce(b.binomial(16))).transfers:
        assert transfer.destination not in sent
        sent.add(transfer.source)


def test_operand_order_shows_the_nesting():
    assert operand_order(only_phase(b.line_reduce(b.binomial(4)))) == "((0 + 1) + (2 + 3))"
    assert operand_order(only_phase(b.line_reduce(b.chain(3)))) == "(0 + (1 + 2))"


def test_short_lines_are_shown_in_full_and_long_ones_described():
    assert "3 => 2" in show_schedule(build_schedule(b.line_reduce(b.chain(4))))
    long = show_schedule(build_schedule(b.line_reduce(b.star(500))))
    assert "499 transfers, at most 499 vectors to one rank" in long
    assert len(long) < 300


def test_a_broadcast_is_one_phase_over_the_grid():
    phase = only_phase(b.broadcast(4, 3, 1, 2))
    assert isinstance(phase, BroadcastPhase)
    assert (phase.x, phase.y, phase.width, phase.height) == (1, 2, 4, 3)


def steps_schedule(use, ranks=3, contract="allreduce(x: f32[8], add)"):
    text = (
        f"target wse2 grid row = {ranks} x 1 collective total = {contract} on row "
        f"{{ order ring run {use} }} program {{ total }}"
    )
    return build_schedule(parse_source(text).collectives[0])


def test_steps_are_shown_with_their_transfers_and_the_order_of_operands():
    assert show_schedule(steps_schedule("ring_allreduce")) == (
        "schedule total: allreduce\n"
        "  exchange: ring_allreduce over 3 ranks, ring, 1 line, 3 slices of 8 elements\n"
        "    step 0: 0 => 1 slice 0, 1 => 2 slice 1, 2 => 0 slice 2\n"
        "    step 1: 0 => 1 slice 2, 1 => 2 slice 0, 2 => 0 slice 1\n"
        "    step 2: 0 -> 1 slice 1, 1 -> 2 slice 2, 2 -> 0 slice 0\n"
        "    step 3: 0 -> 1 slice 0, 1 -> 2 slice 1, 2 -> 0 slice 2\n"
        "    slice 0 at every rank = (2 + (1 + 0))\n"
        "    slice 1 at every rank = (0 + (2 + 1))\n"
        "    slice 2 at every rank = (1 + (0 + 2))\n"
    )


def test_ranks_that_combine_in_another_order_are_told_apart():
    shown = show_schedule(steps_schedule("recursive_doubling", 2))
    assert "    rank 0 = (0 + 1)\n    rank 1 = (1 + 0)\n" in shown


def test_a_slice_that_changes_its_place_is_shown_with_both():
    shown = show_schedule(steps_schedule("pairwise_all_to_all", 2, "all_to_all(x: f32[8])"))
    assert "step 0: 0 -> 1 slice 1 as 0, 1 -> 0 slice 0 as 1" in shown and "+" not in shown


def test_many_steps_are_described():
    shown = show_schedule(steps_schedule("ring_allreduce", 500))
    assert "998 steps, 499000 transfers, at most 500 in a step" in shown
    assert len(shown) < 300


def test_an_algorithm_along_a_line_of_one_pe_needs_no_phase():
    assert steps_schedule("ring_allreduce", 1).phases == ()


def test_the_operand_order_shown_is_the_one_numpy_takes():
    schedule = steps_schedule("binary_blocks", 7)
    given = make_input(schedule.collective, 3)
    slicing, places = schedule.phases[0].slicing, list(schedule.phases[0].places)
    found, x = expected(schedule, given)[0][places], given[0][places]
    for line in show_schedule(schedule).splitlines():
        if " = " not in line:
            continue
        head, _, order = line.strip().partition(" = ")
        slice_, _, ranks = head.removeprefix("slice ").partition(" at ")
        every = ", ".join(map(str, range(7)))
        ranks = ranks.replace("every rank", every).removeprefix("rank ")
        part = slice(slicing.bound(int(slice_)), slicing.bound(int(slice_) + 1))
        value = eval(re.sub(r"(\d+)", r"x[\1][part]", order), {"x": x, "part": part})
        for rank in ranks.split(", "):
            assert (found[int(rank)][part] == value).all()


def test_two_sides_of_a_root_are_shown_in_the_ranks_of_the_line():
    middle = replace(b.reduce_step(b.chain(3)), root=2, far=Tree("tree", ((1,), ()), b.HERE))
    shown = show_schedule(build_schedule(b.collective(5, 1, [middle])))
    assert shown.endswith("  each row, in its own ranks: rank 2 = ((2 + (1 + 0)) + (3 + 4))\n")
    last = replace(b.reduce_step(b.star(4)), root=3)
    shown = show_schedule(build_schedule(b.collective(4, 1, [last])))
    assert "rank 3 = (((3 + 2) + 1) + 0)" in shown
    long = replace(b.reduce_step(b.chain(20)), root=19, far=Tree("tree", ((1,), ()), b.HERE))
    shown = show_schedule(build_schedule(b.collective(22, 1, [long])))
    assert "rank 19, then ranks 18 to 0 nested as tree, then ranks 20 to 21 nested as" in shown
