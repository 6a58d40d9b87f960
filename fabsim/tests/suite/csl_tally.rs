//! `<kernels/tally>`: a sum over a rectangle that knows when it is complete.

use crate::csl_support::*;
use fabsim::csl::CompileOptions;
use fabsim::host::{SimOptions, Simulator};
use fabsim::program::Arch;
use std::sync::Arc;

const LAYOUT: &str = r#"
param width: i16;
param height: i16;
param promised: u32;
const memcpy = @import_module("<memcpy/get_params>", .{ .width = width, .height = height });
const tally = @import_module("<kernels/tally/layout>", .{
  .kernel_width = width, .kernel_height = height, .phase2_tally = promised,
  .colors = [3]color{ @get_color(2), @get_color(3), @get_color(4) }, .output_color = @get_color(5),
});
layout {
  @set_rectangle(width, height);
  for (@range(i16, width)) |x| {
    for (@range(i16, height)) |y| {
      @set_tile_code(x, y, "pe.csl", .{ .memcpy_params = memcpy.get_params(x), .tally_params = tally.get_params(x, y) });
    }
  }
  @export_name("result", [*]u32, true);
  @export_name("run", fn()void);
}
"#;

/// Every PE counts its number twice: before it says that it is complete, and later.
const PE: &str = r#"
param memcpy_params;
param tally_params;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
const place = @import_module("<layout>");
const done_id = @get_local_task_id(9);
const late_id = @get_local_task_id(10);
const tally = @import_module("<kernels/tally/pe>", .{ .tally_params = tally_params,
  .input_queues = [2]u16{ 2, 3 }, .output_queues = [2]u16{ 4, 5 }, .callback = done_id });
var result = @zeros([2]u32);
var result_ptr: [*]u32 = &result;
fn number() u32 { return @as(u32, place.get_x_coord() + 10 * place.get_y_coord()); }
fn run() void {
  tally.bump_tally(number());
  if (number() & 1 == 0) { tally.signal_completion(); }
  @activate(late_id);
  sys.unblock_cmd_stream();
}
task late() void {
  if (number() & 1 == 1) { tally.signal_completion(); }
  if (number() > 0) { tally.bump_tally(number()); }
}
task done() void { result[0] += 1; result[1] = tally.local_tally; }
comptime {
  @bind_local_task(done, done_id);
  @bind_local_task(late, late_id);
  @export_symbol(result_ptr, "result");
  @export_symbol(run);
}
"#;

/// Who was called back, and with which sum.
fn results(arch: Arch, width: u16, height: u16, promised: i64) -> Vec<(u16, u16, u32, u32)> {
    let mut options = CompileOptions::new(arch);
    let params = [
        ("width", width.into()),
        ("height", height.into()),
        ("promised", promised),
    ];
    options.params = params.map(|(name, value)| (name.to_string(), value)).into();
    let design = accepts(compile(&[("layout.csl", LAYOUT), ("pe.csl", PE)], &options));
    let made = Simulator::new(Arc::new(design), SimOptions::default());
    let mut sim = made.unwrap_or_else(|e| panic!("{e}"));
    sim.launch("run", &[]).unwrap_or_else(|e| panic!("{e}"));
    let found = sim.memcpy_d2h("result", 0, 0, width, height, 2, false, false);
    let found = found.unwrap_or_else(|e| panic!("{e}"));
    let pes = found
        .chunks(2)
        .enumerate()
        .map(|(n, pair)| (n as u16, pair));
    pes.filter(|(_, pair)| pair[0] > 0)
        .map(|(n, pair)| (n % width, n / width, pair[0], pair[1]))
        .collect()
}

fn sum(width: u16, height: u16) -> i64 {
    let rows = (0..height).map(i64::from);
    rows.map(|y| (0..width).map(|x| 2 * (i64::from(x) + 10 * y)).sum::<i64>())
        .sum()
}

#[test]
fn the_north_east_pe_is_told_once_when_the_sum_is_complete() {
    for arch in BOTH {
        for (width, height) in [(1, 1), (1, 3), (2, 1), (4, 5), (5, 4)] {
            let total = sum(width, height);
            let expected = vec![(width - 1, 0, 1, total as u32)];
            assert_eq!(results(arch, width, height, total), expected);
        }
    }
}

#[test]
fn a_sum_that_never_comes_is_never_reported() {
    assert_eq!(results(Arch::Wse2, 3, 3, sum(3, 3) + 1), []);
}
