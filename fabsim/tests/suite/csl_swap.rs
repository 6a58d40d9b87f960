//! Color swap on wse2: which color a wavelet has after it has arrived.

use crate::csl_support::*;
use fabsim::csl::CompileOptions;
use fabsim::host::{SimOptions, Simulator};
use fabsim::program::Arch;
use std::sync::Arc;

/// PE 0 sends 5 on color 4 and 7 on color 5 to PE 1, which adds up what comes on each; the
/// configurations of the colors 4 and 5 of PE 0 and PE 1.
fn sums(first: [&str; 2], second: [&str; 2]) -> Result<[u32; 4], String> {
    let layout = format!(
        "const memcpy = @import_module(\"<memcpy/get_params>\", .{{ .width = 2, .height = 1 }});
         layout {{ @set_rectangle(2, 1);
         for (@range(u16, 2)) |x| {{
           @set_tile_code(x, 0, \"pe.csl\", .{{ .memcpy_params = memcpy.get_params(x), .first = x == 0 }}); }}
         @set_color_config(0, 0, @get_color(4), .{{ .routes = .{{ {} }} }});
         @set_color_config(0, 0, @get_color(5), .{{ .routes = .{{ {} }} }});
         @set_color_config(1, 0, @get_color(4), .{{ .routes = .{{ {} }} }});
         @set_color_config(1, 0, @get_color(5), .{{ .routes = .{{ {} }} }});
         @export_name(\"sums\", [*]u32, true); @export_name(\"run\", fn()void); }}",
        first[0], first[1], second[0], second[1]
    );
    let pe = r#"
param memcpy_params;
param first: bool;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
const four = @get_dsd(fabout_dsd, .{ .extent = 1, .output_queue = @get_output_queue(2), .fabric_color = @get_color(4) });
const five = @get_dsd(fabout_dsd, .{ .extent = 1, .output_queue = @get_output_queue(3), .fabric_color = @get_color(5) });
var sums = @zeros([2]u32);
var ptr: [*]u32 = &sums;
task on_four(value: u32) void { sums[0] += value; }
task on_five(value: u32) void { sums[1] += value; }
fn run() void {
  if (first) {
    @mov32(four, 5, .{ .async = true });
    @mov32(five, 7, .{ .async = true });
  }
  sys.unblock_cmd_stream();
}
comptime {
  @bind_data_task(on_four, @get_data_task_id(@get_color(4)));
  @bind_data_task(on_five, @get_data_task_id(@get_color(5)));
  @export_symbol(ptr, "sums");
  @export_symbol(run);
}
"#;
    let options = CompileOptions::new(Arch::Wse2);
    let design = accepts(compile(
        &[("layout.csl", &layout), ("pe.csl", pe)],
        &options,
    ));
    let text = |e: fabsim::report::SimError| e.to_string();
    let mut sim = Simulator::new(Arc::new(design), SimOptions::default()).map_err(text)?;
    sim.launch("run", &[]).map_err(text)?;
    let found = sim.memcpy_d2h("sums", 0, 0, 2, 1, 2, false, false);
    let found = found.map_err(text)?;
    sim.stop().map_err(text)?;
    Ok([found[0], found[1], found[2], found[3]])
}

const SEND: &str = ".rx = .{ RAMP }, .tx = .{ EAST }";
const TAKE: &str = ".rx = .{ WEST }, .tx = .{ RAMP }";
const TAKE_SWAPPED: &str = ".rx = .{ WEST }, .tx = .{ RAMP }, .color_swap_x = true";
const TAKE_SWAPPED_Y: &str = ".rx = .{ WEST }, .tx = .{ RAMP }, .color_swap_y = true";

#[test]
fn two_colors_that_both_swap_are_exchanged_on_arrival_along_the_axis() {
    let plain = sums([SEND, SEND], [TAKE, TAKE]);
    assert_eq!(plain, Ok([0, 0, 5, 7]));
    let swapped = sums([SEND, SEND], [TAKE_SWAPPED, TAKE_SWAPPED]);
    assert_eq!(swapped, Ok([0, 0, 7, 5]));
    let other_axis = sums([SEND, SEND], [TAKE_SWAPPED_Y, TAKE_SWAPPED_Y]);
    assert_eq!(other_axis, Ok([0, 0, 5, 7]));
}

#[test]
fn a_color_that_swaps_alone_also_gets_what_arrives_on_its_partner() {
    let four_alone = sums([SEND, SEND], [TAKE_SWAPPED, TAKE]);
    assert_eq!(four_alone, Ok([0, 0, 12, 7]));
}

#[test]
fn what_a_compute_element_sends_is_swapped_where_both_axes_are() {
    let both = ".rx = .{ RAMP }, .tx = .{ RAMP, EAST }, .color_swap_x = true, .color_swap_y = true";
    assert_eq!(sums([both, both], [TAKE, TAKE]), Ok([7, 5, 7, 5]));
    let one = ".rx = .{ RAMP }, .tx = .{ RAMP, EAST }, .color_swap_x = true";
    assert_eq!(sums([one, one], [TAKE, TAKE]), Ok([5, 7, 5, 7]));
}

#[test]
fn a_copy_that_finds_no_way_holds_the_wavelet_back_and_is_named() {
    let nowhere = ".rx = .{ EAST }, .tx = .{ RAMP }, .color_swap_x = true";
    let text = sums([SEND, SEND], [nowhere, TAKE]).unwrap_err();
    assert!(text.contains("color 5: wavelet from RAMP waits"), "{text}");
}
