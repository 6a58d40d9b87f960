"""What surrounds the text of lanes: names, manifests, back ends, libraries beside each other."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import fabsim
from collc.base.diagnostics import CollcError
from collc.driver.after import occupied
from collc.driver.pipeline import compile_text
from commands import collc

LENGTH = """target wse2
grid row = 6 x 1
collective total = allreduce(x: f32[n <= 40], add) on row { run auto }
program { total }
"""
BARRIER = """target wse2
grid row = 6 x 1
collective total = allreduce(BUFFER: f32[4], add) on row { run auto }
collective c = barrier() on row { run auto }
program { CALLS }
"""
# `given` on a row, with a vector of so many elements
FIRST = """target {target}
grid row = 6 x 1
collective total = allreduce({name}: f32[{length}], add) on row {{ {steps} }}
collective also = allreduce({name}: f32[{length}], max) on row {{ {steps} }}
program {{ {calls} }}
"""
TREE = "reduce row by chain to 0 then broadcast from (0, 0)"
FORMS = {
    "trees": (TREE, TREE),
    "a tree and steps": (TREE, "run ring_allreduce"),
    "steps and a tree": ("run ring_allreduce", TREE),
    "left open": ("run auto", "run auto"),
}
LAYOUT = """
const memcpy = @import_module("<memcpy/get_params>", .{ .width = 6, .height = 1 });
const one = @import_module("one/first_layout.csl");
const two = @import_module("two/second_layout.csl");
layout {
  @set_rectangle(6, 1);
  for (@range(u16, 6)) |x| {
    one.configure(x, 0);
    two.configure(x, 0);
    @set_tile_code(x, 0, "kernel.csl", .{
      .memcpy_params = memcpy.get_params(x),
      .one_params = one.get_params(x, 0), .two_params = two.get_params(x, 0) });
  }
  @export_name("x", [*]f32, true);
  @export_name("y", [*]f32, true);
  @export_name("run", fn()void);
}
"""
KERNEL = """
param memcpy_params;
param one_params;
param two_params;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
const one = @import_module("one/first_pe.csl", .{ .params = one_params, .done = ended });
const two = @import_module("two/second_pe.csl", .{ .params = two_params, .done = ended });
var x = @zeros([9]f32);
var y = @zeros([12]f32);
var x_ptr: [*]f32 = &x;
var y_ptr: [*]f32 = &y;
var left: u16 = 0;
fn run() void {
  left = 2;
  one.total(&x);
  two.total(&y);
}
fn ended() void {
  left -= 1;
  if (left == 0) { sys.unblock_cmd_stream(); }
}
comptime {
  @export_symbol(x_ptr, "x");
  @export_symbol(y_ptr, "y");
  @export_symbol(run);
}
"""


@pytest.mark.parametrize("file", ["n", "x", "x_ptr", "color", "round", "clock", "2", "sum of x"])
def test_a_file_may_be_called_as_anything_is_in_its_kernel(file: str) -> None:
    bundle = compile_text(LENGTH, f"{file}.coll", {}, timed=file == "clock")
    assert bundle.run(lengths={"n": 7}).verified


def test_a_library_is_called_as_its_file_where_nothing_else_is() -> None:
    assert "sums_pe.csl" in compile_text(LENGTH, "sums.coll", {}).files


@pytest.mark.parametrize("name", ["round", "call", "sys"])
def test_text_spells_names_that_it_has_itself_in_another_way_and_nobody_else_does(
    name: str,
) -> None:
    written = BARRIER.replace("BUFFER", name).replace("CALLS", "repeat 2 { total c }")
    bundle = compile_text(written, "p.coll", {})
    assert f"var my_{name} = @zeros" in bundle.files["pe_program.csl"]
    found = bundle.run()
    assert found.verified
    assert set(found.results) == {name}


@pytest.mark.parametrize("calls", ["c", "c c", "total c", "c total", "repeat 2 { c }"])
def test_tokens_of_barriers_are_found_in_every_program(calls: str) -> None:
    text = BARRIER.replace("BUFFER", "x").replace("CALLS", calls)
    assert compile_text(text, "p.coll", {}).run().verified


@pytest.mark.parametrize("calls", ["total", "total c", "total c within colors <= 2"])
def test_the_manifest_lists_the_tasks_and_registers_that_the_text_has(calls: str) -> None:
    text = BARRIER.replace("BUFFER", "x").replace("CALLS", calls)
    files = compile_text(text, "p.coll", {}).files
    had = json.loads(files["manifest.json"])["resources"]
    printed = re.sub(r"\s+", " ", files["p_pe.csl"])
    tasks = re.search(r"param task_ids: .*?;", printed)
    assert tasks
    assert had["local_task_ids"] == [int(one) for one in re.findall(r"_id\((\d+)\)", tasks[0])]
    dsrs = re.search(r"param dsr_ids: .*?\{ (.*?) \}", printed)
    assert dsrs
    assert had["dsr_ids"] == had["dsr_dest"] == list(map(int, dsrs[1].split(", ")))


@pytest.mark.parametrize("late", [(), ("--skew", "30")])
@pytest.mark.parametrize("calls", ["total", "total c"])
def test_the_text_runs_on_back_ends(tmp_path: Path, calls: str, late: tuple[str, ...]) -> None:
    text = BARRIER.replace("BUFFER", "x").replace("CALLS", calls)
    (tmp_path / "p.coll").write_text(text)
    words = ("run", "p.coll", "--on", "fabsim", "--tolerance", "100")
    done = collc(*words, *late, "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "right" in done.stdout


def _beside(folder: Path, target: str, form: str, calls: str, after: tuple[str, ...]) -> None:
    """Two libraries, and a kernel that has both under way at the same time."""
    for (name, of, length), steps in zip(
        (("first", "one", 9), ("second", "two", 12)), FORMS[form], strict=True
    ):
        made = calls if of == "one" else "total"
        text = FIRST.format(target=target, name="x", length=length, steps=steps, calls=made)
        (folder / f"{name}.coll").write_text(text)
        told = after if of == "two" else ()
        done = collc("build", f"{name}.coll", *told, "-o", of, cwd=folder)
        assert done.returncode == 0, done.stderr
    (folder / "layout.csl").write_text(LAYOUT)
    (folder / "kernel.csl").write_text(KERNEL)


@pytest.mark.parametrize(
    ("target", "form", "calls"),
    [
        *((target, form, "total") for target in ("wse2", "wse3") for form in FORMS),
        ("wse3", "trees", "total also within colors <= 2 reserve dsrs 4 .. 6"),
    ],
)
def test_two_libraries_are_under_way_together_in_one_kernel(
    tmp_path: Path, target: str, form: str, calls: str
) -> None:
    _beside(tmp_path, target, form, calls, ("--after", "one"))
    simulator = fabsim.Simulator(fabsim.compile(str(tmp_path / "layout.csl"), arch=target))
    dice = np.random.default_rng(3)
    for _ in range(2):
        given = {
            name: dice.integers(0, 100, (6, n)).astype(np.float32)
            for name, n in (("x", 9), ("y", 12))
        }
        for name, vectors in given.items():
            words = vectors.view(np.uint32).reshape(-1)
            simulator.memcpy_h2d(name, words, 0, 0, 6, 1, vectors.shape[1])
        simulator.launch("run")
        for name, vectors in given.items():
            found = simulator.memcpy_d2h(name, "uint32", 0, 0, 6, 1, vectors.shape[1])
            held = np.asarray(found, np.uint32).view(np.float32).reshape(vectors.shape)
            assert (held == vectors.sum(axis=0)).all(), name


def test_without_being_told_they_have_the_same_numbers(tmp_path: Path) -> None:
    _beside(tmp_path, "wse2", "trees", "total", ())
    with pytest.raises(fabsim.CslError):
        fabsim.compile(str(tmp_path / "layout.csl"), arch="wse2")


def test_a_library_that_cannot_be_beside_another_says_why(tmp_path: Path) -> None:
    _beside(tmp_path, "wse2", "trees", "total", ())
    words = ("build", "second.coll", "--after")
    (tmp_path / "other.json").write_text("{}")
    no_manifest = collc(*words, "other.json", cwd=tmp_path)
    assert (no_manifest.returncode, "is no manifest" in no_manifest.stderr) == (2, True)
    no_text = collc(*words, "layout.csl", cwd=tmp_path)
    assert (no_text.returncode, "layout.csl" in no_text.stderr) == (2, True)
    other = collc(*words, "one", "--target", "wse3", cwd=tmp_path)
    assert (other.returncode, "for wse2" in other.stderr) == (2, True)


def test_what_another_library_has_is_in_the_message_where_too_little_is_left(
    tmp_path: Path,
) -> None:
    first, second = (
        FIRST.format(target="wse2", name="x", length=9, steps=TREE, calls=calls)
        for calls in ("total also", "total")
    )
    compile_text(first, "first.coll", {}).write(tmp_path)
    _, had = occupied(tmp_path)
    with pytest.raises(CollcError) as refused:
        compile_text(second, "second.coll", {}, after=[had])
    (problem,) = refused.value.diagnostics
    assert problem.code == "C305"
    assert [said for _, said in problem.also] == [
        "`reserve` keeps input_queues 2 .. 5, output_queues 2 .. 5"
    ]
