"""`collc view` and `fabsim view` as commands."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from collc.cli import commands

pytest.importorskip("fabsim")
import fabsim

EXAMPLES = Path(__file__).parents[2] / "examples"
CHAIN = str(EXAMPLES / "chain.coll")
BIN = Path(sys.executable).parent


def ran(directory: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command as its own process."""
    return subprocess.run(
        [str(BIN / words[0]), *words[1:]],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def collc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """`collc` in this process, which has it loaded, in an empty directory."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Result:
        result = CliRunner().invoke(commands, words)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    return run


def test_a_page_is_written_beside_and_named_after_the_file(tmp_path: Path, collc: Any) -> None:
    done = collc("view", CHAIN, "-D", "P=8", "-D", "B=4")
    assert (done.exit_code, done.stdout) == (0, "chain.html\n")
    text = (tmp_path / "chain.html").read_text()
    assert text.startswith("<!doctype html>")
    assert 'id="data-trace-0"' in text


def test_the_same_program_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.html", "b.html"):
        ran(tmp_path, "collc", "view", CHAIN, "-D", "P=8", "-D", "B=4", "-o", name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_json_has_the_numbers_of_run(collc: Any) -> None:
    words = [CHAIN, "-D", "P=8", "--json"]
    shown = json.loads(collc("view", *words, "-o", "x.html").stdout)
    run = json.loads(collc("run", *words).stdout)
    (program,) = shown["programs"]
    assert program["cycles"] == run["cycles"]
    assert program["predicted_cycles"] == run["predicted_cycles"]
    assert shown["written"] == ["x.html"]


def test_what_is_too_large_to_record_is_shown_without_a_run(tmp_path: Path, collc: Any) -> None:
    words = ["view", str(EXAMPLES / "allreduce_2d.coll"), "-D", "W=750", "-D", "H=994"]
    done = collc(*words, "-o", "wafer.html")
    assert done.exit_code == 0
    assert "--region" in done.stderr
    assert (tmp_path / "wafer.html").stat().st_size < 200_000


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--region", "1,2"], "X,Y,WIDTH,HEIGHT"),
        (["--window", "9:3"], "ends before it begins"),
        (["--with", "P"], "NAME=INTEGER"),
        (["--view", "moon"], "moon"),
    ],
)
def test_wrong_usage_is_refused_by_name(
    words: list[str], said: str, tmp_path: Path, collc: Any
) -> None:
    done = collc("view", CHAIN, *words)
    assert done.exit_code == 2
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_program_at_fault_is_a_diagnostic_and_no_page(tmp_path: Path, collc: Any) -> None:
    (tmp_path / "bad.coll").write_text("target wse2\nnonsense\n")
    done = collc("view", "bad.coll")
    assert done.exit_code == 1
    assert "bad.coll:2" in done.stderr
    assert not (tmp_path / "bad.html").exists()


LAYOUT = """
const memcpy = @import_module("<memcpy/get_params>", .{ .width = 2, .height = 1 });
layout {
  @set_rectangle(2, 1);
  for (@range(u16, 2)) |x| {
    @set_tile_code(x, 0, "pe.csl", .{ .memcpy_params = memcpy.get_params(x), .x = x });
  }
  @export_name("run", fn()void);
}
"""
PE = """
param memcpy_params;
param x: u16;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
const mine = @get_color(if (x == 0) 3 else 4);
const theirs = @get_color(if (x == 0) 4 else 3);
const q = @get_input_queue(2);
const p = @get_output_queue(2);
var got = @zeros([1]u32);
const into = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{1} -> got[i] });
fn run() void {
  @mov32(into, @get_dsd(fabin_dsd, .{ .extent = 1, .fabric_color = theirs, .input_queue = q }));
  @mov32(@get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = mine, .output_queue = p }), into);
  sys.unblock_cmd_stream();
}
comptime {
  @initialize_queue(q, .{ .color = theirs });
  if (x == 0) {
    @set_local_color_config(mine, .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } });
    @set_local_color_config(theirs, .{ .routes = .{ .rx = .{ EAST }, .tx = .{ RAMP } } });
  } else {
    @set_local_color_config(mine, .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ WEST } } });
    @set_local_color_config(theirs, .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP } } });
  }
  @export_symbol(run);
}
"""


@pytest.fixture
def stuck(tmp_path: Path) -> Path:
    """The trace of two PEs that wait for each other."""
    (tmp_path / "layout.csl").write_text(LAYOUT)
    (tmp_path / "pe.csl").write_text(PE)
    program = fabsim.compile(str(tmp_path / "layout.csl"), arch="wse2")
    trace = tmp_path / "stuck.trace"
    simulator = fabsim.Simulator(program, trace=trace, trace_form="binary")
    with pytest.raises(fabsim.SimulationError, match="circle of waits"):
        simulator.launch("run")
    return trace


def test_a_stuck_run_opens_with_its_cycle_of_waits(
    stuck: Path, opened: Any, tmp_path: Path
) -> None:
    assert ran(tmp_path, "fabsim", "view", "stuck.trace").stdout == "stuck.html\n"
    one = opened(tmp_path / "stuck.html")
    assert one.text("verdict") == "stuck: 2 wait for each other"
    waits = one.page.evaluate("viewer.program.run.trace.waits")
    assert [(w["pe"], w["on"], w["color"]) for w in waits] == [(0, 1, 4), (1, 0, 3)]
    assert all("pe.csl:12" in w["why"] for w in waits)
    assert one.drawn() > 20
    one.show("routes")
    assert "made of a trace alone" in one.page.locator(".empty").inner_text()


def test_the_message_of_a_run_that_does_not_finish_shows_it(
    collc: Any, tmp_path: Path, opened: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABSIM_OPTIONS", "--max-cycles 20")
    done = collc("run", CHAIN, "-D", "P=8", "-D", "B=4")
    (line,) = (one for one in done.stderr.splitlines() if "collc view" in one)
    assert collc(*shlex.split(line.partition("collc ")[2])).exit_code == 3
    one = opened(tmp_path / "chain.html")
    assert "limit of 20 cycles" in one.text("problem")
    one.show("motion")
    assert one.drawn() > 5


def test_a_text_trace_names_the_waits_too(stuck: Path, tmp_path: Path) -> None:
    assert ran(tmp_path, "fabsim", "trace", "stuck.trace", "stuck.log").returncode == 0
    said = (tmp_path / "stuck.log").read_text()
    assert "P0.0: Pipe: 2, Msg: stuck: PE (0, 0) waits at" in said


def test_what_is_no_trace_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "text.log").write_text("@0 dimX=2, dimY=1\n")
    done = ran(tmp_path, "fabsim", "view", "text.log")
    assert done.returncode == 1
    assert "--trace-form binary" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_trace_that_no_browser_holds_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with (tmp_path / "huge.trace").open("wb") as file:
        file.truncate(400_000_001)  # of which the disk has nothing
    done = ran(tmp_path, "fabsim", "view", "huge.trace")
    assert done.returncode == 1
    assert "--trace-region and --trace-window" in done.stderr
    assert not (tmp_path / "huge.html").exists()


def test_a_picture_is_made_without_a_window(tmp_path: Path, collc: Any) -> None:
    if not shutil.which("chromium"):
        pytest.skip("no Chromium: no picture is made")
    done = collc("view", CHAIN, "-D", "P=8", "--png", "x.png", "--view", "motion")
    assert done.stdout == "x.png\n", done.stderr
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    assert not (tmp_path / "chain.html").exists()


def test_without_a_browser_a_picture_is_refused_by_name(
    tmp_path: Path, collc: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = collc("view", CHAIN, "-D", "P=8", "--png", "x.png")
    assert done.exit_code == 1
    assert "needs Chromium or Chrome" in done.stderr


def test_all_combinations_of_values_are_run(collc: Any) -> None:
    words = [CHAIN, "--over", "P=4,8", "--over", "B=1,2,4", "--json"]
    done = json.loads(collc("view", *words).stdout)
    assert len(done["programs"]) == 6
    assert len({program["cycles"] for program in done["programs"]}) > 3
    refused = collc("view", *words, "--over", "B=1")
    assert refused.exit_code == 2
    refused = collc("view", *words, "--with", "P=3")
    assert refused.exit_code == 2
    assert "--over is about one program" in refused.output


TEACHING = EXAMPLES.parent / "docs" / "teaching"


@pytest.mark.parametrize("name", ["chain", "two_phase", "ring"])
def test_a_lesson_s_formula_is_the_one_that_the_compiler_lists(name: str) -> None:
    text = (TEACHING / f"{name}.md").read_text()
    formula = next(line for line in text.splitlines() if line.startswith("T = "))[4:]
    written = formula.replace("2 (", "2 * (").replace(") (", ") * (").replace("2 ramp", "2 * ramp")
    assert f"`{written}" in (TEACHING.parent / "patterns.md").read_text()
