"""Options of cslc, logs and commands for debugging, and what users get wrong around a run."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_run_files import LAYOUT, PE, RUN

COMPILE = ["layout.csl", "--fabric-dims=9,3", "--fabric-offsets=4,1", "--memcpy", "-o", "out"]

# A PE that never lets the next command in.
ENDLESS = PE.replace("fn run(n: u16) void {", "fn run(n: u16) void {\n    while (true) {}")


def fabsim(
    directory: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fabsim", *arguments],
        cwd=directory,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The sources of two PEs, the first of which sends eight words to the second; compiled."""
    for name, text in (("layout.csl", LAYOUT), ("pe.csl", PE), ("run.py", RUN)):
        (tmp_path / name).write_text(text)
    compiled = fabsim(tmp_path, "cslc", *COMPILE)
    assert compiled.returncode == 0, compiled.stderr
    return tmp_path


def test_out_routes_says_where_every_color_of_a_pe_comes_from_and_goes(program: Path) -> None:
    result = fabsim(program, "cslc", *COMPILE, "--out-routes")
    assert result.stdout.splitlines() == [
        "PE (0, 0) color 3: R -> E",
        "PE (1, 0) color 3: W -> R",
    ]


def test_options_of_the_vendors_driver_alone_are_taken(program: Path) -> None:
    result = fabsim(program, "cslc", *COMPILE, "--output-json", "--max-parallelism=2", "-g0")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(("limit", "status"), [("4", 1), ("5", 0)])
def test_calls_at_compile_time_nest_as_deep_as_the_limit_says(
    program: Path, limit: str, status: int
) -> None:
    nested = "fn sum(n: u16) u16 { return if (n == 0) 0 else n + sum(n - 1); }\n"
    text = PE.replace("var values:", f"{nested}const ten = sum(4);\nvar values:")
    (program / "pe.csl").write_text(text)
    result = fabsim(program, "cslc", *COMPILE, f"--comptime-func-depth-limit={limit}")
    assert result.returncode == status, result.stderr
    assert status == 0 or "nested more than 4 deep" in result.stderr


def test_the_instruction_log_has_fabric_coordinates(program: Path) -> None:
    result = fabsim(program, "python", "run.py", SINGULARITYENV_SIMFABRIC_DEBUG="inst_trace")
    assert result.returncode == 0, result.stderr
    lines = (program / "sim.log").read_text().splitlines()
    assert lines[1] == "@0 dimX=9, dimY=3"
    traced = lines[2:-1]
    assert {line.split()[1].rstrip(":") for line in traced} == {"P4.1", "P5.1"}
    assert all(line.startswith("@") for line in traced)
    assert any("[EX OP]" in line for line in traced)
    assert not any("(hwtile)" in line for line in traced)


def test_a_host_script_is_told_once_of_wavelets_that_leave_the_rectangle(program: Path) -> None:
    assert ".tx = .{ RAMP }" in LAYOUT
    (program / "layout.csl").write_text(LAYOUT.replace(".tx = .{ RAMP }", ".tx = .{ RAMP, EAST }"))
    compiled = fabsim(program, "cslc", *COMPILE)
    assert compiled.returncode == 0, compiled.stderr
    result = fabsim(program, "python", "run.py")
    assert result.returncode == 0, result.stderr
    lines = [line for line in result.stderr.splitlines() if "leaves the rectangle" in line]
    assert len(lines) == 1
    assert lines[0].startswith("fabsim: warning: PE (1, 0): a wavelet of color 3 ")


def test_the_landing_log_has_what_arrives_in_routers(program: Path) -> None:
    assert fabsim(program, "python", "run.py", SIMFABRIC_DEBUG="landing").returncode == 0
    lines = (program / "sim.log").read_text().splitlines()[2:-1]
    assert sum("landing=W" in line and " P5.1 " in line for line in lines) == 8


def test_a_log_that_there_is_not_is_named(program: Path) -> None:
    result = fabsim(program, "python", "run.py", SIMFABRIC_DEBUG="inst_trace,caches")
    assert result.returncode == 1
    assert "fabsim has no log 'caches'; there are inst_trace, router, landing" in result.stderr


def test_the_debug_shell_lists_what_arrives_at_a_pe(program: Path) -> None:
    assert fabsim(program, "python", "run.py", FABSIM_OPTIONS="--trace t.trace").returncode == 0
    reading = ["debug-shell", "wavelet-trace", "--artifact_dir", ".", "--x", "5", "--y", "1"]
    result = fabsim(program, *reading, "t.trace")
    assert result.returncode == 0, result.stderr
    rows = [line.split() for line in result.stdout.splitlines()[1:]]
    from_the_west = [row for row in rows if row[3] == "W"]
    assert len(from_the_west) == 8
    assert {row[1] for row in from_the_west} == {"3"}
    assert fabsim(program, *reading, "--color", "7", "t.trace").stdout.count("\n") == 1


def test_the_debug_shell_says_that_there_is_no_trace(program: Path) -> None:
    result = fabsim(program, "debug-shell", "wavelet-trace", "--x", "5", "--y", "1", "trace")
    assert result.returncode == 1
    assert "there is no trace 'trace'" in result.stderr


def test_a_program_that_is_not_there_is_told_in_a_line(program: Path) -> None:
    (program / "run.py").write_text(RUN.replace('"out"', '"nothere"'))
    result = fabsim(program, "python", "run.py")
    assert result.returncode == 1
    assert result.stderr == (
        "fabsim: there is no compiled program in 'nothere': no nothere/fabsim.json\n"
    )


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}", "without arch", "wrong dims"])
def test_a_damaged_program_is_told_in_a_line(program: Path, damage: str) -> None:
    path = program / "out" / "fabsim.json"
    recipe = json.loads(path.read_text())
    if damage == "without arch":
        del recipe["arch"]
        damage = json.dumps(recipe)
    elif damage == "wrong dims":
        damage = json.dumps(recipe | {"fabric_dims": "many"})
    path.write_text(damage)
    result = fabsim(program, "python", "run.py")
    assert result.returncode == 1
    assert "is not as cslc wrote it" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_vendors_own_package_is_found_beside_the_stand_ins(program: Path) -> None:
    client = program / "wheel" / "cerebras" / "sdk" / "client"
    client.mkdir(parents=True)
    (client / "__init__.py").write_text("NAME = 'client'\n")
    script = "import cerebras.sdk.client\nfrom cerebras.sdk.runtime import sdkruntimepybind\n"
    (program / "both.py").write_text(f"{script}print(cerebras.sdk.client.NAME)\n")
    result = fabsim(program, "python", "both.py", PYTHONPATH=str(program / "wheel"))
    assert result.stdout == "client\n", result.stderr


def test_a_long_run_can_be_interrupted_and_says_where_it_was(program: Path) -> None:
    (program / "pe.csl").write_text(ENDLESS)
    script = RUN.replace("runner.launch(", "open('started', 'w').close()\nrunner.launch(")
    (program / "run.py").write_text(script)
    assert fabsim(program, "cslc", *COMPILE).returncode == 0
    process = subprocess.Popen(
        # a billion cycles, the usual limit, are less than a second of such a loop
        [sys.executable, "-m", "fabsim", "python", "--max-cycles", str(10**15), "run.py"],
        cwd=program,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (program / "started").exists() and process.poll() is None:
        time.sleep(0.1)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.startswith("fabsim: interrupted at cycle ")
    assert said.endswith("in the launch of 'run'\n")


class Terminal(io.StringIO):
    """What is written to a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("shown", [True, False])
def test_progress_is_shown_after_a_while_and_then_taken_away(
    shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress = pytest.importorskip("fabsim.progress")
    now = 100.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    terminal = Terminal()
    reporter = progress.Reporter(terminal, shown=shown)
    reporter.begin("the launch of 'run'")
    reporter.told(0)
    now += 1
    reporter.told(1_000)
    assert terminal.getvalue() == ""
    now += 3
    reporter.told(4_000)
    line = "\rfabsim: the launch of 'run': cycle 4,000 (1,000 a second)\x1b[K"
    assert terminal.getvalue() == (line if shown else "")
    reporter.end()
    assert terminal.getvalue() == (f"{line}\r\x1b[K" if shown else "")
