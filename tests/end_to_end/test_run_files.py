"""What `fabsim python` leaves behind: logs, figures, reports, traces; and its limits and checks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

LAYOUT = """
const memcpy = @import_module("<memcpy/get_params>", .{ .width = 2, .height = 1 });
const c: color = @get_color(3);
layout {
    @set_rectangle(2, 1);
    for (@range(i16, 2)) |x| {
        @set_tile_code(x, 0, "pe.csl", .{
            .memcpy_params = memcpy.get_params(x), .sends = x == 0 });
    }
    @set_color_config(0, 0, c, .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } });
    @set_color_config(1, 0, c, .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP } } });
    @export_name("values", [*]f32, true);
    @export_name("run", fn(u16)void);
}
"""

PE = """
param memcpy_params;
param sends: bool;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
const c: color = @get_color(3);
const iq = @get_input_queue(2);
const oq = @get_output_queue(3);
var values: [8]f32;
var values_ptr: [*]f32 = &values;
const out = @get_dsd(fabout_dsd, .{ .extent = 8, .fabric_color = c, .output_queue = oq });
const in = @get_dsd(fabin_dsd, .{ .extent = 8, .fabric_color = c, .input_queue = iq });
var mem = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{8} -> values[i] });

fn run(n: u16) void {
    mem = @set_dsd_length(mem, n);
    if (sends) {
        @fmovs(out, mem);
    } else {
        @fmovs(mem, in);
    }
    sys.unblock_cmd_stream();
}

comptime {
    if (!sends) {
        @initialize_queue(iq, .{ .color = c });
    }
    @export_symbol(values_ptr, "values");
    @export_symbol(run);
}
"""

RUN = """
import sys
import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime

keywords = {"suppress_simfab_trace": sys.argv[1] == "suppress"} if len(sys.argv) > 1 else {}
runner = SdkRuntime("out", **keywords)
runner.load()
runner.run()
how = {"streaming": False, "order": MemcpyOrder.ROW_MAJOR,
       "data_type": MemcpyDataType.MEMCPY_32BIT, "nonblock": False}
values = runner.get_id("values")
if "unwritten" not in sys.argv:
    runner.memcpy_h2d(values, np.arange(8, dtype=np.float32), 0, 0, 1, 1, 8, **how)
runner.launch("run", np.int16(8), nonblock=False)
found = np.zeros(8, np.float32)
runner.memcpy_d2h(found, values, 1, 0, 1, 1, 8, **how)
np.testing.assert_array_equal(found, np.arange(8))
runner.stop()
"""

STATISTICS = {
    "active_tile_cycles_per_second",
    "active_tile_cycles_per_second_per_thread",
    "cycle_count",
    "cycles_per_second",
    "fabric_x",
    "fabric_y",
    "hwtile_count",
    "init_time",
    "othertile_count",
    "real_time",
    "routetile_count",
    "spc_per_tile",
    "stall_count",
    "stalls_per_cycle",
    "sys_time",
    "tile_cycles_per_second",
    "tile_cycles_per_second_per_thread",
    "user_time",
    "wavelet_count",
    "wavelets_per_cycle",
    "wpc_per_tile",
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A compiled program of two PEs, the first of which sends to the second."""
    directory = tmp_path_factory.mktemp("program")
    for name, text in (("layout.csl", LAYOUT), ("pe.csl", PE), ("run.py", RUN)):
        (directory / name).write_text(text)
    options = ["--fabric-dims=9,3", "--fabric-offsets=4,1", "--memcpy", "-o", "out"]
    compiled = fabsim(directory, "cslc", "layout.csl", *options)
    assert compiled.returncode == 0, compiled.stderr
    return directory


def fabsim(directory: Path, *arguments: str, options: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command in a directory."""
    return subprocess.run(
        [sys.executable, "-m", "fabsim", *arguments],
        cwd=directory,
        env=os.environ | {"FABSIM_OPTIONS": options},
        capture_output=True,
        text=True,
        check=False,
    )


def ran(program: Path, *arguments: str, options: str = "") -> str:
    """Run the host script, which must succeed; what it says on standard error."""
    result = fabsim(program, "python", *arguments, options=options)
    assert result.returncode == 0, result.stderr
    return result.stderr


def refused(program: Path, *arguments: str) -> str:
    """Run the host script, which must fail; what it says on standard error."""
    result = fabsim(program, "python", *arguments)
    assert result.returncode == 1, result.stderr
    assert "Traceback" not in result.stderr
    return result.stderr


def test_every_run_leaves_a_log_and_its_figures(program: Path) -> None:
    assert ran(program, "run.py") == ""
    figures = json.loads((program / "sim_stats.json").read_text())
    assert set(figures) == STATISTICS
    assert (figures["fabric_x"], figures["fabric_y"], figures["hwtile_count"]) == (2, 1, 2)
    assert figures["cycle_count"] > 20
    assert figures["wavelet_count"] == 16
    assert figures["stall_count"] is None, "nobody has counted"
    log = (program / "sim.log").read_text().splitlines()
    assert log[:2] == ["@0 Create from size nx=2 ny=1", "@0 dimX=2, dimY=1"]
    assert log[-1].startswith(f"@{figures['cycle_count']} Simulation used ")


def test_reports_are_made_on_request(program: Path) -> None:
    said = ran(program, "--report", "--report-json", "usage.json", "run.py")
    assert "cycles of PE" in said
    assert "3 (hottest)" in said
    usage = json.loads((program / "usage.json").read_text())
    assert usage["hottest_color"] == 3
    assert usage["links"]["east"] == [8, 0]
    assert usage["pes"]["operation"] == [8, 8]
    assert usage["colors"][0]["hops"] == 8
    cycles = [sum(kind[n] for kind in usage["pes"].values()) for n in range(2)]
    assert cycles == [usage["cycles"]] * 2
    figures = json.loads((program / "sim_stats.json").read_text())
    waits = ("waits_for_input", "waits_for_output", "waits_for_fifo", "blocked")
    assert figures["stall_count"] == sum(usage["totals"][kind] for kind in waits) > 0


def test_a_binary_trace_becomes_the_text_that_is_written_directly(program: Path) -> None:
    ran(program, "--trace", "direct.log", "run.py")
    # The environment reaches scripts whose command line cannot be changed.
    ran(program, "run.py", options="--trace compact.bin --trace-form binary")
    converted = fabsim(program, "trace", "compact.bin", "converted.log")
    assert converted.returncode == 0, converted.stderr
    direct = (program / "direct.log").read_text()
    assert (program / "converted.log").read_text() == direct
    assert direct.count(") wavelet C3 ") >= 16
    scope = ["--region", "1,0,1,1", "--window", "10:25"]
    assert fabsim(program, "trace", "compact.bin", "part.log", *scope).returncode == 0
    part = (program / "part.log").read_text()
    assert 10 < part.count("\n") < direct.count("\n")
    assert "P0.0" not in part
    ran(program, "--trace=part2.log", "--trace-region=1,0,1,1", "--trace-window=10:25", "run.py")
    assert (program / "part2.log").read_text() == part


def test_a_damaged_trace_is_refused_in_one_line(program: Path) -> None:
    (program / "broken.bin").write_bytes(b"FABTRACE\x02\x02\x01\x07")
    result = fabsim(program, "trace", "broken.bin", "text.log")
    assert result.returncode == 1
    assert result.stderr == ("fabsim trace: broken.bin: the trace ends in the middle of a record\n")


def test_the_host_script_may_ask_for_a_trace(program: Path) -> None:
    traces = program / "simfab_traces"
    ran(program, "run.py", "suppress")
    assert not traces.exists()
    ran(program, "run.py", "trace")
    assert (traces / "fabsim.trace").read_bytes().startswith(b"FABTRACE")
    ran(program, "--trace", "mine.log", "run.py", "suppress")
    assert (program / "mine.log").read_text().startswith("@0 dimX=2, dimY=1\n")


def test_a_limit_of_cycles_ends_a_run_and_leaves_its_files(program: Path) -> None:
    (program / "sim_stats.json").unlink(missing_ok=True)
    said = refused(program, "--max-cycles", "20", "run.py")
    assert "the limit of 20 cycles is reached" in said
    assert "--max-cycles" in said
    assert json.loads((program / "sim_stats.json").read_text())["cycle_count"] >= 20


def test_a_limit_of_memory_refuses_a_program(program: Path) -> None:
    said = refused(program, "--max-memory", "0.000001", "run.py")
    assert "simulating 2 x 1 PEs takes about" in said
    assert "--max-memory" in said


def test_a_limit_of_steps_refuses_a_program(program: Path) -> None:
    options = ["--fabric-dims=9,3", "--fabric-offsets=4,1", "--memcpy", "-o", "other"]
    result = fabsim(program, "cslc", "layout.csl", *options, "--max-comptime-steps", "10")
    assert result.returncode == 1
    assert "takes too many steps, more than 10" in result.stderr
    assert "--max-comptime-steps" in result.stderr


def test_memory_that_nobody_has_written_is_found_on_request(program: Path) -> None:
    said = refused(program, "--check-uninitialized", "run.py", "suppress", "unwritten")
    assert "PE (0, 0)" in said
    assert "pe.csl:17" in said
    assert "has not been written" in said
    ran(program, "--check-uninitialized", "run.py")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--trace-window", "9:3"], "ends before it begins"),
        (["--trace-region", "1,2,3"], "a region is X,Y,WIDTH,HEIGHT"),
        (["--max-cycles", "0"], "not a number above 0"),
        (["--no-such-option"], "unrecognized arguments"),
    ],
)
def test_wrong_options_are_wrong_usage(program: Path, options: list[str], words: str) -> None:
    result = fabsim(program, "python", *options, "run.py")
    assert result.returncode == 2
    assert words in result.stderr
