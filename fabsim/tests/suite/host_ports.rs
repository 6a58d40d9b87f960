//! Ports: the host sends and receives at single PEs, several transfers at once.

use crate::csl_support::*;
use fabsim::csl::CompileOptions;
use fabsim::host::{SimOptions, Simulator, VisitOrder};
use fabsim::program::Arch;
use std::sync::Arc;

/// PE (0, 0) adds a number to what it gets from the host on color 1 and sends it east on color 2.
const LAYOUT: &str = r#"
layout {
  @set_rectangle(2, 1);
  @set_tile_code(0, 0, "pe.csl");
  @set_tile_code(1, 0);
  @set_color_config(0, 0, @get_color(1), .{ .routes = .{ .rx = .{}, .tx = .{ RAMP } } });
  @set_color_config(0, 0, @get_color(2), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } });
  @set_color_config(1, 0, @get_color(2), .{ .routes = .{ .rx = .{ WEST }, .tx = .{} } });
}
"#;

const PE: &str = r#"
const control = @import_module("<control>");
const in_queue = @get_input_queue(2);
const out_queue = @get_output_queue(3);
const from = @get_dsd(fabin_dsd, .{ .extent = 12, .input_queue = in_queue });
const to = @get_dsd(fabout_dsd, .{
  .extent = 12, .output_queue = out_queue, .fabric_color = @get_color(2) });
const command = @get_dsd(fabout_dsd, .{
  .extent = 1, .output_queue = out_queue, .fabric_color = @get_color(2), .control = true });
export var plus = @zeros([2]u16);
task begin() void { @add16(to, from, plus[1], .{ .async = true, .activate = finish }); }
task last() void { @mov32(command, control.encode_single_payload(control.opcode.NOP, true, {}, 0)); }
const finish = @get_local_task_id(10);
comptime {
  @bind_local_task(begin, @get_local_task_id(9));
  @bind_local_task(last, finish);
  @activate(@get_local_task_id(9));
  @initialize_queue(in_queue, .{ .color = @get_color(1) });
  if (@is_arch("wse3")) { @initialize_queue(out_queue, .{ .color = @get_color(2) }); }
}
"#;

fn simulator(arch: Arch, visit_order: VisitOrder) -> Simulator {
    let options = CompileOptions {
        memcpy: false,
        ..CompileOptions::new(arch)
    };
    let design = accepts(compile(&[("layout.csl", LAYOUT), ("pe.csl", PE)], &options));
    let options = SimOptions {
        visit_order,
        ..SimOptions::default()
    };
    let mut made = Simulator::new(Arc::new(design), options).unwrap_or_else(|e| panic!("{e}"));
    made.write_variable("plus", 0, 0, &[0, 0, 7, 1])
        .unwrap_or_else(|e| panic!("{e}"));
    made
}

#[test]
fn transfers_go_on_side_by_side_whatever_is_visited_first() {
    for arch in BOTH {
        let mut ends = Vec::new();
        for order in [
            VisitOrder::AsWoken,
            VisitOrder::Reversed,
            VisitOrder::Shuffled(3),
        ] {
            let mut sim = simulator(arch, order);
            let go = &mut |_| true;
            let first = sim.begin_receive(1, 0, 2, 5).unwrap();
            let second = sim.begin_receive(1, 0, 2, 7).unwrap();
            assert_eq!(sim.poll_transfer(first, go), Ok(false));
            let sent = sim.begin_send(0, 0, 1, (0..12).collect()).unwrap();
            let words: Vec<u32> = (263..275).collect();
            assert_eq!(sim.finish_transfer(second, go), Ok(words[5..].to_vec()));
            assert_eq!(sim.is_transfer_done(first), Ok(true));
            assert_eq!(sim.finish_transfer(first, go), Ok(words[..5].to_vec()));
            assert_eq!(sim.finish_transfer(sent, go), Ok(Vec::new()));
            // The control wavelet at the end is for no compute element, so it ends at the port.
            ends.push(sim.stop().map(|report| report.cycles));
        }
        assert!(ends[0].is_ok(), "{ends:?}");
        assert!(ends.iter().all(|end| *end == ends[0]), "{ends:?}");
    }
}

#[test]
fn what_is_no_port_or_no_transfer_is_refused() {
    let mut sim = simulator(Arch::Wse2, VisitOrder::AsWoken);
    for (x, y, color) in [(1, 0, 1), (0, 0, 2), (2, 0, 1), (0, 0, 99)] {
        let refused = sim.begin_send(x, y, color, vec![1]).unwrap_err();
        assert!(refused.to_string().contains("is no port that comes from"));
        assert_eq!(refused.kind(), "host");
    }
    let refused = sim.begin_receive(0, 0, 1, 1).unwrap_err();
    assert!(refused.to_string().contains("is no port that leads to"));
    let nothing = sim.begin_send(0, 0, 1, Vec::new()).unwrap();
    assert_eq!(sim.finish_transfer(nothing, &mut |_| true), Ok(Vec::new()));
    let unknown = fabsim::host::TransferId(7);
    assert!(sim.finish_transfer(unknown, &mut |_| true).is_err());
    assert!(sim.write_variable("plus", 0, 0, &[1, 2]).is_err());
    assert!(sim.write_variable("minus", 0, 0, &[1, 2]).is_err());
    assert!(sim.write_variable("plus", 5, 0, &[1, 2]).is_err());
}

#[test]
fn a_transfer_that_cannot_end_is_reported_with_all_others() {
    let mut sim = simulator(Arch::Wse3, VisitOrder::AsWoken);
    let received = sim.begin_receive(1, 0, 2, 20).unwrap();
    sim.begin_send(0, 0, 1, (0..40).collect()).unwrap();
    let stuck = sim.finish_transfer(received, &mut |_| true).unwrap_err();
    let text = stuck.to_string();
    assert_eq!(stuck.kind(), "stuck");
    assert!(text.contains("12 of 20 wavelets received from color 2 of PE (1, 0)"));
    assert!(text.contains("of 40 wavelets sent to color 1 of PE (0, 0)"));
}
