//! FIFOs and streams of the host, from CSL to what arrives.

use crate::csl_support::*;
use fabsim::host::{Area, SimOptions, Simulator};
use fabsim::program::{Arch, Design};
use std::sync::Arc;

const HEAD: &str = r#"
const send_oq = @get_output_queue(3);
const out = @get_dsd(fabout_dsd, if (@is_arch("wse3")) .{ .extent = 12, .output_queue = send_oq }
  else .{ .extent = 12, .output_queue = send_oq, .fabric_color = @get_color(5) });
var buffer = @zeros([4]u16);
var numbers = [12]u16{ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
var taken = @zeros([12]u16);
const from = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{12} -> numbers[i] });
const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{12} -> taken[i] });
var note: u16 = 0;
var ptr: [*]u16 = &taken;
"#;

/// One PE on which the host feeds color 4 and reads color 5.
fn streaming(arch: Arch, pe: &str) -> Result<Design, String> {
    let layout = "const memcpy = @import_module(\"<memcpy/get_params>\", \
         .{ .width = 1, .height = 1, .MEMCPYH2D_1 = 4, .MEMCPYD2H_1 = @get_color(5) });
         layout { @set_rectangle(1, 1);
         @set_tile_code(0, 0, \"pe.csl\", .{ .memcpy_params = memcpy.get_params(0) });
         @export_name(\"taken\", [*]u16, true); @export_name(\"run\", fn()void); }";
    let pe = format!(
        "param memcpy_params;\nconst sys = @import_module(\"<memcpy/memcpy>\", memcpy_params);\n\
         {HEAD}\n{pe}\ncomptime {{ @export_symbol(ptr, \"taken\"); @export_symbol(run);\n\
         if (@is_arch(\"wse3\")) {{ @initialize_queue(send_oq, .{{ .color = @get_color(5) }}); }} }}\n"
    );
    let options = fabsim::csl::CompileOptions::new(arch);
    compile(&[("layout.csl", layout), ("pe.csl", &pe)], &options)
}

fn simulate(design: Design) -> Simulator {
    let made = Simulator::new(Arc::new(design), SimOptions::default());
    made.unwrap_or_else(|e| panic!("{e}"))
}

fn area(per_pe: usize) -> Area {
    let (x, y, width, height) = (0, 0, 1, 1);
    Area {
        x,
        y,
        width,
        height,
        per_pe,
    }
}

/// What `taken` holds after `run`.
fn taken(pe: &str, arch: Arch) -> Vec<u32> {
    let mut sim = simulate(accepts(streaming(arch, pe)));
    sim.launch("run", &[]).unwrap_or_else(|e| panic!("{e}"));
    sim.memcpy_d2h("taken", 0, 0, 1, 1, 12, true, false)
        .unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_stream_goes_through_a_fifo_smaller_than_itself() {
    for arch in BOTH {
        let pe = r#"
const in_iq = @get_input_queue(2);
const in = @get_dsd(fabin_dsd, .{ .extent = 12, .input_queue = in_iq });
const fifo = @allocate_fifo(buffer);
task begin() void {
  @mov16(fifo, in, .{ .async = true });
  @add16(out, fifo, 1, .{ .async = true });
}
fn run() void { sys.unblock_cmd_stream(); }
comptime {
  @bind_local_task(begin, @get_local_task_id(8));
  @activate(@get_local_task_id(8));
  @initialize_queue(in_iq, .{ .color = @get_color(@bitcast(u16, sys.MEMCPYH2D_1)) });
}
"#;
        let mut sim = simulate(accepts(streaming(arch, pe)));
        let sent: Vec<u32> = (0..12).collect();
        let go = &mut |_| true;
        sim.stream_in(4, area(12), &sent, false, go)
            .unwrap_or_else(|e| panic!("{e}"));
        let got = sim.stream_out(5, area(12), false, go);
        assert_eq!(got, Ok((1..13).collect()));
        let stuck = sim
            .stream_out(5, area(1), false, go)
            .map_err(|e| e.to_string());
        assert!(stuck.is_err_and(|text| text.contains("0 of 1 wavelets of PE (0, 0)")));
    }
}

#[test]
fn a_color_that_is_no_stream_is_refused_by_name() {
    let mut sim = simulate(accepts(streaming(Arch::Wse2, "fn run() void {}")));
    for color in [5, 6, 200] {
        let sent = sim.stream_in(color, area(1), &[1], false, &mut |_| true);
        let text = sent.map_err(|e| e.to_string());
        assert!(text.is_err_and(|text| text.contains("is no h2d stream")));
    }
}

#[test]
fn a_synchronous_operation_stops_at_a_full_and_at_an_empty_fifo() {
    let pe = r#"
const fifo = @allocate_fifo(buffer);
fn run() void {
  const all_written = @mov16(fifo, from);
  const all_read = @mov16(to, fifo);
  if (all_written or all_read) { taken[11] = 99; }
  sys.unblock_cmd_stream();
}
"#;
    for arch in BOTH {
        let expected = [1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(taken(pe, arch), expected);
    }
}

#[test]
fn lengths_set_on_a_fifo_bound_its_operations() {
    let pe = r#"
const fifo = @allocate_fifo(buffer);
fn run() void {
  @set_fifo_read_length(fifo, 2);
  @mov16(fifo, from);
  if (@mov16(to, fifo)) { taken[11] = 7; }
  sys.unblock_cmd_stream();
}
"#;
    assert_eq!(taken(pe, Arch::Wse2), [1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]);
}

#[test]
fn tasks_are_activated_by_room_after_full_and_by_data_after_empty() {
    let pe = r#"
const popped = @get_local_task_id(8);
const pushed = @get_local_task_id(9);
const fifo = @allocate_fifo(buffer, .{ .activate_pop = popped, .activate_push = pushed });
const some = @set_dsd_length(to, 1);
task on_pop() void { taken[10] += 1; sys.unblock_cmd_stream(); }
task on_push() void { taken[11] += 1; }
fn run() void {
  @mov16(some, fifo);
  @mov16(fifo, from);
  @mov16(some, fifo);
  @mov16(some, fifo);
}
comptime { @bind_local_task(on_pop, popped); @bind_local_task(on_push, pushed); }
"#;
    assert_eq!(taken(pe, Arch::Wse2), [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
}

#[test]
fn what_is_no_fifo_and_two_fifos_as_sources_are_refused() {
    let run = |text: &str| streaming(Arch::Wse2, &format!("fn run() void {{ {text} }}"));
    refuses(
        run("@set_fifo_read_length(from, 2);"),
        "'fifo' must be a fifo_dsd, found mem1d_dsd",
    );
    let two = "const a = @allocate_fifo(buffer); const b = @allocate_fifo(taken);\n\
               fn run() void { @add16(to, a, b); }";
    refuses(streaming(Arch::Wse2, two), "only one source may be a FIFO");
    let number = "const a = @allocate_fifo(note); fn run() void { @mov16(to, a); }";
    refuses(
        streaming(Arch::Wse2, number),
        "@allocate_fifo needs an array",
    );
}

#[test]
fn an_arena_gives_places_that_do_not_overlap_until_it_is_freed() {
    let pe = r#"
const arena = @import_module("<malloc>", .{ .buffer_num_words = 6, .asserts_enabled = true });
fn run() void {
  const words = arena.malloc_u16(2);
  const wide = arena.malloc_u32(1);
  words[0] = 1;
  words[1] = 2;
  wide[0] = 262147;
  for (@range(u16, 6)) |i| { taken[i] = words[i]; }
  taken[6] = if (arena.has_enough_words(2)) 1 else 0;
  taken[7] = if (arena.has_enough_double_words(2)) 1 else 0;
  arena.free();
  taken[8] = if (arena.has_enough_double_words(3)) 1 else 0;
  sys.unblock_cmd_stream();
}
"#;
    assert_eq!(taken(pe, Arch::Wse3), [1, 2, 3, 4, 0, 0, 1, 0, 1, 0, 0, 0]);
}
