"""Layouts in Python: what they connect arrives, on both architectures."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from layouts import ARCHS, Bench, bench

__all__ = ["bench"]

TOOL = Path(__file__).parents[2] / "fabsim" / "tools" / "conformance.py"


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("places", [None, ((0, 0), (6, 5)), ((3, 2), (3, 2))])
def test_streams_reach_a_port_wherever_they_begin(bench: Bench, arch: str, places) -> None:
    layout = bench.layout(arch)
    region, into, out = bench.relay(layout, "relay", 40, 2)
    region.place(3, 2)
    first, last = [bench.vector(*place) for place in places] if places else (None, None)
    sends = layout.create_input_stream(into, io_loc=first)
    receives = layout.create_output_stream(out, io_loc=last)
    runtime = bench.run(layout, arch)
    data, found = np.arange(40, dtype=np.float32), np.zeros(40, np.float32)
    runtime.send(sends, data, nonblock=True)
    runtime.receive(runtime.get_port_id(receives), found, 40, nonblock=False)
    np.testing.assert_array_equal(found, data + 2)
    runtime.stop()


@pytest.mark.parametrize("arch", ARCHS)
def test_tasks_of_one_stream_follow_each_other(bench: Bench, arch: str) -> None:
    layout = bench.layout(arch)
    _, into, out = bench.relay(layout, "relay", 30, 1)
    sends, receives = layout.create_input_stream(into), layout.create_output_stream(out)
    runtime = bench.run(layout, arch)
    data, one, other = np.arange(30, dtype=np.float32), *np.zeros((2, 20), np.float32)
    first = runtime.receive(receives, one, 12, nonblock=True)
    second = runtime.receive(receives, other, 18, nonblock=True)
    assert not runtime.is_task_done(first)
    runtime.send(sends, data, 10, nonblock=True)
    assert not runtime.is_task_done(first)
    runtime.send(sends, data[10:], nonblock=True)
    while not runtime.is_task_done(second):
        pass
    np.testing.assert_array_equal(np.hstack([one[:12], other[:18]]), data + 1)
    assert not one[12:].any()
    assert runtime.is_task_done(first)
    runtime.task_wait(first)
    runtime.stop()


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("seed", range(6))
def test_random_chains_of_regions_deliver(bench: Bench, arch: str, seed: int) -> None:
    """Relays anywhere, in chains that cross each other: every chain adds up its own numbers."""
    rng = random.Random(seed)
    layout = bench.layout(arch)
    places = rng.sample([(x, y) for x in range(0, 12, 2) for y in range(0, 10, 2)], 12)
    chains, count = [], 25
    for number in range(rng.randint(2, 4)):
        length = rng.randint(1, 3)
        chain = []
        for at in range(length):
            region, *ports = bench.relay(layout, f"r{number}_{at}", count, 10 * number + at)
            region.place(*places.pop())
            chain.append(ports)
        for (_, out), (into, _) in pairwise(chain):
            layout.connect(out, into)
        ends = layout.create_input_stream(chain[0][0]), layout.create_output_stream(chain[-1][1])
        chains.append((ends, sum(10 * number + at for at in range(length))))
    runtime = bench.run(layout, arch)
    data = np.arange(count, dtype=np.float32)
    found = np.zeros((len(chains), count), np.float32)
    for row, ((sends, receives), _) in enumerate(chains):
        runtime.send(sends, data + 100 * row, nonblock=True)
        runtime.receive(receives, found[row], count, nonblock=True)
    runtime.stop()
    for row, (_, plus) in enumerate(chains):
        np.testing.assert_array_equal(found[row], data + 100 * row + plus)


@pytest.mark.parametrize("arch", ARCHS)
def test_a_row_of_pes_is_connected_pe_by_pe_around_a_corner(bench: Bench, arch: str) -> None:
    layout, edge = bench.layout(arch), bench.sdk.Edge
    source = layout.create_code_region("source.csl", "source", 1, 3)
    sink = layout.create_code_region("sink.csl", "sink", 3, 1)
    tx, rx = source.color("tx"), sink.color("rx")
    source.set_param_all(tx)
    sink.set_param_all("rx", rx)
    for region in (source, sink):
        region.set_param_all("count", 4)
    data = np.arange(12, dtype=np.float32) + 1
    source.set_symbol_all("data", data, 4, 3)
    out = source.create_output_port(tx, edge.RIGHT, [bench.position("RAMP")], 12)
    into = sink.create_input_port(rx, edge.BOTTOM, [bench.position(outputs="RAMP")], 12)
    layout.connect(out, into)
    source.place(0, 4)
    sink.place(4, 0)
    runtime = bench.run(layout, arch)
    runtime.stop()
    found = [runtime.read_symbol(4 + x, 0, "data", "float32") for x in range(3)]
    np.testing.assert_array_equal(found, data.reshape(3, 4))


@pytest.mark.parametrize("arch", ARCHS)
def test_painted_routes_carry_a_broadcast(bench: Bench, arch: str) -> None:
    """One PE of a region is another program's; the others take the data and pass it on."""
    layout, sdk = bench.layout(arch), bench.sdk
    color = sdk.Color("shared")
    source = layout.create_code_region("source.csl", "source", 1, 1)
    source.set_param_all("tx", color)
    source.paint_all(color, [bench.position("RAMP", "EAST")])
    sinks = layout.create_code_region("sink.csl", "sinks", 4, 1)
    sinks.set_param_range(bench.rectangle(bench.vector(0, 0), bench.vector(4, 1)), "rx", color)
    last = sdk.get_edge_routing(sdk.Edge.RIGHT, [bench.position("WEST", "RAMP")])
    sinks.paint_all(color, [bench.position("WEST", "RAMP EAST")], [last])
    assert layout.hstack([source, sinks], bench.vector(2, 1)) == 5
    for region in (source, sinks):
        region.set_param(bench.vector(0, 0), "count", 9)
        region.set_param_all("count", 5)
    data = np.linspace(0, 1, 5, dtype=np.float32)
    source.set_symbol_all("data", data, 5, 1)
    runtime = bench.run(layout, arch)
    runtime.stop()
    for x in range(3, 7):
        np.testing.assert_array_equal(runtime.read_symbol(x, 1, "data", "float32"), data)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("at_the_port", [False, True])
def test_switches_collect_one_pe_after_the_other(
    bench: Bench, arch: str, at_the_port: bool
) -> None:
    layout, sdk = bench.layout(arch), bench.sdk
    region = layout.create_code_region("source.csl", "stack", 1, 4)
    tx = region.color("tx")
    region.set_param_all(tx)
    region.set_param_all("count", 6)
    region.set_param_all("advance", 1)
    data = np.arange(24, dtype=np.float32)
    region.set_symbol_all("data", data, 6, 4)
    own, below = bench.position("RAMP", "NORTH"), bench.position("SOUTH", "NORTH")
    region.paint_all(tx, [own, below], [sdk.get_edge_routing(sdk.Edge.BOTTOM, [own])])
    ends = [bench.position("RAMP"), bench.position("SOUTH")]
    out = region.create_output_port(tx, sdk.Edge.TOP, ends, 24)
    region.place(2, 3)
    place = bench.vector(2, 3) if at_the_port else None
    stream = layout.create_output_stream(out, io_loc=place)
    runtime = bench.run(layout, arch)
    found = np.zeros(24, np.float32)
    runtime.receive(stream, found, 24)
    np.testing.assert_array_equal(found, data)
    runtime.stop()


@pytest.mark.parametrize("arch", ARCHS)
def test_streams_take_over_painted_routes(bench: Bench, arch: str) -> None:
    layout = bench.layout(arch)
    region = layout.create_code_region("relay.csl", "relay", 1, 1)
    rx, tx = bench.sdk.Color("rx", 5), bench.sdk.Color("tx", 11)
    for color in (rx, tx):
        region.set_param_all(color)
    region.set_param_all("count", 3)
    region.set_param_all("plus", 1)
    region.paint_all(rx, [bench.position("WEST", "RAMP")])
    region.paint_all(tx, [bench.position("RAMP", "EAST")])
    place = bench.vector(0, 4)
    region.place(0, 4)
    sends = layout.create_input_stream_from_loc(place, rx, prefix="to_")
    receives = layout.create_output_stream_from_loc(place, tx)
    runtime = bench.run(layout, arch)
    found = np.zeros(3, np.float32)
    runtime.send(sends, np.ones(3, np.float32))
    runtime.receive(receives, found, 3)
    assert found.tolist() == [2, 2, 2]
    runtime.stop()
    colors = json.loads(Path("out", "colors.json").read_text())
    assert colors == {"rx": 5, "tx": 11}


KEEP = """
param x: u16;
export var kept: u16;
task keep() void { kept = x; }
comptime { @bind_local_task(keep, @get_local_task_id(9)); @activate(@get_local_task_id(9)); }
"""


def test_the_platform_asks_for_a_core_and_artifacts_are_found_again(bench: Bench) -> None:
    sdk = bench.sdk
    config = sdk.SimfabConfig(dump_core=True, core_path="my.core")
    platform = sdk.get_platform(None, config, sdk.SdkTarget.WSE2)
    layout = sdk.SdkLayout(sdk.SdkTarget.WSE2)
    (bench.directory / "keep.csl").write_text(KEEP)
    region = layout.create_code_region("keep.csl", "keep", 2, 1)
    for x in range(2):
        region.set_param(bench.vector(x, 0), "x", x + 7)
    layout.compile("out")
    artifacts = sdk.SdkCompileArtifacts("out")
    runtime = sdk.SdkRuntime(artifacts, platform, memcpy_required=False)
    runtime.load()
    runtime.run()
    runtime.stop()
    assert [runtime.read_symbol(x, 0, "kept", "uint16")[0] for x in range(2)] == [7, 8]
    assert Path("my.core").is_file()


def test_the_runner_replaces_placeholders_only_where_asked(tmp_path: Path) -> None:
    program = tmp_path / "suite" / "program"
    program.mkdir(parents=True)
    (program / "commands_wse2.sh").write_text("set -e\n\n%python_sdk_paint --arch=wse2\n")
    (program / "run.py").write_text("import sys\nassert sys.argv[1:] == ['--arch=wse2']\n")
    command = [sys.executable, str(TOOL), str(tmp_path / "suite")]
    plain = subprocess.run(command, capture_output=True, text=True, check=False)
    assert plain.returncode == 1
    assert "line 3 is the placeholder %python_sdk_paint, which bash cannot run" in plain.stdout
    changed = subprocess.run(
        [*command, "--layout-programs"], capture_output=True, text=True, check=False
    )
    assert changed.returncode == 0, changed.stdout
    assert changed.stdout.startswith("pass*")
