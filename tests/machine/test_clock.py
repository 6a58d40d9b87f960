"""The machine with a clock against fabsim, cycle by cycle, and what it refuses."""

from __future__ import annotations

import re
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

fabsim = pytest.importorskip("fabsim")

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import steps_patterns as s  # noqa: E402
from simulating import compiled  # noqa: E402
from with_schedules import check_plan, check_program, render, run_program  # noqa: E402

from collc.base.columns import Ints  # noqa: E402
from collc.base.files import write_files  # noqa: E402
from collc.cli import commands  # noqa: E402
from collc.cost.predict import predict_program  # noqa: E402
from collc.driver.bundle import Bundle  # noqa: E402
from collc.driver.pipeline import compile_text  # noqa: E402
from collc.emit.library import libraries_of  # noqa: E402
from collc.emit.scripts import scripts_of  # noqa: E402
from collc.lowering import candidate_plans  # noqa: E402
from collc.machine.timed import Script, StuckError, TooLongError, timed  # noqa: E402
from collc.plan import Plan  # noqa: E402
from collc.plan.one_call import of_one_call  # noqa: E402
from collc.target import TARGETS as MACHINES  # noqa: E402
from mutants.exchanges import mutants  # noqa: E402

TARGETS = ("wse2", "wse3")

# Small ones that are predicted exactly: trees, a multicast, a path, streams with stages and
# filters, tables with registers and tasks that operations have in turn, turns, call-backs, tokens.
EXACT = {
    "two_phase": {"P": 16, "B": 32, "S": 4},
    "chain": {"P": 6, "B": 1},
    "allreduce_2d": {"W": 5, "H": 4, "B": 12},
    "snake": {},
    "chain_reduce_scatter": {"P": 7, "B": 23},
    "linear_all_to_all": {"P": 8, "E": 4},
    "halo_exchange": {"W": 4, "H": 4},
    "doubling_allgather": {"P": 8, "B": 19},
    "own_operation": {"P": 6, "B": 9},
    "halving_reduce_scatter": {"P": 8, "B": 16},
    "linear_barrier": {"P": 10},
    "rotation": {},
}
WITHIN = {  # 2 % and 3 cycles
    "ring_allreduce": {"P": 6, "B": 31},
    "allreduce_slices": {"W": 4, "H": 5, "B": 24},
    "barrier": {"P": 6},
    "bruck": {"P": 7, "E": 3},
    "scan_grid": {"W": 3, "H": 3},
    "pairwise_reduce_scatter": {"P": 8, "B": 16},
    "ring_reduce": {"P": 6, "B": 32},
    "all_to_all_2d": {},
    "tree_barrier": {"P": 7},
}

PROGRAM = """
target {target}
grid row = 6 x 1
collective one = reduce(a: f32[5], add) on row {{ order west_to_east reduce chain to 0 }}
collective two = broadcast(b: f32[5]) on row {{ broadcast from 0 }}
collective three = reduce(c: f32[5], add) on row {{ order west_to_east reduce star to 0 }}
program {{ {calls} }}
"""

TORN_DOWN = """
target {target}
grid row = 6 x 1
collective one = reduce(a: f32[40], add) on row {{ order west_to_east reduce chain to 0 }}
collective two = broadcast(b: f32[40]) on row {{ broadcast from 0 }}
program {{ {calls} within colors <= 2 reconfigure teardown }}
"""

DYNAMIC = """
target {target}
grid row = 5 x 1
collective one = reduce(a: f32[n <= 90], add) on row {{ order west_to_east reduce chain to 0 }}
program {{ one }}
"""


def given(example: str, sizes: dict[str, int]) -> dict[str, int]:
    """The parameters that an example has."""
    text = (ROOT / "examples" / f"{example}.coll").read_text()
    return {name: n for name, n in sizes.items() if f"param {name} " in text}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("example", EXACT)
def test_an_example_takes_the_cycles_that_are_predicted(example: str, target: str) -> None:
    bundle = compiled(example, target, given(example, EXACT[example]))
    assert bundle.prediction.cycles == bundle.run().cycles
    assert sum(bundle.prediction.breakdown.values()) == bundle.prediction.cycles


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("example", WITHIN)
def test_where_code_is_shared_a_prediction_is_off_by_a_few_cycles(
    example: str, target: str
) -> None:
    bundle = compiled(example, target, given(example, WITHIN[example]))
    cycles = bundle.run().cycles
    assert abs(bundle.prediction.cycles - cycles) <= 0.02 * cycles + 3


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("calls", ["one two", "one two three one", "repeat 3 { one two }"])
def test_calls_and_rounds_of_a_program_are_predicted_exactly(calls: str, target: str) -> None:
    text = PROGRAM.format(target=target, calls=calls)
    bundle = compile_text(text, "p.coll", {})
    assert bundle.prediction.cycles == bundle.run().cycles


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "calls", ["one and two", "one, two and three, one", "repeat 3 { one and two, three }"]
)
def test_calls_beside_each_other_are_predicted_exactly(calls: str, target: str) -> None:
    text = PROGRAM.format(target=target, calls=calls)
    bundle = compile_text(text, "b.coll", {})
    assert bundle.program.call_streams
    assert not bundle.prediction.note
    assert bundle.prediction.cycles == bundle.run().cycles


def test_each_call_is_given_the_cycles_by_which_it_moves_the_end_in_every_round() -> None:
    text = PROGRAM.format(target="wse2", calls="repeat 4 { one and two, three }")
    found = compile_text(text, "r.coll", {}).prediction
    text = PROGRAM.format(target="wse2", calls="repeat 5 { one and two, three }")
    more = compile_text(text, "r.coll", {}).prediction
    round_of = more.cycles - found.cycles
    assert sum(more.breakdown.values()) - sum(found.breakdown.values()) == round_of
    assert abs(more.breakdown["three"] - found.breakdown["three"] - round_of // 2) < round_of // 4


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("calls", ["one", "two one", "repeat 3 { one two }"])
def test_routers_that_phases_set_and_tear_down_are_waited_for(calls: str, target: str) -> None:
    text = TORN_DOWN.format(target=target, calls=calls)
    bundle = compile_text(text, "t.coll", {})
    assert any(color.torn_down for color in bundle.program.colors)
    cycles = bundle.run().cycles
    assert abs(bundle.prediction.cycles - cycles) <= 0.02 * cycles + 60


@pytest.mark.parametrize("target", TARGETS)
def test_a_length_that_is_given_counts(target: str) -> None:
    bundle = compile_text(DYNAMIC.format(target=target), "d.coll", {})
    for length in (1, 17, 90):
        cycles = bundle.run(lengths={"n": length}).cycles
        assert abs(bundle.predicted({"n": length}).cycles - cycles) <= 2


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("example", ["two_phase", "chain_reduce_scatter", "doubling_allgather"])
def test_pes_that_begin_late_end_in_the_cycle_that_is_predicted(example: str, target: str) -> None:
    bundle = compiled(example, target, given(example, EXACT[example]))
    starts, ends = late(bundle)
    assert starts.max() > 100
    program = bundle.program
    found = timed(*scripts_of(program, libraries_of(program, "late.coll")), starts)
    assert found.done.tolist() == ends.tolist()


GIVEN = """
target {target}
grid row = {ranks} x 1
collective one = {what} on row {{ {how} }}
program {{ {calls} }}
"""

# How slices are cut that calls give the length of: by each operation as a stream, into a table of
# bounds; by lanes that only relay some; with several slices in the stage.
CUT = [
    ("gather(a: f32[n <= 50])", "run linear_gather"),
    ("reduce_scatter(a: f32[n <= 40], add)", "run chain_reduce_scatter"),
    ("reduce_scatter(a: f32[n <= 40], add)", "order ring run ring_reduce_scatter"),
    ("allreduce(a: f32[n <= 40], add)", "run dual_root_allreduce(c = 3)"),
    ("broadcast(a: f32[n <= 40])", "run pipelined_broadcast(c = 2)"),
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("what", "how"), CUT)
def test_slices_of_a_length_that_is_given_are_right_and_predicted(
    what: str, how: str, target: str
) -> None:
    text = GIVEN.format(target=target, ranks=7, what=what, how=how, calls="one")
    bundle = compile_text(text, "s.coll", {})
    for length in (5, 33):  # some slices are empty, or none
        run = bundle.run(lengths={"n": length})
        assert run.verified
        found = bundle.predicted({"n": length})
        assert abs(found.cycles - run.cycles) <= 0.02 * run.cycles + 10
        assert not found.note


@pytest.mark.parametrize("target", TARGETS)
def test_a_copy_may_be_the_last_that_a_lane_does_in_a_step_of_others(target: str) -> None:
    """The step ends with what the other lane moves, whoever is faster."""
    schedule = s.Line("all_to_all", 3, 24).schedule()
    plan = next(candidate_plans(schedule, MACHINES[target]))
    found = _reordered(plan, r"part_\d first loop 0 entry 1 behind")
    assert len(found) == 3
    for changed in found:
        assert not check_plan(changed)
        problem, cycles = s.run(s.texts_of(schedule, changed), schedule, target, 1)
        program = of_one_call(changed)
        predicted = timed(*scripts_of(program, libraries_of(program, "copies.coll")))
        assert (problem, cycles) == ("", predicted.done.max())


@pytest.mark.parametrize("target", TARGETS)
def test_such_a_copy_may_have_no_element(target: str) -> None:
    what, how = "allreduce(a: f32[n <= 40], add)", "run dual_root_allreduce(c = 3)"
    text = GIVEN.format(target=target, ranks=6, what=what, how=how, calls="one")
    bundle = compile_text(text, "e.coll", {})
    (plan,) = _reordered(bundle.program.plans[0], "part_0 backward loop 1 entry 0 behind")
    program = replace(bundle.program, plans=(plan,))
    assert not check_program(program)
    texts = render(bundle.spec, program, bundle.prediction, (target,))
    for length in (1, 2, 40):
        given = {"n": length}
        run = run_program(texts, program, target, seed=1, lengths=given)
        before = bundle.run(seed=1, lengths=given)
        assert run.verified
        moved = predict_program(program, {"n": (length,)}).cycles - bundle.predicted(given).cycles
        assert abs(moved - (run.cycles - before.cycles)) <= 2  # cycles


def _reordered(plan: Plan, what: str) -> list[Plan]:
    """The plans with an entry of a lane behind the next one, by what changed plans are called."""
    return [one.changed for one in mutants(plan) if re.fullmatch(what, one.what)]


ROOTED = [
    ("broadcast(a: f32[40])", "broadcast from r < 6"),
    ("reduce(a: f32[40], add)", "order west_to_east reduce chain to r < 6"),
    ("gather(a: f32[n <= 42])", "run auto to r < 6"),
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("what", "how"), ROOTED)
def test_a_root_that_is_given_counts(what: str, how: str, target: str) -> None:
    text = GIVEN.format(target=target, ranks=6, what=what, how=how, calls="one")
    bundle = compile_text(text, "r.coll", {})
    found = set()
    for root in (0, 2, 5):
        given = {"r": root, "n": 31} if "n <=" in what else {"r": root}
        prediction, cycles = bundle.predicted(given), bundle.run(lengths=given).cycles
        assert abs(prediction.cycles - cycles) <= 2
        found.add(prediction.cycles)
    assert len(found) > 1


@pytest.mark.parametrize("target", TARGETS)
def test_each_round_counts_with_what_it_is_given(target: str) -> None:
    what, how = "broadcast(a: f32[n <= 40])", "broadcast from r < 6"
    text = GIVEN.format(target=target, ranks=6, what=what, how=how, calls="repeat 3 { one }")
    bundle = compile_text(text, "e.coll", {})
    cycles = []
    for lengths in ((40, 2, 2), (2, 40, 2), (2, 2, 2)):
        given = {"n": lengths, "r": (3, 0, 5)}
        cycles.append(bundle.predicted(given).cycles)
        assert abs(cycles[-1] - bundle.run(lengths=given).cycles) <= 6
    assert min(cycles[:2]) > cycles[2] + 30
    every = bundle.predicted({"n": (40, 40, 40), "r": (0, 0, 0)})
    assert bundle.prediction.cycles == every.cycles


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("lengths", [(9, 9, 9), (9, 31, 9)])
def test_slices_are_cut_again_for_another_length_only(
    lengths: tuple[int, ...], target: str
) -> None:
    what, how = "broadcast(a: f32[n <= 40])", "run pipelined_broadcast(c = 2)"
    text = GIVEN.format(target=target, ranks=5, what=what, how=how, calls="repeat 3 { one }")
    bundle = compile_text(text, "c.coll", {})
    cycles = bundle.run(lengths={"n": lengths}).cycles
    assert abs(bundle.predicted({"n": lengths}).cycles - cycles) <= 0.02 * cycles + 3


def late(bundle: Bundle) -> tuple[Ints, Ints]:
    """In which cycles PEs begin and end where they begin late, by the trace of a run."""
    grid = bundle.program.plans[0].collective.grid.whole
    starts, ends = (np.full(grid.width * grid.height, -1, dtype=np.int64) for _ in range(2))
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), bundle.files)
        program = fabsim.compile(Path(folder) / "layout.csl", arch=bundle.program.target.name)
        log = Path(folder) / "run.log"
        simulator = fabsim.Simulator(program, trace=log, late_starts=(300, 7))
        simulator.launch("run")
        simulator.stop()
        for line in log.read_text(encoding="utf-8").splitlines():
            code = re.match(r"@(\d+) P(\d+)\.(\d+): \[EX OP\] \^ \S+ T\d+ (JMPT|SYSTEM)", line)
            if code is None:
                continue
            pe = int(code[3]) * grid.width + int(code[2])
            of = ends if code[4] == "SYSTEM" else starts
            if of[pe] < 0:
                of[pe] = int(code[1])
    return starts, ends


def test_a_script_whose_words_never_come_is_told() -> None:
    bundle = compiled("chain", "wse2", {"P": 3, "B": 4})
    calls, scripts, which = scripts_of(bundle.program, libraries_of(bundle.program, "stuck.coll"))
    silent = Script(((("done", 0, 0, 0),),), (), (), (), 0, 0)
    scripts[which[2]] = silent
    with pytest.raises(StuckError, match=r"PE \(0, 0\) never ends"):
        timed(calls, scripts, which)


def test_a_script_that_leads_nowhere_is_refused() -> None:
    bundle = compiled("chain", "wse2", {"P": 3, "B": 4})
    calls, scripts, which = scripts_of(bundle.program, libraries_of(bundle.program, "bad.coll"))
    wrong = (
        ("issue", 9, 0, 0), ("again", 0, 2, 0), ("dance", 0, 0, 0),
        ("turn", 0, 0, 0), ("set", 0, 99, 0), ("await", 1, 7, 0), ("told", 99, 0, 0),
        ("skip", 1, 0, 0), ("mark", 0, 1, 0),
    )  # fmt: skip
    for act in wrong:
        with pytest.raises(ValueError, match=r"code (leads|leaves|does)"):
            timed(calls, [Script(((act,),), (), (), (), 0, 0)], which * 0)
    assert timed(calls, scripts, which).done.max() > 0


def test_cost_predicts_what_a_run_takes() -> None:
    example = str(ROOT / "examples" / "two_phase.coll")
    predicted = CliRunner().invoke(commands, ["cost", example, "-D", "P=12"]).output
    cycles = compiled("two_phase", "wse2", {"P": 12}).run().cycles
    assert predicted.startswith(f"predicted: {cycles} cycles")


def test_more_words_than_are_followed_are_told() -> None:
    bundle = compiled("chain", "wse2", {"P": 5, "B": 9})
    calls, scripts, which = scripts_of(bundle.program, libraries_of(bundle.program, "long.coll"))
    words = timed(calls, scripts, which).words
    assert timed(calls, scripts, which, most=words).words == words
    with pytest.raises(TooLongError, match="more than"):
        timed(calls, scripts, which, most=words // 2)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("example", "sizes"),
    [
        ("two_phase", {"P": 100}),
        ("ring_allreduce", {"P": 24, "B": 96}),
        ("allreduce_2d", {"W": 6, "H": 5, "B": 200}),
        ("program_parts", {}),
        ("select", {}),
    ],
)
def test_who_repeats_itself_takes_the_cycles_of_following_every_word(
    example: str, sizes: dict[str, int], target: str
) -> None:
    program = compiled(example, target, given(example, sizes)).program
    found = scripts_of(program, libraries_of(program, "runs.coll"))
    starts = np.arange(len(found[2]), dtype=np.int64) * 37 % 101
    for begins in (None, starts):
        one, runs = timed(*found, begins, by_word=True), timed(*found, begins)
        assert (one.done.tolist(), one.marks, one.words) == (
            runs.done.tolist(),
            runs.marks,
            runs.words,
        )


def test_tasks_that_follow_each_other_by_the_hundred_are_timed() -> None:
    prediction = compiled("program_grid", "wse2", {}).prediction
    assert not prediction.note


ON_A_PART = """
target {target}
grid row = 5 x 1
grid left = row[0 .. 3, 0]
collective one = {what} on left {{ {how} }}
program {{ {calls} }}
"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("calls", ["one one", "repeat 3 { one }"])
@pytest.mark.parametrize(
    ("what", "how"),
    [
        ("allgather(a: f32[8])", "order ring run ring_allgather"),
        ("allreduce(a: f32[8], add)", "order ring run ring_allreduce"),
    ],
)
def test_a_turn_is_called_through_a_pointer_where_no_task_is_left(
    what: str, how: str, calls: str, target: str
) -> None:
    reserved = f"{calls} reserve tasks 10 .. 20, tasks 24 .. 26"
    for given, begun in ((reserved, "proceed();"), (calls, "@activate(next_id);")):
        text = ON_A_PART.format(what=what, how=how, calls=given, target=target)
        bundle = compile_text(text, "few.coll", {})
        assert begun in bundle.files["pe_program.csl"]
        run = bundle.run()
        assert run.verified
        assert abs(bundle.prediction.cycles - run.cycles) <= 6  # a jump
