//! Main threads run ahead of their cycle where nobody else can see it: everything comes out as if they
//! did not.

use crate::ahead_support;
use crate::flows_support;

use crate::csl_support::{accepts, compile, BOTH};
use fabsim::csl::CompileOptions;
use fabsim::host::{SimOptions, Simulator};
use fabsim::program::*;
use std::sync::Arc;

/// Two PEs of a row exchange vectors by microthreads while their main threads multiply, `LENGTH` elements at a
/// time, by `@map`, a loop, sums and stamps in between.
const PE: &str = r#"
param east: color;
param west: color;
param first: bool;
param length: u16;
var a = @zeros([32]f16);
var b = @zeros([32]f16);
var c = @zeros([96]f16);
var sent = @zeros([64]f16);
var received = @zeros([64]f16);
var sums = @zeros([32]f32);
var turns: i16 = 0;
var total: f32 = 0.0;
const dest = @get_dsr(dsr_dest, 4);
const addend = @get_dsr(dsr_src0, 4);
const factor = @get_dsr(dsr_src1, 4);
const a_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{32} -> a[i] });
const c_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> c[i] });
const sums_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{32} -> sums[i] });
var part = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{32} -> b[i] });
const sent_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{64} -> sent[i] });
const received_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{64} -> received[i] });
const out_dsd = @get_dsd(fabout_dsd, .{ .extent = 64, .output_queue = out_queue, .fabric_color = if (first) east else west });
const in_dsd = @get_dsd(fabin_dsd, .{ .extent = 64, .input_queue = in_queue, .fabric_color = if (first) west else east });
fn multiply(by: f16) void {
  @fmach(dest, addend, factor, by);
}
task compute() void {
  if (turns == 4) {
    time.get_timestamp(&after);
    sys.unblock_cmd_stream();
    return;
  }
  turns += 1;
  time.get_timestamp(&before);
  @mov16(out_dsd, sent_dsd, .{ .async = true, .activate = went });
  @mov16(received_dsd, in_dsd, .{ .async = true, .activate = came });
  for (@range(u16, 6)) |k| {
    part = @set_dsd_length(part, length);
    @load_to_dsr(dest, c_dsd, .{ .save_address = true });
    @load_to_dsr(addend, c_dsd, .{ .save_address = true });
    @load_to_dsr(factor, @set_dsd_length(a_dsd, 4), .{ .save_address = false });
    @map(multiply, part);
    part = @increment_dsd_offset(part, 1, f16);
    total += @as(f32, c[k]) * 0.5;
    sums[k] = total;
    if (k % 2 == 1) { sent[k] = c[k]; }
    if (k == 4) { total += @as(f32, received[3]); }
  }
  part = @increment_dsd_offset(part, -6, f16);
  @map(square, sums_dsd, sums_dsd);
  @fadds(sums_dsd, sums_dsd, sums_dsd);
  @fmacs(sums_dsd, sums_dsd, sums_dsd, 0.125);
  one_done();
}
fn run() void {
  time.enable_tsc();
  for (@range(u16, 32)) |i| {
    a[i] = @as(f16, i) * 0.125;
    b[i] = @as(f16, i % 5) - 1.5;
    sent[i] = @as(f16, i) + 0.25;
  }
  turns = 0;
  @activate(next);
}
comptime {
  @bind_local_task(arrived, came);
  @bind_local_task(departed, went);
  @bind_local_task(compute, next);
  QUEUES
  @export_symbol(run);
}
"#;

const QUEUES: &str = "@initialize_queue(out_queue, .{ .color = if (first) east else west }); \
    @initialize_queue(in_queue, .{ .color = if (first) west else east });";

/// So many that two threads share out what runs ahead.
const ROWS: u16 = 4;

fn layout(length: u16) -> String {
    format!(
        "const memcpy = @import_module(\"<memcpy/get_params>\", .{{ .width = 2, .height = {ROWS} }});
         const east = @get_color(4); const west = @get_color(5);
         layout {{ @set_rectangle(2, {ROWS});
         for (@range(u16, {ROWS})) |y| {{
           for (@range(u16, 2)) |x| {{
             @set_tile_code(x, y, \"pe.csl\", .{{ .memcpy_params = memcpy.get_params(x),
               .east = east, .west = west, .first = x == 0, .length = {length} }}); }}
           @set_color_config(0, y, east, .{{ .routes = .{{ .rx = .{{ RAMP }}, .tx = .{{ EAST }} }} }});
           @set_color_config(1, y, east, .{{ .routes = .{{ .rx = .{{ WEST }}, .tx = .{{ RAMP }} }} }});
           @set_color_config(1, y, west, .{{ .routes = .{{ .rx = .{{ RAMP }}, .tx = .{{ WEST }} }} }});
           @set_color_config(0, y, west, .{{ .routes = .{{ .rx = .{{ EAST }}, .tx = .{{ RAMP }} }} }}); }}
         @export_name(\"run\", fn()void); }}"
    )
}

fn products(arch: Arch, clock: Clock, length: u16) -> Arc<Design> {
    let queues = if arch == Arch::Wse3 { QUEUES } else { "" };
    let pe = format!("{}{}", ahead_support::SHARED, PE.replace("QUEUES", queues));
    let options = CompileOptions::new(arch);
    let files = [("layout.csl", &*layout(length)), ("pe.csl", &*pe)];
    let design = accepts(compile(&files, &options));
    Arc::new(Design { clock, ..design })
}

/// What comes out of two launches: what they say, when queues had what, and all memory.
fn outcome(design: &Arc<Design>, runs_ahead: bool, threads: usize) -> Vec<String> {
    let options = SimOptions {
        runs_ahead,
        threads,
        max_cycles: 100_000,
        trace_landings: true,
        ..SimOptions::default()
    };
    let mut sim = Simulator::new(Arc::clone(design), options).unwrap();
    let mut said = Vec::new();
    for _ in 0..2 {
        let launched = sim.launch("run", &[]).map(|report| {
            let ends = (
                report.start_cycle,
                report.first_completion,
                report.end_cycle,
            );
            format!("{ends:?}")
        });
        said.push(format!("{launched:?} {:?}", sim.machine().command));
    }
    said.push(format!("{:?}", sim.stop().map(|report| report.cycles)));
    let machine = sim.machine();
    said.push(format!("{} {:?}", machine.cycle, machine.fabric.trace));
    // Where a run fails, others may have been ahead of it.
    if said.iter().any(|words| words.contains("Err(")) {
        return said;
    }
    said.extend(machine.pes.iter().map(|pe| {
        let words = 0..pe.core.memory.len_words() as u64;
        let words: Vec<u64> = words
            .map(|at| pe.core.memory.peek(2 * at, 2).unwrap())
            .collect();
        format!("{words:?} {:?}", pe.core.dsrs)
    }));
    said
}

#[test]
fn products_beside_microthreads_come_out_as_if_nothing_ran_ahead() {
    for arch in BOTH {
        for clock in Clock::ALL {
            for length in [1, 3, 7, 20] {
                let design = products(arch, clock, length);
                let plain = outcome(&design, false, 1);
                assert!(plain[0].starts_with("Ok"), "{}", plain[0]);
                let place = format!("{arch:?} {clock:?} {length}");
                assert_eq!(outcome(&design, true, 1), plain, "{place}");
                assert_eq!(outcome(&design, true, 2), plain, "{place}, two threads");
            }
        }
    }
}

#[test]
fn random_programs_come_out_as_if_nothing_ran_ahead() {
    for clock in Clock::ALL {
        for seed in 0..60 {
            let design = Arc::new(Design {
                clock,
                ..(*flows_support::program(seed)).clone()
            });
            let plain = outcome(&design, false, 1);
            assert_eq!(outcome(&design, true, 1), plain, "{seed} {clock:?}");
            let shared = outcome(&design, true, 2);
            assert_eq!(shared, plain, "{seed} {clock:?}, two threads");
        }
    }
}

#[test]
fn random_exchanges_beside_random_work_come_out_as_if_nothing_ran_ahead() {
    for arch in BOTH {
        for seed in 0..60 {
            let compiled = ahead_support::program(arch, seed);
            for clock in Clock::ALL {
                let design = Arc::new(Design {
                    clock,
                    ..compiled.clone()
                });
                let plain = outcome(&design, false, 1);
                assert!(plain[0].starts_with("Ok"), "{}", plain[0]);
                assert_eq!(
                    outcome(&design, true, 1),
                    plain,
                    "{arch:?} {seed} {clock:?}"
                );
            }
        }
    }
}
