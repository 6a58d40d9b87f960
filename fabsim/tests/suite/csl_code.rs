//! The scalar code that the front end emits, run by a small machine of the tests' own: it must
//! compute what the text says.

use crate::csl_support::*;
use fabsim::program::*;

struct Machine<'a> {
    program: &'a TileProgram,
    memory: Vec<u8>,
}

fn size(ty: ScalarType) -> usize {
    match ty {
        ScalarType::I8 | ScalarType::U8 | ScalarType::Bool => 1,
        ScalarType::I32 | ScalarType::U32 | ScalarType::F32 => 4,
        ScalarType::I64 | ScalarType::U64 => 8,
        _ => 2,
    }
}

/// The number in the raw bits; floats are exact in f64.
fn number(bits: u64, ty: ScalarType) -> f64 {
    match ty {
        ScalarType::I16 => f64::from(bits as i16),
        ScalarType::I32 => f64::from(bits as i32),
        ScalarType::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => bits as f64,
    }
}

fn bits(value: f64, ty: ScalarType) -> u64 {
    match ty {
        ScalarType::F32 => u64::from((value as f32).to_bits()),
        ScalarType::Bool => u64::from(value != 0.0),
        ty => value as i64 as u64 & (u64::MAX >> (64 - 8 * size(ty))),
    }
}

impl Machine<'_> {
    fn call(&mut self, id: FunctionId, args: &[u64]) -> u64 {
        let function = &self.program.functions[id.0 as usize];
        let mut slots = vec![0u64; function.slots as usize + 1];
        slots[..args.len()].copy_from_slice(args);
        let mut at = 0;
        loop {
            let inst = &function.code[at];
            at += 1;
            match inst {
                Inst::Const { dst, bits } => slots[dst.0 as usize] = *bits,
                Inst::Copy { dst, src } => slots[dst.0 as usize] = slots[src.0 as usize],
                Inst::Convert { from, to, dst, a } => {
                    slots[dst.0 as usize] = bits(number(slots[a.0 as usize], *from), *to);
                }
                Inst::Unary { op, ty, dst, a } => {
                    let a = slots[a.0 as usize];
                    slots[dst.0 as usize] = match op {
                        UnaryOp::Negate => bits(-number(a, *ty), *ty),
                        UnaryOp::BitNot => bits(!(a as i64) as f64, *ty),
                        UnaryOp::Not => a ^ 1,
                    };
                }
                Inst::Binary { op, ty, dst, a, b } => {
                    let (a, b) = (slots[a.0 as usize], slots[b.0 as usize]);
                    slots[dst.0 as usize] = binary(*op, *ty, a, b);
                }
                Inst::Compare { op, ty, dst, a, b } => {
                    let (a, b) = (
                        number(slots[a.0 as usize], *ty),
                        number(slots[b.0 as usize], *ty),
                    );
                    slots[dst.0 as usize] = u64::from(match op {
                        CompareOp::Eq => a == b,
                        CompareOp::Ne => a != b,
                        CompareOp::Lt => a < b,
                        CompareOp::Le => a <= b,
                        CompareOp::Gt => a > b,
                        CompareOp::Ge => a >= b,
                    });
                }
                Inst::Load { ty, dst, address } => {
                    slots[dst.0 as usize] =
                        self.load(slots[address.0 as usize] as usize, size(*ty));
                }
                Inst::Store { ty, address, src } => {
                    let (to, value) = (slots[address.0 as usize] as usize, slots[src.0 as usize]);
                    self.memory[to..to + size(*ty)]
                        .copy_from_slice(&value.to_le_bytes()[..size(*ty)]);
                }
                Inst::CopyMemory { to, from, bytes } => {
                    let (to, from) = (
                        slots[to.0 as usize] as usize,
                        slots[from.0 as usize] as usize,
                    );
                    self.memory.copy_within(from..from + *bytes as usize, to);
                }
                Inst::Jump { to } => at = *to as usize,
                Inst::Branch {
                    condition,
                    when,
                    to,
                } => {
                    if (slots[condition.0 as usize] != 0) == *when {
                        at = *to as usize;
                    }
                }
                Inst::Call {
                    function,
                    args,
                    dst,
                } => {
                    let args: Vec<u64> = args.iter().map(|slot| slots[slot.0 as usize]).collect();
                    let result = self.call(*function, &args);
                    if let Some(dst) = dst {
                        slots[dst.0 as usize] = result;
                    }
                }
                Inst::CallPointer {
                    function,
                    args,
                    dst,
                } => {
                    let args: Vec<u64> = args.iter().map(|slot| slots[slot.0 as usize]).collect();
                    let result =
                        self.call(FunctionId(slots[function.0 as usize] as u32 - 1), &args);
                    if let Some(dst) = dst {
                        slots[dst.0 as usize] = result;
                    }
                }
                Inst::Return { src } => return src.map_or(0, |slot| slots[slot.0 as usize]),
                other => panic!("the test machine does not know {other:?}"),
            }
        }
    }

    fn load(&self, at: usize, size: usize) -> u64 {
        let mut bytes = [0; 8];
        bytes[..size].copy_from_slice(&self.memory[at..at + size]);
        u64::from_le_bytes(bytes)
    }
}

fn binary(op: BinaryOp, ty: ScalarType, a: u64, b: u64) -> u64 {
    if ty == ScalarType::F32 {
        let (x, y) = (number(a, ty), number(b, ty));
        return bits(
            match op {
                BinaryOp::Add => x + y,
                BinaryOp::Sub => x - y,
                BinaryOp::Mul => x * y,
                _ => x / y,
            },
            ty,
        );
    }
    let (x, y) = (number(a, ty) as i64, number(b, ty) as i64);
    let result = match op {
        BinaryOp::Add => x + y,
        BinaryOp::Sub => x - y,
        BinaryOp::Mul => x * y,
        BinaryOp::Div => x / y,
        BinaryOp::Rem => x % y,
        BinaryOp::Shl => x << y,
        BinaryOp::Shr => x >> y,
        BinaryOp::And => x & y,
        BinaryOp::Or => x | y,
        BinaryOp::Xor => x ^ y,
    };
    result as u64 & (u64::MAX >> (64 - 8 * size(ty)))
}

/// Runs `body`, which may write the eight results `r`.
#[track_caller]
fn results(globals: &str, body: &str) -> Vec<i32> {
    let pe = format!(
        "var r = @zeros([8]i32);\nvar r_ptr: [*]i32 = &r;\n{globals}\nfn run() void {{\n{body}\n}}\n\
         comptime {{ @export_symbol(run); @export_symbol(r_ptr, \"r\"); }}\n"
    );
    let exports = "@export_name(\"run\", fn()void); @export_name(\"r\", [*]i32, true);";
    let design = accepts(one_pe(Arch::Wse2, exports, &pe));
    let program = &design.programs[0];
    let mut memory = vec![0u8; 65536];
    for (address, words) in &program.memory {
        for (i, word) in words.iter().enumerate() {
            memory[*address as usize + 2 * i..][..2].copy_from_slice(&word.to_le_bytes());
        }
    }
    let mut machine = Machine { program, memory };
    let mut base = 0;
    for symbol in &program.symbols {
        match &symbol.kind {
            SymbolKind::Function(id) => {
                machine.call(*id, &[]);
            }
            SymbolKind::Pointer { pointer, .. } => {
                base = machine.load(*pointer as usize, 2) as usize
            }
        }
    }
    (0..8)
        .map(|i| machine.load(base + 4 * i, 4) as i32)
        .collect()
}

#[test]
fn loops_sum_and_skip_and_stop() {
    let body = "for (@range(i32, 10)) |i| { if (i == 3) continue; if (i == 6) { break; } r[0] += i; }\n\
                var i: i32 = 0; while (i < 5) : (i += 1) { if (i == 2) { continue; } r[1] += i; }\n\
                for (@range(i32, 10, 0, -3)) |k| { r[2] = r[2] * 10 + k; }\n\
                outer: while (true) { while (true) { r[3] += 1; if (r[3] == 4) { break :outer; } } }";
    assert_eq!(results("", body)[..4], [12, 8, 10741, 4]);
}

#[test]
fn arrays_of_rank_two_are_row_major() {
    let globals = "var a = @zeros([3, 4]i32); const t = [3]i32{ 5, 6, 7 };";
    let body = "for (@range(i16, 3)) |i| { for (@range(i16, 4)) |j| { a[i, j] = @as(i32, i) * 10 + @as(i32, j); } }\n\
                const p: [*]i32 = @ptrcast([*]i32, &a); r[0] = p[6]; r[1] = a[2, 3];\n\
                var k: u16 = 1; r[2] = t[k]; r[3] = t[2];\n\
                for (t) |v, n| { r[4] += v * @as(i32, n); }";
    assert_eq!(results(globals, body)[..5], [12, 23, 6, 7, 20]);
}

#[test]
fn structs_live_in_memory_and_are_copied() {
    let globals = "const S = struct { a: u16, b: i32 };\nvar s: S = S{ .a = 1, .b = 2 };\n\
                   fn twice(v: S) S { return S{ .a = v.a, .b = v.b * 2 }; }";
    let body = "var c = s; c.b = 40; r[0] = s.b; r[1] = c.b; s = twice(c); r[2] = s.b; r[3] = @as(i32, s.a);";
    assert_eq!(results(globals, body)[..4], [2, 40, 80, 1]);
}

#[test]
fn values_chosen_at_run_time_come_from_one_arm() {
    let globals = "var c: i32 = 2; const E = enum(u16) { A, B = 7, C }; var e = E.B;\n\
                   inline fn pick(comptime n: i32, x: i32) i32 { if (x > n) { return x; } return n; }";
    let body = "r[0] = if (c == 2) 5 else 6; r[1] = if (c == 3) 5 else c;\n\
                r[2] = switch (c) { 1 => 10, 2, 3 => 20, else => 30 };\n\
                switch (e) { E.A => r[3] = 1, E.B => r[3] = 2, else => r[3] = 3 }\n\
                r[4] = blk: { if (c > 1) { break :blk 11; } break :blk 12; };\n\
                r[5] = pick(1, c) * 10 + pick(9, c);\n\
                if (c == 2 and r[0] == 5 or missing_never()) r[6] = 1; else r[6] = 2;";
    let never = "fn missing_never() bool { r[7] = 99; return false; }";
    assert_eq!(
        results(&format!("{globals}\n{never}"), body),
        [5, 2, 20, 2, 11, 29, 1, 0]
    );
}

#[test]
fn generic_functions_have_an_instance_per_type_and_value() {
    let globals = "fn add(comptime T: type, a: T, b: T) T { return a + b; }\n\
                   fn scale(comptime n: i32, x: anytype) i32 { return n * @as(i32, x); }\n\
                   var p: *const fn(i32) i32 = &negate; fn negate(x: i32) i32 { return -x; }";
    let body =
        "var a: i32 = 3; var h: i16 = 4; r[0] = add(i32, a, 4); r[1] = @as(i32, add(i16, h, 5));\n\
                r[2] = scale(2, h) + scale(3, a); r[3] = p(7);\n\
                inline for (.{ 1, 2, 3 }) |n| { r[4] = r[4] * 10 + scale(n, a); }";
    assert_eq!(results(globals, body)[..5], [7, 9, 17, -7, 369]);
}

#[test]
fn pointers_to_locals_and_elements_reach_them() {
    let globals = "fn set(p: *i32, v: i32) void { p.* = v; }\nfn fill(p: [*]i32, n: u16) void { for (@range(u16, n)) |i| { p[i] = 9; } }";
    let body =
        "var x: i32 = 1; set(&x, 6); r[0] = x; set(&r[1], 8); fill(&r, 1); r[2] = r[0]; r[3] = x;";
    assert_eq!(results(globals, body)[..4], [9, 8, 9, 6]);
}

#[test]
fn shifts_floats_and_conversions_follow_their_types() {
    let body = "var s: i16 = -8; r[0] = @as(i32, s >> 1); var u: u16 = 1; var n: u32 = 3; r[1] = @as(i32, u << n);\n\
                var x: f32 = 2.5; x = x * 2.0 - 1.0; r[2] = @as(i32, x); var w: u16 = 65535; w += 2; r[3] = @as(i32, w);\n\
                r[4] = @as(i32, x > 3.0); r[5] = 9 - 3 - 2; r[6] = @as(i32, @as(u16, 0x12) & 6 == 2);";
    assert_eq!(results("", body)[..7], [-4, 8, 4, 1, 1, 4, 1]);
}

#[test]
fn control_payloads_have_the_documented_bits() {
    let globals = "const c = @import_module(\"<control>\");\n\
                   const one = c.encode_single_payload(c.opcode.SWITCH_ADV, true, {}, 0);\n\
                   const all = c.encode_payload(1, [1]c.opcode{ c.opcode.TEARDOWN }, [1]bool{ true }, true, @get_control_task_id(31));\n\
                   const wake = c.encode_control_task_payload(@get_control_task_id(40));";
    let body = "r[0] = @bitcast(i32, one); r[1] = @bitcast(i32, all); r[2] = @bitcast(i32, wake);\n\
                const late = c.encode_single_payload(c.opcode.SWITCH_ADV, true, {}, 0); r[3] = @bitcast(i32, late);";
    let found = results(globals, body);
    assert_eq!(found[0], 0x015f_0000);
    assert_eq!(found[1], 0x09DF_9249);
    assert_eq!(found[2], 40 << 16);
    assert_eq!(found[3], found[0]);
}

#[test]
fn strides_of_tensor_accesses_are_incremental() {
    let pe = "var a = @zeros([4, 5]i32); var b = @zeros([40]i32);\n\
              var d = @get_dsd(mem4d_dsd, .{ .tensor_access = |i, j, k, l|{ 5, 5, 5, 5 } -> a[i + j, k + l + 2] });\n\
              var e = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{ 5 } -> b[2 * i + 1] });\n\
              var f = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{ 5 } -> b[3] });\n\
              fn run() void { @mov32(d, 1); @mov32(e, 1); @mov32(f, 1); } comptime { @export_symbol(run); }";
    let design = accepts(one_pe(Arch::Wse2, "@export_name(\"run\", fn()void);", pe));
    let program = &design.programs[0];
    let strides = program.shapes.iter().find_map(|shape| match shape {
        DsdShape::Mem4d { strides, .. } => Some(strides.clone()),
        _ => None,
    });
    assert_eq!(strides, Some(vec![-23, -3, -3, 1]));
    let mut one_dimensional: Vec<(u16, i16)> = Vec::new();
    for (_, words) in &program.memory {
        if let [shape, _, extent, stride] = words[..] {
            if matches!(program.shapes[shape as usize], DsdShape::Mem1d { .. }) {
                one_dimensional.push((extent, stride as i16));
            }
        }
    }
    assert_eq!(one_dimensional, [(5, 2), (5, 0)]);
}

/// The instructions of the function `run`.
fn run_code(globals: &str, body: &str) -> Vec<Inst> {
    let design = accepts(run_body(Arch::Wse3, globals, body));
    let functions = &design.programs[0].functions;
    let run = functions.iter().find(|function| function.name == "run");
    run.map(|function| function.code.clone())
        .unwrap_or_default()
}

#[test]
fn dsds_with_run_time_fields_are_built_from_their_shape() {
    let globals = "var x = @zeros([8]f32); var n: u16 = 4; var o: i16 = 2; var p: [*]f32 = &x;";
    let body = "const d = @get_dsd(mem1d_dsd, .{ .base_address = p, .extent = n });\n\
                const e = @increment_dsd_offset(@set_dsd_length(d, n), o, f32); @fmovs(e, 1.0);";
    let code = run_code(globals, body);
    let has = |test: fn(&Inst) -> bool| code.iter().any(test);
    assert!(has(|inst| matches!(inst, Inst::DsdSetBase { .. })));
    assert!(has(|inst| matches!(inst, Inst::DsdSetLength { .. })));
    assert!(has(|inst| matches!(
        inst,
        Inst::DsdAdvance {
            element_bytes: 4,
            ..
        }
    )));
    assert!(has(
        |inst| matches!(inst, Inst::Operation(op) if op.opcode == Opcode::Fmovs)
    ));
}

#[test]
fn an_operation_that_is_known_is_one_dsd_per_operand() {
    let globals = "var x = @zeros([8]f32); const d = @get_dsd(mem1d_dsd, .{ .base_address = &x, .extent = 8, .offset = 0 });\n\
                   fn f(a: f32, b: f32) f32 { return a * b; }";
    let code = run_code(globals, "@map(f, d, 2.0, d); @fnegs(d, d);");
    let maps = code.iter().filter(
        |inst| matches!(inst, Inst::Map(map) if map.inputs.len() == 2 && map.output.is_some()),
    );
    assert_eq!(maps.count(), 1);
    assert!(!code.iter().any(|inst| matches!(inst, Inst::LoadDsd { .. })));
}

#[test]
fn completion_ids_may_be_known_late_and_tasks_may_be_named() {
    let globals = "const q = @get_input_queue(2); const id = @get_local_task_id(12); task t() void {} var x = @zeros([8]f32);\n\
                   const in = @get_dsd(fabin_dsd, .{ .extent = 8, .input_queue = q });\n\
                   const d = @get_dsd(mem1d_dsd, .{ .base_address = &x, .extent = 8 }); var late: local_task_id = id;\n\
                   comptime { @bind_local_task(t, id); @initialize_queue(q, .{ .color = @get_color(3) }); }";
    let body = "@fmovs(d, in, .{ .async = true, .activate = t, .ut_id = @get_ut_id(3) }); @fmovs(d, in, .{ .async = true, .activate = late });\n\
                @block(q); @unblock(id);";
    let code = run_code(globals, body);
    let done = code.iter().filter(|inst| {
        matches!(inst, Inst::Operation(op) if matches!(op.options.on_done, Some(Completion::Activate(_))))
    });
    assert_eq!(done.count(), 2);
    assert!(code.iter().any(|inst| matches!(
        inst,
        Inst::Block {
            target: BlockKind::InputQueue,
            ..
        }
    )));
}

/// The operation in `run`, which must be one.
fn only_operation(globals: &str, body: &str) -> DsdOperation {
    let code = run_code(globals, body);
    let mut operations = code.into_iter().filter_map(|inst| match inst {
        Inst::Operation(operation) => Some(*operation),
        _ => None,
    });
    let first = operations.next().expect("no operation");
    assert!(operations.next().is_none());
    first
}

#[test]
fn a_source_that_is_the_destination_accumulates() {
    let globals = "var x = @zeros([8]f32); var a: f32; var b: f32; var s = @zeros([2]f32); var p: *f32 = &a; var i: u16;\n\
                   const d = @get_dsd(mem1d_dsd, .{ .base_address = &x, .extent = 8 });\n\
                   fn add(to: *f32, n: u16) void { @fadds(to, to.*, d); }";
    let source = |body: &str| only_operation(globals, body).sources[0];
    for body in [
        "@fadds(&a, a, d);",
        "@fadds(&s[1], s[1], d);",
        "@fadds(&s[i], s[i], d);",
        "@fadds(p, p.*, d);",
        "const q = &a; @fadds(q, a, d);",
        "var l: f32 = 0.0; @fmaxs(&l, l, d);",
    ] {
        assert!(matches!(source(body), Operand::Pointer(..)), "{body}");
    }
    for body in [
        "@fadds(&a, b, d);",
        "@fadds(&s[1], s[0], d);",
        "@fadds(&a, 1.0, d);",
    ] {
        assert!(matches!(source(body), Operand::Scalar(..)), "{body}");
    }
}

#[test]
fn an_inline_function_has_its_own_copy_of_an_aggregate() {
    let globals = "const S = struct { a: i32 }; var s: S = S{ .a = 1 };\n\
                   inline fn peek(v: S) i32 { s.a = 5; return v.a; }\n\
                   inline fn first(v: [2]i32) i32 { t[0] = 9; return v[0]; } var t = [2]i32{ 3, 4 };";
    let body = "r[0] = peek(s); r[1] = s.a; r[2] = first(t); r[3] = t[0];";
    assert_eq!(results(globals, body)[..4], [1, 5, 3, 9]);
}

#[test]
fn aggregates_pass_through_function_pointers_by_value() {
    let globals = "const S = struct { a: i32 }; var s: S = S{ .a = 1 };\n\
                   fn next(v: S) S { s.a = 50; return S{ .a = v.a + 1 }; }\n\
                   var p: *const fn(S) S = &next;";
    let body = "const x = p(s); const y = p(x); r[0] = x.a; r[1] = y.a; r[2] = s.a;";
    assert_eq!(results(globals, body)[..3], [2, 3, 50]);
}

#[test]
fn a_loop_keeps_the_bounds_it_started_with() {
    let body = "var n: i32 = 4; for (@range(i32, n)) |i| { n -= 1; r[0] += 1; } r[1] = n;";
    assert_eq!(results("", body)[..2], [4, 0]);
}

#[test]
fn a_constant_pointer_is_written_through() {
    let globals = "const S = struct { a: i32 }; var s: S = S{ .a = 1 };";
    let body = "const p: [*]i32 = &r; p[1] = 7; const q = &s; q.*.a = 8; r[2] = s.a; const e = &r[3]; e.* = 9; p[1] += 1;";
    assert_eq!(results(globals, body)[1..4], [8, 8, 9]);
}

#[test]
fn the_right_side_of_a_short_circuit_runs_only_if_it_matters() {
    let globals =
        "var n: i32; fn count(answer: bool) bool { n += 1; return answer; } var f: bool = false;";
    let body =
        "if (f and count(true)) { r[7] = 1; } r[0] = n; if (!f or count(true)) { r[1] = n; }\n\
                if (count(true) and count(false)) { r[7] = 2; } r[2] = n;";
    assert_eq!(results(globals, body)[..3], [0, 0, 2]);
}
