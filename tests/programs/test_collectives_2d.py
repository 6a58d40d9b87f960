"""examples/collectives_2d: broadcasts along both lines of every PE at the same time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fabsim
from peers import gemm

PES, COUNT = 3, 5
LAYOUT = """
param pes: u16;
param count: u16;
const memcpy = @import_module("<memcpy/get_params>", .{ .width = pes, .height = pes });
const c2d = @import_module("<collectives_2d/params>");
layout {
  @set_rectangle(pes, pes);
  for (@range(u16, pes)) |x| {
    for (@range(u16, pes)) |y| {
      @set_tile_code(x, y, "pe.csl", .{
        .memcpy_params = memcpy.get_params(x), .pes = pes, .count = count,
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
  @export_name("run", fn(u16)void);
}
"""
# Along rows from the rank given, down columns from the last one less that, with a word less.
PE = """
param memcpy_params: comptime_struct;
param c2d_params: comptime_struct;
param pes: u16;
param count: u16;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
const across = @import_module("<collectives_2d/pe>", .{
  .dim_params = c2d_params.x, .queues = [2]u16{ 2, 4 } });
const down = @import_module("<collectives_2d/pe>", .{
  .dim_params = c2d_params.y, .queues = [2]u16{ 3, 5 } });
const x_id = @get_local_task_id(12);
const y_id = @get_local_task_id(13);
var x = @zeros([count]u32);
var y = @zeros([count]u32);
var x_ptr: [*]u32 = &x;
var y_ptr: [*]u32 = &y;
var lines: u16 = 0;
fn run(root: u16) void {
  across.init();
  down.init();
  @assert(across.pe_id < pes);
  @assert(down.pe_id < pes);
  lines = 0;
  across.broadcast(root, x_ptr, count, x_id);
  down.broadcast(pes - 1 - root, y_ptr, count - 1, y_id);
}
task x_done() void { lines += 1; if (lines == 2) { sys.unblock_cmd_stream(); } }
task y_done() void { lines += 1; if (lines == 2) { sys.unblock_cmd_stream(); } }
comptime {
  @bind_local_task(x_done, x_id);
  @bind_local_task(y_done, y_id);
  @export_symbol(x_ptr, "x");
  @export_symbol(y_ptr, "y");
  @export_symbol(run);
}
"""


def programmed(folder: Path, target: str, *, drop_in: bool) -> fabsim.Simulator:
    (folder / "layout.csl").write_text(LAYOUT)
    (folder / "pe.csl").write_text(PE)
    if drop_in:
        gemm.install(folder, target, PES)
    program = fabsim.compile(
        str(folder / "layout.csl"), arch=target, params={"pes": PES, "count": COUNT}
    )
    return fabsim.Simulator(program)


@pytest.mark.parametrize("drop_in", [True, False])
@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_both_lines_broadcast_from_every_rank_by_either_library(
    tmp_path: Path, target: str, drop_in: bool
) -> None:
    simulator = programmed(tmp_path, target, drop_in=drop_in)
    area = (0, 0, PES, PES, COUNT)
    given = np.random.default_rng(1).integers(0, 2**32, (2, PES, PES, COUNT), np.uint32)
    for name, vectors in zip("xy", given, strict=True):
        simulator.memcpy_h2d(name, vectors.reshape(-1), *area)
    for root in (0, 2, 1, 1, 0):
        simulator.launch("run", root)
        given[0] = given[0][:, root : root + 1]
        given[1][..., :-1] = given[1][PES - 1 - root : PES - root, :, :-1]
        for name, vectors in zip("xy", given, strict=True):
            found = simulator.memcpy_d2h(name, "uint32", *area).reshape(vectors.shape)
            assert (found == vectors).all(), (name, root)


def test_another_color_than_it_is_set_up_for_is_refused(tmp_path: Path) -> None:
    programmed(tmp_path, "wse2", drop_in=True)
    layout = tmp_path / "layout.csl"
    layout.write_text(layout.read_text().replace("@get_color(4)", "@get_color(6)"))
    with pytest.raises(fabsim.CslError):
        fabsim.compile(str(layout), arch="wse2", params={"pes": PES, "count": COUNT})
