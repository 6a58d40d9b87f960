"""Emitted commands files and run.py, unchanged, on fabsim's stand-ins for the vendor's tools."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from libraries import with_operations

from building import grid_allreduce, line_reduce, star, two_phase
from collc.base.files import write_files
from emitting import every_kind_of_collective, files_of

KINDS = every_kind_of_collective()


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("tools")
    subprocess.run([sys.executable, "-m", "fabsim", "shims", directory], check=True)
    return directory


def run_commands(directory: Path, tools: Path, arch: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", f"commands_{arch}.sh"],
        cwd=directory,
        env=os.environ | {"PATH": f"{tools}:{os.environ['PATH']}", "FABSIM_OPTIONS": "--strict"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize("kind", ["alone", "two_phase", "grid", "minimum", "broadcast", "u16_mul"])
def test_the_commands_file_runs_and_checks_the_program(
    kind: str, arch: str, tools: Path, tmp_path: Path
) -> None:
    write_files(tmp_path, files_of(KINDS[kind]))
    result = run_commands(tmp_path, tools, arch)
    assert result.returncode == 0, result.stderr
    assert "SUCCESS!" in result.stdout


def test_run_py_finds_a_wrong_result(tools: Path, tmp_path: Path) -> None:
    files = files_of(line_reduce(star(5)))
    write_files(tmp_path, with_operations(files, "@fadds(", "@fmaxs("))
    result = run_commands(tmp_path, tools, "wse2")
    assert result.returncode != 0
    assert "SUCCESS!" not in result.stdout


def test_sources_that_changed_since_they_were_compiled_are_refused(
    tools: Path, tmp_path: Path
) -> None:
    write_files(tmp_path, files_of(grid_allreduce(two_phase(4, 2), two_phase(3, 2))))
    assert run_commands(tmp_path, tools, "wse2").returncode == 0
    with (tmp_path / "layout.csl").open("a") as layout:
        layout.write("// changed\n")
    result = subprocess.run(
        [tools / "cs_python", "run.py", "--name", "out"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode != 0
    assert "have changed" in result.stderr
