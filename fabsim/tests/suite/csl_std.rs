//! The standard modules, each by a program that uses what it offers.

use crate::csl_support::*;
use fabsim::host::{SimOptions, Simulator};
use fabsim::program::Arch;
use std::sync::Arc;

fn simulator(arch: Arch, globals: &str, body: &str) -> Simulator {
    let pe = format!(
        "var out = @zeros([32]u32); var out_ptr: [*]u32 = &out;\n{globals}\n\
         fn run() void {{\n{body}\nsys.unblock_cmd_stream();\n}}\n\
         comptime {{ @export_symbol(out_ptr, \"out\"); @export_symbol(run); }}\n"
    );
    let layout = "@export_name(\"out\", [*]u32, true); @export_name(\"run\", fn()void);";
    let design = accepts(one_pe(arch, layout, &pe));
    let made = Simulator::new(Arc::new(design), SimOptions::default());
    made.unwrap_or_else(|e| panic!("{e}"))
}

/// What `out` holds after `run`, as far as expected.
#[track_caller]
fn gives(globals: &str, body: &str, expected: &[u32]) {
    for arch in BOTH {
        let mut sim = simulator(arch, globals, body);
        sim.launch("run", &[]).unwrap_or_else(|e| panic!("{e}"));
        let found = sim.memcpy_d2h("out", 0, 0, 1, 1, expected.len(), false, false);
        assert_eq!(found.as_deref(), Ok(expected), "{arch:?}");
    }
}

/// The same for expressions of type f32.
#[track_caller]
fn gives_floats(globals: &str, cases: &[(&str, f32)]) {
    let body: Vec<String> = cases
        .iter()
        .enumerate()
        .map(|(n, (text, _))| format!("out[{n}] = @bitcast(u32, {text});"))
        .collect();
    let expected: Vec<u32> = cases.iter().map(|(_, value)| value.to_bits()).collect();
    gives(globals, &body.join("\n"), &expected);
}

/// The same for expressions of type f16, given by their bits.
#[track_caller]
fn gives_bits16(globals: &str, cases: &[(&str, u16)]) {
    let body: Vec<String> = cases
        .iter()
        .enumerate()
        .map(|(n, (text, _))| format!("out[{n}] = @as(u32, @bitcast(u16, {text}));"))
        .collect();
    let expected: Vec<u32> = cases.iter().map(|(_, bits)| u32::from(*bits)).collect();
    gives(globals, &body.join("\n"), &expected);
}

/// The same for expressions of type bool.
#[track_caller]
fn gives_flags(globals: &str, cases: &[(&str, bool)]) {
    let body: Vec<String> = cases
        .iter()
        .enumerate()
        .map(|(n, (text, _))| format!("out[{n}] = if ({text}) 1 else 0;"))
        .collect();
    let expected: Vec<u32> = cases.iter().map(|(_, flag)| u32::from(*flag)).collect();
    gives(globals, &body.join("\n"), &expected);
}

const MATH: &str = "const math = @import_module(\"<math>\");\n\
    var x: f32 = 2.25; var y: f32 = -2.25; var h: f16 = 2.25; var i: i32 = -7; var w: i8 = -7;";

#[test]
fn mathematics_of_one_precision() {
    gives_floats(
        MATH,
        &[
            ("math.sqrt_f32(x)", 1.5),
            ("math.abs_f32(y)", 2.25),
            ("math.max_f32(x, y)", 2.25),
            ("math.min_f32(x, y)", -2.25),
            ("math.sign_f32(y)", -1.0),
            ("math.sin_f32(x)", 2.25f64.sin() as f32),
            ("math.cos_f32(x)", 2.25f64.cos() as f32),
            ("math.exp_f32(x)", 2.25f64.exp() as f32),
            ("math.log_f32(x)", 2.25f64.ln() as f32),
            ("math.tanh_f32(x)", 2.25f64.tanh() as f32),
            ("math.pow_f32(x, y)", 2.25f64.powf(-2.25) as f32),
            ("math.inv_f32(x)", 1.0 / 2.25),
            ("math.invsqrt_f32(x)", 1.0 / 1.5),
            ("math.sig_f32(0.0 * x)", 0.5),
        ],
    );
    gives_bits16(
        MATH,
        &[
            ("math.sqrt_f16(h)", 0x3e00),
            ("math.abs_f16(-h)", 0x4080),
            ("math.max_f16(h, -h)", 0x4080),
            ("math.min_f16(h, -h)", 0xc080),
            ("math.sign_f16(-h)", 0xbc00),
            ("math.floor_f16(h)", 0x4000),
            ("math.ceil_f16(h)", 0x4200),
            ("math.pow_f16(h, 2.0)", 0x4510),
            ("math.inv_f16(-h)", 0xb71c),
            ("math.fscale_f16(h, 3)", 0x4c80),
            ("math.POSITIVE_INF_f16", 0x7c00),
        ],
    );
}

#[test]
fn mathematics_of_any_type() {
    gives_floats(
        MATH,
        &[
            ("math.sqrt(x)", 1.5),
            ("@as(f32, math.sqrt(h))", 1.5),
            ("math.abs(y)", 2.25),
            ("@as(f32, math.abs(i))", 7.0),
            ("@as(f32, math.abs(w))", 7.0),
            ("@as(f32, math.sign(i))", -1.0),
            ("@as(f32, math.max(i, @as(i32, 3)))", 3.0),
            ("@as(f32, math.min(i, @as(i32, 3)))", -7.0),
            ("math.pow(x, 0.5)", 1.5),
            ("math.inv(x)", 1.0 / 2.25),
            ("math.NEGATIVE_INF(f32)", f32::NEG_INFINITY),
        ],
    );
    refuses(
        run_body(Arch::Wse2, MATH, "const r = math.sqrt(i);"),
        "<math> sqrt: 'x' must be an @fp16() or an f32, found i32",
    );
}

#[test]
fn rounding_and_scaling_keep_signs_and_small_numbers() {
    gives_floats(
        &format!("{MATH} var tiny: f32 = 1.0e-20; var low: f32 = -0.5; var large: f32 = 1.0e9;"),
        &[
            ("math.floor(x)", 2.0),
            ("math.floor(y)", -3.0),
            ("math.ceil(x)", 3.0),
            ("math.ceil(y)", -2.0),
            ("math.ceil(low)", -0.0),
            ("math.floor(low)", -1.0),
            ("math.floor(large)", 1.0e9),
            ("math.fscale(x, 4)", 36.0),
            ("math.fscale(x, -4)", 0.140625),
            (
                "math.fscale(tiny, 180)",
                1.0e-20 * 2f32.powi(90) * 2f32.powi(90),
            ),
            ("math.fscale(x, -140)", (2.25 * 2f64.powi(-140)) as f32),
            ("math.fscale(x, -149)", (2.25 * 2f64.powi(-149)) as f32),
            ("math.fscale(x, -400)", 0.0),
            ("math.fscale(y, 400)", f32::NEG_INFINITY),
        ],
    );
}

#[test]
fn the_kinds_of_floating_point_numbers() {
    let more = "var zero: f32 = 0.0; var hzero: f16 = 0.0; var quiet: u32 = 0x7fc00000; var loud: u32 = 0x7f800001;";
    gives_flags(
        &format!("{MATH} {more}"),
        &[
            ("math.isNaN(x)", false),
            ("math.isNaN(zero / zero)", true),
            ("math.isNaN_f16(hzero / hzero)", true),
            ("math.isInf(x / zero)", true),
            ("math.isInf(h / hzero)", true),
            ("math.isFinite(x / zero)", false),
            ("math.isFinite(h)", true),
            ("math.signbit(y)", true),
            ("math.signbit(h)", false),
            ("math.isSignaling(@bitcast(f32, quiet))", false),
            ("math.isSignaling(@bitcast(f32, loud))", true),
            ("math.isNaN(math.NaN(f16))", true),
        ],
    );
}

#[test]
fn directions_turn_and_have_bits() {
    let globals = "const d = @import_module(\"<directions>\");";
    let bits =
        "out[0] = @as(u32, d.dirToTxBits(SOUTH)); out[1] = @as(u32, d.dirToRxBits(NORTH));\n\
        out[2] = @as(u32, d.TX_RAMP | d.RX_RAMP); out[3] = @as(u32, d.dirToTxBits(d.flip(EAST)));\n\
        out[4] = @as(u32, d.dirToTxBits(d.rotate_clockwise(EAST)));";
    gives(globals, bits, &[4, 0x100, 0x210, 1, 4]);
}

#[test]
fn commands_for_switches_and_teardown() {
    let globals = "const s = @import_module(\"<memcpy/memcpy_switches>\");\n\
        const both = s.ctrl(s.switch_cmd_11()); const end = s.ctrl(s.teardown_cmd_1());";
    // Entry 31, every command hidden from the compute element.
    let both = 31 << 16 | 1 << 22 | 1 << 24 | 1 << 25 | 1 << 27 | 1 | 0x9248;
    gives(
        globals,
        "out[0] = both; out[1] = end;",
        &[both, 0x09df_9249],
    );
}

#[test]
fn an_arena_serves_every_width() {
    let globals = "const arena = @import_module(\"<malloc>\", .{ .buffer_num_words = 16 });";
    let body = "const a = arena.malloc(u16, 3); const b = arena.malloc(f32, 2); const c = arena.malloc(i64, 1);\n\
        a[2] = 5; b[1] = 1.0; c[0] = 7;\n\
        out[0] = @as(u32, a[2]); out[1] = @as(u32, a[6]); out[2] = @as(u32, a[7]);\n\
        out[3] = if (arena.has_enough_space(f16, 6)) 1 else 0; out[4] = if (arena.has_enough_space(u32, 2)) 1 else 0;";
    gives(globals, body, &[5, 0x3f80, 7, 0, 1]);
    let wrong = run_body(Arch::Wse2, globals, "const p = arena.malloc(bool, 1);");
    refuses(wrong, "16, 32 and 64 bits only");
}

#[test]
fn complex_numbers_of_both_precisions() {
    let globals =
        "const c = @import_module(\"<complex>\"); var one: f32 = 1.0; var three: f32 = 3.0; var half: f16 = 0.5;";
    let body = "const a = c.get_complex_64(one, 2.0); const b = c.get_complex(three, -one);\n\
        const p = c.multiply_complex_64(a, b); const s = c.add_complex(a, b); const d = c.subtract_complex_64(a, b);\n\
        const h = c.multiply_complex_32(c.get_complex_32(half, half), c.complex_32{ .real = half, .imag = -half });\n\
        out[0] = @bitcast(u32, p.real); out[1] = @bitcast(u32, p.imag); out[2] = @bitcast(u32, s.real);\n\
        out[3] = @bitcast(u32, d.imag); out[4] = @as(u32, @bitcast(u16, h.real));";
    let floats = [5.0f32, 5.0, 4.0, 3.0].map(f32::to_bits);
    gives(
        globals,
        body,
        &[floats[0], floats[1], floats[2], floats[3], 0x3800],
    );
}

const VECTORS: &str = "const ops = @import_module(\"<dsd_ops>\");\n\
    var a = [2]f32{ 1.5, -2.5 }; var h = [2]f16{ 1.5, -2.5 }; var w = [2]u16{ 3, 4 }; var r = @zeros([2]f32); var v = @zeros([2]u16);\n\
    const ad = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> a[i] }); const hd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> h[i] });\n\
    const wd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> w[i] }); const rd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> r[i] });\n\
    const vd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> v[i] });";

#[test]
fn operations_are_chosen_by_element_type() {
    let cases = [
        ("ops.add(f32, f32, rd, ad, ad, .{})", -5.0f32),
        ("ops.add(f32, f16, rd, hd, ad, .{})", -5.0),
        ("ops.sub(f32, rd, ad, 1.0, .{})", -3.5),
        ("ops.mul(f32, rd, ad, ad, .{})", 6.25),
        ("ops.fmac(f32, f32, rd, ad, ad, 2.0, .{})", -7.5),
        ("ops.neg(f32, rd, ad, .{})", 2.5),
        ("ops.abs(f32, rd, ad, .{})", 2.5),
        ("ops.max(f32, rd, ad, 0.0, .{})", 0.0),
        ("ops.mov(f32, rd, ad, .{})", -2.5),
        ("ops.convert(f32, f16, rd, hd, .{})", -2.5),
    ];
    for (call, expected) in cases {
        let body = format!("if ({call}) {{ out[0] = @bitcast(u32, r[1]); }}");
        gives(VECTORS, &body, &[expected.to_bits()]);
    }
    let words = "if (ops.add(u16, u16, vd, wd, wd, .{})) { out[0] = @as(u32, v[1]); }";
    gives(VECTORS, words, &[8]);
    let wrong = run_body(
        Arch::Wse2,
        VECTORS,
        "const r1 = ops.sub(u16, vd, wd, wd, .{});",
    );
    refuses(wrong, "sub has f16, f32 and i16");
}

#[test]
fn stop_watches_count_cycles() {
    let globals = "const timer = @import_module(\"<timer>\", .{ .timerCount = 2 });\n\
        var long: timer.timerType = @zeros(timer.timerType); var short = @zeros([3]u16); var n: u16 = 0;";
    let body = "timer.start(0); while (n < 100) : (n += 1) {} timer.start(1); timer.stop(1); timer.stop(0);\n\
        timer.elapsed(0, &long); timer.elapsed(1, &short);\n\
        out[0] = if (long[0] > short[0] + 100 and short[0] > 0 and short[0] < 100) 1 else 0;\n\
        out[1] = @as(u32, long[1] | long[2] | short[1] | short[2]);";
    gives(globals, body, &[1, 0]);
    let count = "const t = @import_module(\"<time>\"); var s = @zeros([3]u16);";
    let wrong = run_body(Arch::Wse2, count, "t.get_perf_cntr(&s, 0);");
    refuses(wrong, "no performance counters");
}

#[test]
fn every_type_can_be_traced() {
    let globals =
        "const debug = @import_module(\"<debug>\", .{ .key = \"k\", .buffer_size = 32 });\n\
        var f: f32 = 1.0; var b: bool = true; var u: u16 = 7; var i: i32 = -1; var n: i8 = -2;";
    let body = "debug.trace(f); debug.trace(b); debug.trace(u); debug.trace(i); debug.trace(n);";
    let minus_two = 98 + (0xfe << 8);
    let expected = [
        102,
        0,
        0x3f80,
        63 + 256,
        72,
        7,
        105,
        0xffff,
        0xffff,
        minus_two,
    ];
    for arch in BOTH {
        let mut sim = simulator(arch, globals, body);
        sim.launch("run", &[]).unwrap_or_else(|e| panic!("{e}"));
        let bytes = sim.read_variable("$$csl_debug.k.buffer", 0, 0);
        let bytes = bytes.unwrap_or_else(|e| panic!("{e}"));
        let words = bytes.chunks(2).map(|b| u16::from_le_bytes([b[0], b[1]]));
        let found: Vec<u16> = words.take(expected.len()).collect();
        assert_eq!(found, expected, "{arch:?}");
    }
    let wrong = run_body(Arch::Wse2, globals, "var wide: i64 = 1; debug.trace(wide);");
    refuses(wrong, "trace takes bool");
}

/// The lines that a program prints.
fn printed(globals: &str, body: &str) -> Vec<String> {
    let globals = format!("const prt = @import_module(\"<simprint>\");\n{globals}");
    let mut sim = simulator(Arch::Wse3, &globals, body);
    sim.launch("run", &[]).unwrap_or_else(|e| panic!("{e}"));
    let log = sim.machine().log.iter();
    log.map(|(_, _, line)| line.clone()).collect()
}

#[test]
fn formats_print_values_in_their_places() {
    let globals =
        "var small: u16 = 43981; var wide: u32 = 305441741; var f: f32 = 0.5; var h: f16 = -2.0;";
    let body = "prt.fmt(\"{d} {X} {b}\", .{ small, small, small });\n\
        prt.fmt_no_nl(\"{{{d}} {X}: \", .{ wide, wide });\n\
        prt.fmt(\"{f} and {f}\", .{ f, h });\n\
        prt.fmt(\"\", .{});\n\
        prt.fmt_with_coords(\"here\", .{});";
    let expected = [
        "43981 ABCD 1010101111001101",
        "{305441741} 1234ABCD: 0.500000 and -2.000000",
        "",
        "PE(0,0): here",
    ];
    assert_eq!(printed(globals, body), expected);
}

#[test]
fn formats_and_values_must_fit() {
    let wrong = |text: &str| {
        let globals =
            "const prt = @import_module(\"<simprint>\"); var f: f32 = 0.5; var n: u16 = 1;";
        run_body(Arch::Wse2, globals, &format!("prt.fmt({text});"))
    };
    refuses(wrong("\"{d}\", .{ f }"), "print u16 and u32");
    refuses(wrong("\"{d}\", .{ n, n }"), "more values than specifiers");
    refuses(wrong("\"{q}\", .{ n }"), "a format has {d}");
    refuses(wrong("\"{d\", .{ n }"), "a letter in braces");
}

#[test]
fn random_numbers_repeat_with_the_seed_and_keep_their_bounds() {
    let globals = "const random = @import_module(\"<random>\"); var inside: u32 = 0; var low: f32 = -1.0; var sum: f32 = 0.0;";
    let body = "for (@range(u16, 500)) |n| {\n\
          const f = random.random_f32(low, 3.0); if (f >= low and f < 3.0) { inside += 1; } sum += f;\n\
          if (random.random_pow_u32(5) < 32) { inside += 1; }\n\
          const h = random.random_f16(2.0, 4.0); if (h >= 2.0 and h <= 4.0) { inside += 1; }\n\
        }\n\
        out[0] = inside; out[1] = if (sum > 400.0 and sum < 600.0) 1 else 0;\n\
        random.set_global_prng_seed(7); const first = random.random_pow_u32(32);\n\
        random.set_global_prng_seed(7); out[2] = if (random.random_pow_u32(32) == first) 1 else 0;\n\
        out[3] = if (random.random_pow_u32(32) == first) 1 else 0; out[4] = random.random_pow_u32(0);";
    gives(globals, body, &[1500, 1, 1, 0, 0]);
}

#[test]
fn normal_numbers_have_mean_zero_and_deviation_one() {
    let globals =
        "const random = @import_module(\"<random>\"); var sum: f32 = 0.0; var squares: f32 = 0.0;";
    let body = "for (@range(u16, 1000)) |n| { const z = random.random_normal_f32(); sum += z; squares += z * z; }\n\
        out[0] = if (sum > -100.0 and sum < 100.0 and squares > 850.0 and squares < 1150.0) 1 else 0;";
    gives(globals, body, &[1]);
}
