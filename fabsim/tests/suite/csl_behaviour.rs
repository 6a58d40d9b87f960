//! Rules of the language that show when a program runs: conversions, queues, widths, turns.

use crate::csl_support::*;
use fabsim::csl::CompileOptions;
use fabsim::host::{SimOptions, Simulator};
use fabsim::program::Arch::{self, Wse2, Wse3};
use fabsim::program::{Design, Direction};
use std::sync::Arc;

const EXPORTS: &str = "@export_name(\"run\", fn()void); @export_name(\"out\", [*]u16, true);";

/// A one-PE program with eight words `out` for the host, and these declarations and body of `run`.
fn program(arch: Arch, globals: &str, body: &str) -> Result<Design, String> {
    let pe = format!(
        "var out = @zeros([8]u16); var out_ptr: [*]u16 = &out;\n{globals}\n\
         fn run() void {{ {body}\nsys.unblock_cmd_stream(); }}\n\
         comptime {{ @export_symbol(out_ptr, \"out\"); @export_symbol(run); }}"
    );
    one_pe(arch, EXPORTS, &pe)
}

fn simulator(design: Result<Design, String>) -> Simulator {
    let made = Simulator::new(Arc::new(accepts(design)), SimOptions::default());
    made.unwrap_or_else(|e| panic!("{e}"))
}

/// What `out` holds after `run`.
fn out(design: Result<Design, String>) -> Vec<u32> {
    let mut sim = simulator(design);
    sim.launch("run", &[]).unwrap_or_else(|e| panic!("{e}"));
    sim.memcpy_d2h("out", 0, 0, 1, 1, 8, true, false)
        .unwrap_or_else(|e| panic!("{e}"))
}

/// The text of the error that ends `run`.
fn fault(design: Result<Design, String>) -> String {
    match simulator(design).launch("run", &[]) {
        Ok(_) => panic!("must not come to its end"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_copy_takes_the_first_elements_of_a_longer_array_and_says_so_once() {
    let mut sim = simulator(program(Wse2, "", ""));
    let data = [1, 2, 3, 4, 5, 6];
    for _ in 0..2 {
        let copied = sim.memcpy_h2d("out", 0, 0, 1, 1, 4, &data, true, false);
        copied.unwrap_or_else(|e| panic!("{e}"));
    }
    let found = sim.memcpy_d2h("out", 0, 0, 1, 1, 8, true, false);
    assert_eq!(found.expect("copied"), [1, 2, 3, 4, 0, 0, 0, 0]);
    let said = "memcpy_h2d of \"out\": 6 elements for 1 x 1 PEs of 4 each: the first 4 are copied, 2 are left over";
    assert_eq!(sim.machine().warnings, [said]);
    let exact = sim.memcpy_h2d("out", 0, 0, 1, 1, 4, &data[..4], true, false);
    assert!(exact.is_ok() && sim.machine().warnings.len() == 1);
    let short = sim.memcpy_h2d("out", 0, 0, 1, 1, 4, &data[..3], true, false);
    assert!(short.is_err());
}

#[test]
fn an_anonymous_struct_converts_to_a_named_one_with_the_same_fields() {
    let pair = "const Pair = struct { a: u16, b: u16 };\n\
        fn known() Pair { return .{ .b = 2, .a = 1 }; }\nconst p = known();\n\
        fn made(x: u16) Pair { return .{ .b = x, .a = 7 }; }";
    let body = "const q = made(out[0]); out[1] = p.a; out[2] = p.b; out[3] = q.a; out[4] = q.b;";
    for arch in BOTH {
        let body = format!("out[0] = 5; {body}");
        assert_eq!(out(program(arch, pair, &body))[..5], [5, 1, 2, 7, 5]);
    }
    let returns = |fields: &str| {
        let globals = format!(
            "const Pair = struct {{ a: u16, b: u16 }};\nfn f() Pair {{ return {fields}; }}\nconst p = f();"
        );
        program(Wse2, &globals, "out[0] = p.a;")
    };
    refuses(returns(".{ .a = 1 }"), "the field 'b' has no value");
    refuses(
        returns(".{ .a = 1, .b = 2, .c = 3 }"),
        "there is no field 'c'",
    );
    refuses(returns(".{ .a = 1, .b = true }"), "type mismatch");
}

#[test]
fn a_known_integer_converts_to_every_type_that_holds_it() {
    let globals = |value: u16| {
        format!("const five: u16 = {value};\nconst less: i8 = five - 1;\nvar n: u16 = 3;")
    };
    let body = "out[0] = @as(u16, less);";
    assert_eq!(out(program(Wse2, &globals(5), body))[0], 4);
    refuses(
        program(Wse2, &globals(500), body),
        "integer out of range: 499 does not fit i8",
    );
    refuses(
        program(Wse2, &globals(5), "var m: i16 = n;"),
        "type mismatch: expected i16, found u16",
    );
}

#[test]
fn a_queue_must_be_initialised_where_it_is_used_and_only_there() {
    let pe = |arch, queue: &str, guard: &str| {
        let globals = format!(
            "const in = @get_dsd(fabin_dsd, .{{ .extent = 4, .input_queue = @get_input_queue(2) }});\n\
             const to = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> out[i] }});\ncomptime {{ {queue} }}"
        );
        let body = format!("if (out[0] == {guard}) {{ @mov16(to, in, .{{ .async = true }}); }}");
        program(arch, &globals, &body)
    };
    for arch in BOTH {
        assert_eq!(out(pe(arch, "", "1"))[0], 0);
        let text = fault(pe(arch, "", "0"));
        assert!(text.contains("input queue 2 is used but"), "{text}");
    }
}

#[test]
fn an_operation_says_how_wide_the_elements_of_its_operands_are() {
    // Made for 16-bit elements, pointed at 32-bit ones, with a stride of two of these.
    let globals = "var wide = [4]u32{ 1, 2, 3, 4 }; var taken = @zeros([2]u32);\n\
        const narrow = @zeros([1]i16);\n\
        const any = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> narrow[i] });";
    let body = "const from = @set_dsd_stride(@set_dsd_base_addr(any, &wide), 2);\n\
        @mov32(@set_dsd_base_addr(any, &taken), from);\n\
        out[0] = @as(u16, taken[0]); out[1] = @as(u16, taken[1]);";
    assert_eq!(out(program(Wse2, globals, body))[..2], [1, 3]);
}

#[test]
fn an_operation_of_two_widths_takes_each_operand_as_wide_as_it_was_declared() {
    let globals = "var sums = [2]f32{ 1.0, 2.0 }; var halves = [2]f16{ 0.5, 4.0 };\n\
        const sum = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> sums[i] });\n\
        const half = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> halves[i] });";
    let body = "@fmachs(sum, sum, half, @as(f16, 2.0));\n\
        out[0] = @as(u16, sums[0]); out[1] = @as(u16, sums[1]);";
    assert_eq!(out(program(Wse2, globals, body))[..2], [2, 10]);
}

#[test]
fn tasks_take_turns_so_that_one_that_activates_itself_starves_no_other() {
    let globals = "const busy_id = @get_local_task_id(9); const other_id = @get_local_task_id(12);\n\
        task busy() void { out[0] += 1; if (out[1] == 0 and out[0] < 100) { @activate(busy_id); } }\n\
        task other() void { out[1] = out[0]; }\n\
        comptime { @bind_local_task(busy, busy_id); @bind_local_task(other, other_id); }";
    let body = "@activate(busy_id); @activate(other_id);";
    for arch in BOTH {
        assert_eq!(out(program(arch, globals, body))[..2], [2, 1]);
    }
}

#[test]
fn several_names_may_share_a_data_structure_register_and_register_0_is_free() {
    let globals = "const a = @get_dsr(dsr_dest, 0); const b = @get_dsr(dsr_dest, 0);\n\
        const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[i] });";
    let body = "@load_to_dsr(a, to); @mov16(b, 7);";
    assert_eq!(out(program(Wse2, globals, body))[..5], [7, 7, 7, 7, 0]);
}

#[test]
fn output_queue_0_is_the_programs_too_on_wse2() {
    let queue = |arch| {
        let config = if arch == Wse3 {
            ", .{ .color = @get_color(1) }"
        } else {
            ""
        };
        let globals = format!("comptime {{ @initialize_queue(@get_output_queue(0){config}); }}");
        program(arch, &globals, "")
    };
    accepts(queue(Wse2));
    refuses(queue(Wse3), "output queue 0 has already been set");
    let input = "comptime { @initialize_queue(@get_input_queue(0), .{ .color = @get_color(1) }); }";
    refuses(
        program(Wse2, input, ""),
        "input queue 0 has already been set",
    );
}

fn colored(layout: &str, colors: &[(&str, i64)]) -> Result<Design, String> {
    let mut options = CompileOptions::new(Wse2);
    options.colors = colors
        .iter()
        .map(|(name, id)| (name.to_string(), *id))
        .collect();
    let body = "layout { @set_rectangle(1, 1); @set_tile_code(0, 0);\n\
        @set_color_config(0, 0, c, .{ .routes = .{ .rx = .{ WEST }, .tx = .{ EAST } } }); }";
    compile(&[("layout.csl", &format!("{layout}\n{body}"))], &options)
}

#[test]
fn the_command_line_numbers_colors_declared_as_parameters_or_by_the_older_keyword() {
    for layout in ["param c: color;", "param c;", "color b, c;"] {
        let design = accepts(colored(layout, &[("c", 5)]));
        assert_eq!(design.routers[0].colors[0].0, 5);
    }
    refuses(
        colored("param c: color;", &[]),
        "the parameter 'c' has no value",
    );
    refuses(
        colored("param c: color;", &[("c", 5), ("d", 6)]),
        "the program has no color 'd'",
    );
    refuses(
        colored("param c: color;", &[("c", 24)]),
        "the colors go from 0 to 23",
    );
}

#[test]
fn routes_and_positions_may_be_the_bits_of_the_color_register() {
    let config = |routes: &str, first: &str| {
        let switches = format!(".switches = .{{ .pos1 = {first}, .pos2 = 0 }}");
        let config = format!(".{{ .routes = {routes}, {switches} }}");
        one_pe(
            Wse2,
            &format!("@set_color_config(0, 0, @get_color(1), {config});"),
            "",
        )
    };
    let design = accepts(config("0x211", "0x40"));
    let setup = &design.routers[0].colors[0].1;
    assert!(setup.rx.has(Direction::Ramp) && !setup.rx.has(Direction::West));
    assert!(setup.tx.has(Direction::West) && setup.tx.has(Direction::Ramp));
    let position = setup.positions[0].unwrap_or_default();
    assert!(position.rx.is_some_and(|rx| rx.has(Direction::East)) && position.tx.is_none());
    assert_eq!(setup.positions[1], None);
    refuses(config("0x400", "0x40"), "found 0x400");
    refuses(config("0x211", "0x60"), "is one direction");
    refuses(config("0x211", "0x41"), "both an input and an output");
}

#[test]
fn the_globals_that_are_used_lie_in_the_order_of_their_declaration() {
    let globals = "var first = @zeros([2]u16); var unused = @zeros([2]u16);\n\
        var second = [2]u16{ 5, 6 };\nfn look(p: [*]u16) u16 { return p[2]; }";
    let body = "out[0] = second[1]; out[1] = look(&first);";
    for arch in BOTH {
        assert_eq!(out(program(arch, globals, body))[..2], [6, 5]);
    }
}

#[test]
fn variables_that_only_some_programs_of_a_file_use_cost_the_others_nothing() {
    // Each of the two buffers fills more than half of the memory.
    let pe = "param west: bool; var a = @zeros([15000]u16); var b = @zeros([15000]u16);\n\
        task t() void { if (west) { a[0] = 1; } else { b[0] = 1; } }\n\
        comptime { @bind_local_task(t, @get_local_task_id(8)); @activate(@get_local_task_id(8)); }";
    let layout = "layout { @set_rectangle(3, 1); for (@range(u16, 3)) |x| {\n\
        @set_tile_code(x, 0, \"pe.csl\", .{ .west = x != 1 }); } }";
    let options = CompileOptions::new(Wse2);
    accepts(compile(&[("layout.csl", layout), ("pe.csl", pe)], &options));
}

#[test]
fn on_wse2_pointers_above_the_memory_lead_to_registers() {
    let globals = "comptime { @set_local_color_config(@get_color(3), .{ .routes = .{ .rx = .{ WEST }, .tx = .{ EAST } },\n\
        .switches = .{ .pos1 = .{ .rx = RAMP } } }); }\n\
        fn byte(word: u16) u16 { return word * 2; }";
    // Position 1 becomes invalid and keeps that it is of the input side.
    let body = "out[0] = @bitcast(*u16, byte(0x7f43)).*;\n\
        @bitcast(*u16, byte(0x7f43)).* = 0x55d;\n\
        out[1] = @get_config(0x7f43);\n\
        @set_config(0x7f43, (out[1] & 0xfff8) | 4);\n\
        out[2] = @get_config(0x7f43);";
    assert_eq!(
        out(program(Wse2, globals, body))[..3],
        [0x55c, 0x55d, 0x55c]
    );
    let text = fault(program(Wse3, globals, body));
    assert!(text.contains("is outside"), "{text}");
}

#[test]
fn on_wse2_a_color_whose_id_has_a_local_task_lets_control_tasks_in() {
    let sent = |local: &str| {
        let globals = format!(
            "const c = @get_color(8);\nconst to = @get_dsd(fabout_dsd, .{{ .extent = 1, .fabric_color = c,\n\
             .output_queue = @get_output_queue(2), .control = true }});\n\
             task heard() void {{ out[0] = 1; }}\ntask local() void {{}}\n\
             comptime {{ @bind_control_task(heard, @get_control_task_id(40)); {local}\n\
             @set_local_color_config(c, .{{ .routes = .{{ .rx = .{{ RAMP }}, .tx = .{{ RAMP }} }} }}); }}"
        );
        let body = "@mov32(to, 40 << 16, .{ .async = true });";
        out(program(Wse2, &globals, body))[0]
    };
    assert_eq!(sent("@bind_local_task(local, @get_local_task_id(8));"), 1);
    assert_eq!(sent("@unblock(c);"), 1);
    assert_eq!(sent(""), 0);
}

#[test]
fn programs_of_wse2_may_use_colors_as_task_ids_and_numbers_as_queues() {
    let globals = "const c = @get_color(3); const there = @get_color(4); const back = @get_color(5);\n\
        const to = @get_dsd(fabout_dsd, .{ .extent = 3, .fabric_color = c, .output_queue = 2 });\n\
        const in = @get_dsd(fabin_dsd, .{ .extent = 1, .fabric_color = back, .input_queue = 3 });\n\
        task heard(word: u32) void { out[0] += @as(u16, word); @activate(there); }\n\
        task note() void { out[1] += 1; }\n\
        comptime { @bind_task(heard, c); @bind_task(note, there); @block(there);\n\
        @initialize_queue(4, c);\n\
        @set_local_color_config(c, .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP }, .pop_mode = .{ .no_pop = true } } }); }";
    let body = "out[2] = @get_color_id(there); @mov32(to, 5, .{ .async = true });";
    assert_eq!(out(program(Wse2, globals, body))[..3], [15, 0, 4]);
    let body = format!("{body} @unblock(there);");
    let found = out(program(Wse2, globals, &body));
    assert_eq!((found[0], found[1] > 0), (15, true));
    refuses(program(Wse3, globals, &body), "error");
    let task = "task t() void {}\ncomptime { @bind_task(t, @get_color(3)); }";
    refuses(program(Wse3, task, ""), "@bind_task exists only on wse2");
}

#[test]
fn a_program_without_memcpy_begins_by_itself_and_may_use_all_colors() {
    let layout = "layout { @set_rectangle(1, 1); @set_tile_code(0, 0, \"pe.csl\"); @export_name(\"out\", [*]u16, true); }";
    let pe = "var out = @zeros([8]u16); var out_ptr: [*]u16 = &out; const id = @get_local_task_id(27);\n\
        task begin() void { out[0] = 9; }\n\
        comptime { @bind_local_task(begin, id); @activate(id); @export_symbol(out_ptr, \"out\"); }";
    let mut options = CompileOptions::new(Wse2);
    options.memcpy = false;
    let mut sim = simulator(compile(&[("layout.csl", layout), ("pe.csl", pe)], &options));
    let found = sim.memcpy_d2h("out", 0, 0, 1, 1, 8, true, false);
    assert_eq!(found.unwrap_or_else(|e| panic!("{e}"))[0], 9);
}

#[test]
fn loops_go_over_matrices_row_by_row_and_over_ranges_with_steps_of_the_run() {
    let globals = "var a = [2,2]u16{ 1, 2, 3, 4 }; var step: u16 = 3;";
    let body = "for (a) |v, i| { out[i] = v; }\n\
        for (@range(u16, 0, 8, step)) |i| { out[4] += i; step = 1; }";
    for arch in BOTH {
        assert_eq!(out(program(arch, globals, body))[..5], [1, 2, 3, 4, 9]);
    }
}

#[test]
fn functions_that_only_a_table_points_to_are_there_when_it_is_used() {
    let globals = "fn one() u16 { return 1; } fn two() u16 { return 2; }\n\
        const table = [2]*const fn() u16{ &one, &two }; var n: u16 = 1;\n\
        const Entry = struct { f: *const fn() u16, n: u16 };\n\
        var entry = Entry{ .f = &one, .n = 5 };";
    let body = "out[0] = table[n](); out[1] = entry.f() + entry.n;";
    assert_eq!(out(program(Wse2, globals, body))[..2], [2, 6]);
}

#[test]
fn names_and_sections_for_the_linker_change_nothing() {
    let globals = "var a: u16 align(4) linksection(\".fast\") linkname(\"first\") = 3;\n\
        fn f(x: u16) linkname(\"g\") u16 { return x + a; }\nfn h(x: u16) u16 linkname(\"i\") { return x; }";
    assert_eq!(out(program(Wse2, globals, "out[0] = f(h(4));"))[0], 7);
}

#[test]
fn a_number_is_scaled_by_a_power_of_two() {
    let globals = "var x: f32 = 1.5; var y: f32 = 0.0; var z: f16 = 8.0;";
    let body =
        "@fscales(&y, x, 3); @fscaleh(&z, z, -2); out[0] = @as(u16, y); out[1] = @as(u16, z);";
    assert_eq!(out(program(Wse2, globals, body))[..2], [12, 2]);
}
