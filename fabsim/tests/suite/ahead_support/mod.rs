//! Random programs of two PEs that exchange vectors by microthreads of any priority, while their main
//! threads do what may be run ahead: scalar code, registers, operations in memory, `@map`. Some then wait in a
//! task that activates itself.

use crate::csl_support::{accepts, compile};
use crate::flows_support::Random;
use fabsim::csl::CompileOptions;
use fabsim::program::*;

/// Elements of each array.
const ELEMENTS: usize = 48;

/// What all programs of this test begin with: an exchange and work, each of which says when it is done.
pub const SHARED: &str = r#"
param memcpy_params;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
const time = @import_module("<time>");
const out_queue = @get_output_queue(2);
const in_queue = @get_input_queue(3);
var before = @zeros([3]u16);
var after = @zeros([3]u16);
var done: i16 = 0;
const came = @get_local_task_id(12);
const went = @get_local_task_id(13);
const next = @get_local_task_id(14);
const spin = @get_local_task_id(15);
fn square(x: f32) f32 {
  if (x > 4.0) { return x * 0.25; }
  return x + 1.0;
}
fn one_done() void {
  done += 1;
  if (done == 3) {
    done = 0;
    @activate(next);
  }
}
task arrived() void { one_done(); }
task departed() void { one_done(); }
"#;

const HEAD: &str = r#"
var a = @zeros([48]f32);
var b = @zeros([48]f32);
var c = @zeros([48]f32);
var sent = @zeros([48]f32);
var received = @zeros([48]f32);
var word: f32 = 1.0;
var round: i16 = 0;
var spins: i16 = 0;
const d0 = @get_dsr(dsr_dest, 4);
const s0 = @get_dsr(dsr_src0, 4);
const s1 = @get_dsr(dsr_src1, 4);
fn added(by: f32) void { @fadds(d0, s0, by); }
fn scaled(by: f32) void { @fmacs(d0, s0, s1, by); }
"#;

const TAIL: &str = r#"
fn run() void {
  time.enable_tsc();
  for (@range(u16, 48)) |i| {
    a[i] = @as(f32, i) * 0.125;
    b[i] = @as(f32, i % 5) - 1.5;
    sent[i] = @as(f32, i) + 0.25;
  }
  round = 0;
  @activate(next);
}
comptime {
  @bind_local_task(arrived, came);
  @bind_local_task(departed, went);
  @bind_local_task(compute, next);
  @bind_local_task(spinning, spin);
  @export_symbol(run);
}
"#;

fn array(r: &mut Random) -> &'static str {
    ["a", "b", "c", "sent", "received"][r.below(5)]
}

fn length(r: &mut Random) -> usize {
    [1, 1, 2, 3, 5, 8, 13, 32][r.below(8)]
}

/// A DSD of so many elements of an array.
fn vector(r: &mut Random, name: &str, length: usize) -> String {
    let from = r.below(ELEMENTS - length + 1);
    format!("@get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{{length}}} -> {name}[i + {from}] }})")
}

/// A `@map` whose call-back is an operation on vectors, each of which may go on from call to call and may be in
/// another one's place.
fn calls(r: &mut Random) -> String {
    let (count, each) = (1 + r.below(12), 1 + r.below(4));
    let name = array(r);
    let elements = vector(r, name, count);
    let mut last = (array(r), 0);
    let mut load = |register: &str, r: &mut Random| {
        if register == "d0" || r.below(2) == 0 {
            last = (array(r), r.below(ELEMENTS - count * each + 1));
        }
        let ((name, from), keeps) = (last, r.below(3) > 0);
        format!("@load_to_dsr({register}, @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{{each}}} -> {name}[i + {from}] }}), .{{ .save_address = {keeps} }});")
    };
    let loads = ["d0", "s0", "s1"].map(|register| load(register, r));
    let function = ["added", "scaled"][r.below(2)];
    format!("{} @map({function}, {elements});", loads.join(" "))
}

fn statement(arch: Arch, r: &mut Random) -> String {
    let (x, y, z, n) = (array(r), array(r), array(r), length(r));
    let mut dsd = |name| vector(r, name, n);
    let (dx, dy, dz) = (dsd(x), dsd(y), dsd(z));
    let (i, j) = (r.below(ELEMENTS), r.below(ELEMENTS));
    let kinds = if arch == Arch::Wse2 { 15 } else { 13 };
    match r.below(kinds) {
        0 => format!("@fadds({dx}, {dy}, {dz});"),
        1 => format!("@fmovs({dx}, {dy});"),
        2 => format!("@fmacs({dx}, {dx}, {dz}, 0.125);"),
        3 => format!("@fmuls({dx}, {dy}, 0.5);"),
        4 => format!("{x}[{i}] = {y}[{j}] * 0.5 + word;"),
        5 => format!("for (@range(u16, {n})) |k| {{ word += {x}[k] * 0.125; {y}[k] = word; }}"),
        6 => format!("if ({x}[{i}] > {y}[{j}]) {{ word = 0.5; {z}[{i}] = 1.0; }}"),
        7 => format!("@load_to_dsr(d0, {dx}, .{{ .save_address = false }});"),
        8 => format!("@load_to_dsr(s0, {dy}, .{{ .save_address = false }}); @load_to_dsr(s1, {dz}, .{{ .save_address = false }});"),
        9 => format!("@load_to_dsr(d0, {dx}, .{{ .save_address = false }}); @load_to_dsr(s0, {dx}, .{{ .save_address = false }}); @load_to_dsr(s1, {dz}, .{{ .save_address = false }}); @fadds(d0, s0, s1); {}", "@fadds(d0, s0, s1); ".repeat(r.below(3))),
        10 => format!("@map(square, {dx}, {dx});"),
        11 => format!("@fadds(&word, word, {dy});"),
        12 => calls(r),
        // The words in which the priorities of microthreads 2 and 3 are.
        _ => {
            let (thread, bits) = (2 + r.below(2), [0, 0x100, 0x200][r.below(3)]);
            format!("@bitcast(*u16, @as(u16, (0x7f58 + {thread}) * 2)).* = {bits};")
        }
    }
}

fn statements(arch: Arch, r: &mut Random) -> String {
    let count = 2 + r.below(9);
    let all: Vec<String> = (0..count).map(|_| statement(arch, r)).collect();
    all.join("\n    ")
}

/// The round of the task: what is exchanged is the same on both PEs, what is worked out is not.
fn round(arch: Arch, n: usize, exchange: &str, r: &mut Random) -> String {
    format!(
        "  if (round == {n}) {{\n    {}\n    {exchange}\n    {}\n    {}\n    return;\n  }}\n",
        statements(arch, r),
        statements(arch, r),
        end_of_round(r)
    )
}

/// The task is done at once, or another one is that activates itself: so many times, or until the exchange is over.
fn end_of_round(r: &mut Random) -> String {
    match r.below(4) {
        0 | 1 => "one_done();".into(),
        2 => format!("spins = {}; @activate(spin);", r.below(40)),
        _ => "spins = -1; @activate(spin);".into(),
    }
}

fn spinning(arch: Arch, r: &mut Random) -> String {
    let work = match r.below(3) {
        0 => statement(arch, r),
        _ => String::new(),
    };
    format!(
        "task spinning() void {{
  {work}
  if (spins == 0) {{ one_done(); return; }}
  if (spins > 0) {{ spins -= 1; }} else if (done == 2) {{ spins = 0; }}
  @activate(spin);
}}"
    )
}

fn priority(r: &mut Random) -> &'static str {
    [
        ".{ .high = true }",
        ".{ .medium = true }",
        ".{ .low = true }",
    ][r.below(3)]
}

/// How each direction of a round goes: its length and the priorities of its ends.
fn exchange(arch: Arch, (out, into): (usize, usize), first: bool, r: &mut Random) -> String {
    let (east, west) = if first {
        ("east", "west")
    } else {
        ("west", "east")
    };
    let (to, from) = (priority(r), priority(r));
    let in_dsd = |text: &str| {
        if arch == Arch::Wse3 {
            format!(", .priority = {text}")
        } else {
            String::new()
        }
    };
    let in_operation = |text: &str| {
        if arch == Arch::Wse2 {
            format!(", .priority = {text}")
        } else {
            String::new()
        }
    };
    let memory = |name: &str, n| {
        format!("@get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{{n}}} -> {name}[i] }})")
    };
    format!(
        "@fmovs(@get_dsd(fabout_dsd, .{{ .extent = {out}, .output_queue = out_queue, .fabric_color = {east}{} }}), {}, .{{ .async = true, .activate = went{} }});
    @fmovs({}, @get_dsd(fabin_dsd, .{{ .extent = {into}, .input_queue = in_queue, .fabric_color = {west}{} }}), .{{ .async = true, .activate = came{} }});",
        in_dsd(to), memory("sent", out), in_operation(to),
        memory("received", into), in_dsd(from), in_operation(from),
    )
}

fn pe(arch: Arch, first: bool, rounds: &[(usize, usize)], r: &mut Random) -> String {
    let mut body = String::new();
    for (n, &(east, west)) in rounds.iter().enumerate() {
        let ways = if first { (east, west) } else { (west, east) };
        let exchanged = exchange(arch, ways, first, r);
        body += &round(arch, n + 1, &exchanged, r);
    }
    let (leaving, entering) = if first {
        ("east", "west")
    } else {
        ("west", "east")
    };
    let queues = match arch {
        Arch::Wse2 => String::new(),
        Arch::Wse3 => format!(
            "comptime {{ @initialize_queue(out_queue, .{{ .color = {leaving} }}); @initialize_queue(in_queue, .{{ .color = {entering} }}); }}"
        ),
    };
    let last = match r.below(3) {
        0 => statements(arch, r),
        _ => String::new(),
    };
    let count = rounds.len();
    let spinning = spinning(arch, r);
    format!(
        "{SHARED}{HEAD}{spinning}
const east = @get_color(4); const west = @get_color(5);
task compute() void {{
  if (round == {count}) {{ time.get_timestamp(&after); sys.unblock_cmd_stream(); {last} return; }}
  round += 1;
  time.get_timestamp(&before);
{body}}}
{queues}{TAIL}"
    )
}

const LAYOUT: &str = r#"
const memcpy = @import_module("<memcpy/get_params>", .{ .width = 2, .height = 1 });
const east = @get_color(4);
const west = @get_color(5);
layout {
  @set_rectangle(2, 1);
  @set_tile_code(0, 0, "first.csl", .{ .memcpy_params = memcpy.get_params(0) });
  @set_tile_code(1, 0, "second.csl", .{ .memcpy_params = memcpy.get_params(1) });
  @set_color_config(0, 0, east, .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } });
  @set_color_config(1, 0, east, .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP } } });
  @set_color_config(1, 0, west, .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ WEST } } });
  @set_color_config(0, 0, west, .{ .routes = .{ .rx = .{ EAST }, .tx = .{ RAMP } } });
  @export_name("run", fn()void);
}
"#;

/// The program of a seed.
pub fn program(arch: Arch, seed: u64) -> Design {
    let r = &mut Random(seed);
    let rounds: Vec<(usize, usize)> = (0..1 + r.below(3))
        .map(|_| (1 + r.below(ELEMENTS), 1 + r.below(ELEMENTS)))
        .collect();
    let (first, second) = (pe(arch, true, &rounds, r), pe(arch, false, &rounds, r));
    let files = [
        ("layout.csl", LAYOUT),
        ("first.csl", &*first),
        ("second.csl", &*second),
    ];
    accepts(compile(&files, &CompileOptions::new(arch)))
}
