//! Damaged programs: whatever the text, the front end answers with a design or a diagnostic.

use crate::csl_support::*;
use fabsim::program::Arch;

const PE: &str = r#"
const c = @import_module("<control>");
const S = struct { a: u16, b: i32 }; const E = enum(u16) { A, B = 7 };
var r = @zeros([8]i32); var r_ptr: [*]i32 = &r; var e = E.A; var s: S = S{ .a = 1, .b = 2 };
const q = @get_output_queue(2); const id = @get_local_task_id(9);
const out = @get_dsd(fabout_dsd, .{ .extent = 4, .output_queue = q, .fabric_color = @get_color(1) });
var d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{ 4 } -> r[i + 1] });
inline fn pick(comptime n: i32, x: i32) i32 { if (x > n) { return x; } return n; }
fn add(comptime T: type, a: T, b: anytype) T { return a + @as(T, b); }
task t() void { @activate(id); }
fn run() void {
  var x: i32 = 3; const p = &r[2]; p.* = x << 2; s.b += add(i32, x, 7);
  for (@range(i32, 10)) |i| { if (i == 3) continue; r[0] += pick(4, i); }
  while (x > 0 and x != 7) : (x -= 1) { if (x == 2) { break; } }
  switch (e) { E.A => r[3] = 1, else => r[3] = if (x == 1) 5 else x }
  r[4] = blk: { if (x > 1) { break :blk 11; } break :blk 12; };
  inline for (.{ 1, 2 }) |n| { r[5] = r[5] * 10 + n; }
  @mov32(out, d, .{ .async = true, .activate = id }); d = @increment_dsd_offset(d, 1, i32);
}
comptime { @bind_local_task(t, id); @initialize_queue(q); @export_symbol(run); @export_symbol(r_ptr, "r"); }
"#;

const LAYOUT: &str = "@export_name(\"run\", fn()void); @export_name(\"r\", [*]i32, true);";

fn survives(pe: &str) {
    if let Err(text) = one_pe(Arch::Wse2, LAYOUT, pe) {
        assert!(!text.contains("internal error"), "{text}\nin\n{pe}");
    }
}

/// The text in pieces that keep words and blanks together.
fn pieces(text: &str) -> Vec<&str> {
    let kind = |c: char| (c.is_alphanumeric() || c == '_', c.is_whitespace());
    let mut cuts = vec![0];
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    for pair in chars.windows(2) {
        let same = kind(pair[0].1) == kind(pair[1].1) && kind(pair[0].1) != (false, false);
        if !same {
            cuts.push(pair[1].0);
        }
    }
    cuts.push(text.len());
    cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect()
}

#[test]
fn the_undamaged_program_compiles() {
    accepts(one_pe(Arch::Wse2, LAYOUT, PE));
}

#[test]
fn leaving_out_any_piece_gives_an_answer() {
    let all = pieces(PE);
    for at in 0..all.len() {
        let rest: String = [&all[..at], &all[at + 1..]].concat().concat();
        survives(&rest);
    }
}

#[test]
fn swapping_pieces_gives_an_answer() {
    let all = pieces(PE);
    let mut state = 12345u64;
    let mut next = |n: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    for _ in 0..1500 {
        let mut damaged = all.clone();
        for _ in 0..1 + next(3) {
            let (from, to) = (next(all.len()), next(all.len()));
            damaged[to] = all[from];
        }
        survives(&damaged.concat());
    }
}

#[test]
fn long_chains_of_postfix_operators_give_an_answer() {
    for step in ["[0]", ".a", ".*"] {
        let chain = step.repeat(200_000);
        survives(&format!(
            "fn run() void {{ x{chain} = 1; }} var x: u16; comptime {{ @export_symbol(run); }}"
        ));
        survives(&format!("fn run() void {{ const y = &x; y{chain} = 1; }} var x: u16; comptime {{ @export_symbol(run); }}"));
        survives(&format!("const y = x{chain}; var x: u16;"));
    }
}
