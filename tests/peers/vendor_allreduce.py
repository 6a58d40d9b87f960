"""The vendor's benchmark-libs/allreduce: a vector of f32 over a rectangle, on one color.

A library, so a driver is written around it, which calls it once between two host commands; PEs
start together. It ends at each PE with the call-back.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from peers import Measured, Point, compiled, copied, difference, numbers

NAME = "vendor's benchmark-libs/allreduce"
HAS = "benchmark-libs/allreduce/pe.csl"
# On a line theirs waits for ever: the one PE of each column is its first and its last.
SHAPES = ((8, 2), (64, 2), (8, 8), (16, 16), (32, 32), (64, 64))
LENGTHS = (1, 16, 256, 1024)

LAYOUT = """
param width: i16;
param height: i16;
param length: i16;
const memcpy = @import_module("<memcpy/get_params>", .{ .width = width, .height = height });
const reduce = @import_module("theirs/layout.csl", .{
  .colors = [1]color{ @get_color(8) },
  .entrypoints = [4]local_task_id{
    @get_local_task_id(16), @get_local_task_id(17),
    @get_local_task_id(19), @get_local_task_id(20) },
  .width = width,
  .height = height,
});
layout {
  @set_rectangle(width, height);
  for (@range(i16, height)) |y| {
    for (@range(i16, width)) |x| {
      @set_tile_code(x, y, "driver.csl", .{
        .memcpy_params = memcpy.get_params(x),
        .reduce_params = reduce.get_params(x, y),
        .length = length,
      });
    }
  }
  @export_name("x", [*]f32, true);
  @export_name("run", fn()void);
}
"""
DRIVER = """
param memcpy_params: comptime_struct;
param reduce_params: comptime_struct;
param length: i16;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
const reduce = @import_module("theirs/pe.csl", @concat_structs(reduce_params, .{
  .f_callback = done,
  .queues = [1]u16{2},
  .dest_dsr_ids = [1]u16{1},
  .src0_dsr_ids = [1]u16{1},
  .src1_dsr_ids = [1]u16{1},
}));
var x = @zeros([length]f32);
var x_ptr: [*]f32 = &x;
fn run() void { reduce.allreduce(length, x_ptr, reduce.TYPE_BINARY_OP.ADD); }
fn done() void { sys.unblock_cmd_stream(); }
comptime {
  @export_symbol(x_ptr, "x");
  @export_symbol(run);
}
"""
OURS = """target {target}
grid pes = {width} x {height}
collective total = allreduce(x: f32[{length}], add) on pes {{ run auto {limit} }}
program {{ total }}
"""


def points(folder: Path) -> Iterator[Point]:
    """Rectangles, on both targets; ours with as many colors as it likes, and with one more
    than theirs."""
    for target in ("wse2", "wse3"):
        for width, height in SHAPES:
            for length in LENGTHS:
                size = {"width": width, "height": height, "length": length}
                texts = {
                    name: OURS.format(target=target, limit=limit, **size)
                    for name, limit in (("auto", ""), ("two colors", "within colors <= 2"))
                }
                yield Point(
                    NAME,
                    "allreduce",
                    target,
                    f"{width} x {height}",
                    length,
                    lambda at, t=target, s=size: _run(folder, at, t, **s),  # type: ignore[misc]
                    texts,
                    width * height * (200 + length) * max(width, height) // 8,
                )


def _run(
    folder: Path, scratch: Path, target: str, width: int, height: int, length: int
) -> Measured:
    copied(folder / "benchmark-libs" / "allreduce", scratch)
    (scratch / "layout.csl").write_text(LAYOUT)
    (scratch / "driver.csl").write_text(DRIVER)
    size = {"width": width, "height": height, "length": length}
    simulator = compiled(scratch / "layout.csl", target, size)
    given = numbers(7, height, width, length)
    simulator.memcpy_h2d("x", given.reshape(-1), 0, 0, width, height, length)
    report = simulator.launch("run")
    found = simulator.memcpy_d2h("x", "float32", 0, 0, width, height, length)
    wanted = given.sum(axis=(0, 1), dtype=np.float64)
    everywhere = np.broadcast_to(wanted, given.shape)
    return Measured(report.cycles, difference(found.reshape(given.shape), everywhere, 1e-4))
