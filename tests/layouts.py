"""Layouts in Python for tests: small programs, and running them with fabsim's stand-ins."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

ARCHS = ["wse2", "wse3"]

QUEUES = """
const in_queue = @get_input_queue(2);
const out_queue = @get_output_queue(3);
"""

# Adds a number to what arrives and passes it on.
RELAY = """
param count: u16;
param rx: u16;
param tx: u16;
param plus: u16;
{QUEUES}
const from = @get_dsd(fabin_dsd, .{
  .extent = count, .input_queue = in_queue, .fabric_color = @get_color(rx) });
const to = @get_dsd(fabout_dsd, .{
  .extent = count, .output_queue = out_queue, .fabric_color = @get_color(tx) });
task begin() void { @fadds(to, from, @as(f32, plus), .{ .async = true }); }
comptime {
  @bind_local_task(begin, @get_local_task_id(9));
  @activate(@get_local_task_id(9));
  @initialize_queue(in_queue, .{ .color = @get_color(rx) });
  if (@is_arch("wse3")) { @initialize_queue(out_queue, .{ .color = @get_color(tx) }); }
}
"""

# Sends the words of `data`, which the layout sets; then moves the color's switches, if asked to.
SOURCE = """
param count: u16;
param tx: u16;
param advance: u16 = 0;
const control = @import_module("<control>");
{QUEUES}
export var data = @zeros([count]f32);
const mine = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{count} -> data[i] });
const to = @get_dsd(fabout_dsd, .{
  .extent = count, .output_queue = out_queue, .fabric_color = @get_color(tx) });
const command = @get_dsd(fabout_dsd, .{
  .extent = 1, .output_queue = out_queue, .fabric_color = @get_color(tx), .control = true });
task begin() void { @fmovs(to, mine, .{ .async = true, .activate = turn }); }
task turn() void {
  if (advance != 0) {
    @mov32(command, control.encode_single_payload(control.opcode.SWITCH_ADV, true, {}, 0));
  }
}
const turn_id = @get_local_task_id(10);
comptime {
  @bind_local_task(begin, @get_local_task_id(9));
  @bind_local_task(turn, turn_id);
  @activate(@get_local_task_id(9));
  if (@is_arch("wse3")) { @initialize_queue(out_queue, .{ .color = @get_color(tx) }); }
}
"""

# Keeps what arrives.
SINK = """
param count: u16;
param rx: u16;
{QUEUES}
export var data = @zeros([count]f32);
const mine = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{count} -> data[i] });
const from = @get_dsd(fabin_dsd, .{
  .extent = count, .input_queue = in_queue, .fabric_color = @get_color(rx) });
task begin() void { @fmovs(mine, from, .{ .async = true }); }
comptime {
  @bind_local_task(begin, @get_local_task_id(9));
  @activate(@get_local_task_id(9));
  @initialize_queue(in_queue, .{ .color = @get_color(rx) });
}
"""

PROGRAMS = {"relay.csl": RELAY, "source.csl": SOURCE, "sink.csl": SINK}


@dataclass
class Bench:
    """The stand-ins' names, and layouts made with them in a directory that holds the programs."""

    sdk: Any
    directory: Path
    vector: Callable[[int, int], Any]
    rectangle: Callable[[Any, Any], Any]
    runtimes: list[Any] = field(default_factory=list)

    def platform(self, arch: str) -> Any:
        return self.sdk.get_platform(None, None, self.sdk.SdkTarget[arch.upper()])

    def layout(self, arch: str) -> Any:
        return self.sdk.SdkLayout(self.platform(arch))

    def position(self, inputs: str = "", outputs: str = "") -> Any:
        """A routing position from the names of directions."""
        routes = self.sdk.Route
        position = self.sdk.RoutingPosition()
        position.set_input([routes[name] for name in inputs.split()])
        return position.set_output([routes[name] for name in outputs.split()])

    def relay(self, layout: Any, name: str, count: int, plus: int) -> tuple[Any, Any, Any]:
        """A region of one PE that adds a number, with its ports."""
        region = layout.create_code_region("relay.csl", name, 1, 1)
        rx, tx = region.color("rx"), region.color("tx")
        for value in (rx, tx):
            region.set_param_all(value)
        region.set_param_all("count", count)
        region.set_param_all("plus", plus)
        edge = self.sdk.Edge
        into = region.create_input_port(rx, edge.LEFT, [self.position(outputs="RAMP")], count)
        out = region.create_output_port(tx, edge.RIGHT, [self.position("RAMP")], count)
        return region, into, out

    def run(self, layout: Any, arch: str) -> Any:
        """Compile, load and start."""
        artifacts = layout.compile("out")
        runtime = self.sdk.SdkRuntime(artifacts, self.platform(arch), memcpy_required=False)
        runtime.load()
        runtime.run()
        return runtime


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.syspath_prepend(str(files("fabsim").joinpath("drop_in")))
    monkeypatch.chdir(tmp_path)
    for name, text in PROGRAMS.items():
        (tmp_path / name).write_text(text.replace("{QUEUES}", QUEUES))
    sdk = import_module("cerebras.sdk.runtime.sdkruntimepybind")
    geometry = import_module("cerebras.geometry.geometry")
    assert "cerebras" in sys.modules
    return Bench(sdk, tmp_path, geometry.IntVector, geometry.IntRectangle)
