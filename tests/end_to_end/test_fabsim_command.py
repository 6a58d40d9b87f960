"""What the command `fabsim` says of itself, and of what it does not have."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest


def fabsim(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fabsim", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_it_prints_its_version() -> None:
    result = fabsim("--version")
    assert (result.returncode, result.stdout) == (0, f"fabsim {version('fabsim')}\n")


def test_the_host_interface_before_sdk_runtime_is_refused_by_name(tmp_path: Path) -> None:
    script = tmp_path / "run.py"
    script.write_text(
        "from cerebras.elf.cs_elf_runner import CSELFRunner\n"
        "runner = CSELFRunner(['out/bin/out_0_0.elf'], cmaddr=None)\n"
    )
    result = fabsim("python", str(script))
    assert result.returncode == 1
    assert result.stderr.startswith("fabsim: CSELFRunner is of releases before 1.0")
    assert "SdkRuntime" in result.stderr


LAYOUT = """
const memcpy = @import_module("<memcpy/get_params>", .{ .width = 1, .height = 1 });
layout {
  @set_rectangle(1, 1);
  @set_tile_code(0, 0, "pe.csl", .{ .memcpy_params = memcpy.get_params(0) });
  @export_name("run", fn()void);
}
"""
PE = """
param memcpy_params;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
const again = @get_local_task_id(9);
task repeats() void { @activate(again); }
fn run() void { @activate(again); }
comptime { @bind_local_task(repeats, again); @export_symbol(run); }
"""
CSLC = ("--fabric-dims=8,3", "--fabric-offsets=4,1", "--memcpy")


def program(folder: Path, more: str = "") -> str:
    folder.mkdir(exist_ok=True)
    (folder / "layout.csl").write_text(LAYOUT)
    (folder / "pe.csl").write_text(PE + more)
    return str(folder / "layout.csl")


HELPS = [[command, "--help"] for command in ("cslc", "python", "trace", "timing", "view")]


@pytest.mark.parametrize(
    "arguments", [["timing", "simfabric"], ["--version"], ["--help"], *HELPS], ids=" ".join
)
def test_output_that_cannot_be_written_is_a_line_and_a_status(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "fabsim", *arguments]
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert result.returncode == 1
    assert result.stderr == f"fabsim {arguments[0]}: No space left on device\n"


def test_a_full_disk_is_a_line_and_a_status(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "fabsim", "cslc", program(tmp_path), *CSLC, "-o", tmp_path / "out"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1].startswith("fabsim cslc: ")
    assert "Traceback" not in result.stderr


def test_it_runs_where_standard_streams_are_closed(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "fabsim",
        "cslc",
        program(tmp_path),
        *CSLC,
        "-o",
        tmp_path / "o",
    ]
    closed = subprocess.run(command, preexec_fn=lambda: os.closerange(0, 3), check=False)
    assert closed.returncode == 0
    assert (tmp_path / "o" / "out.json").is_file()


def test_evaluation_without_an_end_is_given_up_where_it_is(tmp_path: Path) -> None:
    layout = program(tmp_path, "comptime { while (true) { } }\n")
    result = fabsim("cslc", layout, *CSLC, "--max-seconds", "1", "-o", str(tmp_path / "out"))
    assert result.returncode == 1
    assert "takes more than 1 seconds; --max-seconds raises the limit" in result.stderr
    assert "pe.csl:8:" in result.stderr


def test_a_run_without_an_end_is_given_up(tmp_path: Path) -> None:
    result = fabsim("cslc", program(tmp_path), *CSLC, "-o", str(tmp_path / "out"))
    assert result.returncode == 0, result.stderr
    script = tmp_path / "run.py"
    script.write_text(
        "from cerebras.sdk.runtime.sdkruntimepybind import SdkRuntime\n"
        f"runner = SdkRuntime({str(tmp_path / 'out')!r})\n"
        "runner.load()\nrunner.run()\nrunner.launch('run', nonblock=False)\nrunner.stop()\n"
    )
    result = fabsim("python", "--max-seconds", "1", str(script))
    assert result.returncode == 1
    assert "the limit of 1 seconds is reached in cycle" in result.stderr
    assert "1 PEs have not finished" in result.stderr


def test_a_file_outside_of_the_programs_folders_is_not_shown(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("password\n")
    (tmp_path / "program").mkdir()
    (tmp_path / "program" / "link.csl").symlink_to(secret)
    for name in (str(secret), "../secret", "link.csl"):
        layout = program(tmp_path / "program", f'const shown = @import_module("{name}");\n')
        result = fabsim("cslc", layout, *CSLC, "-o", str(tmp_path / "out"))
        assert result.returncode == 1
        assert "pe.csl:8:15: error: " in result.stderr
        assert "only .csl files are, where links are followed" in result.stderr
        assert "password" not in result.stderr


def test_modules_beside_the_layouts_folder_are_imported(tmp_path: Path) -> None:
    (tmp_path / "more.csl").write_text("const three = 3;\n")
    imports = 'const more = @import_module("../more.csl");\n'
    layout = program(
        tmp_path / "program", imports + "comptime { @comptime_assert(more.three == 3); }"
    )
    result = fabsim("cslc", layout, *CSLC, "-o", str(tmp_path / "out"))
    assert result.returncode == 0, result.stderr
