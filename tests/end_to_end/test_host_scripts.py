"""Host scripts with streams and helpers, on fabsim's stand-ins for the vendor's tools."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

LAYOUT = """
param size: u16;
param input_id: i16;
param output_id: i16;
const memcpy = @import_module("<memcpy/get_params>", .{
  .width = 2, .height = 1, .MEMCPYH2D_1 = input_id, .MEMCPYD2H_1 = output_id,
});
layout {
  @set_rectangle(2, 1);
  for (@range(u16, 2)) |x| {
    @set_tile_code(x, 0, "pe.csl", .{ .memcpy_params = memcpy.get_params(x), .size = size });
  }
}
"""

PE = """
param memcpy_params;
param size: u16;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
const input = @get_input_queue(2);
const output = @get_output_queue(3);
var one = [1]i16{ 1 };
const ones = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{size} -> one[0] });
const from = @get_dsd(fabin_dsd, .{ .extent = size, .input_queue = input });
const to = sys.get_streaming_fabout_dsd(
  @get_color(@bitcast(u16, sys.MEMCPYD2H_1)), size, output);
task begin() void { @add16(to, from, ones, .{ .async = true }); }
comptime {
  @bind_local_task(begin, @get_local_task_id(8));
  @activate(@get_local_task_id(8));
  @initialize_queue(input, .{ .color = @get_color(@bitcast(u16, sys.MEMCPYH2D_1)) });
  @initialize_queue(output, if (@is_arch("wse3"))
    .{ .color = @get_color(@bitcast(u16, sys.MEMCPYD2H_1)) } else .{});
}
"""

RUN = """
import json
import sys
import numpy as np
from cerebras.sdk.sdk_utils import input_array_to_u32, memcpy_view
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime

params = json.load(open("out/out.json"))["params"]
size = int(params["size"])
runner = SdkRuntime("out", suppress_simfab_trace=True, simfab_numthreads=4)
runner.load()
runner.run()
data = np.arange(2 * size, dtype=np.int16)
how = dict(streaming=True, data_type=MemcpyDataType.MEMCPY_16BIT, order=MemcpyOrder.ROW_MAJOR)
task = runner.memcpy_h2d(int(params["input_id"]), input_array_to_u32(data, 1, size),
                         0, 0, 2, 1, size, nonblock=True, **how)
runner.task_wait(task)
words = np.zeros(2 * size, np.uint32)
runner.memcpy_d2h(words, int(params["output_id"]), 0, 0, 2, 1, size, nonblock=False, **how)
runner.stop()
np.testing.assert_equal(memcpy_view(words, np.dtype(np.int16)), data + 1)
print("SUCCESS!")
"""

OPTIONS = ["--fabric-dims=9,3", "--fabric-offsets=4,1", "--memcpy", "--channels=1", "-o", "out"]
PARAMS = ["--params=size:8,input_id:4", "--params=output_id:5"]
BUFFERS = ["--width-west-buf=0", "--width-east-buf=0"]


def command(
    directory: Path, *arguments: str, path: str | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fabsim", *arguments],
        cwd=directory,
        env=os.environ | ({"CSL_IMPORT_PATH": path} if path else {}),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "layout.csl").write_text(LAYOUT)
    (tmp_path / "pe.csl").write_text(PE)
    (tmp_path / "run.py").write_text(RUN)
    return tmp_path


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_streams_go_to_every_pe_and_come_back(program: Path, arch: str) -> None:
    compiled = command(program, "cslc", "layout.csl", f"--arch={arch}", *OPTIONS, *PARAMS, *BUFFERS)
    assert compiled.returncode == 0, compiled.stderr
    ran = command(program, "python", "run.py")
    assert ran.returncode == 0, ran.stderr
    assert "SUCCESS!" in ran.stdout


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--width-west-buf=1", "memcpy needs at least 5,1"),
        ("--width-east-buf=1", "this program needs at least 10,3"),
        ("--fp16-format=cb16", "does not support --fp16-format=cb16 yet"),
        ("--colors=c:3", "does not support --colors yet"),
        ("--channels=17", "--channels must be between 1 and 16"),
    ],
)
def test_options_that_cannot_be_met_are_refused(program: Path, option: str, words: str) -> None:
    compiled = command(program, "cslc", "layout.csl", *OPTIONS, *PARAMS, option)
    assert compiled.returncode != 0
    assert words in compiled.stderr


def test_helpers_follow_their_definitions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(files("fabsim").joinpath("drop_in")))
    sdk_utils = importlib.import_module("cerebras.sdk.sdk_utils")
    stamps = np.array([5, 1, 0, 7, 2, 1], np.uint16)
    assert sdk_utils.sub_ts(stamps) == (1 << 32) + (1 << 16) + 2
    assert sdk_utils.calculate_cycles(stamps.view(np.float32)) == sdk_utils.sub_ts(stamps)
    halves = np.array([1, -1], np.int16)
    assert sdk_utils.input_array_to_u32(halves, None, 2).tolist() == [1, 0xFFFF]
    assert sdk_utils.input_array_to_u32(halves, 0, 2).tolist() == [1, 0x1FFFF]
    assert sdk_utils.memcpy_view(np.array([0x2FFFF], np.uint32), np.int16).tolist() == [-1]
    assert sdk_utils.cast_uint32(np.float16(1)) == 0x3C00
    assert sdk_utils.cast_uint32(1.0) == 0x3F800000
    assert sdk_utils.cast_uint32(-1) == 0xFFFFFFFF
