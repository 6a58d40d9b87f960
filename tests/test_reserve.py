"""What is reserved is not taken, and the rest suffices as long as it can."""

from __future__ import annotations

import pytest
from libraries import taken

from collc.base.diagnostics import CollcError
from collc.driver.pipeline import compile_text
from collc.language import parse_source
from collc.language.show import show_spec

PROGRAM = """
target {target}
grid tile = {width} x {height}
collective total = allreduce(x: f32[24], add) on tile {{
    {steps}
    {reserve}
}}
program {{ total }}
"""
TREES = (
    "reduce columns by binomial to 0 then reduce row by two_phase(S = 2) to 0 then broadcast from 0"
)
STEPS = "order ring run ring_allreduce"
KEPT = "reserve colors 0 .. 2, colors 5, input_queues 5, output_queues 5, tasks 9 .. 10, dsrs 2"


def program(reserve, steps=TREES, target="wse2", width=6, height=4):
    values = {"steps": steps, "target": target, "width": width, "height": height}
    return PROGRAM.format(reserve=reserve, **values)


def plan_of(text):
    return compile_text(text, "test.coll", {}).plan


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(("steps", "height"), [(TREES, 4), (STEPS, 1)])
def test_a_plan_takes_nothing_that_is_reserved_and_delivers(steps, height, target):
    bundle = compile_text(program(KEPT, steps, target, height=height), "test.coll", {})
    tasks, dsrs = taken(bundle.files)
    assert tasks and dsrs
    assert not {0, 1, 2, 5} & {number for _, number in bundle.plan.colors}
    assert not {9, 10} & set(tasks)
    assert 2 not in dsrs
    assert bundle.run(seed=2).verified


def test_the_number_of_a_reserved_queue_is_no_queue_of_either_kind():
    for word in ("input_queues", "output_queues"):
        plan = plan_of(program(f"reserve {word} 2 .. 3", STEPS, height=1))
        assert not {2, 3} & {*plan.input_queues, *plan.output_queues}


def test_the_number_of_a_reserved_color_is_no_task():
    bundle = compile_text(program("reserve colors 8 .. 12"), "test.coll", {})
    tasks, _ = taken(bundle.files)
    assert tasks and not set(range(8, 13)) & set(tasks)


def test_the_last_that_is_left_suffices_and_one_less_does_not():
    needed = len(plan_of(program("", STEPS, height=1)).colors)
    kept = f"reserve colors 0 .. {20 - needed}"
    assert len(plan_of(program(kept, STEPS, height=1)).colors) == needed
    with pytest.raises(CollcError) as caught:
        plan_of(program(f"reserve colors 0 .. {21 - needed}", STEPS, height=1))
    assert "C302" in {diagnostic.code for diagnostic in caught.value.diagnostics}


SEVERAL = """
target {target}
grid row = 9 x 1
collective total = allreduce(x: f32[24], add) on row {{
    reduce binomial to 0 then broadcast from 0
}}
collective most = reduce(y: i32[24], max) on row {{ reduce chain to 0 }}
program {{ {calls} {limits} }}
"""
BESIDE = "reserve colors 0 .. 2, colors 5, input_queues 5, output_queues 5, tasks 9 .. 10, dsrs 2"


def queues_of(bundle):
    """The queues of both kinds that a program takes, of colors or of lanes."""
    inputs, outputs = bundle.program.queues
    return {*inputs, *outputs}


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("calls", ["repeat 2 { total most }", "total"])
def test_a_program_takes_nothing_that_it_reserves_and_delivers(calls, target):
    text = SEVERAL.format(target=target, calls=calls, limits=f"within colors <= 3 {BESIDE}")
    bundle = compile_text(text, "test.coll", {})
    tasks, dsrs = taken(bundle.files)
    assert tasks and dsrs
    assert not {0, 1, 2, 5} & set(bundle.program.color_numbers)
    assert 5 not in queues_of(bundle)
    assert not {9, 10} & set(tasks)
    assert 2 not in dsrs
    assert bundle.run(seed=2).verified


def test_a_program_that_reserves_too_much_says_so():
    fits, lacks = (
        SEVERAL.format(
            target="wse2", calls="total most", limits=f"reserve tasks 8 .. 20, tasks 24 .. {last}"
        )
        for last in (24, 25)  # of 16 task ids two are left, and one
    )
    assert compile_text(fits, "test.coll", {}).run().verified
    with pytest.raises(CollcError) as caught:
        compile_text(lacks, "test.coll", {})
    (problem,) = caught.value.diagnostics
    assert problem.code == "C306"
    assert problem.also[0][1] == "`reserve` keeps tasks 8 .. 20 and 24 .. 25"
    assert problem.help.endswith("or reserve less")
    each = "`total.reduce` 1, `total.broadcast` 1, `most.reduce` 1"
    assert f"2 ({each}, and 1 where a call is over at once), wse2 has 1 beside" in problem.message


def test_a_program_that_leaves_too_few_dsrs_says_so():
    fits, lacks = (
        SEVERAL.format(target="wse2", calls="total most", limits=f"reserve dsrs 1 .. {last}")
        for last in (6, 7)
    )
    assert compile_text(fits, "test.coll", {}).run().verified
    with pytest.raises(CollcError) as caught:
        compile_text(lacks, "test.coll", {})
    assert {problem.code for problem in caught.value.diagnostics} == {"C307"}


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("way", ["", "reconfigure teardown"])
def test_exchanges_that_only_move_slices_tear_down_with_what_their_lanes_have(target, way):
    text = f"""target {target} grid row = 5 x 1
    collective deal = scatter(x: f32[10]) on row {{ run binomial_scatter }}
    collective all = allgather(y: i16[10]) on row {{ order ring run ring_allgather }}
    program {{ repeat 2 {{ deal all }} reserve tasks 8 .. 20, dsrs 3 .. 7 {way} }}"""
    report = compile_text(text, "test.coll", {}, None, 30).run()
    assert report.verified, report.problem


def test_a_shown_reservation_of_a_program_reads_as_the_same():
    text = SEVERAL.format(target="wse2", calls="total most", limits=BESIDE)
    spec = parse_source(text)
    again = parse_source(show_spec(spec))
    assert spec.program.reserved.tasks == again.program.reserved.tasks == (9, 10)
    assert show_spec(again) == show_spec(spec)


def test_pes_that_start_late_keep_what_the_collective_reserves():
    text = program("reserve colors 0 .. 2, tasks 8")
    bundle = compile_text(text, "test.coll", {}, skew=20)
    assert bundle.program.color_numbers
    assert not {0, 1, 2} & set(bundle.program.color_numbers)
    assert 8 not in taken(bundle.files)[0]
    assert bundle.run(seed=2).verified


def test_a_shown_reservation_reads_as_the_same():
    spec = parse_source(program(KEPT))
    again = parse_source(show_spec(spec))
    before, after = (s.collectives[0].limits.reserved for s in (spec, again))
    assert (before.colors, before.tasks, before.dsrs) == (after.colors, after.tasks, after.dsrs)
    assert before.colors == (0, 1, 2, 5)
    assert show_spec(again) == show_spec(spec)


SHORT = """target wse2
grid tile = 6 x 4
collective total = allreduce(x: f32[8], add) on tile {{
    reduce columns by binomial to 0 then reduce row by binomial to 0 then broadcast from 0
    {reserved}
}}
program {{ total }}
"""


@pytest.mark.parametrize(
    ("reserved", "code", "needed"),
    [
        ("tasks 8 .. 20, tasks 24 .. 25", "C306", "3 (`exchange` 3), wse2 has 1 beside"),
        ("dsrs 1 .. 6", "C307", "2 (`exchange` 2), wse2 has 1 beside"),
    ],
)
def test_a_shortage_says_who_needs_what_and_what_helps(
    reserved: str, code: str, needed: str
) -> None:
    """Two lanes beside each other, and the end of both."""
    text = program(f"reserve {reserved}", "run recursive_doubling", height=1)
    with pytest.raises(CollcError) as caught:
        compile_text(text, "short.coll", {})
    (problem,) = caught.value.diagnostics
    assert problem.code == code
    assert needed in problem.message and "what is reserved" in problem.message
    assert problem.help == "choose a pattern that needs fewer at once, or reserve less"
    fewer = program(f"reserve {reserved}", "reduce chain to 0 then broadcast from 0", height=1)
    assert compile_text(fewer, "fewer.coll", {}).run().verified


@pytest.mark.parametrize("reserved", ["tasks 8 .. 20, tasks 24 .. 25", "dsrs 1 .. 6"])
@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_phases_have_one_task_or_register_in_turn(target: str, reserved: str) -> None:
    text = SHORT.format(reserved=f"reserve {reserved}").replace("wse2", target)
    bundle = compile_text(text, "short.coll", {}, None, 30)
    assert 1 in map(len, taken(bundle.files))
    report = bundle.run(repeats=2)
    assert report.verified, report.problem


def test_a_shortage_names_no_numbers_that_the_machine_does_not_have() -> None:
    with pytest.raises(CollcError) as caught:
        compile_text(SHORT.format(reserved="reserve output_queues 2 .. 5"), "short.coll", {})
    problem = next(p for p in caught.value.diagnostics if "output queues" in p.message)
    assert "wse2 has none beside memcpy and what is reserved" in problem.message
    assert "gets" not in problem.message and "alternate" not in problem.help


def test_phases_take_turns_on_as_few_colors_as_have_switches() -> None:
    """Three colors are left, of which two have switches."""
    bundle = compile_text(
        """
target wse3
grid g = 1 x 28
collective one = allreduce(x: u32[6], max) on g {
    order south_to_north
    reduce two_phase(S = 2) to 26
    then broadcast from 26
}
collective other = allreduce(y: f32[5], add) on g {
    reduce two_phase(S = 2) to 3
    then broadcast from 3
}
program { one other reconfigure teardown reserve colors 1 .. 18 }
""",
        "test.coll",
        {},
    )
    program = bundle.program
    assert program.colors and set(program.color_numbers) <= program.target.switch_colors
    report = bundle.run()
    assert report.verified, report.problem


MANY_TASKS = """target {target} grid g = 4 x 3
collective total = allreduce(x: f32[6], add) on g {{
    order north_to_south, west_to_east
    reduce columns by chain to 0
    then reduce row by chain to 0
    then broadcast from (0, 0)
    {reserve}
}}
program {{ total }}"""


def task_ids_beside(target: str, reserve: str) -> tuple[int, ...]:
    bundle = compile_text(MANY_TASKS.format(target=target, reserve=reserve), "test.coll", {})
    return tuple(taken(bundle.files)[0])


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_ids_of_memcpy_and_the_runtime_are_dealt_to_no_task(target):
    ids = task_ids_beside(target, "reserve tasks 8 .. 14")
    assert len(ids) == 3
    assert min(ids) > 14
    assert not set(ids) & {21, 22, 23, *range(27, 32)}


def test_a_color_takes_no_task_id_where_tasks_of_wavelets_have_those_of_queues():
    beside = "reserve colors 0 .. 8"
    assert task_ids_beside("wse3", beside)[0] == 8
    assert task_ids_beside("wse2", beside)[0] > 13  # five colors in use from 9 on


@pytest.mark.parametrize(
    ("target", "left"),
    [
        ("wse2", "wse2 has none beside memcpy, the colors in use and what is reserved"),
        ("wse3", "wse3 has none beside memcpy and what is reserved"),
    ],
)
def test_too_few_task_ids_are_said_with_figures(target, left):
    text = MANY_TASKS.format(target=target, reserve="reserve tasks 8 .. 26")
    with pytest.raises(CollcError) as caught:
        compile_text(text, "test.coll", {})
    (problem,) = [one for one in caught.value.diagnostics if one.code == "C306"]
    assert "needs more local task ids at once than there are: 1 (`columns` 1" in problem.message
    assert left in problem.message
