"""One PE text for all forms, made from lanes: right results, few cycles, and what it refuses."""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("fabsim")

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from constructs import attested, constructs_in  # noqa: E402
from programs_at_random import problem, program  # noqa: E402
from simulating import compiled, fabsim_options, most_cycles  # noqa: E402

from collc.cli import commands  # noqa: E402
from collc.driver.bundle import Bundle  # noqa: E402
from collc.driver.pipeline import compile_text  # noqa: E402
from collc.emit.not_yet import UnprintedError  # noqa: E402

TARGETS = ("wse2", "wse3")

# Small, and between them: a tree with stores, a chain, one word, a multicast; a path, a grid; what
# goes through streams, with stages, filters, commands and turns; step tables, with registers and
# tasks that operations have in turn, and slices that differ; operations that call back for each
# element, of trees and of step tables, and the buffer of a result; blocks that come to a stage,
# turns that are handed over, and lanes whose PEs go on sending while they receive; operands of
# three dimensions, and what is filtered in memory.
SMALL = {
    "two_phase": {"P": 16, "B": 32, "S": 4},
    "chain": {"P": 6, "B": 1},
    "broadcast": {"P": 9, "B": 20},
    "allreduce_2d": {"W": 5, "H": 4, "B": 12},
    "snake": {},
    "root_bypass": {},
    "chain_reduce_scatter": {"P": 7, "B": 23},
    "linear_all_to_all": {"P": 8, "E": 4},
    "direct_broadcast": {},
    "halo_exchange": {},
    "gather_2d": {},
    "barrier": {"P": 6},
    "doubling_allgather": {"P": 8, "B": 19},
    "rotation": {},
    "ring_allreduce": {"P": 6, "B": 31},
    "ring_2d": {},
    "linear_barrier": {"P": 10},
    "pairwise_reduce_scatter": {"P": 8, "B": 16},
    "argmax": {"P": 7, "B": 5},
    "own_operation": {"P": 6, "B": 9},
    "halving_reduce_scatter": {"P": 8, "B": 16},
    "scan_grid": {"W": 3, "H": 3},
    "allreduce_slices": {"W": 4, "H": 5, "B": 24},
    "direct_allgather": {"P": 6, "B": 12},
    "bruck": {"P": 7, "E": 3},
    "tree_barrier": {"W": 4, "H": 3},
    "all_to_all_2d": {"W": 3, "H": 4, "E": 2},
}


most = partial(most_cycles, Path(__file__).stem)


def given(example: str) -> dict[str, int]:
    """Parameters of a small run, as far as the example has them."""
    text = (ROOT / "examples" / f"{example}.coll").read_text()
    return {name: n for name, n in SMALL[example].items() if f"param {name} " in text}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("example", SMALL)
def test_three_calls_are_right_early_and_late_and_take_no_more_than_they_did(
    example: str, target: str
) -> None:
    bundle = compiled(example, target, given(example))
    report = bundle.run(repeats=3)
    assert report.verified, report.problem
    with fabsim_options("--late-starts 300:7"):
        late = bundle.run(repeats=3, seed=4)
    assert late.verified, late.problem
    assert report.cycles <= most(f"{example}, {target}")


@pytest.mark.parametrize(
    ("example", "target", "cycles"),
    [
        ("two_phase", "wse2", 641),
        ("two_phase", "wse3", 711),
        ("broadcast", "wse2", 332),
        ("broadcast", "wse3", 398),
    ],
)
def test_trees_and_multicasts_take_what_was_measured_by_hand(
    example: str, target: str, cycles: int
) -> None:
    assert compiled(example, target, {}).run().cycles <= cycles


def test_a_kernel_gives_nothing_but_what_a_pe_does_and_what_follows() -> None:
    kernel = compiled("two_phase", "wse2", {}).files["pe_program.csl"]
    imported = '@import_module("two_phase_pe.csl", .{ .params = two_phase_params, .done = called'
    assert imported in kernel
    assert "two_phase.total(&x);" in kernel


def test_the_text_does_not_grow_with_the_line() -> None:
    short, long = (compiled("chain_reduce_scatter", "wse2", {"P": p, "B": 64}) for p in (16, 64))
    for name in ("chain_reduce_scatter_pe.csl", "op_add_f32.csl", "ops.csl"):
        assert lines(short, name) == lines(long, name)


def lines(bundle: Bundle, name: str) -> int:
    """Lines of a file."""
    return bundle.files[name].count("\n")


def test_what_no_code_is_written_for_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuses(*_: object) -> None:
        raise UnprintedError("operations of a kind")

    monkeypatch.setattr("collc.emit.library._library", refuses)
    for command in ("run", "build", "cost"):
        refused = CliRunner().invoke(commands, [command, str(ROOT / "examples" / "star.coll")])
        assert refused.exit_code == 1
        assert "`total`: collc cannot write code for operations of a kind yet" in refused.output
        assert "C507" in refused.output


@pytest.mark.parametrize(("target", "cycles"), [("wse2", 610), ("wse3", 680)])
def test_a_ring_asks_nothing_in_its_turns_but_whether_there_are_more(
    target: str, cycles: int
) -> None:
    bundle = compiled("ring_allreduce", target, {"P": 8, "B": 64})
    assert bundle.run().cycles <= cycles


def test_the_text_of_a_ring_does_not_grow_with_it() -> None:
    short, long = (compiled("ring_allreduce", "wse2", {"P": p, "B": 3 * p}) for p in (8, 32))
    assert lines(short, "ring_allreduce_pe.csl") == lines(long, "ring_allreduce_pe.csl")


PROGRAM = """target wse2
param P = 8 where 1 <= P <= 750
grid row = P x 1
collective total = allreduce(a: f32[24], add) on row {
    reduce chain to 0
    then broadcast from 0
}
collective turn = all_to_all(b: f32[2 * P]) on row {
    run linear_all_to_all
}
program { repeat 2 { total turn } }
"""

PARTS = """target wse2
grid pes = 6 x 5
grid inner = pes[2 .. 4, 1 .. 3]
collective rows = allreduce(x: f32[16], add) on each row of pes {
    reduce two_phase(S = 3) to 0
    then broadcast from 0
}
collective some = reduce(x: f32[16], max) on inner {
    order snake
    reduce chain to 0
}
collective spread = broadcast(z: u32[9]) on pes {
    broadcast from (3, 2)
}
program { rows some spread }
"""

# Signs that are turned twice, call-backs, buffers apart, and one PE alone among others that have
# no part: calls that are over at once do not call the next one from the first.
ALONE = """target wse2
grid pes = 5 x 4
grid inner = pes[1 .. 3, 1 .. 2]
grid single = pes[2 .. 2, 2 .. 2]
collective low = reduce(x: i32[9], min) on inner {
    order snake
    reduce chain to 0
}
collective one = reduce(z: i32[9] by 2, max) into w by 3 on single { run auto }
collective least = allreduce(y: f32[9], min) on each row of pes {
    reduce star to 2
    then broadcast from 2
}
program { repeat 3 { low least one low least } }
"""


BARRIERS = """target wse2
grid row = 6 x 1
collective sum = allreduce(y: f32[9], add) on row {
    reduce chain to 0
    then broadcast from 0
}
collective together = barrier() on row {
    reduce chain to 0
    then broadcast from 0
}
program { repeat 3 { sum together } }
"""


def many(calls: int) -> str:
    """So many collectives that registers and tasks are those of several in turn."""
    names = [f"t{i}" for i in range(calls)]
    declared = [
        f"collective {name} = allreduce(a{i}: f32[{9 + i}], add) on row"
        " { reduce chain to 0 then broadcast from 0 }"
        for i, name in enumerate(names)
    ]
    program = f"program {{ {' '.join(names)} }}"
    return "\n".join(["target wse2", "grid row = 6 x 1", *declared, program])


PROGRAMS = {
    "two forms": PROGRAM,
    "parts": PARTS,
    "calls that are over at once": ALONE,
    "barriers": BARRIERS,
    "many": many(9),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_calls_of_a_program_are_right_early_and_late_and_take_no_more_than_they_did(
    program: str, target: str
) -> None:
    bundle = compile_text(PROGRAMS[program], "some.coll", {}, target)
    report = bundle.run(repeats=2)
    assert report.verified, report.problem
    with fabsim_options("--late-starts 300:7"):
        late = bundle.run(repeats=2)
    assert late.verified, late.problem
    assert report.cycles <= most(f"{program}, {target}")


PROMISES = {
    "minima of floats": "allreduce(x: f32[24], min)",
    "an input that stays": "allreduce(x: f32[24] by 3, add) into y by 2",
    "minima into a buffer apart": "allreduce(x: f16[24], min) into y by 3",
    "call-backs on a strided buffer": "allreduce(x: i32[13] by 3, max)",
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize(
    "how", ["reduce two_phase(S = 2) to 0 then broadcast from 0", "run ring_allreduce"]
)
def test_every_form_has_call_backs_signs_strides_and_results_apart(
    how: str, promise: str, target: str
) -> None:
    text = f"""target wse2
grid row = 6 x 1
collective some = {PROMISES[promise]} on row {{ {how} }}
program {{ some }}
"""
    bundle = compile_text(text, "some.coll", {}, target)
    report = bundle.run(repeats=2)
    assert report.verified, report.problem
    with fabsim_options("--late-starts 300:7"):
        late = bundle.run(repeats=2)
    assert late.verified, late.problem
    assert report.cycles <= most(f"{promise}, {how.split()[1]}, {target}")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("promise", PROMISES)
def test_one_pe_alone_has_the_result(promise: str, target: str) -> None:
    text = f"""target wse2
grid row = 1 x 1
collective some = {PROMISES[promise]} on row {{ run auto }}
program {{ some }}
"""
    report = compile_text(text, "some.coll", {}, target).run(repeats=2)
    assert report.verified, report.problem


@pytest.mark.parametrize("elements", ["i32[n <= 12], min", "(f32, u32)[n <= 12], argmax"])
def test_call_backs_go_over_as_many_elements_as_the_call_gives(elements: str) -> None:
    text = f"""target wse2
grid row = 6 x 1
collective some = allreduce(x: {elements}) on row {{
    reduce two_phase(S = 2) to 0
    then broadcast from 0
}}
program {{ some }}
"""
    bundle = compile_text(text, "some.coll", {}, "wse2")
    for length in (1, 7, 12):
        report = bundle.run(lengths={"n": length}, repeats=2)
        assert report.verified, report.problem


def test_every_collective_of_a_program_is_a_function_of_one_library() -> None:
    files = compile_text(PROGRAM, "some.coll", {}, "wse2").files
    assert "\nfn total(vector: *[24]f32) void {" in files["some_pe.csl"]
    assert "\nfn turn(vector: *[16]f32) void {" in files["some_pe.csl"]
    assert "some.total(@ptrcast(*[24]f32, &a[round * 24]));" in files["pe_program.csl"]


BY_LENGTH = """target wse2
grid row = 16 x 1
collective total = reduce(x: f32[n <= 48], add) on row {
    CHOICE
}
program { total }
"""
TREE = "reduce two_phase(S = 4) to 0"
CHOICE = "select by n { n <= 9: reduce star to 0 else: reduce two_phase(S = 4) to 0 }"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("choice", [TREE, CHOICE], ids=["a tree", "a choice"])
def test_a_length_is_given_by_the_call(choice: str, target: str) -> None:
    text = BY_LENGTH.replace("CHOICE", choice)
    bundle = compile_text(text, "some.coll", {}, target)
    for length in (1, 9, 48):
        report = bundle.run(lengths={"n": length}, repeats=2)
        assert report.verified, report.problem
        with fabsim_options("--late-starts 300:7"):
            late = bundle.run(lengths={"n": length}, repeats=2)
        assert late.verified, late.problem
        kind = "a tree" if choice == TREE else "a choice"
        assert report.cycles <= most(f"{kind}, n = {length}, {target}")


def test_a_length_is_checked_by_the_parameter_that_the_other_text_has() -> None:
    files = compile_text(BY_LENGTH.replace("CHOICE", TREE), "some.coll", {}, "wse2").files
    assert "param check_arguments: bool = false;" in files["some_pe.csl"]
    assert "if (check_arguments) { @assert(((n > 0) and (n <= 48))); }" in files["some_pe.csl"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "example",
    [
        "two_phase",
        "linear_all_to_all",
        "all_to_all_2d",
        "ring_allreduce",
        "pairwise_reduce_scatter",
        "argmax",
        "scan_grid",
    ],
)
def test_the_text_has_only_constructs_that_somebody_attests(example: str, target: str) -> None:
    places = constructs_in(compiled(example, target, given(example)), target)
    assert [one for one in places if not attested(one, target)] == []


# By step tables: lanes that go together and lanes that are alone, a join before a relay, several
# areas of a stage, slices that are empty, barriers, call-backs, pairs, buffers apart, blocks of a
# grid, and 16-bit elements.
TABLES = {
    "binary_tree": {"P": 8, "B": 16},
    "direct_reduce_scatter": {"P": 6, "B": 15},
    "direct_allreduce": {"P": 5, "B": 3},
    "dual_root": {"P": 7, "B": 24},
    "barrier": {"P": 6},
    "scan_grid": {"W": 3, "H": 3},
    "bruck": {"P": 5, "E": 3},
    "halving_reduce_scatter": {"P": 8, "B": 20},
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("example", TABLES)
def test_step_tables_are_right_early_and_late(
    monkeypatch: pytest.MonkeyPatch, example: str, target: str
) -> None:
    monkeypatch.setattr("collc.emit.classes.SLOT_LINES", 1e9)
    monkeypatch.setitem(SMALL, example, TABLES[example])
    bundle = compiled(example, target, given(example))
    assert any(name.startswith("table_") for name in bundle.files)
    runs_right(bundle)


def runs_right(bundle: Bundle) -> None:
    """Three calls give what NumPy does, and so they do where PEs begin late."""
    report = bundle.run(repeats=3)
    assert report.verified, report.problem
    with fabsim_options("--late-starts 300:7"):
        late = bundle.run(repeats=3, seed=4)
    assert late.verified, late.problem


BESIDE = {
    "two and one": """target wse2
grid pes = 5 x 4
collective rows = allreduce(x: f32[12], add) on each row of pes {
    reduce chain to 0
    then broadcast from 0
}
collective columns = gather(y: f32[6]) on each column of pes { run binomial_gather }
collective spread = broadcast(z: u32[9]) on pes { broadcast from (2, 1) }
program { repeat 2 { rows and columns, spread } }
""",
    "a barrier beside a tree": """target wse2
grid row = 6 x 1
collective sum = allreduce(y: f32[9], add) on row {
    reduce chain to 0
    then broadcast from 0
}
collective together = barrier() on row { run linear_barrier }
program { repeat 2 { sum and together, together } }
""",
    "step tables beside each other": """target wse2
grid row = 6 x 1
collective here = reduce_scatter(y: f32[24], add) on row { run direct_reduce_scatter }
collective there = allgather(z: f32[24]) on row { run ring_allgather }
program { here and there }
""",
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("program", BESIDE)
def test_calls_beside_each_other_share_no_register_task_or_queue(program: str, target: str) -> None:
    bundle = compile_text(BESIDE[program], "some.coll", {}, target)
    runs_right(bundle)
    assert {name for name in bundle.files if name.endswith("_pe.csl")} == {
        "some_pe.csl",
        "some_1_pe.csl",
    }


def on_a_row(promise: str, how: str, ranks: int = 6, calls: str = "total") -> str:
    """A program of one collective on a row."""
    return (
        f"target wse2\ngrid row = {ranks} x 1\n"
        f"collective total = {promise} on row {{ {how} }}\nprogram {{ {calls} }}\n"
    )


OF_A_CALL = {
    "a stream": ("reduce_scatter(x: f32[n <= 40], add)", "run chain_reduce_scatter"),
    "a stream of 16-bit elements": ("allgather(x: u16[n <= 40])", "run auto"),
    "operations, backward": ("scatter(x: f32[n <= 40] by 2)", "run linear_scatter"),
    "step tables": ("allreduce(x: f32[n <= 40], min)", "run ring_allreduce"),
    "step tables, call-backs": ("reduce_scatter(x: i32[n <= 40], max)", "run auto"),
    "step tables of pairs": ("allreduce(x: (f32, u32)[n <= 20], argmax)", "run ring_allreduce"),
    "relays": ("allgather(x: f32[n <= 40])", "run direct_allgather"),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", OF_A_CALL)
def test_slices_of_a_length_that_calls_give_may_be_empty(kind: str, target: str) -> None:
    text = on_a_row(*OF_A_CALL[kind], calls="repeat 3 { total }")
    bundle = compile_text(text, "some.coll", {}, target)
    for lengths in (20, 1, 13), (3, 5, 20):
        report = bundle.run(repeats=2, lengths={"n": lengths})
        assert report.verified, report.problem
    with fabsim_options("--late-starts 300:7"):
        late = bundle.run(repeats=2, lengths={"n": (2, 17, 6)})
    assert late.verified, late.problem


@pytest.mark.parametrize("contract", ["reduce_scatter(x: f32[{}], add)", "scatter(x: f32[{}])"])
def test_a_length_that_calls_give_costs_few_cycles(contract: str) -> None:
    fixed, given = (
        compile_text(on_a_row(contract.format(length), "run auto", 14), "a.coll", {}, "wse2")
        for length in ("64", "n <= 64")
    )
    assert given.run(lengths={"n": 64}).cycles <= fixed.run().cycles + 120


@pytest.mark.parametrize(
    ("contract", "how", "length", "streams"),
    [
        ("gather(x: f32[{}])", "run linear_gather", "40", True),
        ("gather(x: f32[{}])", "run linear_gather", "n <= 40", True),
        ("allgather(x: f32[{}])", "run direct_allgather", "n <= 40", True),
        ("scatter(x: f32[{}])", "run linear_scatter", "n <= 40", False),  # by filters
        ("reduce_scatter(x: f32[{}], add)", "run chain_reduce_scatter", "n <= 40", True),
    ],
)
def test_streams_of_any_length_have_no_filters(
    contract: str, how: str, length: str, streams: bool
) -> None:
    text = on_a_row(contract.format(length), how)
    files = compile_text(text, "a.coll", {}, "wse2").files
    assert (", streamed" in files["a_pe.csl"]) is streams
    assert ", streamed" not in compile_text(
        on_a_row(contract.format("n <= 40"), how), "a.coll", {}, "wse2"
    ).files.get("total_pe.csl", "")


@pytest.mark.parametrize("element", ["f32", "f16", "i32", "u16", "(f32, u32)", "(u32, u32)"])
@pytest.mark.parametrize(
    "how",
    [
        "reduce_scatter(x: {0}[36], {1}) on row {{ run chain_reduce_scatter",
        "allreduce(x: {0}[36]{2}, {1}) on row {{ run halving_doubling",
        "all_to_all(x: {0}[36]) into y on row {{ run linear_all_to_all",
        "gather(x: {0}[36]) on row {{ run binomial_gather",
    ],
    ids=["reduce_scatter", "allreduce", "all_to_all", "gather"],
)
def test_slices_of_every_element_type_are_right(how: str, element: str) -> None:
    pairs = element.startswith("(")
    operation, apart = ("argmax", "") if pairs else ("max", " by 2")
    said = f"collective total = {how.format(element, operation, apart)} }}"
    text = f"grid row = 6 x 1\n{said}\nprogram {{ total }}\n"
    for target in TARGETS:
        bundle = compile_text(text, "some.coll", {}, target)
        report = bundle.run(repeats=2)
        assert report.verified, report.problem


WIDTHS = """target wse3
grid all = 3 x 2
collective c = allreduce(v: i16[2], min) on all {
    order north_to_south, west_to_east
    reduce columns by binomial to 0
    then reduce row by star to 1
    then broadcast from (1, 0)
}
program { c c }
"""


def test_phases_of_a_collective_may_differ_in_what_an_instruction_takes() -> None:
    bundle = compile_text(WIDTHS, "some.coll", {})
    assert {"op_min_i16.csl", "op_min_i16_simd_32.csl"} <= set(bundle.files)
    runs_right(bundle)


def test_what_runs_random_programs_tells_what_is_right_and_what_a_check_refuses() -> None:
    chain = on_a_row("reduce(x: f32[4], add)", "reduce chain to 0", 3)
    assert not problem(chain)
    assert problem(chain.replace("to 0", "to 0 within colors <= 1")) == "refused"
    assert program(7) == program(7) != program(8)


@pytest.mark.parametrize("target", TARGETS)
def test_step_tables_and_slices_of_any_length_have_only_attested_constructs(target: str) -> None:
    text = (
        "grid row = 6 x 1\n"
        "collective one = reduce_scatter(x: f32[n <= 40], add) on row\n"
        "    { run chain_reduce_scatter }\n"
        "collective two = allreduce(y: f32[m <= 40], add) on row { run ring_allreduce }\n"
        "collective three = allreduce(z: f32[24], add) on row { run direct_allreduce }\n"
        "program { one two three }\n"
    )
    places = constructs_in(compile_text(text, "a.coll", {}, target), target)
    assert [one for one in places if not attested(one, target)] == []


@pytest.mark.parametrize("name", ["ops", "no_bound", "finish", "queues_of_color_0", "dest_1"])
def test_a_collective_may_be_called_like_what_the_text_declares(name: str) -> None:
    text = (
        "target wse2\ngrid row = 3 x 1\n"
        f"collective {name} = allreduce(call: f32[6], add) on row {{ run direct_allreduce }}\n"
        "collective two = reduce(y: f32[4], add) on row { reduce chain to 0 }\n"
        f"program {{ {name} two }}\n"
    )
    report = compile_text(text, "a.coll", {}, "wse2").run()
    assert report.verified, report.problem


def test_a_section_is_not_called_as_another_phase_of_its_axis_is() -> None:
    """Phases along an axis are numbered, from the second on; the first one has several sections."""
    examples = Path(__file__).parents[2] / "examples"
    text = (examples / "allreduce_slices.coll").read_text(encoding="utf-8")
    steps = "run rows by linear_barrier then run columns by linear_barrier"
    barrier = f"collective go = barrier() on wafer {{ {steps} }}\nprogram {{ go total }}"
    text = text.replace("program { total }", barrier)
    bundle = compile_text(text, "t.coll", {"W": 4, "H": 4, "B": 16}, "wse2")
    names = re.findall(r"^fn (\w+)\(", bundle.files["t_pe.csl"], re.MULTILINE)
    assert len(names) == len(set(names))
    assert bundle.run(seed=1).verified


@pytest.mark.parametrize("target", TARGETS)
def test_what_a_lane_repeats_keeps_its_place_among_the_steps_of_others(target: str) -> None:
    """The last PE of the ring combines two tokens, sends one, and combines another."""
    text = f"""target {target} grid row = 8 x 1
    collective c = barrier() on row {{ order ring run binomial_barrier }}
    program {{ c }}"""
    bundle = compile_text(text, "test.coll", {})
    report = bundle.run(repeats=2)
    assert report.verified, report.problem
    assert report.cycles == pytest.approx(bundle.prediction.cycles, rel=0.02, abs=60)
