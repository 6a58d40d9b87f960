"""WaferLLM's two-tree allreduce, decode for WSE-2: sums of f16 down every column of a square.

Its layout is taken as it is but for the names that it exports; in place of its decoder stands a
driver that calls the allreduce once. Groups are those of its script: P div G PEs each, sums meet in
their middle and then in the middle group's.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from peers import Measured, Point, compiled, copied, difference

NAME = "WaferLLM, two-tree allreduce of its decoder"
HAS = "Decode/WSE-2/src/comm_lib/comm_pe.csl"
SIZES = ((16, 2), (16, 64), (32, 2), (32, 16), (32, 64), (64, 16), (64, 256))
GROUPS = 4

DRIVER = """
param memcpy_params: comptime_struct;
param comm_params: comptime_struct;
param pe_num_p_group: i16;
param root_1st_phase: i16;
param root_2nd_phase: i16;
param P: i16;
param bsz: i16;
param dim_p_pe: i16;
param seq_len_p_pe: i16;
param ffn_dim_p_pe: i16;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
const layout_mod = @import_module("<layout>");
const comm = @import_module("comm_lib/comm_pe.csl", @concat_structs(comm_params, .{
  .P = P, .bsz = bsz,
  .dim_p_pe = dim_p_pe, .seq_len_p_pe = seq_len_p_pe, .ffn_dim_p_pe = ffn_dim_p_pe,
  .pe_num_p_group = pe_num_p_group,
  .root_1st_phase = root_1st_phase, .root_2nd_phase = root_2nd_phase,
}));
var x = @zeros([bsz]f16);
var x_ptr: [*]f16 = &x;
fn prepare() void {
  comm.init_(@as(i16, layout_mod.get_x_coord()), @as(i16, layout_mod.get_y_coord()));
  sys.unblock_cmd_stream();
}
fn run() void {
  comm.two_tree_allreduce_add_y_bsz(x_ptr);
  sys.unblock_cmd_stream();
}
comptime {
  @export_symbol(x_ptr, "x");
  @export_symbol(prepare);
  @export_symbol(run);
  @rpc(@get_data_task_id(sys.LAUNCH));
}
"""
EXPORTS = """    @export_name("x", [*]f16, true);
    @export_name("prepare", fn()void);
    @export_name("run", fn()void);
"""
OURS = """target wse2
grid square = {pes} x {pes}
collective total = allreduce(x: f16[{length}], add) on each column of square {{
    {steps}
}}
program {{ total }}
"""


def points(folder: Path) -> Iterator[Point]:
    """Columns of squares; ours with its own choice, and with groups of the same size and no more
    colors than theirs has for an axis, ten."""
    for pes, length in SIZES:
        middle, size = pes // 2, pes // GROUPS
        same = f"reduce two_phase(S = {size}) to {middle} then broadcast from {middle}"
        texts = {
            name: OURS.format(pes=pes, length=length, steps=steps)
            for name, steps in (("two-phase", f"{same} within colors <= 10"), ("auto", "run auto"))
        }
        yield Point(
            NAME,
            "allreduce of columns",
            "wse2",
            f"{pes} x {pes}",
            length,
            lambda at, p=pes, n=length: _run(folder, at, p, n),  # type: ignore[misc]
            texts,
            pes * pes * (200 + length),
        )


def _run(folder: Path, scratch: Path, pes: int, length: int) -> Measured:
    theirs = copied(folder / "Decode" / "WSE-2" / "src", scratch)
    lines = (theirs / "layout.csl").read_text().splitlines(keepends=True)
    kept = [line for line in lines if "@export_name" not in line]
    end = max(number for number, line in enumerate(kept) if line.startswith("}"))
    (theirs / "layout.csl").write_text("".join([*kept[:end], EXPORTS, *kept[end:]]))
    (theirs / "decode.csl").write_text(DRIVER)
    size, (others,) = pes // GROUPS, ({"dim_p_pe": 2, "seq_len_p_pe": 2, "ffn_dim_p_pe": 2},)
    first = size // 2
    roots = {"root_1st_phase": first, "root_2nd_phase": GROUPS // 2 * size + first}
    unused = {"pes_p_head": 1, "pes_p_kv_head": 1, "head_dim_p_pe": 2}
    params = {"P": pes, "bsz": length, "pe_num_p_group": size, **others, **roots, **unused}
    simulator = compiled(theirs / "layout.csl", "wse2", params)
    given = np.random.default_rng(7).integers(-8, 8, (pes, pes, length)).astype(np.float16)
    simulator.memcpy_h2d("x", given.reshape(-1), 0, 0, pes, pes, length)
    simulator.launch("prepare")
    report = simulator.launch("run")
    found = simulator.memcpy_d2h("x", "float16", 0, 0, pes, pes, length).reshape(given.shape)
    wanted = np.broadcast_to(given.sum(axis=0, dtype=np.float64), given.shape)
    return Measured(report.cycles, difference(found, wanted, 0))
