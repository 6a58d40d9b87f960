//! What a program uses of the language, as `CompileOptions::constructs` tells it.

use crate::csl_support::BOTH;
use fabsim::csl::{compile_sources, CompileOptions};
use fabsim::program::Arch;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const LAYOUT: &str = r#"
const memcpy = @import_module("<memcpy/get_params>", .{ .width = 1, .height = 1 });
layout {
  @set_rectangle(1, 1);
  @set_tile_code(0, 0, "pe.csl", .{ .memcpy_params = memcpy.get_params(0) });
  @set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } });
  @export_name("run", fn()void);
}
"#;

const HEAD: &str = r#"
param memcpy_params;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
const tile_config = @import_module("<tile_config>");
const switch_config = tile_config.switch_config;
const red = @get_color(3);
const oq = @get_output_queue(2);
const iq = @get_input_queue(2);
const done = @get_local_task_id(10);
var x = @zeros([8]f32);
const mem = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{8} -> x[i] });
const out = @get_dsd(fabout_dsd, .{ .extent = 8, .fabric_color = red, .output_queue = oq });
var changed = @get_dsd(fabout_dsd, .{ .extent = 8, .fabric_color = red, .output_queue = oq });
var constant = @get_dsd(fabout_dsd, .{ .extent = 8, .fabric_color = red, .output_queue = oq });
const empty = @get_dsd(fabout_dsd, .{ .extent = 0, .fabric_color = red, .output_queue = oq });
const d1 = @get_dsr(dsr_dest, 1);
const s1 = @get_dsr(dsr_src0, 1);
const s2 = @get_dsr(dsr_src0, 2);
task finish() void { sys.unblock_cmd_stream(); }
comptime {
  @bind_local_task(finish, done);
  @export_symbol(run);
  if (@is_arch("wse3")) { @initialize_queue(oq, .{ .color = red }); }
}
"#;

/// The constructs of a program with this body of `run`, behind these declarations.
fn constructs(arch: Arch, globals: &str, body: &str) -> BTreeSet<String> {
    let pe = format!("{HEAD}\n{globals}\nfn run() void {{\n{body}\n}}\n");
    let files = [("layout.csl", LAYOUT.to_string()), ("pe.csl", pe)];
    let sources: BTreeMap<PathBuf, String> = files
        .into_iter()
        .map(|(name, text)| (PathBuf::from(name), text))
        .collect();
    let options = CompileOptions {
        constructs: true,
        ..CompileOptions::new(arch)
    };
    let told = compile_sources(&sources, Path::new("layout.csl"), &options);
    if let Err(errors) = &told.design {
        panic!("{}", errors[0].render());
    }
    told.constructs.into_iter().map(|one| one.message).collect()
}

#[track_caller]
fn has(found: &BTreeSet<String>, construct: &str) {
    assert!(
        found.contains(construct),
        "{construct} is missing in {found:#?}"
    );
}

#[track_caller]
fn lacks(found: &BTreeSet<String>, part: &str) {
    let wrong: Vec<&String> = found.iter().filter(|one| one.contains(part)).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn operations_are_told_by_their_operands_and_not_by_their_names() {
    for arch in BOTH {
        let found = constructs(
            arch,
            "",
            "@fmovs(out, mem, .{ .async = true, .activate = done });",
        );
        has(&found, "@fmovs");
        has(&found, "an asynchronous operation: fabout_dsd <- memory");
        has(
            &found,
            "option of an operation on DSDs .activate = local_task_id",
        );
        lacks(&found, "run time");
    }
}

#[test]
fn a_fabric_dsd_is_constant_or_in_a_variable_or_changes_at_run_time() {
    for arch in BOTH {
        let found = constructs(arch, "", "@fmovs(constant, mem, .{ .async = true });");
        has(&found, "fabout_dsd (variable) of an asynchronous operation");
        let assigned =
            "changed = @set_dsd_length(changed, 4);\n@fmovs(changed, mem, .{ .async = true });";
        let found = constructs(arch, "", assigned);
        has(&found, "fabout_dsd (run time) of an asynchronous operation");
        has(&found, "@set_dsd_length(fabout_dsd (run time), int)");
        let found = constructs(arch, "", "@fmovs(empty, mem, .{ .async = true });");
        has(&found, "fabout_dsd (extent 0) of an asynchronous operation");
        has(&found, "fabout_dsd .extent = 0");
    }
}

#[test]
fn an_operation_on_registers_is_told_by_what_they_are_loaded_with() {
    let loads = "comptime {
      @load_to_dsr(d1, out, .{ .async = true, .activate = done });
      @load_to_dsr(s1, mem);
      @load_to_dsr(s2, mem, .{ .save_address = true });
    }";
    for arch in BOTH {
        let found = constructs(arch, loads, "@fadds(d1, s1, mem, .{ .async = true });");
        has(
            &found,
            "@load_to_dsr(dsr_dest, fabout_dsd, .activate, .async) in a comptime block",
        );
        has(
            &found,
            "an asynchronous operation: dsr_dest <- dsr_src0, memory",
        );
        has(
            &found,
            "dsr_dest of a fabout_dsd of an asynchronous operation",
        );
        has(
            &found,
            "dsr_dest and dsr_src0 of equal numbers in one operation",
        );
        lacks(&found, "save_address of a");
        let found = constructs(arch, loads, "@fadds(d1, s2, mem, .{ .async = true });");
        has(
            &found,
            "dsr_dest and dsr_src0 of different numbers in one operation",
        );
        has(
            &found,
            "dsr_src0 of a mem1d_dsd .save_address of an asynchronous operation",
        );
        let found = constructs(arch, loads, "@fadds(s2, s2, mem);");
        has(
            &found,
            "one dsr_src0 .save_address as destination and source of a synchronous operation",
        );
    }
}

#[test]
fn calls_of_standard_modules_go_by_the_names_of_their_enums() {
    let body = "const at = switch_config.get_switch_config_addr(red, switch_config.pop_mode);
                @set_config(at, @get_config(at));
                switch_config.clear_current_position(red);";
    for arch in BOTH {
        let found = constructs(arch, "", body);
        has(
            &found,
            "<tile_config/switch_config>.get_switch_config_addr(color, type pop_mode)",
        );
        has(
            &found,
            "<tile_config/switch_config>.clear_current_position(color) in code",
        );
        has(&found, "@set_config(int, int) in code");
    }
}

#[test]
fn what_a_standard_module_uses_itself_is_none_of_the_program() {
    let found = constructs(Arch::Wse2, "", "tile_config.teardown.exit(red);");
    has(&found, "<tile_config/teardown>.exit(color) in code");
    lacks(&found, "@set_config");
}

#[test]
fn the_program_is_the_same_whether_constructs_are_kept_or_not() {
    let text = "@fmovs(changed, mem); changed = @set_dsd_length(changed, 4);";
    let pe = format!("{HEAD}\nfn run() void {{\n{text}\n}}\n");
    let sources = BTreeMap::from([
        (PathBuf::from("layout.csl"), LAYOUT.to_string()),
        (PathBuf::from("pe.csl"), pe),
    ]);
    let design = |constructs| {
        let options = CompileOptions {
            constructs,
            ..CompileOptions::new(Arch::Wse3)
        };
        let told = compile_sources(&sources, Path::new("layout.csl"), &options);
        assert_eq!(told.constructs.is_empty(), !constructs);
        format!("{:?}", told.design.expect("compiles").programs)
    };
    assert_eq!(design(true), design(false));
}

#[test]
fn a_parameter_is_told_by_the_type_it_is_declared_with() {
    let globals = "param width: u16 = 4;\nparam red_again: color = red;\nparam untyped = 3;\n\
                   param ids: [2]local_task_id = [2]local_task_id{ done, done };\n\
                   fn take(buffer: [*]f32, module: imported_module) void {}";
    for arch in BOTH {
        let found = constructs(arch, globals, "");
        has(&found, "param of type int");
        has(&found, "param of type color");
        has(&found, "param of type array of local_task_id");
        has(&found, "parameter of a function of type [*]float");
        has(&found, "parameter of a function of type imported_module");
        lacks(&found, "param of type imported_module");
    }
}
