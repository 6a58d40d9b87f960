"""examples/collectives_2d: its functions along both lines of every PE at the same time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import fabsim
from peers import gemm

PES, COUNT = 3, 5
Words = npt.NDArray[np.uint32]
LAYOUT = """
param pes: u16;
param count: u16;
param which: u16;
const memcpy = @import_module("<memcpy/get_params>", .{ .width = pes, .height = pes });
const c2d = @import_module("<collectives_2d/params>");
layout {
  @set_rectangle(pes, pes);
  for (@range(u16, pes)) |x| {
    for (@range(u16, pes)) |y| {
      @set_tile_code(x, y, "pe.csl", .{
        .memcpy_params = memcpy.get_params(x), .pes = pes, .count = count, .which = which,
        .c2d_params = c2d.get_params(x, y, .{
          .x_colors = .{ @get_color(0), @get_color(1) },
          .x_entrypoints = .{ @get_local_task_id(8), @get_local_task_id(9) },
          .y_colors = .{ @get_color(4), @get_color(5) },
          .y_entrypoints = .{ @get_local_task_id(10), @get_local_task_id(11) },
        }),
      });
    }
  }
  @export_name("x", [*]u32, true);
  @export_name("y", [*]u32, true);
  @export_name("x_result", [*]u32, true);
  @export_name("y_result", [*]u32, true);
  @export_name("run", fn(u16)void);
}
"""
# Along rows from or to the rank given, down columns the last one less that, with a word less.
# Vectors have `count` words, those that consist of slices so many for each PE.
PE = """
param memcpy_params;
param c2d_params;
param pes: u16;
param count: u16;
param which: u16;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
const across = @import_module("<collectives_2d/pe>", .{
  .dim_params = c2d_params.x, .queues = [2]u16{ 2, 4 } });
const down = @import_module("<collectives_2d/pe>", .{
  .dim_params = c2d_params.y, .queues = [2]u16{ 3, 5 } });
const x_id = @get_local_task_id(12);
const y_id = @get_local_task_id(13);
var x = @zeros([pes * count]u32);
var y = @zeros([pes * count]u32);
var x_result = @zeros([pes * count]u32);
var y_result = @zeros([pes * count]u32);
var x_ptr: [*]u32 = &x;
var y_ptr: [*]u32 = &y;
var x_result_ptr: [*]u32 = &x_result;
var y_result_ptr: [*]u32 = &y_result;
var lines: u16 = 0;
fn floats(words: [*]u32) [*]f32 { return @ptrcast([*]f32, words); }
fn run(root: u16) void {
  across.init();
  down.init();
  @assert(across.pe_id < pes);
  @assert(down.pe_id < pes);
  lines = 0;
  const other = pes - 1 - root;
  if (which == 0) {
    across.broadcast(root, x_ptr, count, x_id);
    down.broadcast(other, y_ptr, count - 1, y_id);
  }
  if (which == 1) {
    across.reduce_fadds(root, floats(x_ptr), floats(x_result_ptr), count, x_id);
    down.reduce_fadds(other, floats(y_ptr), floats(y_result_ptr), count - 1, y_id);
  }
  if (which == 2) {
    across.scatter(root, x_ptr, x_result_ptr, count, x_id);
    down.scatter(other, y_ptr, y_result_ptr, count - 1, y_id);
  }
  if (which == 3) {
    across.gather(root, x_ptr, x_result_ptr, count, x_id);
    down.gather(other, y_ptr, y_result_ptr, count - 1, y_id);
  }
}
task x_done() void { lines += 1; if (lines == 2) { sys.unblock_cmd_stream(); } }
task y_done() void { lines += 1; if (lines == 2) { sys.unblock_cmd_stream(); } }
comptime {
  @bind_local_task(x_done, x_id);
  @bind_local_task(y_done, y_id);
  @export_symbol(x_ptr, "x");
  @export_symbol(y_ptr, "y");
  @export_symbol(x_result_ptr, "x_result");
  @export_symbol(y_result_ptr, "y_result");
  @export_symbol(run);
}
"""
FUNCTIONS = ("broadcast", "reduce_fadds", "scatter", "gather")


def programmed(
    folder: Path, target: str, *, drop_in: bool, which: str = "broadcast", pes: int = PES
) -> fabsim.Simulator:
    (folder / "layout.csl").write_text(LAYOUT)
    (folder / "pe.csl").write_text(PE)
    if drop_in:
        gemm.install(folder, target, pes)
    sizes = {"pes": pes, "count": COUNT, "which": FUNCTIONS.index(which)}
    program = fabsim.compile(str(folder / "layout.csl"), arch=target, params=sizes)
    return fabsim.Simulator(program)


def wanted(which: str, root: int, count: int, given: Words, before: Words) -> tuple[Words, Words]:
    """The vectors of a line, [rank, word], behind a function, and its results, which were `before`
    what is held there."""
    vectors, results = given.copy(), before.copy()
    if which == "broadcast":
        vectors[:, :count] = given[root, :count]
    elif which == "reduce_fadds":
        total = given[:, :count].view(np.float32).sum(axis=0, dtype=np.float32)
        results[root, :count] = total.view(np.uint32)
    elif which == "scatter":
        for rank in range(len(given)):
            results[rank, :count] = given[root, rank * count : (rank + 1) * count]
    else:
        for rank in range(len(given)):
            results[root, rank * count : (rank + 1) * count] = given[rank, :count]
    return vectors, results


@pytest.mark.parametrize("drop_in", [True, False])
@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("pes", [2, 3])
@pytest.mark.parametrize("which", FUNCTIONS)
def test_both_lines_have_every_rank_for_a_root_by_either_library(
    tmp_path: Path, which: str, pes: int, target: str, drop_in: bool
) -> None:
    simulator = programmed(tmp_path, target, drop_in=drop_in, which=which, pes=pes)
    area = (0, 0, pes, pes, pes * COUNT)
    shape = (2, pes, pes, pes * COUNT)  # line, y, x, word
    given = np.random.default_rng(1).integers(0, 2**32, shape, np.uint32)
    if which == "reduce_fadds":  # whole numbers, of which sums are exact in any order
        given = (given % 1000).astype(np.float32).view(np.uint32)
    results = np.zeros_like(given)
    for name, vectors in zip("xy", given, strict=True):
        simulator.memcpy_h2d(name, vectors.reshape(-1), *area)
    for root in (0, pes - 1, pes // 2, 0, 0):
        simulator.launch("run", root)
        for line in range(pes):
            row = wanted(which, root, COUNT, given[0, line], results[0, line])
            given[0, line], results[0, line] = row
            down = (given[1, :, line], results[1, :, line])
            column = wanted(which, pes - 1 - root, COUNT - 1, *down)
            given[1, :, line], results[1, :, line] = column
        held = dict(zip(("x", "y", "x_result", "y_result"), (*given, *results), strict=True))
        for name, vectors in held.items():
            found = simulator.memcpy_d2h(name, "uint32", *area).reshape(vectors.shape)
            assert (found == vectors).all(), (name, root)


def test_another_color_than_it_is_set_up_for_is_refused(tmp_path: Path) -> None:
    programmed(tmp_path, "wse2", drop_in=True)
    layout = tmp_path / "layout.csl"
    layout.write_text(layout.read_text().replace("@get_color(4)", "@get_color(6)"))
    with pytest.raises(fabsim.CslError):
        fabsim.compile(str(layout), arch="wse2", params={"pes": PES, "count": COUNT, "which": 0})
