import building as b
from collc.schedule import BroadcastPhase, ReducePhase, build_schedule
from collc.show_schedule import operand_order, show_schedule
from collc.spec import BroadcastStep, ContractKind, Order


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
