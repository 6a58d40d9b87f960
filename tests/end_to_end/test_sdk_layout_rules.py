"""Layouts in Python: what is impossible is refused with its reason, and values of colors fit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fabsim import CslError, SimulationError
from layouts import ARCHS, Bench, bench

__all__ = ["bench"]


def source(bench: Bench, layout, name: str, height: int = 1, size: int = 4):
    """A region that sends, and its port on the right."""
    region = layout.create_code_region("source.csl", name, 1, height)
    tx = region.color("tx")
    region.set_param_all(tx)
    region.set_param_all("count", 4)
    edge = bench.sdk.Edge.RIGHT
    return region, region.create_output_port(tx, edge, [bench.position("RAMP")], size)


def sink(bench: Bench, layout, name: str, height: int = 1, value: int | None = None):
    """A region that receives, and its port on the left."""
    region = layout.create_code_region("sink.csl", name, 1, height)
    rx = region.color("rx", value)
    region.set_param_all(rx)
    region.set_param_all("count", 4)
    edge = bench.sdk.Edge.LEFT
    return region, region.create_input_port(rx, edge, [bench.position(outputs="RAMP")], 4)


def test_regions_must_not_overlap(bench: Bench) -> None:
    layout = bench.layout("wse2")
    layout.create_code_region("sink.csl", "one", 2, 2)
    layout.create_code_region("sink.csl", "other", 1, 1).place(1, 1)
    with pytest.raises(ValueError, match=r"'one' and 'other' overlap at \(1, 1\)"):
        layout.compile("out")


def test_ports_are_connected_in_their_direction_once_and_alike(bench: Bench) -> None:
    layout = bench.layout("wse2")
    _, out = source(bench, layout, "a")
    _, tall = source(bench, layout, "b", height=2)
    _, large = source(bench, layout, "c", size=5)
    _, into = sink(bench, layout, "d")
    with pytest.raises(ValueError, match="in this order"):
        layout.connect(into, out)
    with pytest.raises(ValueError, match="sends 5 wavelets, port 'd_rx' takes 4"):
        layout.connect(large, into)
    with pytest.raises(ValueError, match="has 2 PEs, port 'd_rx' 1"):
        layout.connect(tall, into)
    with pytest.raises(ValueError, match="a stream takes one"):
        layout.create_output_stream(tall)
    with pytest.raises(ValueError, match="is not an input port"):
        layout.create_input_stream(out)
    layout.connect(out, into)
    with pytest.raises(ValueError, match="'d_rx' is connected twice"):
        layout.create_input_stream(into)


def test_ports_must_lead_somewhere(bench: Bench) -> None:
    layout = bench.layout("wse2")
    source(bench, layout, "a")
    with pytest.raises(ValueError, match="'a_tx' is connected to nothing"):
        layout.compile("out")


def test_ports_give_one_side_of_their_routes(bench: Bench) -> None:
    region = bench.layout("wse2").create_code_region("sink.csl", "a", 1, 1)
    color, edge = bench.sdk.Color("rx"), bench.sdk.Edge.TOP
    with pytest.raises(ValueError, match="outputs only"):
        region.create_input_port(color, edge, [bench.position("WEST", "RAMP")], 4)
    with pytest.raises(ValueError, match="inputs only"):
        region.create_output_port(color, edge, [bench.position(outputs="RAMP")], 4)
    with pytest.raises(ValueError, match="one to four routing positions"):
        region.create_output_port(color, edge, [], 4)
    region.create_output_port(color, edge, [bench.position("RAMP")], 4)
    with pytest.raises(ValueError, match="there is a port 'a_rx' already"):
        region.create_output_port(color, edge, [bench.position("RAMP")], 4)
    region.create_output_port(color, edge, [bench.position("RAMP")], 4, "second_")


def test_parameters_and_routes_stay_inside_their_region(bench: Bench) -> None:
    region = bench.layout("wse2").create_code_region("sink.csl", "a", 2, 1)
    color = bench.sdk.Color("c")
    with pytest.raises(ValueError, match=r"2 x 1 has no PE \(2, 0\)"):
        region.set_param(bench.vector(2, 0), "count", 4)
    corners = bench.vector(0, 0), bench.vector(2, 2)
    with pytest.raises(ValueError, match=r"has no PE \(0, 1\)"):
        region.paint_range(bench.rectangle(*corners), color, [bench.position("RAMP", "EAST")])
    with pytest.raises(ValueError, match="no name of a parameter"):
        region.set_param_all("a = 1, .b", 4)
    with pytest.raises(TypeError, match="an integer or a Color"):
        region.set_param_all("count", 1.5)
    with pytest.raises(ValueError, match="do not go evenly onto the 2 x 1 PEs"):
        region.set_symbol_all("data", np.zeros(9, np.float32), 3, 3)


def test_given_values_must_fit_each_other(bench: Bench) -> None:
    layout, sdk = bench.layout("wse2"), bench.sdk
    region = layout.create_code_region("sink.csl", "a", 1, 1)
    region.set_param_all("rx", sdk.Color("one", 3))
    region.set_param_all("count", sdk.Color("other", 3))
    with pytest.raises(ValueError, match=r"\(0, 0\) uses the colors 'one' and 'other', which both"):
        layout.compile("out")
    with pytest.raises(ValueError, match="two values: 3, 4"):
        region.set_param_all("rx", sdk.Color("one", 4))
    with pytest.raises(ValueError, match="0 to 23"):
        sdk.Color("c", 24)


def test_connected_colors_must_have_one_value(bench: Bench) -> None:
    layout = bench.layout("wse2")
    region = layout.create_code_region("source.csl", "a", 1, 1)
    tx = region.color("tx", 2)
    region.set_param_all(tx)
    out = region.create_output_port(tx, bench.sdk.Edge.RIGHT, [bench.position("RAMP")], 4)
    other, into = sink(bench, layout, "b", value=5)
    other.place(2, 0)
    layout.connect(out, into)
    with pytest.raises(ValueError, match="one color, but they have the values 2 and 5"):
        layout.compile("out")


@pytest.mark.parametrize("arch", ARCHS)
def test_colors_that_meet_differ_and_run_out_in_the_end(bench: Bench, arch: str) -> None:
    (bench.directory / "many.csl").write_text("".join(f"param c{n}: u16;\n" for n in range(25)))
    layout, sdk = bench.layout(arch), bench.sdk
    region = layout.create_code_region("many.csl", "many", 1, 1)
    region.set_param_all("c24", 0)
    for n in range(24):
        region.set_param_all(sdk.Color(f"c{n}"))
    layout.compile("out")
    values = json.loads(Path("out", "colors.json").read_text())
    assert sorted(values.values()) == list(range(24))
    region.set_param_all(sdk.Color("c24"))
    with pytest.raises(ValueError, match="no value is left for color"):
        layout.compile("out")


def test_on_wse3_switched_colors_get_values_that_have_switches(bench: Bench) -> None:
    layout, sdk = bench.layout("wse3"), bench.sdk
    (bench.directory / "none.csl").write_text("comptime {}\n")
    region = layout.create_code_region("none.csl", "none", 1, 1)
    two = [bench.position("RAMP", "EAST"), bench.position("WEST", "EAST")]
    for n in range(14):
        region.paint_all(sdk.Color(f"switched{n}"), two)
        if n % 2:
            region.paint_all(sdk.Color(f"plain{n}"), two[:1])
    layout.compile("out")
    values = json.loads(Path("out", "colors.json").read_text())
    switched = {value for name, value in values.items() if name.startswith("switched")}
    assert not switched & {10, 11, 14, 15, 18, 19, 22, 23}
    assert len(set(values.values())) == 21
    region.paint_all(sdk.Color("given", 11), two)
    with pytest.raises(ValueError, match="the value 11 has no switches on wse3"):
        layout.compile("out")


def test_a_switch_of_wse2_changes_one_side(bench: Bench) -> None:
    (bench.directory / "none.csl").write_text("comptime {}\n")
    two = [bench.position("RAMP", "EAST"), bench.position("WEST", "RAMP")]
    for arch in ARCHS:
        layout = bench.layout(arch)
        region = layout.create_code_region("none.csl", "none", 1, 1)
        region.paint_all(bench.sdk.Color("c"), two)
        if arch == "wse2":
            with pytest.raises(ValueError, match=r"PE \(0, 0\), color 'c': position 2 changes"):
                layout.compile("out")
        else:
            layout.compile("out")


def test_a_connection_needs_a_way_clear_of_its_own_color(bench: Bench) -> None:
    """A row of PEs cannot reach the same row behind it without crossing itself."""
    layout, edge = bench.layout("wse2"), bench.sdk.Edge
    sender = layout.create_code_region("source.csl", "a", 1, 2)
    receiver = layout.create_code_region("sink.csl", "b", 1, 2)
    tx, rx = sender.color("tx"), receiver.color("rx")
    out = sender.create_output_port(tx, edge.LEFT, [bench.position("RAMP")], 4)
    into = receiver.create_input_port(rx, edge.RIGHT, [bench.position(outputs="RAMP")], 4)
    for region, color in ((sender, tx), (receiver, rx)):
        region.set_param_all(color)
        region.set_param_all("count", 2)
    walls = [layout.create_code_region("sink.csl", f"wall{n}", 3, 1) for n in range(2)]
    for n, wall in enumerate(walls):
        wall.place(0, 3 * n)
        wall.set_param_all("count", 1)
        wall.set_param_all("rx", tx)
    sender.place(0, 1)
    receiver.place(1, 1)
    layout.connect(out, into)
    layout.compile("out")
    other = layout.create_code_region("sink.csl", "last", 1, 2)
    other.set_param_all("count", 1)
    other.set_param_all("rx", tx)
    other.place(2, 1)
    receiver.place(3, 1)
    with pytest.raises(ValueError, match="there is no way from port 'a_tx'"):
        layout.compile("out")


def test_errors_of_programs_name_their_place(bench: Bench) -> None:
    layout = bench.layout("wse2")
    region = layout.create_code_region("sink.csl", "a", 1, 1)
    region.set_param_all("rx", 1)
    with pytest.raises(CslError, match="count"):
        layout.compile("out")
    with pytest.raises(FileNotFoundError, match=r"there is no file nowhere\.csl"):
        layout.create_code_region("nowhere.csl", "b", 1, 1)
    (bench.directory / "run.py").write_text(
        "from cerebras.sdk.runtime.sdkruntimepybind import SdkLayout, SdkTarget\n"
        "layout = SdkLayout(SdkTarget.WSE3)\n"
        "layout.create_code_region('sink.csl', 'a', 1, 1)\n"
        "layout.compile('out')\n"
    )
    command = [sys.executable, "-m", "fabsim", "python", "run.py"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "Traceback" not in ran.stderr
    assert "error: " in ran.stderr


def test_what_never_arrives_is_reported(bench: Bench) -> None:
    layout = bench.layout("wse2")
    _, into, out = bench.relay(layout, "relay", 10, 1)
    sends, receives = layout.create_input_stream(into), layout.create_output_stream(out)
    runtime = bench.run(layout, "wse2")
    runtime.send(sends, np.zeros(4, np.float32), nonblock=True)
    with pytest.raises(ValueError, match="the host receives from the stream"):
        runtime.send(receives, np.zeros(4, np.float32))
    with pytest.raises(ValueError, match="there is no stream 'x'"):
        runtime.send("x", np.zeros(4, np.float32))
    found = np.zeros(10, np.float32)
    with pytest.raises(ValueError, match="11 items do not fit"):
        runtime.receive(receives, found, 11)
    with pytest.raises(SimulationError, match="4 of 10 wavelets received from color") as raised:
        runtime.receive(receives, found, 10)
    assert raised.value.kind == "stuck"
    assert "relay.csl" in str(raised.value)


def test_layouts_have_no_memcpy(bench: Bench) -> None:
    layout, sdk = bench.layout("wse2"), bench.sdk
    bench.relay(layout, "relay", 10, 1)[0].ports.clear()
    artifacts = layout.compile("out")
    with pytest.raises(ValueError, match="memcpy_required=False"):
        sdk.SdkRuntime(artifacts, bench.platform("wse2"))
    with pytest.raises(ValueError, match="compiled for wse2"):
        sdk.SdkRuntime(artifacts, bench.platform("wse3"), memcpy_required=False)
    with pytest.raises(ValueError, match="no system to connect to"):
        sdk.get_platform("10.0.0.1:9000")
