//! Rules of the language that show when a program runs: conversions, queues, widths, turns.

mod csl_support;

use csl_support::*;
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
