//! `<collectives_2d>` under random sequences of calls: no barrier between them, PEs that dawdle, both axes at
//! once, compared with a model.

use crate::csl_support::*;
use fabsim::csl::CompileOptions;
use fabsim::host::{SimOptions, Simulator};
use fabsim::program::Arch;
use std::sync::Arc;

const LAYOUT: &str = r#"
param width: u16;
param height: u16;
const memcpy = @import_module("<memcpy/get_params>", .{ .width = width, .height = height });
const c2d = @import_module("<collectives_2d/params>");
layout {
  @set_rectangle(width, height);
  for (@range(u16, width)) |x| {
    for (@range(u16, height)) |y| {
      @set_tile_code(x, y, "pe.csl", .{ .memcpy_params = memcpy.get_params(x), .c2d = c2d.get_params(x, y, .{
        .x_colors = .{ @get_color(7), @get_color(2) }, .x_entrypoints = .{ @get_local_task_id(10), @get_local_task_id(11) },
        .y_colors = .{ @get_color(4), @get_color(5) }, .y_entrypoints = .{ @get_local_task_id(12), @get_local_task_id(13) },
      }) });
    }
  }
  @export_name("x", [*]u32, true);
  @export_name("y", [*]u32, true);
  @export_name("run", fn(u32, u16)void);
}
"#;

const PE: &str = r#"
param memcpy_params;
param c2d;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
const across = @import_module("line.csl", .{ .params = c2d.x, .length = @get_rectangle().width,
  .next_id = @get_local_task_id(14), .done_id = @get_local_task_id(16) });
const down = @import_module("line.csl", .{ .params = c2d.y, .length = @get_rectangle().height,
  .next_id = @get_local_task_id(15), .done_id = @get_local_task_id(17) });
var x_ptr: [*]u32 = &across.all;
var y_ptr: [*]u32 = &down.all;
var lines: u16 = 0;
fn run(seed: u32, calls: u16) void {
  across.start(seed, calls);
  down.start(seed + 1, calls);
}
fn end() void { lines += 1; if (lines == 2) { sys.unblock_cmd_stream(); } }
task done() void { end(); }
task done_too() void { end(); }
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
param length: u16;
param next_id: local_task_id;
param done_id: local_task_id;
const mpi = @import_module("<collectives_2d/pe>", .{ .dim_params = params });
const most = 6;
// The last `most` numbers are the PE's own.
var all = @zeros([length * most + most]u32);
var own = @zeros([most]u32);
var floats = @zeros([most]f32);
var sums = @zeros([most]f32);
var state: u32 = 0;
var left: u16 = 0;
var summing = false;
fn start(seed: u32, calls: u16) void {
  mpi.init();
  state = seed;
  left = calls;
  for (@range(u16, most)) |n| { floats[n] = @as(f32, mpi.pe_id + n); }
  @activate(next_id);
}
fn root() u16 { return @as(u16, state >> 16) % length; }
task next() void {
  for (@range(u16, most)) |n| {
    if (summing and mpi.pe_id == root()) { own[n] += @as(u32, sums[n]); }
    own[n] = own[n] * 3 + @as(u32, mpi.pe_id) + 1 & 0xffff;
    sums[n] = 0.0;
    all[length * most + n] = own[n];
  }
  summing = false;
  if (left == 0) { @activate(done_id); return; }
  left -= 1;
  state = state * 1664525 + 1013904223;
  var turns: u16 = 31 * (if (state >> 8 & 1 == 0) mpi.pe_id else length - mpi.pe_id);
  while (turns > 0) : (turns -= 1) {}
  const count = 1 + @as(u16, state >> 20 & 0xff) % most;
  switch (state >> 28 & 3) {
    0 => { mpi.broadcast(root(), &own, count, next_id); },
    1 => { mpi.scatter(root(), &all, &own, count, next_id); },
    2 => { mpi.gather(root(), &own, &all, count, next_id); },
    else => { summing = true; mpi.reduce_fadds(root(), &floats, &sums, count, next_id); },
  }
}
comptime { @bind_local_task(next, next_id); }
"#;

const MOST: usize = 6;

/// What `all` holds on every PE of a line.
fn model(length: usize, seed: u32, calls: usize) -> Vec<Vec<u32>> {
    let mut all = vec![vec![0u32; (length + 1) * MOST]; length];
    let mut own = vec![[0u32; MOST]; length];
    let local = |own: &mut Vec<[u32; MOST]>| {
        for (pe, numbers) in own.iter_mut().enumerate() {
            numbers
                .iter_mut()
                .for_each(|n| *n = (*n * 3 + pe as u32 + 1) & 0xffff);
        }
    };
    local(&mut own);
    let mut state = seed;
    for _ in 0..calls {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        let root = (state >> 16 & 0xffff) as usize % length;
        let count = 1 + (state >> 20 & 0xff) as usize % MOST;
        for pe in 0..length {
            for n in 0..count {
                match state >> 28 & 3 {
                    0 => own[pe][n] = own[root][n],
                    1 => own[pe][n] = all[root][pe * count + n],
                    2 => all[root][pe * count + n] = own[pe][n],
                    _ => own[root][n] += (pe + n) as u32,
                }
            }
        }
        local(&mut own);
    }
    for (all, own) in all.iter_mut().zip(&own) {
        all[length * MOST..].copy_from_slice(own);
    }
    all
}

#[track_caller]
fn check(arch: Arch, width: u16, height: u16, seed: u32, calls: u16) {
    let mut options = CompileOptions::new(arch);
    let params = [("width", width), ("height", height)];
    options.params = params
        .map(|(name, value)| (name.to_string(), value.into()))
        .into();
    let files = [("layout.csl", LAYOUT), ("pe.csl", PE), ("line.csl", LINE)];
    let design = Arc::new(accepts(compile(&files, &options)));
    let made = Simulator::new(design, SimOptions::default());
    let mut sim = made.unwrap_or_else(|e| panic!("{e}"));
    let ended = sim.launch("run", &[seed, calls.into()]);
    ended.unwrap_or_else(|e| panic!("{arch:?} {width} x {height} seed {seed}: {e}"));
    for (symbol, length, seed) in [("x", width, seed), ("y", height, seed + 1)] {
        let words = MOST * (usize::from(length) + 1);
        let found = sim.memcpy_d2h(symbol, 0, 0, width, height, words, false, false);
        let found = found.unwrap_or_else(|e| panic!("{e}"));
        let wanted = model(length.into(), seed, calls.into());
        for (pe, found) in found.chunks(words).enumerate() {
            let (x, y) = (pe % usize::from(width), pe / usize::from(width));
            let place = if symbol == "x" { x } else { y };
            assert_eq!(
                found, wanted[place],
                "{arch:?} seed {seed} {symbol} of ({x}, {y})"
            );
        }
    }
}

#[test]
fn any_sequence_of_calls_gives_what_the_model_gives() {
    for seed in 0..6 {
        check(Arch::Wse2, 4, 3, 100 * seed, 25);
        check(Arch::Wse3, 2, 7, 100 * seed + 50, 25);
    }
}
