//! `<collectives_2d>`: every collective from every root, one after the other, on both axes at once.

use crate::csl_support::*;
use fabsim::csl::CompileOptions;
use fabsim::host::{SimOptions, Simulator};
use fabsim::program::Arch;
use std::sync::Arc;

const LAYOUT: &str = r#"
param width: u16;
param height: u16;
param count: u16;
const memcpy = @import_module("<memcpy/get_params>", .{ .width = width, .height = height });
const c2d = @import_module("<collectives_2d/params>");
layout {
  @set_rectangle(width, height);
  for (@range(u16, width)) |x| {
    for (@range(u16, height)) |y| {
      @set_tile_code(x, y, "pe.csl", .{
        .memcpy_params = memcpy.get_params(x), .count = count, .c2d = c2d.get_params(x, y, .{
          .x_colors = .{ @get_color(0), @get_color(1) },
          .x_entrypoints = .{ @get_local_task_id(10), @get_local_task_id(11) },
          .y_colors = .{ @get_color(4), @get_color(5) },
          .y_entrypoints = .{ @get_local_task_id(12), @get_local_task_id(13) },
        }),
      });
    }
  }
  @export_name("x", [*]u32, true);
  @export_name("y", [*]u32, true);
  @export_name("run", fn(u16)void);
}
"#;

/// On each axis the same sequence: the root scatters, everybody adds one, the next root gathers and broadcasts what it
/// has, and the one after that sums everybody's first `count` numbers as floats.
const PE: &str = r#"
param memcpy_params;
param c2d;
param count: u16;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
const across = @import_module("line.csl", .{ .params = c2d.x, .count = count, .length = @get_rectangle().width,
  .next_id = @get_local_task_id(14), .done_id = @get_local_task_id(16) });
const down = @import_module("line.csl", .{ .params = c2d.y, .count = count, .length = @get_rectangle().height,
  .next_id = @get_local_task_id(15), .done_id = @get_local_task_id(17) });
var x_ptr: [*]u32 = &across.results;
var y_ptr: [*]u32 = &down.results;
var lines: u16 = 0;
fn run(root: u16) void {
  lines = 0;
  across.start(root);
  down.start(root);
}
task done() void { lines += 1; if (lines == 2) { sys.unblock_cmd_stream(); } }
task done_too() void { lines += 1; if (lines == 2) { sys.unblock_cmd_stream(); } }
comptime {
  @bind_local_task(done, @get_local_task_id(16));
  @bind_local_task(done_too, @get_local_task_id(17));
  @export_symbol(x_ptr, "x");
  @export_symbol(y_ptr, "y");
  @export_symbol(run);
}
"#;

const LINE: &str = r#"
param params;
param count: u16;
param length: u16;
param next_id: local_task_id;
param done_id: local_task_id;
const mpi = @import_module("<collectives_2d/pe>", .{ .dim_params = params });
// What has been gathered and broadcast, and the sum.
var results = @zeros([length * count + count]u32);
var all = @zeros([length * count]u32);
var own = @zeros([count]u32);
var floats = @zeros([count]f32);
var sums = @zeros([count]f32);
var state: u16 = 0;
var root: u16 = 0;
fn start(first: u16) void {
  mpi.init();
  root = first % length;
  state = 0;
  for (@range(u16, length * count)) |n| {
    all[n] = if (mpi.pe_id == root) 100 + @as(u32, n) else 0;
    results[n] = 0;
  }
  @activate(next_id);
}
// PEs reach a call at very different times, now one end of the line first, now the other.
fn dawdle() void {
  var turns: u16 = 29 * (if (state & 1 == 0) mpi.pe_id else length - mpi.pe_id);
  while (turns > 0) : (turns -= 1) {}
}
task next() void {
  state += 1;
  dawdle();
  switch (state) {
    1 => { mpi.scatter(root, &all, &own, count, next_id); },
    2 => {
      for (@range(u16, count)) |n| { own[n] += 1; }
      mpi.gather((root + 1) % length, &own, &results, count, next_id);
    },
    3 => { mpi.broadcast((root + 1) % length, &results, length * count, next_id); },
    4 => {
      for (@range(u16, count)) |n| { floats[n] = @as(f32, mpi.pe_id + n); sums[n] = 0.0; }
      mpi.reduce_fadds((root + 2) % length, &floats, &sums, count, next_id);
    },
    else => {
      for (@range(u16, count)) |n| { results[length * count + n] = @as(u32, sums[n]); }
      @activate(done_id);
    },
  }
}
comptime { @bind_local_task(next, next_id); }
"#;

fn simulator(arch: Arch, pe: &str, width: i64, height: i64, count: i64) -> Simulator {
    let mut options = CompileOptions::new(arch);
    let params = [("width", width), ("height", height), ("count", count)];
    options.params = params.map(|(name, value)| (name.to_string(), value)).into();
    let files = [("layout.csl", LAYOUT), ("pe.csl", pe), ("line.csl", LINE)];
    let design = accepts(compile(&files, &options));
    let made = Simulator::new(Arc::new(design), SimOptions::default());
    made.unwrap_or_else(|e| panic!("{e}"))
}

/// What the PE at `place` of a line must hold: all numbers plus one, then the sum at its root.
fn wanted(length: u32, count: u32, root: u32, place: u32) -> Vec<u32> {
    let all = (0..length * count).map(|n| 101 + n);
    let sum = |n| length * (length - 1) / 2 + length * n;
    let at_root = place == (root + 2) % length;
    let sums = (0..count).map(|n| if at_root { sum(n) } else { 0 });
    all.chain(sums).collect()
}

#[track_caller]
fn check(arch: Arch, width: u16, height: u16, count: u16, roots: std::ops::Range<u16>) {
    let mut sim = simulator(arch, PE, width.into(), height.into(), count.into());
    for root in roots {
        sim.launch("run", &[root.into()])
            .unwrap_or_else(|e| panic!("root {root}: {e}"));
        for (symbol, length) in [("x", width), ("y", height)] {
            let words = usize::from(count) * (usize::from(length) + 1);
            let found = sim.memcpy_d2h(symbol, 0, 0, width, height, words, false, false);
            let found = found.unwrap_or_else(|e| panic!("{e}"));
            for (pe, found) in found.chunks(words).enumerate() {
                let pe = pe as u32;
                let place = match symbol {
                    "x" => pe % u32::from(width),
                    _ => pe / u32::from(width),
                };
                let root = u32::from(root % length);
                let wanted = wanted(length.into(), count.into(), root, place);
                assert_eq!(found, wanted, "{arch:?} {symbol} root {root} PE {pe}");
            }
        }
    }
}

#[test]
fn every_root_of_both_axes_one_after_the_other() {
    for arch in BOTH {
        check(arch, 5, 4, 3, 0..5);
    }
}

#[test]
fn lines_of_one_and_two_pes() {
    for arch in BOTH {
        check(arch, 1, 2, 2, 0..3);
        check(arch, 2, 1, 1, 0..3);
    }
}

#[test]
fn long_vectors_fill_every_queue() {
    for arch in BOTH {
        check(arch, 7, 2, 40, 2..5);
    }
}

/// Nothing is sent, but everybody is called back, also where only one axis is used.
const NOTHING: &str = r#"
param memcpy_params;
param c2d;
param count: u16;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
const mpi = @import_module("<collectives_2d/pe>", .{ .dim_params = c2d.y, .queues = [2]u16{ 5, 4 },
  .dest_dsr_ids = [1]u16{ 5 }, .src0_dsr_ids = [1]u16{ 5 }, .src1_dsr_ids = [1]u16{ 5 } });
const id = @get_local_task_id(14);
var x = @zeros([1]u32);
var f = @zeros([1]f32);
var x_ptr: [*]u32 = &x;
fn run(root: u16) void {
  mpi.init();
  x[0] = 0;
  @activate(id);
}
task next() void {
  x[0] += 1;
  switch (x[0]) {
    1 => { mpi.scatter(0, &x, &x, @as(i16, count), id); },
    2 => { mpi.gather(1, &x, &x, count, id); },
    3 => { mpi.broadcast(2, &x, count, id); },
    4 => { mpi.reduce_fadds(2, &f, &f, count, id); },
    else => { sys.unblock_cmd_stream(); },
  }
}
comptime {
  @bind_local_task(next, id);
  @export_symbol(x_ptr, "x");
  @export_symbol(x_ptr, "y");
  @export_symbol(run);
}
"#;

#[test]
fn no_words_are_no_transfer() {
    for arch in BOTH {
        let mut sim = simulator(arch, NOTHING, 1, 3, 0);
        sim.launch("run", &[0]).unwrap_or_else(|e| panic!("{e}"));
        let found = sim.memcpy_d2h("x", 0, 0, 1, 3, 1, false, false);
        assert_eq!(found, Ok(vec![5, 5, 5]));
    }
}

#[test]
fn an_axis_that_the_layout_left_out_is_missing() {
    let layout = LAYOUT.replace(".y_colors = .{ @get_color(4), @get_color(5) },", "");
    let layout = layout.replace(
        ".y_entrypoints = .{ @get_local_task_id(12), @get_local_task_id(13) },",
        "",
    );
    let files = [("layout.csl", layout.as_str()), ("pe.csl", NOTHING)];
    let mut options = CompileOptions::new(Arch::Wse2);
    let params = [("width", 1), ("height", 3), ("count", 0)];
    options.params = params.map(|(name, value)| (name.to_string(), value)).into();
    refuses(compile(&files, &options), "there is no field 'y'");
}

#[test]
fn misuse_stops_the_simulation_where_it_is() {
    for (right, wrong) in [
        ("mpi.init();", ""),
        ("mpi.scatter(0,", "mpi.scatter(3,"),
        (
            "mpi.gather(1,",
            "mpi.scatter(0, &x, &x, count, id); mpi.gather(1,",
        ),
    ] {
        let pe = NOTHING.replace(right, wrong);
        let mut sim = simulator(Arch::Wse2, &pe, 1, 3, 1);
        let text = sim.launch("run", &[0]).map(drop).map_err(|e| e.to_string());
        let failed =
            |text: &String| text.contains("assert") && text.contains("<collectives_2d/pe>");
        assert!(text.as_ref().is_err_and(failed), "{text:?}");
    }
}
