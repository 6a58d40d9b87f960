//! `<tile_config>`: what a program changes of its tile while it runs.

use crate::csl_support::*;
use fabsim::csl::CompileOptions;
use fabsim::host::{SimOptions, Simulator};
use fabsim::program::{Arch, Clock, Design};
use std::sync::Arc;

const HEAD: &str = r#"
const tile_config = @import_module("<tile_config>");
const layout_module = @import_module("<layout>");
const route = tile_config.color_config;
const switching = tile_config.switch_config;
const c = @get_color(4);
const iq = @get_input_queue(2);
const oq = @get_output_queue(3);
var note = @zeros([16]u16);
var ptr: [*]u16 = &note;
var place: u16 = 0;
fn put(value: u16) void {
  note[place] = value;
  place += 1;
}
"#;

/// A row of PEs with one program; what each of them noted, after `run`.
fn row(arch: Arch, width: u16, colors: &str, pe: &str) -> Result<Vec<Vec<u32>>, String> {
    let mut sim = Simulator::new(
        Arc::new(accepts(compiled(arch, width, colors, pe))),
        SimOptions::default(),
    )
    .map_err(|e| e.to_string())?;
    sim.launch("run", &[]).map_err(|e| e.to_string())?;
    let noted = |sim: &mut Simulator, x| sim.memcpy_d2h("note", x, 0, 1, 1, 16, true, false);
    let noted = (0..width).map(|x| noted(&mut sim, x));
    let noted = noted.collect::<Result<_, _>>().map_err(|e| e.to_string())?;
    sim.stop().map_err(|e| e.to_string())?;
    Ok(noted)
}

fn compiled(arch: Arch, width: u16, colors: &str, pe: &str) -> Result<Design, String> {
    let layout = format!(
        "const memcpy = @import_module(\"<memcpy/get_params>\", .{{ .width = {width}, .height = 1 }});
         layout {{ @set_rectangle({width}, 1);
         for (@range(u16, {width})) |x| {{
         @set_tile_code(x, 0, \"pe.csl\", .{{ .memcpy_params = memcpy.get_params(x),
             .first = x == 0, .last = x == {width} - 1 }});
         {colors} }}
         @export_name(\"note\", [*]u16, true); @export_name(\"run\", fn()void); }}"
    );
    let pe = format!(
        "param memcpy_params; param first: bool; param last: bool;\n\
         const sys = @import_module(\"<memcpy/memcpy>\", memcpy_params);\n{HEAD}\n{pe}\n\
         comptime {{ @export_symbol(ptr, \"note\"); @export_symbol(run); }}\n"
    );
    let mut options = CompileOptions::new(arch);
    options.clock = Clock::Streams; // rules of routers, at cycles that are written down below
    compile(&[("layout.csl", &layout), ("pe.csl", &pe)], &options)
}

/// The row's first notes, where nothing goes wrong.
fn notes(arch: Arch, width: u16, colors: &str, pe: &str, count: usize) -> Vec<Vec<u32>> {
    let rows = row(arch, width, colors, pe).unwrap_or_else(|text| panic!("{text}"));
    rows.into_iter().map(|row| row[..count].to_vec()).collect()
}

const CLOSED: &str =
    "@set_color_config(x, 0, @get_color(4), .{ .routes = .{ .rx = .{}, .tx = .{} }, .teardown = true });";

/// A vector goes east, a teardown behind it; then another one goes west over the same color.
const THERE_AND_BACK: &str = r#"
const out_config = if (@is_arch("wse3")) .{ .extent = 3, .output_queue = oq }
  else .{ .extent = 3, .output_queue = oq, .fabric_color = c };
const out = @get_dsd(fabout_dsd, out_config);
const end = @get_dsd(fabout_dsd, if (@is_arch("wse3")) .{ .extent = 1, .control = true, .output_queue = oq }
  else .{ .extent = 1, .control = true, .output_queue = oq, .fabric_color = c });
const in = @get_dsd(fabin_dsd, .{ .extent = 3, .input_queue = iq });
const control = @import_module("<control>");
var data = [3]u32{ 7, 8, 9 };
var got = @zeros([3]u32);
var stop = [1]u32{ control.encode_single_payload(control.opcode.TEARDOWN, true, {}, 0) };
const data_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> data[i] });
const got_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> got[i] });
const stop_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{1} -> stop[i] });
const phase_id = @get_local_task_id(8);
const lock_id = @get_local_task_id(9);
const send_end_id = @get_local_task_id(10);
var phase: u16 = 0;

fn begin(sends: bool, receives: bool) void {
  @block(lock_id);
  tile_config.teardown.exit(c);
  if (sends) {
    @mov32(out, data_dsd, .{ .async = true, .activate = send_end_id });
  } else if (receives) {
    @mov32(got_dsd, in, .{ .async = true, .unblock = lock_id });
  } else {
    @unblock(lock_id);
  }
}

task send_end() void {
  @mov32(end, stop_dsd, .{ .async = true, .unblock = lock_id });
}

task next_phase() void {
  if (phase == 0) {
    if (first) { route.reset_routes(c, .{ .rx = RAMP, .tx = EAST }); }
    else if (last) { route.reset_routes(c, .{ .rx = WEST, .tx = RAMP }); }
    else { route.reset_routes(c, .{ .rx = WEST, .tx = EAST }); }
    begin(first, last);
  } else if (phase == 1) {
    if (last) { route.reset_routes(c, .{ .rx = RAMP, .tx = WEST }); }
    else if (first) { route.reset_routes(c, .{ .rx = EAST, .tx = RAMP }); }
    else { route.reset_routes(c, .{ .rx = EAST, .tx = [2]direction{ WEST, RAMP } }); }
    begin(last, !last);
  } else {
    put(@as(u16, got[0]));
    put(@as(u16, got[2]));
    put(phase);
    sys.unblock_cmd_stream();
  }
}

task lock() void {
  phase += 1;
  @activate(phase_id);
}

fn torn_down() void { @activate(lock_id); }
fn run() void {
  for (@range(u16, 3)) |i| { data[i] += @as(u32, layout_module.get_x_coord()); }
  @activate(phase_id);
}

comptime {
  @bind_local_task(next_phase, phase_id);
  @bind_local_task(lock, lock_id);
  @bind_local_task(send_end, send_end_id);
  @initialize_queue(iq, .{ .color = c });
  @initialize_queue(oq, if (@is_arch("wse3")) .{ .color = c } else .{});
  @set_teardown_handler(torn_down, c);
}
"#;

#[test]
fn a_color_is_routed_anew_after_each_teardown() {
    for arch in BOTH {
        let rows = notes(arch, 3, CLOSED, THERE_AND_BACK, 3);
        assert_eq!(rows, [[9, 11, 2], [9, 11, 2], [7, 9, 2]]);
    }
}

#[test]
fn registers_show_what_the_modules_functions_set() {
    let pe = r#"
fn run() void {
  const at = route.get_color_config_addr(c);
  const of_switch = switching.get_switch_config_addr(c, switching.switch_pos);
  route.reset_routes(at, .{ .rx = WEST, .tx = [2]direction{ EAST, RAMP } });
  route.set_io_direction(c, route.fabric_io.TX_NORTH);
  put(@get_config(at));
  route.clear_io_direction(c, route.fabric_io.TX_NORTH);
  route.toggle_io_direction(at, route.fabric_io.RX_WEST);
  switching.set_pop_mode(c, switching.pop_mode.POP_ON_ADVANCE);
  put(@get_config(at));
  switching.set_invalid_for_all_switch_positions(c);
  switching.set_ring_mode(c, switching.ring_mode.RING_MODE);
  switching.set_rx_switch_pos1(c, RAMP);
  switching.set_tx_switch_pos3(c, SOUTH);
  switching.set_current_switch_position(c, 3);
  put(@get_config(of_switch));
  switching.set_switch_pos(switching.switch_pos.POS2, c, EAST, switching.switch_select.INPUT);
  switching.set_ring_mode(c, switching.ring_mode.NO_RING_MODE);
  switching.clear_current_position(c);
  put(@get_config(of_switch));
  tile_config.teardown.exit(c);
  put(@get_config(at));
  tile_config.teardown.exit(c);
  put(@get_config(at));
  put(tile_config.get_fabric_coord(tile_config.fabric_coord.X));
  sys.unblock_cmd_stream();
}
"#;
    let down = 1 << 14;
    let popping = 2 << 12;
    let rows = notes(Arch::Wse2, 2, CLOSED, pe, 7);
    let expected = [
        down | 0b1_1010 | 0b1 << 5,
        down | popping | 0b1_0010,
        3 << 13 | 1 << 12 | 0x2 << 8 | 5 << 4 | (8 | 4),
        0x2 << 8 | (8 | 1) << 4 | (8 | 4),
        popping | 0b1_0010,
        down | popping | 0b1_0010,
    ];
    assert_eq!(rows[0][..6], expected);
    assert_eq!((rows[0][6], rows[1][6]), (0, 1));
}

#[test]
fn a_position_of_wse3_may_change_both_sides_and_keeps_them_where_others_are_set() {
    let pe = r#"
const in = @get_dsd(fabin_dsd, .{ .extent = 1, .input_queue = iq });
const out = @get_dsd(fabout_dsd, .{ .extent = 1, .output_queue = oq });
task done() void { put(7); sys.unblock_cmd_stream(); }
fn run() void {
  route.reset_routes(c, .{ .rx = WEST, .tx = EAST });
  switching.set_rxtx_switch_pos2(c, RAMP, RAMP);
  switching.set_tx_switch_pos3(c, NORTH);
  switching.set_current_switch_position(c, 2);
  tile_config.teardown.exit(c);
  @mov16(out, 41, .{ .async = true });
  @mov16(&note[1], in, .{ .async = true, .activate = done });
}
comptime {
  @bind_local_task(done, @get_local_task_id(9));
  @initialize_queue(iq, .{ .color = c });
  @initialize_queue(oq, .{ .color = c });
}
"#;
    assert_eq!(notes(Arch::Wse3, 1, CLOSED, pe, 2), [[7, 41]]);
    let refused = compiled(
        Arch::Wse2,
        1,
        CLOSED,
        "fn run() void { switching.set_rxtx_switch_pos1(c, RAMP, RAMP); }",
    );
    refuses(
        refused,
        "<tile_config/switch_config> set_rxtx_switch_pos1 does not exist on wse2",
    );
}

const OWN_TASK: &str = r#"
const control = @import_module("<control>");
const out = @get_dsd(fabout_dsd, if (@is_arch("wse3")) .{ .extent = 1, .control = true, .output_queue = oq }
  else .{ .extent = 1, .control = true, .output_queue = oq, .fabric_color = c });
task torn_down() void {
  const pending = tile_config.teardown.get_pending();
  put(@as(u16, tile_config.teardown.is_pending(pending, c)));
  put(@as(u16, tile_config.teardown.is_pending(pending, @get_color(5))));
  put(@as(u16, tile_config.teardown.get_pending()));
  sys.unblock_cmd_stream();
}
fn run() void {
  @mov32(out, control.encode_single_payload(control.opcode.TEARDOWN, true, {}, 0), .{ .async = true });
}
comptime {
  @bind_local_task(torn_down, tile_config.teardown.get_task_id());
  if (@is_arch("wse3")) { @initialize_queue(oq, .{ .color = c }); }
}
"#;

#[test]
fn a_task_of_the_programs_own_reads_the_pending_teardowns_once() {
    let loose = "@set_color_config(x, 0, @get_color(4), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });";
    for arch in BOTH {
        assert_eq!(notes(arch, 1, loose, OWN_TASK, 3), [[1, 0, 0]]);
    }
}

#[test]
fn a_live_color_with_wavelets_in_the_router_cannot_be_configured() {
    let colors = "@set_color_config(x, 0, @get_color(4), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });";
    let pe = r#"
const out = @get_dsd(fabout_dsd, .{ .extent = 2, .output_queue = oq, .fabric_color = c });
task later() void {
  WRITE
  sys.unblock_cmd_stream();
}
fn run() void {
  @mov32(out, 1, .{ .async = true });
  @activate(@get_local_task_id(8));
}
comptime { @bind_local_task(later, @get_local_task_id(8)); }
"#;
    let refused =
        |write: &str| row(Arch::Wse2, 1, colors, &pe.replace("WRITE", write)).unwrap_err();
    let text = refused("route.reset_routes(c, .{ .rx = WEST, .tx = RAMP });");
    assert!(
        text.contains("color 4 is configured while it is live"),
        "{text}"
    );
    let text = refused("switching.set_ring_mode(c, switching.ring_mode.RING_MODE);");
    assert!(
        text.contains("color 4 is configured while it is live"),
        "{text}"
    );
    // What changes nothing, and tearing down, is harmless; the wavelets are left over then.
    let text = refused("switching.clear_current_position(c); tile_config.teardown.exit(c);");
    assert!(text.contains("torn down"), "{text}");
}

/// A vector on one color and, once it has left, another one on a second color of the same queue.
const FLUSH: &str = r#"
const d = @get_color(5);
const other_iq = @get_input_queue(4);
const out = @get_dsd(fabout_dsd, .{ .extent = 3, .output_queue = oq });
const in = @get_dsd(fabin_dsd, .{ .extent = 3, .input_queue = iq });
const other_in = @get_dsd(fabin_dsd, .{ .extent = 3, .input_queue = other_iq });
var got = @zeros([3]u32);
const got_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> got[i] });
const sent_id = @get_local_task_id(8);
const taken_id = @get_local_task_id(9);
const end_id = @get_local_task_id(10);
var flushes: u16 = 0;
fn empty() void {
  flushes += 1;
  tile_config.output_queue_config.encode_output_queue(@as(u16, 3), @get_int(d));
  EXIT
  if (flushes == 1) { @mov32(out, 6, .{ .async = true }); }
}
task sent() void { @queue_flush(oq); }
task taken() void {
  put(@as(u16, got[2]));
  @mov32(got_dsd, other_in, .{ .async = true, .activate = end_id });
}
task end() void {
  put(@as(u16, got[2]));
  put(flushes);
  put(tile_config.queue_flush.oq_status());
  const status = tile_config.output_queue_status.get();
  put(@as(u16, tile_config.output_queue_status.is_empty(status, oq)));
  put(@as(u16, tile_config.output_queue_status.all_full(status)));
  sys.unblock_cmd_stream();
}
fn run() void {
  @mov32(out, 5, .{ .async = true, .activate = sent_id });
  @mov32(got_dsd, in, .{ .async = true, .activate = taken_id });
}
comptime {
  @bind_local_task(sent, sent_id);
  @bind_local_task(taken, taken_id);
  @bind_local_task(end, end_id);
  @initialize_queue(iq, .{ .color = c });
  @initialize_queue(other_iq, .{ .color = d });
  @initialize_queue(oq, .{ .color = c });
  @set_empty_queue_handler(empty, oq);
}
"#;

const TWO_LOOPS: &str = "for ([2]u16{ 4, 5 }) |n| {
    @set_color_config(x, 0, @get_color(n), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } }); }";

#[test]
fn a_flushed_queue_calls_its_handler_when_it_is_empty_and_may_change_its_color() {
    let pe = FLUSH.replace("EXIT", "tile_config.queue_flush.exit(oq);");
    assert_eq!(
        notes(Arch::Wse3, 1, TWO_LOOPS, &pe, 6),
        [[5, 6, 1, 0, 1, 0]]
    );
}

#[test]
fn a_flush_that_is_not_left_shows_and_its_handler_is_called_by_later_events() {
    let pe = FLUSH.replace("EXIT", "");
    assert_eq!(notes(Arch::Wse3, 1, TWO_LOOPS, &pe, 4), [[5, 6, 1, 8]]);
    let again = pe.replace(
        "@mov32(got_dsd, other_in",
        "@queue_flush(other_iq); @mov32(got_dsd, other_in",
    );
    assert_eq!(notes(Arch::Wse3, 1, TWO_LOOPS, &again, 3)[0][2], 2);
}

#[test]
fn a_queue_that_holds_wavelets_keeps_its_color() {
    let pe = FLUSH
        .replace("EXIT", "")
        .replace("@queue_flush(oq);", "empty();");
    let closed = TWO_LOOPS.replace(".rx = .{ RAMP }", ".rx = .{ WEST }");
    let text = row(Arch::Wse3, 1, &closed, &pe).unwrap_err();
    assert!(
        text.contains("output queue 3 is bound to color 5 while it holds wavelets"),
        "{text}"
    );
}

#[test]
fn an_input_queue_takes_another_color_and_its_filter_if_told_so() {
    let pe = r#"
const d = @get_color(5);
const other_oq = @get_output_queue(2);
const out = @get_dsd(fabout_dsd, if (@is_arch("wse3")) .{ .extent = 3, .output_queue = oq }
  else .{ .extent = 3, .output_queue = oq, .fabric_color = c });
const other_out = @get_dsd(fabout_dsd, if (@is_arch("wse3")) .{ .extent = 3, .output_queue = other_oq }
  else .{ .extent = 3, .output_queue = other_oq, .fabric_color = d });
const in = @get_dsd(fabin_dsd, .{ .extent = 3, .input_queue = iq });
const one = @get_dsd(fabin_dsd, .{ .extent = COUNT, .input_queue = iq });
var from = [3]u32{ 1, 2, 3 };
var got = @zeros([3]u32);
const from_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> from[i] });
const got_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> got[i] });
const next_id = @get_local_task_id(8);
const end_id = @get_local_task_id(9);
task next() void {
  tile_config.input_queue_config.encode_input_queue(2, @get_int(d), FILTER);
  @mov32(got_dsd, one, .{ .async = true, .activate = end_id });
}
task end() void {
  put(@as(u16, got[0]));
  put(@as(u16, got[1]));
  put(@as(u16, got[2]));
  sys.unblock_cmd_stream();
}
fn run() void {
  @mov32(other_out, from_dsd, .{ .async = true });
  @mov32(out, 9, .{ .async = true });
  @mov32(got_dsd, in, .{ .async = true, .activate = next_id });
}
comptime {
  @bind_local_task(next, next_id);
  @bind_local_task(end, end_id);
  @initialize_queue(iq, .{ .color = c });
  @initialize_queue(oq, if (@is_arch("wse3")) .{ .color = c } else .{});
  @initialize_queue(other_oq, if (@is_arch("wse3")) .{ .color = d } else .{});
}
"#;
    let colors = "@set_color_config(x, 0, @get_color(4), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });
        @set_color_config(x, 0, @get_color(5), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } }, .filter =
            .{ .kind = .{ .counter = true }, .count_data = true, .init_counter = 0, .max_counter = 0, .limit1 = 2 } });";
    for arch in BOTH {
        let filtered = pe.replace("FILTER", "true").replace("COUNT", "1");
        assert_eq!(notes(arch, 1, colors, &filtered, 3), [[1, 9, 9]]);
        let open = pe.replace("FILTER", "false").replace("COUNT", "3");
        assert_eq!(notes(arch, 1, colors, &open, 3), [[1, 2, 3]]);
    }
}

#[test]
fn a_task_of_high_priority_goes_before_one_whose_turn_it_is() {
    let pe = r#"
const low_id = @get_local_task_id(8);
const high_id = @get_local_task_id(20);
const priority = tile_config.task_priority;
var rounds: u16 = 0;
task low() void {
  put(8);
  rounds += 1;
  if (rounds == 2) { sys.unblock_cmd_stream(); }
  else { priority.clear_task_priority(high_id); priority.update_task_priority(low_id, priority.level.HIGH); @activate(low_id); @activate(high_id); }
}
task high() void {
  put(20);
}
fn run() void {
  priority.set_task_priority(high_id);
  @activate(low_id);
  @activate(high_id);
}
comptime {
  @bind_local_task(low, low_id);
  @bind_local_task(high, high_id);
}
"#;
    for arch in BOTH {
        assert_eq!(notes(arch, 1, "", pe, 4), [[20, 8, 8, 20]]);
    }
}

#[test]
fn the_main_thread_waits_for_high_operations_unless_its_priority_is_high_too() {
    let pe = r#"
const out = @get_dsd(fabout_dsd, .{ .extent = 400, .output_queue = oq, .fabric_color = c });
const in = @get_dsd(fabin_dsd, .{ .extent = 400, .input_queue = iq });
const time = @import_module("<time>");
var from = @zeros([400]u32);
const from_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{400} -> from[i] });
var stamps = @zeros([6]u16);
fn run() void {
  const main = tile_config.main_thread_priority;
  main.update_main_thread_priority(main.level.LEVEL);
  time.enable_tsc();
  time.get_timestamp(@ptrcast(*[3]u16, &stamps[0]));
  @mov32(out, 1, .{ .async = true, .priority = .{ .high = true } });
  @mov32(from_dsd, in, .{ .async = true });
  for (@range(u16, 30)) |i| { note[5] += i; }
  time.get_timestamp(@ptrcast(*[3]u16, &stamps[3]));
  put(stamps[3] - stamps[0]);
  sys.unblock_cmd_stream();
}
comptime { @initialize_queue(iq, .{ .color = c }); }
"#;
    let loose = "@set_color_config(x, 0, @get_color(4), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });";
    let cycles = |level| notes(Arch::Wse2, 1, loose, &pe.replace("LEVEL", level), 1)[0][0];
    let slow = cycles("MEDIUM_LOW");
    let quick = cycles("HIGH");
    assert!(quick + 100 < slow, "{quick} and {slow} cycles");
    assert_eq!(cycles("MEDIUM"), slow);
}

#[test]
fn handlers_of_events_that_came_together_are_called_by_one_task() {
    let pe = r#"
const control = @import_module("<control>");
const time = @import_module("<time>");
const d = @get_color(5);
const other_oq = @get_output_queue(2);
const end_c = @get_dsd(fabout_dsd, if (@is_arch("wse3")) .{ .extent = 1, .control = true, .output_queue = oq }
  else .{ .extent = 1, .control = true, .output_queue = oq, .fabric_color = c });
const end_d = @get_dsd(fabout_dsd, if (@is_arch("wse3")) .{ .extent = 1, .control = true, .output_queue = other_oq }
  else .{ .extent = 1, .control = true, .output_queue = other_oq, .fabric_color = d });
const payload = control.encode_single_payload(control.opcode.TEARDOWN, true, {}, 0);
var stamp = @zeros([3]u16);
var calls: u16 = 0;
fn called() void {
  time.get_timestamp(&stamp);
  put(stamp[0]);
  calls += 1;
  if (calls == 2) { sys.unblock_cmd_stream(); }
}
fn on_c() void { called(); }
fn on_d() void { called(); }
fn run() void {
  time.enable_tsc();
  @mov32(end_c, payload, .{ .async = true });
  @mov32(end_d, payload, .{ .async = true });
  for (@range(u16, 100)) |i| { note[5] += i; }
}
comptime {
  @set_teardown_handler(on_c, c);
  @set_teardown_handler(on_d, d);
  if (@is_arch("wse3")) {
    @initialize_queue(oq, .{ .color = c });
    @initialize_queue(other_oq, .{ .color = d });
  }
}
"#;
    for arch in BOTH {
        let noted = &notes(arch, 1, TWO_LOOPS, pe, 2)[0];
        // A handler takes 22 cycles, and starting a task would take 20 more.
        assert_eq!(noted[1] - noted[0], 22);
    }
}

const BLOCKED: &str = r#"
const control = @import_module("<control>");
const end_c = @get_dsd(fabout_dsd, if (@is_arch("wse3")) .{ .extent = 1, .control = true, .output_queue = oq }
  else .{ .extent = 1, .control = true, .output_queue = oq, .fabric_color = c });
const system = tile_config.teardown.get_task_id();
var calls: u16 = 0;
fn on_c() void {
  calls += 1;
  sys.unblock_cmd_stream();
}
task later() void {
  for (@range(u16, 100)) |i| { note[5] += i; }
  put(calls);
  UNBLOCK
}
fn run() void {
  @block(system);
  @mov32(end_c, control.encode_single_payload(control.opcode.TEARDOWN, true, {}, 0),
    .{ .async = true, .activate = later });
}
comptime {
  @bind_local_task(later, @get_local_task_id(8));
  @set_teardown_handler(on_c, c);
  if (@is_arch("wse3")) { @initialize_queue(oq, .{ .color = c }); }
}
"#;

#[test]
fn teardowns_wait_for_their_handlers_while_the_system_task_is_blocked() {
    for arch in BOTH {
        let pe = BLOCKED.replace("UNBLOCK", "@unblock(system);");
        assert_eq!(notes(arch, 1, TWO_LOOPS, &pe, 1), [[0]]);
    }
    let pe = BLOCKED.replace("UNBLOCK", "");
    let stuck = row(Arch::Wse2, 1, TWO_LOOPS, &pe).unwrap_err();
    assert!(
        stuck.contains("local task 29 is active but blocked"),
        "{stuck}"
    );
}

#[test]
fn a_counter_filter_gets_new_numbers_between_two_streams() {
    let pe = r#"
const out = @get_dsd(fabout_dsd, if (@is_arch("wse3")) .{ .extent = 5, .output_queue = oq }
  else .{ .extent = 5, .output_queue = oq, .fabric_color = c });
var from = [5]u32{ 1, 2, 3, 4, 5 };
const from_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{5} -> from[i] });
const filters = tile_config.filters;
const id = @get_filter_id(FILTERED);
const wait_id = @get_local_task_id(8);
var waited: u16 = 0;
task take(value: u32) void { put(@as(u16, value)); }
task wait() void {
  waited += 1;
  if (waited == 40) {
    filters.set_active_limit(id, 1);
    filters.set_max_counter(id, 0);
    filters.set_counter(id, 1);
    @mov32(out, from_dsd, .{ .async = true });
  }
  if (waited == 80) { sys.unblock_cmd_stream(); } else { @activate(wait_id); }
}
fn run() void {
  @mov32(out, from_dsd, .{ .async = true, .activate = wait_id });
}
comptime {
  @bind_local_task(wait, wait_id);
  @bind_data_task(take, if (@is_arch("wse3")) @get_data_task_id(iq) else @get_data_task_id(c));
  @initialize_queue(iq, .{ .color = c });
  @initialize_queue(oq, if (@is_arch("wse3")) .{ .color = c } else .{});
}
"#;
    let colors = "@set_color_config(x, 0, @get_color(4), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } },
        .filter = .{ .kind = .{ .counter = true }, .count_data = true, .max_counter = 2, .limit1 = 9 } });";
    for arch in BOTH {
        let known = pe.replace("FILTERED", "c");
        assert_eq!(notes(arch, 1, colors, &known, 6), [[1, 2, 3, 2, 4, 0]]);
        let unknown = pe.replace("FILTERED", "@get_color(7)");
        let text = row(arch, 1, colors, &unknown).unwrap_err();
        assert!(
            text.contains("color 7 has no counter filter on this PE"),
            "{text}"
        );
    }
}
