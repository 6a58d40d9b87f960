"""Budgets at their limits: as much as there is passes, one more is told, with what has it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from stream_forms import CONTRACTS, plans, text_of
from with_schedules import check

import building as b
from collc.base.diagnostics import Diagnostic, Edit
from collc.checks.budgets.extents import extents
from collc.checks.budgets.memory import memory, vector_fits
from collc.checks.budgets.output_words import words_at_once
from collc.checks.counted import preceding_lanes, sending_lanes
from collc.checks.queue_users import count_of
from collc.cost.choice import build_plan
from collc.driver.pipeline import prove_text
from collc.plan import Plan, Strided
from collc.plan.one_word import is_one_word
from collc.plan.streams import stage_of
from collc.schedule import build_schedule
from collc.schedule.barrier_tokens import with_tokens
from collc.spec import Collective, ElementType, Reserved
from collc.target import TARGETS, WSE2
from mutants import exchanges


def planned(collective: Collective) -> Plan:
    return build_plan(build_schedule(collective), WSE2)


def on(plan: Plan, **fields: object) -> Plan:
    """The plan on a target with some numbers changed."""
    return replace(plan, target=replace(plan.target, **fields))


def found(name: str, plan: Plan) -> list[Diagnostic]:
    return check(name, plan)


def keeping(plan: Plan, **numbers: tuple[int, ...]) -> Plan:
    """The plan of a collective that reserves numbers."""
    reserved = Reserved(clauses=(b.HERE,), **numbers)
    limits = replace(plan.collective.limits, reserved=reserved)
    return replace(plan, collective=replace(plan.collective, limits=limits))


ALLREDUCE = planned(b.line_allreduce(b.two_phase(12, 4)))
DOUBLING = exchanges.plan_of("doubling", "wse2")[1]
MIXED = replace(DOUBLING, phases=(*ALLREDUCE.phases, *DOUBLING.phases))
LIMITED = planned(b.line_reduce(b.two_phase(12, 4), colors=2))  # with control wavelets


def test_a_foreign_number_is_told_where_colors_are_as_many_as_the_target_has() -> None:
    count = len(ALLREDUCE.colors)
    foreign = replace(ALLREDUCE, colors=(*ALLREDUCE.colors[:-1], ("broadcast", 21)))
    (problem,) = found("color_numbers", on(foreign, colors=tuple(range(count))))
    assert "`broadcast` has number 21" in problem.message
    # of too many colors it is told that they are, and not which of them has which number
    assert not found("color_numbers", on(foreign, colors=tuple(range(count - 1))))


def test_a_color_without_a_number_is_told_once() -> None:
    (problem,) = found("color_numbers", replace(ALLREDUCE, colors=ALLREDUCE.colors[1:]))
    assert problem.message == "color `reduce_even` has no number"


@pytest.mark.parametrize(
    ("check", "plan"),
    [
        ("colors", planned(b.line_reduce(b.chain(5), colors=1))),
        ("switch_colors", on(LIMITED, switch_colors=frozenset())),
    ],
)
def test_where_colors_are_reserved_fewer_of_them_help(check: str, plan: Plan) -> None:
    assert all("reserve" not in problem.help for problem in found(check, plan))
    problems = found(check, keeping(plan, colors=(7,)))
    assert problems and all(one.help.endswith(", or reserve less") for one in problems)


def test_extents_of_every_phase_are_counted() -> None:
    """Rows take four vectors by one operation, columns one."""
    plan = planned(b.grid_allreduce(b.star(5), b.chain(4)))
    assert not list(extents(on(plan, max_extent=64)))
    (problem,) = extents(on(plan, max_extent=63))
    assert "`row` has 64 elements" in problem.message


def test_a_stage_of_two_areas_is_longer_than_the_vector() -> None:
    plan = exchanges.plan_of("neighbours", "wse2")[1]
    (phase,) = plan.phases
    assert phase.areas == 2
    short = on(plan, max_extent=phase.slicing.length)
    assert [problem.code for problem in extents(short)] == ["C309"]


def test_filters_are_counted_on_pes_that_are_there() -> None:
    _, schedule = prove_text(text_of("scatter"), "t", {"P": 6, "B": 36})
    plan = plans(schedule)[0]
    (phase,) = plan.phases
    none = on(plan, filters=0)
    assert [problem.code for problem in found("filters", none)] == ["C340"]
    assert not found("filters", on(plan, filters=1))
    for aside in (Strided(6, 6), Strided(-1, -1), Strided(0, 6), Strided(-1, 0)):
        for field in ("x", "y"):
            (first, index), *others = phase.regions
            moved = ((replace(first, **{field: aside}), index), *others)
            changed = replace(phase, regions=moved)
            assert not found("filters", replace(none, phases=(changed,))), (aside, field)


SNAKE = """target wse2 grid g = 3 x 2
collective c = scatter(x: f32[36]) on g { order snake run linear_scatter }
program { c }"""


def test_filters_of_a_path_are_counted_along_it() -> None:
    _, schedule = prove_text(SNAKE, "t", {})
    plan = plans(schedule)[0]
    assert plan.phases[0].path
    assert not found("filters", on(plan, filters=1))
    assert [problem.code for problem in found("filters", on(plan, filters=0))] == ["C340"]


def test_a_grid_is_as_large_as_the_target_in_either_direction() -> None:
    plan = planned(b.broadcast(5, 4, 2, 1))
    assert not found("grid_size", on(plan, max_width=5, max_height=4))
    for smaller in ({"max_width": 4}, {"max_height": 3}):
        assert [problem.code for problem in found("grid_size", on(plan, **smaller))] == ["C301"]


def bytes_free(plan: Plan, free: int) -> Plan:
    """The plan on a target that has so many bytes for a program."""
    changed = on(plan, memory_bytes=plan.target.memory_bytes + free - plan.target.free_bytes)
    assert changed.target.free_bytes == free
    return changed


def test_code_and_data_may_fill_the_memory() -> None:
    plan = planned(b.line_reduce(b.chain(5), length=100))
    needed = plan.code_bytes + plan.data_bytes
    assert not list(memory(bytes_free(plan, needed)))
    (problem,) = memory(bytes_free(plan, needed - 1))
    assert problem.help == "shorten `x` to at most 99 elements"
    assert problem.fix == ()
    kept = plan.target.kept_bytes
    assert problem.message.endswith(f"wse2 has {needed - 1} beside {kept} for memcpy and the stack")
    nothing_kept = on(bytes_free(plan, needed - 1), kept_bytes=0, memory_bytes=needed - 1)
    (problem,) = memory(nothing_kept)
    assert problem.message.endswith(f"wse2 has {needed - 1}")
    (problem,) = memory(of_written_length(bytes_free(plan, needed - 1)))
    assert problem.fix == (Edit(b.HERE, "99"),)
    # a vector, and a stage of one where one is received
    each = 4 * (1 + sum(phase.areas for phase in plan.phases))
    (problem,) = memory(bytes_free(plan, needed - 10 * each))
    assert problem.help == "shorten `x` to at most 90 elements"
    (problem,) = memory(bytes_free(plan, plan.code_bytes))
    assert problem.help == "reserve less memory, or take steps with less code"
    (problem,) = memory(of_written_length(bytes_free(plan, plan.code_bytes)))
    assert problem.fix == ()


def of_written_length(plan: Plan) -> Plan:
    """The plan of a collective whose length is written in the file."""
    contract = replace(plan.collective.contract, length_span=b.HERE)
    return replace(plan, collective=replace(plan.collective, contract=contract))


BARRIER = """target wse2 grid row = 8 x 1
collective total = barrier() on row { reduce star to 0 then broadcast from 0 }
program { total }"""


def test_a_barrier_has_no_vector_to_shorten() -> None:
    _, schedule = prove_text(BARRIER, "t", {})
    plan = build_plan(with_tokens(schedule), WSE2)
    plan = replace(plan, collective=schedule.collective)
    assert not plan.collective.contract.in_memory
    assert not list(vector_fits(plan.collective, bytes_free(plan, -4).target))
    (problem,) = memory(bytes_free(plan, 100))
    assert problem.help == "reserve less memory, or take steps with less code"


@pytest.mark.parametrize("name", CONTRACTS)
def test_a_vector_of_a_stream_is_shortened_to_what_fits(name: str) -> None:
    """An all_to_all stages whole vectors; what only combines a slice stages that."""
    _, schedule = prove_text(text_of(name), "t", {"P": 6, "B": 360})
    staged = 1 + (name == "all_to_all")
    for plan in plans(schedule):
        (problem,) = memory(bytes_free(plan, plan.code_bytes + plan.data_bytes - 40 * staged))
        assert problem.help == "shorten `x` to at most 350 elements"


def test_one_stream_that_stages_a_whole_vector_suffices_for_an_area() -> None:
    _, schedule = prove_text(text_of("all_to_all"), "t", {"P": 6, "B": 36})
    _, combining = prove_text(text_of("reduce_scatter"), "t", {"P": 6, "B": 36})
    (phase,) = plans(schedule)[0].phases
    (other,) = plans(combining)[0].phases
    assert (stage_of(phase), stage_of(other)) == (36, 6)
    both = replace(phase, roles=(*phase.roles, *other.roles))
    assert stage_of(both) == 36


def test_a_vector_alone_may_fill_the_memory() -> None:
    collective = b.line_reduce(b.chain(5), length=100)
    target = bytes_free(planned(collective), 400).target
    assert not list(vector_fits(collective, target))
    (problem,) = vector_fits(collective, bytes_free(planned(collective), 399).target)
    assert problem.message.startswith("a PE needs 400 bytes for `x` alone")
    assert problem.help.startswith("shorten `x` to less than 99 elements")
    assert problem.fix == ()
    written = of_written_length(bytes_free(planned(collective), 399))
    (problem,) = vector_fits(written.collective, written.target)
    assert problem.fix == (Edit(b.HERE, "98"),)


@pytest.mark.parametrize("target", TARGETS)
def test_an_exchange_has_no_queue_of_each_kind_with_one_number(target: str) -> None:
    plan = replace(DOUBLING, target=TARGETS[target])
    assert not found("microthreads", plan)
    for into in range(len(plan.input_queues)):
        for out in plan.output_queues:
            numbers = (*plan.input_queues[:into], out, *plan.input_queues[into + 1 :])
            (problem,) = found("microthreads", replace(plan, input_queues=numbers))
            assert f"queues with number {out}," in problem.message
            assert problem.help.startswith("use fewer steps, ")
    # that queues are missing is told by another check
    assert not found("microthreads", replace(plan, output_queues=plan.output_queues[:-1]))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("backwards", [False, True])
def test_lanes_that_run_in_turn_run_on_the_microthread_of_the_first(
    backwards: bool, target: str
) -> None:
    """Those behind another one have no queue; where queues are bound to colors they have one, whose
    number does not matter."""
    _, schedule = prove_text(text_of("all_to_all"), "t", {"P": 14, "B": 14}, target)
    plan = next(one for one in plans(schedule, target) if len(one.colors) == 2 * 5)
    (phase,) = plan.phases
    phase = replace(phase, lanes=tuple(sorted(phase.lanes, reverse=backwards)))
    plan = replace(plan, phases=(phase,))
    bound = plan.target.binds_output_queues
    behind = preceding_lanes(phase)
    assert behind
    lanes = [lane for lane in sending_lanes(phase) if bound or lane not in behind]
    apart = replace(plan, input_queues=(100, 101), output_queues=tuple(range(len(lanes))))
    assert not found("microthreads", apart)
    for queue, lane in enumerate(lanes):
        shared = found("microthreads", replace(apart, input_queues=(100, queue)))
        assert len(shared) == (lane not in behind)


WORD = """target wse2 grid tile = 4 x 3
collective total = allreduce(x: f32[1], add) on tile {
    reduce columns by chain to 0 then reduce row by binomial to 0 then broadcast from 0
}
program { total }"""


def word() -> Plan:
    _, schedule = prove_text(WORD, "t", {})
    plan = build_plan(schedule, WSE2)
    assert is_one_word(plan) and len(plan.phases) == 3
    return plan


def test_what_is_broadcast_of_a_word_is_received_beside_all_that_is_sent_before() -> None:
    plan = word()
    assert not found("microthreads", plan)
    columns, row, last = plan.input_queues
    first_out, second_out = plan.output_queues
    assert not found("microthreads", replace(plan, input_queues=(columns, first_out, last)))
    for out in (first_out, second_out):
        (problem,) = found("microthreads", replace(plan, input_queues=(columns, row, out)))
        assert problem.help.startswith("reserve less, ")
    # vectors are sent before what is broadcast is received
    shared = (ALLREDUCE.input_queues[0], ALLREDUCE.output_queues[0])
    assert not found("microthreads", replace(ALLREDUCE, input_queues=shared))


def test_each_phase_of_a_word_has_an_output_queue_that_holds_it() -> None:
    plan = word()
    assert not found("output_words", plan)
    for at, queue in enumerate(plan.output_queues):
        sent = words_at_once(plan.phases[at])
        assert sent
        for holds in (sent, sent - 1):
            words = list(plan.target.output_queue_words)
            words[queue] = holds
            few = [one.code for one in found("output_words", on(plan, output_queue_words=words))]
            assert few == ["C305"] * (holds < sent), at


def test_queues_that_are_not_there_are_told_apart_from_too_few() -> None:
    first, second = ALLREDUCE.output_queues
    has = on(ALLREDUCE, output_queues=(first, second))
    assert not found("queues", has)
    (problem,) = found("queues", replace(has, output_queues=(first, 99)))
    assert f"has the output queues {first}, 99, which wse2 does not have" in problem.message
    (problem,) = found("queues", replace(ALLREDUCE, input_queues=(99, ALLREDUCE.input_queues[1])))
    assert "which wse2 does not have" in problem.message
    (problem,) = found("queues", on(ALLREDUCE, output_queues=(first,)))
    assert (
        "needs more output queues than there are: 2 (`reduce` 1, `broadcast` 1)" in problem.message
    )


def test_an_exchange_lacks_input_queues_beside_its_output_queues() -> None:
    _, *others = DOUBLING.input_queues
    (problem,) = found("queues", replace(DOUBLING, input_queues=(99, *others)))
    assert "input queues with numbers that no output queue beside them has" in problem.message
    left = set(DOUBLING.target.input_queues) - set(DOUBLING.output_queues)
    assert f"wse2 has {len(left)} beside memcpy" in problem.message
    _, *others = DOUBLING.output_queues
    (problem,) = found("queues", replace(DOUBLING, output_queues=(99, *others)))
    assert "which wse2 does not have" in problem.message


def test_phases_in_turn_need_as_many_queues_as_the_one_that_takes_most() -> None:
    """Trees take one of each kind, the exchange behind them two: one that is left does not do."""
    outputs, there = tuple(range(5)), tuple(range(7))
    plan = on(replace(MIXED, output_queues=outputs), output_queues=there)
    for last, helps in ((5, False), (6, True)):
        mixed = on(replace(plan, input_queues=(0, 1, 2, 99)), input_queues=there[: last + 1])
        (problem,) = found("queues", mixed)
        assert "input queues with numbers that no output queue beside them" in problem.message
        assert ("make several collectives of the steps" in problem.help) == helps


def test_queues_of_a_phase_are_those_behind_the_ones_of_phases_before() -> None:
    """Of a stream with lanes that only send, a target that binds output queues takes more of these
    than of the others."""
    _, schedule = prove_text(text_of("all_to_all"), "t", {"P": 14, "B": 14}, "wse3")
    stream = next(one for one in plans(schedule, "wse3") if len(one.colors) == 2 * 5)
    (first,), (second,) = stream.phases, DOUBLING.phases
    counted = [count_of(stream, kind)[first.name] for kind in ("input", "output")]
    assert counted == [2, 10]
    colors = (*stream.colors, *((name, 20 + k) for k, (name, _) in enumerate(DOUBLING.colors)))
    both = replace(stream, phases=(first, second), colors=colors, output_queues=tuple(range(12)))
    assert not found("microthreads", replace(both, input_queues=(100, 101, 102, 103)))
    for own in both.output_queues[10:]:
        (problem,) = found("microthreads", replace(both, input_queues=(100, 101, own, 103)))
        assert f"queues with number {own}," in problem.message


def test_every_phase_goes_in_pairs_only_where_it_can() -> None:
    collective = b.line_allreduce(b.chain(4))
    contract = replace(collective.contract, element=ElementType.F16)
    plan = planned(replace(collective, contract=contract))
    first, second = plan.phases
    odd = replace(plan.collective, contract=replace(contract, length=15))
    plan = replace(plan, collective=odd, phases=(replace(first, paired=False), second))
    (problem,) = found("paired", plan)
    assert "`broadcast` travel two to a wavelet" in problem.message
    assert not found("paired", DOUBLING)


def test_two_wavelets_at_once_are_of_slices_that_have_them() -> None:
    (phase,) = DOUBLING.phases
    (problem,) = found("paired", replace(DOUBLING, phases=(replace(phase, wide=True),)))
    assert "takes two wavelets by one instruction" in problem.message
