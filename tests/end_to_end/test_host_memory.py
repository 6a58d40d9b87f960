"""Host scripts that broadcast, read variables and write core files, on fabsim's stand-ins."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

LAYOUT = """
const memcpy = @import_module("<memcpy/get_params>", .{ .width = 3, .height = 2 });
layout {
  @set_rectangle(3, 2);
  for (@range(u16, 3)) |x| { for (@range(u16, 2)) |y| {
    @set_tile_code(x, y, "pe.csl", .{ .memcpy_params = memcpy.get_params(x) });
  } }
  @export_name("numbers", [*]u32, true);
  @export_name("run", fn(f32, i16)void);
}
"""

PE = """
param memcpy_params;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
const part = @import_module("part.csl");
const place = @import_module("<layout>");
var numbers = @zeros([4]u32);
var ptr: [*]u32 = &numbers;
var factor: f32 = 0.0;
fn run(a: f32, b: i16) void {
  factor = a;
  part.keep(b, place.get_x_coord() + 10 * place.get_y_coord());
  sys.unblock_cmd_stream();
}
comptime { @export_symbol(ptr, "numbers"); @export_symbol(run); }
"""

PART = """
var kept = @zeros([2]i16);
export var corner: u16 = 7;
fn keep(value: i16, at: u16) void { kept[1] = value; corner = at; }
"""

BEGIN = """
import numpy as np
from cerebras.sdk.debug.debug_util import debug_util
from cerebras.sdk.sdk_utils import cast_uint32
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime

runner = SdkRuntime("out")
ROW, COL = MemcpyOrder.ROW_MAJOR, MemcpyOrder.COL_MAJOR
how = dict(streaming=False, data_type=MemcpyDataType.MEMCPY_32BIT, nonblock=True)
numbers = runner.get_id("numbers")

def refused(error, words, call):
    try:
        call()
    except error as found:
        assert words in str(found), found
    else:
        raise AssertionError(f"{words} was expected")

def held():
    found = np.zeros(24, np.uint32)
    task = runner.memcpy_d2h(found, numbers, 0, 0, 3, 2, 4, order=ROW, **how)
    runner.task_wait(task)
    assert runner.is_task_done(task)
    return found.reshape(2, 3, 4)
"""

BROADCASTS = (
    BEGIN
    + """
runner.load()
runner.run()
column = np.arange(8, dtype=np.uint32)
runner.memcpy_h2d_rowbcast(numbers, column, 0, 0, 3, 2, 4, order=ROW, **how)
np.testing.assert_equal(held(), np.repeat(column.reshape(2, 1, 4), 3, axis=1))
runner.memcpy_h2d_rowbcast(numbers, column, 0, 0, 3, 2, 4, order=COL, **how)
np.testing.assert_equal(held(), np.repeat(column.reshape(4, 1, 2).T, 3, axis=1))
row = np.arange(100, 112, dtype=np.int32)
runner.memcpy_h2d_colbcast(numbers, row, 0, 0, 3, 2, 4, order=ROW, **how)
np.testing.assert_equal(held(), np.repeat(row.reshape(1, 3, 4), 2, axis=0))
runner.memcpy_h2d_colbcast(numbers, row, 0, 0, 3, 2, 4, order=COL, **how)
np.testing.assert_equal(held(), np.repeat(row.reshape(4, 3, 1).T, 2, axis=0))
# The last two columns, whose blocks of 2 lie 3 items apart in rows 10 apart.
source = np.arange(20, dtype=np.uint32)
runner.memcpy_h2d_stride(numbers, source, 1, 0, 2, 2, 2, 10, 3, order=ROW, **how)
np.testing.assert_equal(held()[:, 1:, :2], [[[0, 1], [3, 4]], [[10, 11], [13, 14]]])
refused(ValueError, "7 items for 1 x 2 PEs", lambda: runner.memcpy_h2d_rowbcast(
    numbers, column[:7], 0, 0, 3, 2, 4, order=ROW, **how))
refused(ValueError, "these strides need 15 items", lambda: runner.memcpy_h2d_stride(
    numbers, source[:14], 1, 0, 2, 2, 2, 10, 3, order=ROW, **how))
refused(ValueError, "items of 32 bits", lambda: runner.memcpy_h2d_rowbcast(
    numbers, column.astype(np.uint64), 0, 0, 3, 2, 4, order=ROW, **how))
refused(ValueError, "no exported symbol with the id 9", lambda: runner.memcpy_h2d(
    9, source, 0, 0, 1, 1, 20, order=ROW, **how))
runner.stop()
print("SUCCESS!")
"""
)

SYMBOLS = (
    BEGIN
    + """
refused(RuntimeError, "load() comes first", lambda: runner.launch("run", nonblock=False))
refused(RuntimeError, "called once, in the order", runner.run)
runner.load()
refused(RuntimeError, "between run() and stop()", lambda: runner.launch("run", nonblock=False))
runner.run()
refused(RuntimeError, "called once, in the order", runner.load)
runner.call("run", [cast_uint32(2.5), cast_uint32(np.int16(-3))], nonblock=False)
assert runner.read_symbol(2, 1, "factor", np.float32).tolist() == [2.5]
assert runner.read_symbol(2, 1, "part.kept", "int16").tolist() == [0, -3]
assert runner.coord_logical_to_physical((2, 1)) == (6, 2)
runner.dump_core("corefile.cs1")
runner.stop()
memory = debug_util("out")
assert memory.get_symbol(6, 2, "corner", np.uint16).tolist() == [12]
rect = memory.get_symbol_rect(((4, 1), (3, 2)), "corner", np.uint16)
assert rect.tolist() == [[[0], [10]], [[1], [11]], [[2], [12]]], rect
refused(ValueError, "is not part of the program", lambda: memory.get_symbol(1, 1, "corner", "u2"))
print("SUCCESS!")
"""
)

LATER = """
import numpy as np
from cerebras.sdk.debug.debug_util import debug_util
memory = debug_util("out")
assert memory.get_symbol(5, 2, "part.kept", np.int16).tolist() == [0, -3]
assert memory.get_symbol(5, 2, "corner", np.uint16).tolist() == [11]
try:
    memory.get_symbol(5, 2, "nothing", np.uint16)
except ValueError as error:
    assert "has no variable 'nothing'" in str(error)
    print("SUCCESS!")
"""

OPTIONS = ["--fabric-dims=10,4", "--fabric-offsets=4,1", "--memcpy", "--channels=1", "-o", "out"]


def command(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "fabsim", *arguments]
    return subprocess.run(
        words, cwd=directory, env=os.environ, capture_output=True, text=True, check=False
    )


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "layout.csl").write_text(LAYOUT)
    (tmp_path / "pe.csl").write_text(PE)
    (tmp_path / "part.csl").write_text(PART)
    compiled = command(tmp_path, "cslc", "layout.csl", *OPTIONS)
    assert compiled.returncode == 0, compiled.stderr
    return tmp_path


def succeeds(directory: Path, script: str) -> None:
    (directory / "run.py").write_text(script)
    ran = command(directory, "python", "run.py")
    assert ran.returncode == 0, ran.stderr
    assert "SUCCESS!" in ran.stdout


def test_a_column_goes_along_the_rows_and_a_row_down_the_columns(program: Path) -> None:
    succeeds(program, BROADCASTS)


def test_variables_are_read_by_name_while_it_runs_and_from_a_core_file(program: Path) -> None:
    succeeds(program, SYMBOLS)
    succeeds(program, LATER)


def test_what_is_no_core_file_is_refused(program: Path) -> None:
    (program / "corefile.cs1").write_text('{"format": "another"}')
    (program / "run.py").write_text(LATER)
    ran = command(program, "python", "run.py")
    assert "corefile.cs1 is no core file of fabsim" in ran.stderr


INLINE = """
param memcpy_params;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
var numbers = @zeros([4]u32);
var ptr: [*]u32 = &numbers;
fn run(a: f32, b: i16) void {
  inline for (@range(u16, 60)) |i| { numbers[0] += @as(u32, i); }
  @activate(@get_local_task_id(9));
  sys.unblock_cmd_stream();
}
comptime {
  @comptime_print("the program is read");
  @export_symbol(ptr, "numbers");
  @export_symbol(run);
}
"""


def test_the_compiler_says_what_it_noticed_and_keeps_to_the_limit_on_unrolling(
    program: Path,
) -> None:
    (program / "pe.csl").write_text(INLINE)
    refused = command(program, "cslc", "layout.csl", *OPTIONS)
    assert refused.returncode == 1
    more = [*OPTIONS, "--max-inlined-iterations=60"]
    compiled = command(program, "cslc", "layout.csl", *more)
    assert compiled.returncode == 0, compiled.stderr
    assert "the program is read" in compiled.stderr
    assert "id 9 is activated, but no task is bound to it" in compiled.stderr
    strict = command(program, "cslc", "layout.csl", *more, "--warnings-as-errors")
    assert strict.returncode == 1
    assert "id 9 is activated, but no task is bound to it" in strict.stderr
