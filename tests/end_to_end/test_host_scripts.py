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


RECORDING_LAYOUT = """
const memcpy = @import_module("<memcpy/get_params>", .{ .width = 2, .height = 1 });
layout {
  @set_rectangle(2, 1);
  for (@range(u16, 2)) |x| {
    @set_tile_code(x, 0, "pe.csl", .{ .memcpy_params = memcpy.get_params(x) });
  }
  @export_name("numbers", [*]f32, true);
  @export_name("run", fn()void);
}
"""

RECORDING_PE = """
param memcpy_params;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
const debug = @import_module("<debug>", .{ .key = "notes", .buffer_size = 24 });
const times = @import_module("<debug>", .{ .key = "times", .buffer_size = 8 });
const print = @import_module("<simprint>");
const place = @import_module("<layout>");
const random = @import_module("<random>");
const math = @import_module("<math>");
var numbers = @zeros([8]f32);
var ptr: [*]f32 = &numbers;
fn run() void {
  times.trace_timestamp();
  const x = place.get_x_coord();
  debug.trace_u16(x);
  debug.trace_bool(true);
  debug.trace_i8(-3);
  debug.trace_i32(-70000);
  debug.trace_f32(1.5);
  debug.trace_string("a long text");
  debug.trace_string("another one that has no room any more");
  print.print_string("x = ");
  print.print_u16_decimal(x);
  print.print_string(", ");
  print.print_u32_hex(48879);
  print.print_string(" ");
  print.print_u16_binary(5);
  print.print_string("\\n");
  print.print_string("never ended");
  random.set_global_prng_seed(7);
  numbers[0] = random.random_f32(2.0, 3.0);
  numbers[1] = @as(f32, random.random_pow_u32(3));
  numbers[2] = math.sin_f32(1.0);
  numbers[3] = math.exp_f32(1.0);
  numbers[4] = math.log_f32(2.0);
  numbers[5] = math.floor_f32(-1.5);
  numbers[6] = @as(f32, random.random_f16(-1.0, 1.0));
  numbers[7] = random.random_normal_f32();
  times.trace_timestamp();
  sys.unblock_cmd_stream();
}
comptime { @export_symbol(ptr, "numbers"); @export_symbol(run); }
"""

RECORDING_RUN = """
import numpy as np
from cerebras.sdk.debug.debug_util import debug_util
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime

runner = SdkRuntime("out", cmaddr=None)
runner.load()
runner.run()
runner.launch("run", nonblock=False)
found = np.zeros(16, np.float32)
runner.memcpy_d2h(found, runner.get_id("numbers"), 0, 0, 2, 1, 8, streaming=False,
                  order=MemcpyOrder.ROW_MAJOR, data_type=MemcpyDataType.MEMCPY_32BIT,
                  nonblock=False)
runner.stop()
one, other = found.reshape(2, 8)
np.testing.assert_array_equal(one, other)
assert 2 <= one[0] < 3 and one[1] in range(8) and -1 <= one[6] <= 1 and abs(one[7]) < 6, one
np.testing.assert_allclose(one[2:6], [np.sin(1), np.e, np.log(2), -2], rtol=1e-6)
memory = debug_util("out")
for x in range(2):
    notes = memory.read_trace(4 + x, 1, "notes")
    assert notes == [x, True, -3, -70000, 1.5, "a long text"], notes
    start, end = memory.read_trace(4 + x, 1, "times")
    assert 0 < end - start < 10000, (start, end)
lines = open("sim.log").read().splitlines()
assert [line.split(" ", 1)[1] for line in lines] == [
    "x = 0, 0000BEEF 0000000000000101", "x = 1, 0000BEEF 0000000000000101"], lines
print("SUCCESS!")
"""


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_what_pes_record_print_and_compute_reaches_the_host(tmp_path: Path, arch: str) -> None:
    (tmp_path / "layout.csl").write_text(RECORDING_LAYOUT)
    (tmp_path / "pe.csl").write_text(RECORDING_PE)
    (tmp_path / "run.py").write_text(RECORDING_RUN)
    compiled = command(tmp_path, "cslc", "layout.csl", f"--arch={arch}", *OPTIONS)
    assert compiled.returncode == 0, compiled.stderr
    ran = command(tmp_path, "python", "run.py")
    assert ran.returncode == 0, ran.stderr
    assert "SUCCESS!" in ran.stdout
