//! What the front end refuses, and the near misses it accepts; `conformance/` has the rest.

use crate::csl_support::*;
use fabsim::csl::CompileOptions;
use fabsim::program::Arch::{self, Wse2, Wse3};

fn comptime(arch: Arch, text: &str) -> Result<fabsim::program::Design, String> {
    one_pe(arch, "", &format!("task t() void {{}}\ntask u() void {{}}\ntask d(x: u32) void {{}}\ncomptime {{\n{text}\n}}"))
}

fn layout(arch: Arch, text: &str) -> Result<fabsim::program::Design, String> {
    one_pe(arch, text, "")
}

#[test]
fn an_unknown_name_is_reported_where_it_stands() {
    refuses(
        run_body(Wse2, "", "var a: u16 = 1;\na = missing;"),
        "pe.csl:6:5: error: unknown name 'missing'",
    );
}

#[test]
fn an_unknown_builtin_is_named() {
    refuses(
        run_body(Wse2, "", "@foo(1);"),
        "fabsim does not know the builtin @foo",
    );
    refuses(
        run_body(Wse2, "", "@queue_flush(@get_output_queue(2));"),
        "@queue_flush exists only on wse3",
    );
}

#[test]
fn a_parameter_without_value_is_refused_where_it_is_used() {
    refuses(
        one_pe(Wse2, "", "param n: u16; const m = n + 1;"),
        "the parameter 'n' has no value",
    );
    accepts(one_pe(Wse2, "", "param n: u16 = 3; const m = n + 1;"));
    accepts(one_pe(Wse2, "", "param n: u16;"));
}

#[test]
fn a_root_parameter_that_does_not_exist_is_refused() {
    let mut options = CompileOptions::new(Wse2);
    options.params.push(("n".into(), 3));
    let files = [(
        "layout.csl",
        "layout { @set_rectangle(1, 1); @set_tile_code(0, 0); }",
    )];
    refuses(
        compile(&files, &options),
        "the program has no parameter 'n'",
    );
}

#[test]
fn a_color_is_configured_once_on_a_pe() {
    let route = ".{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP } } }";
    let config = format!("@set_color_config(0, 0, @get_color(3), {route});");
    accepts(layout(Wse2, &config));
    refuses(
        layout(Wse2, &format!("{config} {config}")),
        "the color 3 is configured twice",
    );
    let local = format!("comptime {{ @set_local_color_config(@get_color(3), {route}); }}");
    accepts(one_pe(Wse2, "", &local));
    refuses(
        one_pe(Wse2, &config, &local),
        "the color 3 is configured twice on one PE",
    );
}

#[test]
fn a_switch_position_of_wse2_has_one_side() {
    let config = |position: &str, color: u8| {
        format!("@set_color_config(0, 0, @get_color({color}), .{{ .routes = .{{ .rx = .{{ RAMP }}, .tx = .{{ EAST }} }}, .switches = .{{ .pos1 = .{{ {position} }} }} }});")
    };
    refuses(
        layout(Wse2, &config(".rx = WEST, .tx = RAMP", 0)),
        "cannot have both an input and an output in the same switch position",
    );
    accepts(layout(Wse3, &config(".rx = WEST, .tx = RAMP", 0)));
    accepts(layout(Wse2, &config(".rx = WEST", 10)));
    refuses(
        layout(Wse3, &config(".rx = WEST", 10)),
        "the color 10 has no switches on wse3",
    );
    accepts(layout(Wse3, &config(".rx = WEST", 12)));
    refuses(layout(Wse3, &config(".up = WEST", 12)), "has no field 'up'");
}

#[test]
fn the_colors_of_memcpy_are_reserved() {
    let config = |color: u8| {
        format!("@set_color_config(0, 0, @get_color({color}), .{{ .routes = .{{ .rx = .{{ WEST }}, .tx = .{{ RAMP }} }} }});")
    };
    refuses(
        layout(Wse2, &config(21)),
        "the color 21 is reserved for memcpy",
    );
    accepts(layout(Wse2, &config(20)));
    refuses(layout(Wse2, &config(24)), "is not a color");
}

#[test]
fn a_queue_is_initialised_once_and_as_the_architecture_wants() {
    let input = "@initialize_queue(@get_input_queue(2), .{ .color = @get_color(1) });";
    let output = "@initialize_queue(@get_output_queue(2), .{ .color = @get_color(1) });";
    for arch in BOTH {
        accepts(comptime(arch, input));
        refuses(
            comptime(arch, &format!("{input}\n{input}")),
            "input queue 2 is initialised twice",
        );
        refuses(
            comptime(arch, "@initialize_queue(@get_input_queue(2), .{});"),
            "needs a '.color'",
        );
        refuses(
            comptime(
                arch,
                "@initialize_queue(@get_input_queue(0), .{ .color = @get_color(1) });",
            ),
            "has already been set",
        );
    }
    accepts(comptime(Wse3, output));
    refuses(comptime(Wse2, output), "has no field 'color'");
    accepts(comptime(
        Wse2,
        "@initialize_queue(@get_output_queue(2), .{});",
    ));
    refuses(
        comptime(Wse3, "@initialize_queue(@get_output_queue(2), .{});"),
        "needs a '.color'",
    );
    refuses(
        comptime(Wse2, "@initialize_queue(@get_output_queue(6));"),
        "is not an output_queue of wse2",
    );
    refuses(
        comptime(
            Wse3,
            "@initialize_queue(@get_input_queue(1), .{ .color = @get_color(1) });",
        ),
        "has already been set",
    );
    accepts(comptime(
        Wse2,
        "@initialize_queue(@get_input_queue(1), .{ .color = @get_color(1) });",
    ));
}

fn send(arch: Arch, fields: &str, setup: &str) -> Result<fabsim::program::Design, String> {
    let globals = format!(
        "const out = @get_dsd(fabout_dsd, .{{ {fields} }});\nvar x = @zeros([4]f32);\n\
         const mem = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> x[i] }});\ncomptime {{ {setup} }}"
    );
    run_body(arch, &globals, "@fmovs(out, mem, .{ .async = true });")
}

#[test]
fn the_color_of_a_fabout_dsd_is_needed_on_wse2_and_that_of_its_queue_on_wse3() {
    let plain = ".extent = 4, .output_queue = @get_output_queue(2)";
    let colored = format!("{plain}, .fabric_color = @get_color(1)");
    let queue = "@initialize_queue(@get_output_queue(2), .{ .color = @get_color(1) });";
    accepts(send(Wse2, &colored, ""));
    refuses(
        send(Wse2, plain, ""),
        "a fabout_dsd of wse2 needs the field '.fabric_color'",
    );
    accepts(send(Wse3, plain, queue));
    accepts(send(Wse3, &colored, queue));
    let other = queue.replace("@get_color(1)", "@get_color(3)");
    refuses(
        send(Wse3, &colored, &other),
        "this DSD wants color 1, but output queue 2 has color 3",
    );
    // An error only where an operation uses it.
    accepts(send(Wse3, plain, ""));
}

#[test]
fn the_extent_of_a_dsd_is_a_u16() {
    let dsd = |n: u32| {
        format!("var x = @zeros([4]f32); const d = @get_dsd(mem1d_dsd, .{{ .base_address = &x, .extent = {n} }});")
    };
    refuses(
        one_pe(Wse2, "", &dsd(65536)),
        "'extent': integer out of range",
    );
    accepts(one_pe(Wse2, "", &dsd(65535)));
}

#[test]
fn operands_of_dsd_operations_have_their_forms() {
    let globals = "var x = @zeros([4]f32); const d = @get_dsd(mem1d_dsd, .{ .base_address = &x, .extent = 4 });\n\
                   const in = @get_dsd(fabin_dsd, .{ .extent = 4, .input_queue = @get_input_queue(2) });\n\
                   comptime { @initialize_queue(@get_input_queue(2), .{ .color = @get_color(1) }); }";
    let op = |text: &str| run_body(Wse2, globals, text);
    accepts(op("@fadds(d, d, in, .{ .async = true });"));
    accepts(op("@fmacs(d, d, d, 2.0);"));
    accepts(op("@fmovs(d, 1.5);"));
    refuses(
        op("@fmovs(d, 1);"),
        "@fmovs: 'a' must be a source DSD or DSR or an f32, found 1",
    );
    refuses(
        op("@fadds(in, d, d);"),
        "a fabin_dsd cannot be a destination",
    );
    refuses(
        op("@fadds(d, d);"),
        "@fadds takes 3 to 4 arguments (dest, a, b, [configuration]), found 2",
    );
    refuses(
        op("@fadds(d, 1.0, 1.0);"),
        "@fadds: 'b' must be a source DSD or DSR, found comptime_float",
    );
    refuses(
        op("@fadds(d, d, d, .{ .async = true });"),
        "needs a fabric operand",
    );
    refuses(
        op("@fadds(d, d, in, .{ .asink = true });"),
        "has no field 'asink'",
    );
}

#[test]
fn memory_of_a_pe_is_48_kilobytes() {
    let array = |n: u32| format!("var x = @zeros([{n}]f32);");
    refuses(
        run_body(Wse2, &array(12285), "x[0] = 1.0;"),
        "with this it needs 49156 bytes, a PE has 49152; 16 of them, at address 0, hold no variable",
    );
    accepts(run_body(Wse2, &array(12284), "x[0] = 1.0;"));
    refuses(
        run_body(Wse2, &array(4_000_000_000), "x[0] = 1.0;"),
        "larger than the memory of a PE",
    );
}

#[test]
fn a_task_is_activated_and_not_called() {
    let globals =
        "const id = @get_local_task_id(9); task t() void {} comptime { @bind_local_task(t, id); }";
    accepts(run_body(Wse2, globals, "@activate(id);"));
    refuses(
        run_body(Wse2, globals, "t();"),
        "the task 't' cannot be called",
    );
    refuses(
        run_body(Wse2, globals, "@activate(@get_control_task_id(9));"),
        "@activate: 'id' must be a local_task_id, a task or a color, found control_task_id",
    );
    refuses(
        run_body(
            Wse2,
            globals,
            "@activate(@get_data_task_id(@get_color(9)));",
        ),
        "found data_task_id",
    );
}

#[test]
fn an_exported_symbol_is_declared_with_its_type() {
    let pe = "var x = @zeros([4]f32); var p: [*]f32 = &x; comptime { @export_symbol(p, \"x\"); }";
    accepts(one_pe(Wse2, "@export_name(\"x\", [*]f32, true);", pe));
    refuses(one_pe(Wse2, "", pe), "the symbol 'x' is not declared");
    refuses(
        one_pe(Wse2, "@export_name(\"x\", [*]u32, true);", pe),
        "has type [*]f32, but is declared with type [*]u32",
    );
    refuses(
        one_pe(Wse2, "@export_name(\"x\", [*]f32, false);", pe),
        "mutability",
    );
    refuses(
        one_pe(Wse2, "@export_name(\"x\", [*]f32);", pe),
        "third argument",
    );
    refuses(
        one_pe(Wse2, "@export_name(\"x\", fn()void);", pe),
        "but is declared with type fn() void",
    );
}

#[test]
fn endless_and_deep_programs_are_refused_without_a_crash() {
    refuses(
        one_pe(
            Wse2,
            "",
            "fn f(n: u16) u16 { return f(n + 1); }\nconst x = f(0);",
        ),
        "recurses too deeply",
    );
    refuses(
        one_pe(
            Wse2,
            "",
            &format!("const x = {}1{};", "(".repeat(5000), ")".repeat(5000)),
        ),
        "nested too deeply",
    );
    refuses(
        one_pe(Wse2, "", &format!("const x = 1{};", "+1".repeat(50_000))),
        "recurses too deeply",
    );
    refuses(
        one_pe(Wse2, "", "const a = b; const b = a;"),
        "depends on itself",
    );
    let mut options = CompileOptions::new(Wse2);
    options.comptime_step_limit = 100_000;
    let text = "layout { var i: u16 = 0; while (true) { i += 1; } }";
    refuses(compile(&[("layout.csl", text)], &options), "too many steps");
    refuses(
        compile(
            &[("l.csl", "const a = @import_module(\"l.csl\"); layout {}")],
            &options,
        ),
        "too many imported modules",
    );
}

#[test]
fn inline_loops_have_their_limit() {
    let body = |n: u32| format!("inline for (@range(u16, {n})) |i| {{ g = i; }}");
    accepts(run_body(Wse2, "var g: u16;", &body(50)));
    refuses(
        run_body(Wse2, "var g: u16;", &body(51)),
        "--max-inlined-iterations",
    );
}

#[test]
fn the_fabric_must_hold_the_rectangle_and_its_border() {
    let mut options = CompileOptions::new(Wse2);
    let files = [(
        "layout.csl",
        "layout { @set_rectangle(1, 1); @set_tile_code(0, 0); }",
    )];
    let design = accepts(compile(&files, &options));
    assert_eq!((design.fabric, design.offsets), ((8, 3), (4, 1)));
    options.fabric_dims = Some((7, 3));
    refuses(compile(&files, &options), "the fabric must be at least 8,3");
    options.fabric_dims = Some((8, 3));
    accepts(compile(&files, &options));
}

#[test]
fn constants_cannot_be_written_and_comptime_cannot_read_variables() {
    refuses(
        run_body(Wse2, "const a: u16 = 1;", "a = 2;"),
        "cannot assign",
    );
    refuses(
        run_body(Wse2, "", "const a: u16 = 1; a = 2;"),
        "cannot assign to the constant 'a'",
    );
    refuses(
        one_pe(Wse2, "", "var a: u16 = 1; const b = a;"),
        "cannot be read at compile time",
    );
    refuses(
        one_pe(Wse2, "", "var a: u16 = 1; comptime { a = 2; }"),
        "cannot be written at compile time",
    );
}

#[test]
fn a_switch_covers_all_values() {
    let e = "const E = enum(u16) { A, B }; var e: E = E.A; var g: u16;";
    accepts(run_body(
        Wse2,
        e,
        "switch (e) { E.A => g = 1, E.B => g = 2 }",
    ));
    refuses(
        run_body(Wse2, e, "switch (e) { E.A => g = 1 }"),
        "does not cover all values",
    );
    accepts(run_body(
        Wse2,
        e,
        "switch (e) { E.A => g = 1, else => g = 3 }",
    ));
}

#[test]
fn a_name_is_declared_once_in_a_block() {
    refuses(
        run_body(Wse2, "", "var a: u16 = 1; var a: u16 = 2;"),
        "'a' is declared twice in this block",
    );
    accepts(run_body(
        Wse2,
        "",
        "{ var a: u16 = 1; } { var a: u16 = 2; }",
    ));
    refuses(
        one_pe(Wse2, "", "fn f(a: u16, a: u16) void {}"),
        "the parameter 'a' is declared twice",
    );
}

#[test]
fn a_comptime_variable_is_fixed_under_run_time_conditions_around_which_it_was_made() {
    let body = |text: &str| run_body(Wse2, "var g: u16; var h: u16;", text);
    for text in [
        "comptime var k: u16 = 0; if (g == 1) { k = 1; } h = k;",
        "comptime var k: u16 = 0; if (g == 1) { comptime { k = 1; } } h = k;",
    ] {
        refuses(body(text), "cannot change under a run-time condition");
    }
    accepts(body(
        "if (g == 1) { comptime var k: u16 = 0; k = 1; h = k; }",
    ));
}

#[test]
fn task_arguments_have_16_or_32_bits() {
    let bind = |params: &str| {
        let pe = format!(
            "task d({params}) void {{}} comptime {{ @bind_data_task(d, @get_data_task_id(@get_color(2))); }}"
        );
        one_pe(Wse2, "", &pe)
    };
    for ty in ["u8", "i8", "u64", "bool"] {
        refuses(
            bind(&format!("x: {ty}")),
            "a task cannot take an argument of type",
        );
    }
    accepts(bind("x: u16, y: f16"));
    refuses(bind("x: u32, y: u16"), "32 bits in all");
}

#[test]
fn a_handler_takes_and_returns_nothing() {
    let handler = |function: &str| {
        let pe = format!("{function} comptime {{ @set_teardown_handler(h, @get_color(2)); }}");
        one_pe(Wse2, "", &pe)
    };
    accepts(handler("fn h() void {}"));
    refuses(
        handler("fn h(x: u16) void {}"),
        "expected fn() void, found fn(u16) void",
    );
}

#[test]
fn the_bounds_of_a_range_filter_are_16_bits() {
    let config = |max: u32| {
        format!("@set_color_config(0, 0, @get_color(1), .{{ .routes = .{{ .rx = .{{ WEST }}, .tx = .{{ RAMP }} }}, .filter = .{{ .kind = .{{ .range = true }}, .min_idx = 1, .max_idx = {max} }} }});")
    };
    accepts(layout(Wse2, &config(65535)));
    refuses(layout(Wse2, &config(65536)), "'max_idx' does not fit u16");
}

#[test]
fn a_pointer_is_no_scalar_operand() {
    let globals = "var x = @zeros([4]f32); var a: f32; var b: f32; const d = @get_dsd(mem1d_dsd, .{ .base_address = &x, .extent = 4 });";
    accepts(run_body(Wse2, globals, "@fadds(&a, b, d);"));
    refuses(
        run_body(Wse2, globals, "@fadds(&a, &b, d);"),
        "@fadds: 'a' must be an f32, found *f32",
    );
    refuses(
        run_body(Wse2, globals, "const p: *const f32 = &a; @fmovs(p, d);"),
        "'dest' must be a destination DSD or DSR or a pointer to f32, found *const f32",
    );
}

#[test]
fn calls_that_are_remembered_give_what_they_gave_and_count_as_many_steps() {
    let layout = "
        fn pick(x: u16, y: u16) u16 { if (y == 0) { return 7; } return x; }
        fn outer(x: u16, y: u16) u16 { return pick(x, y); }
        fn slow(n: u16) u16 { var i: u16 = 0; while (i < 50) { i += 1; } return n; }
        fn configure(x: u16, one: u16) u16 {
          @set_color_config(x, 0, @get_color(1), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } });
          return one;
        }
        layout {
          @set_rectangle(3, 1);
          for (@range(u16, 3)) |x| {
            for (@range(u16, 3)) |y| {
              const wanted = if (y == 0) @as(u16, 7) else x;
              @comptime_assert(outer(x, y) == wanted);
              @comptime_assert(outer(x, y) == wanted);
            }
            @comptime_assert(configure(x, 1) == 1);
            @set_tile_code(x, 0);
          }
          var n: u16 = 0;
          while (n < 100) { n += slow(1); }
        }";
    let mut options = CompileOptions::new(Wse2);
    let design = accepts(compile(&[("layout.csl", layout)], &options));
    let colors = |tile: &fabsim::program::Tile| design.routers[tile.router as usize].colors.len();
    assert!(design.tiles.iter().all(|tile| colors(tile) == 1));
    // 100 calls of at least 200 steps each.
    options.comptime_step_limit = 20_000;
    let result = compile(&[("layout.csl", layout)], &options);
    refuses(result, "too many steps");
}
