"""`<collectives_2d>`, one call of each of its functions on a row.

The vendor's library comes with its SDK; what runs here is fabsim's module of that name, whose
interface is the vendor's and whose text is not (docs/fabsim-modules.md). It needs no folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from peers import Measured, Point, compiled, difference, numbers

NAME = "<collectives_2d> (fabsim's module of that name)"
HAS = ""
SIZES = ((8, 16), (8, 256), (64, 1), (64, 64))

LAYOUT = """
param pes: u16;
param count: u16;
param which: u16;
const memcpy = @import_module("<memcpy/get_params>", .{ .width = pes, .height = 1 });
const c2d = @import_module("<collectives_2d/params>");
layout {
  @set_rectangle(pes, 1);
  for (@range(u16, pes)) |x| {
    @set_tile_code(x, 0, "driver.csl", .{
      .memcpy_params = memcpy.get_params(x), .pes = pes, .count = count, .which = which,
      .c2d_params = c2d.get_params(x, 0, .{
        .x_colors = .{ @get_color(0), @get_color(1) },
        .x_entrypoints = .{ @get_local_task_id(8), @get_local_task_id(9) },
      }),
    });
  }
  @export_name("x", [*]f32, true);
  @export_name("y", [*]f32, true);
  @export_name("prepare", fn()void);
  @export_name("run", fn()void);
}
"""
DRIVER = """
param memcpy_params: comptime_struct;
param c2d_params: comptime_struct;
param pes: u16;
param count: u16;
param which: u16;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
const mpi = @import_module("<collectives_2d/pe>", .{ .dim_params = c2d_params.x });
const done_id = @get_local_task_id(12);
var x = @zeros([pes * count]f32);
var y = @zeros([pes * count]f32);
var x_ptr: [*]f32 = &x;
var y_ptr: [*]f32 = &y;
fn prepare() void { mpi.init(); sys.unblock_cmd_stream(); }
fn run() void {
  const x_words = @ptrcast([*]u32, x_ptr);
  const y_words = @ptrcast([*]u32, y_ptr);
  if (which == 0) { mpi.broadcast(0, x_words, count, done_id); }
  if (which == 1) { mpi.reduce_fadds(0, x_ptr, y_ptr, count, done_id); }
  if (which == 2) { mpi.scatter(0, x_words, y_words, count, done_id); }
  if (which == 3) { mpi.gather(0, x_words, y_words, count, done_id); }
}
task done() void { sys.unblock_cmd_stream(); }
comptime {
  @bind_local_task(done, done_id);
  @export_symbol(x_ptr, "x");
  @export_symbol(y_ptr, "y");
  @export_symbol(prepare);
  @export_symbol(run);
}
"""
CONTRACTS = (
    "broadcast(x: f32[{count}])",
    "reduce(x: f32[{count}], add)",
    "scatter(x: f32[{whole}])",
    "gather(x: f32[{whole}])",
)
OURS = """target {target}
grid row = {pes} x 1
collective all = {contract} on row {{ run auto }}
program {{ all }}
"""


def points(folder: Path) -> Iterator[Point]:
    """Each function from or to rank 0, on both targets; ours with the fixed root and count that a
    program has."""
    for target in ("wse2", "wse3"):
        for which, contract in enumerate(CONTRACTS):
            for pes, count in SIZES:
                kept = contract.format(count=count, whole=pes * count)
                yield Point(
                    NAME,
                    contract.partition("(")[0],
                    target,
                    f"{pes} x 1",
                    count,
                    lambda at, t=target, w=which, p=pes, c=count: _run(at, t, w, p, c),  # type: ignore[misc]
                    {"auto": OURS.format(target=target, pes=pes, contract=kept)},
                    pes * (200 + count),
                )


def _run(scratch: Path, target: str, which: int, pes: int, count: int) -> Measured:
    (scratch / "layout.csl").write_text(LAYOUT)
    (scratch / "driver.csl").write_text(DRIVER)
    size = {"pes": pes, "count": count, "which": which}
    simulator = compiled(scratch / "layout.csl", target, size)
    given = numbers(7, pes, pes, count)
    simulator.memcpy_h2d("x", given.reshape(-1), 0, 0, pes, 1, pes * count)
    simulator.launch("prepare")
    report = simulator.launch("run")
    held = [
        simulator.memcpy_d2h(name, "float32", 0, 0, pes, 1, pes * count).reshape(given.shape)
        for name in ("x", "y")
    ]
    found, wanted = (
        (held[0][:, 0], np.broadcast_to(given[0, 0], given[:, 0].shape)),
        (held[1][0, 0], given[:, 0].sum(axis=0, dtype=np.float64)),
        (held[1][:, 0], given[0]),
        (held[1][0], given[:, 0]),
    )[which]
    return Measured(report.cycles, difference(found, wanted, 1e-4 if which == 1 else 0))
