//! What a compilation says besides its design: several errors at once, warnings, printed lines.

use crate::csl_support::*;
use fabsim::csl::{compile_sources, Compilation, CompileOptions};
use fabsim::diagnostic::Diagnostic;
use fabsim::program::Arch;
use std::path::{Path, PathBuf};

fn verbose(files: &[(&str, &str)]) -> Compilation {
    let sources = files
        .iter()
        .map(|(name, text)| (PathBuf::from(name), text.to_string()))
        .collect();
    let options = CompileOptions::new(Arch::Wse2);
    compile_sources(&sources, Path::new(files[0].0), &options)
}

const LAYOUT: &str = "layout {\n@set_rectangle(2, 1);\n@set_tile_code(0, 0, \"pe.csl\", .{ .n = 1 });\n@set_tile_code(1, 0, \"pe.csl\", .{ .n = 2 });\n}\n";

fn two_programs(pe: &str) -> Compilation {
    verbose(&[("layout.csl", LAYOUT), ("pe.csl", pe)])
}

fn lines(list: &[Diagnostic]) -> Vec<String> {
    let first = |d: &Diagnostic| d.render().lines().next().unwrap_or_default().to_string();
    list.iter().map(first).collect()
}

fn errors(pe: &str) -> Vec<String> {
    lines(&two_programs(pe).design.expect_err("must be refused"))
}

#[test]
fn every_broken_declaration_is_reported_once() {
    let pe = "param n: u16;\nconst a: u8 = 300;\nconst b = a + 1;\nconst c: bool = 1;\n\
              comptime { @bind_local_task(t, @get_local_task_id(99)); }\ntask t() void {}\n";
    let expected = [
        "pe.csl:2:15: error: integer out of range: 300 does not fit u8",
        "pe.csl:4:17: error: type mismatch: expected bool, found comptime_int",
        "pe.csl:5:51: error: @get_local_task_id: 99 is not a local_task_id of wse2 (they go from 0 to 30)",
    ];
    assert_eq!(errors(pe), expected);
}

#[test]
fn every_broken_function_is_reported() {
    let pe = "param n: u16;\nvar g: u16;\nfn f() void { g = 1.0; }\nfn h() void { g = missing; }\n\
              task t() void { f(); h(); }\ncomptime { @bind_local_task(t, @get_local_task_id(9)); }\n";
    let expected = [
        "pe.csl:3:19: error: type mismatch: expected u16, found comptime_float",
        "pe.csl:4:19: error: unknown name 'missing'",
    ];
    assert_eq!(errors(pe), expected);
}

#[test]
fn the_parser_goes_on_with_the_next_declaration() {
    let pe = "param n u16;\nfn f() void {\n  x = = 1;\n  var y: u16 = 1;\n}\nconst ok: u16 = 1;\nfn g( void {}\n";
    let found = errors(pe);
    let places: Vec<&str> = found.iter().map(|line| &line[..10]).collect();
    assert_eq!(places, ["pe.csl:1:9", "pe.csl:3:7", "pe.csl:7:7"]);
}

#[test]
fn an_endless_program_is_refused_once() {
    let mut options = CompileOptions::new(Arch::Wse2);
    options.comptime_step_limit = 1000;
    let text = "fn f() u16 { while (true) {} }\nconst a = f();\nconst b = f();\nlayout {}\n";
    let sources = [(PathBuf::from("l.csl"), text.to_string())].into();
    let found = compile_sources(&sources, Path::new("l.csl"), &options).design;
    assert_eq!(lines(&found.expect_err("must be refused")).len(), 1);
}

#[test]
fn a_parameter_without_a_value_is_an_error_that_names_both_places() {
    let pe = "param n: u16;\nparam m: u16;\nconst k = m + n;\n";
    let refused = two_programs(pe).design.expect_err("must be refused");
    let text = refused[0].render();
    assert!(
        text.starts_with("pe.csl:2:7: error: the parameter 'm' has no value"),
        "{text}"
    );
    assert!(
        text.contains("layout.csl:3:1: note: the module is used here"),
        "{text}"
    );
    assert!(two_programs("param n: u16;\nparam m: u16 = 2;\n")
        .design
        .is_ok());
}

#[test]
fn a_parameter_without_a_value_that_nothing_uses_is_a_warning() {
    let compilation = two_programs("param n: u16;\nparam m: u16;\n");
    assert!(compilation.design.is_ok());
    let text = lines(&compilation.warnings);
    let expected = "pe.csl:2:7: warning: the parameter 'm' has no value, and nothing uses it";
    assert_eq!(text, [expected]);
}

#[test]
fn a_value_for_a_parameter_that_does_not_exist_is_a_warning() {
    let compilation = two_programs("const n: u16 = 3;\n");
    assert!(compilation.design.is_ok());
    let text = lines(&compilation.warnings);
    assert_eq!(text.len(), 2);
    assert!(
        text[0].starts_with("layout.csl:3:1: warning: the module 'pe.csl' has no parameter 'n'"),
        "{}",
        text[0]
    );
    assert!(two_programs("param n: u16;\n").warnings.is_empty());
}

#[test]
fn activating_an_id_without_a_task_is_a_warning() {
    let pe = |bind: &str| {
        format!("param n: u16; task t() void {{ @activate(@get_local_task_id(10)); }} task u() void {{}}\n\
                 comptime {{ @bind_local_task(t, @get_local_task_id(9)); {bind} }}")
    };
    let text = lines(&two_programs(&pe("")).warnings);
    assert_eq!(text.len(), 1);
    assert!(text[0].contains("the local task id 10 is activated, but no task is bound to it"));
    let bound = two_programs(&pe("@bind_local_task(u, @get_local_task_id(10));"));
    assert!(bound.design.is_ok() && bound.warnings.is_empty());
}

#[test]
fn accesses_outside_an_array_and_wrong_widths_are_warnings() {
    let pe = |stop: u16, op: &str| {
        format!("param n: u16; var x = @zeros([4, 2]f32); const d = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{ {stop} }} -> x[i, 1] }});\n\
                 task t() void {{ {op} }} comptime {{ @bind_local_task(t, @get_local_task_id(9)); }}")
    };
    assert!(two_programs(&pe(4, "@fmovs(d, 1.0);")).warnings.is_empty());
    let far = lines(&two_programs(&pe(5, "@fmovs(d, 1.0);")).warnings);
    assert!(
        far.len() == 1 && far[0].contains("the elements 1 to 9, but the array has 8"),
        "{far:?}"
    );
    let narrow = lines(&two_programs(&pe(4, "@mov16(d, 1);")).warnings);
    assert!(
        narrow.len() == 1 && narrow[0].contains("elements of 2 bytes"),
        "{narrow:?}"
    );
}

#[test]
fn what_the_program_prints_is_kept_in_order_even_if_it_fails() {
    let pe = "param n: u16;\nconst E = enum(u16) { A, B };\n\
              comptime { @comptime_print(\"n is\", n, [2]u16{ 1, 2 }, .{ .a = true, .b = E.B }, f32); @comptime_assert(n < 2); }\n";
    let compilation = two_programs(pe);
    assert!(compilation.design.is_err());
    let text = lines(&compilation.printed);
    assert_eq!(text.len(), 2);
    assert!(
        text[0].starts_with("pe.csl:3:12: note: n is 1 [2]u16{ 1, 2 } .{ .a = true, .b = "),
        "{}",
        text[0]
    );
    assert!(text[1].contains("n is 2"));
}

#[test]
fn a_broken_file_is_reported_once_however_often_it_is_imported() {
    let layout =
        "const a = @import_module(\"m.csl\");\nconst b = @import_module(\"m.csl\");\nlayout {}\n";
    let found = verbose(&[("layout.csl", layout), ("m.csl", "const x = ;\n")]);
    let text = lines(&found.design.expect_err("must be refused"));
    assert_eq!(
        text,
        ["m.csl:1:11: error: expected an expression, found ';'"]
    );
    refuses(
        one_pe(Arch::Wse2, "", "const a = @import_module(\"none.csl\");"),
        "cannot find the file 'none.csl'",
    );
}
