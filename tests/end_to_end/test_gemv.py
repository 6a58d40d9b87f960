"""y = A x + b, by the kernel around emitted collectives and by the baseline with one color."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

import collc
from fabsim.cslc import compile_command

EXAMPLE = Path(__file__).parents[2] / "examples" / "gemv"
Run = Callable[[str, int, int, int, int], None]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example, without what was made in it, as the working directory."""
    ignored = shutil.ignore_patterns("out", "__pycache__")
    copy = Path(shutil.copytree(EXAMPLE, tmp_path / "gemv", ignore=ignored))
    monkeypatch.chdir(copy)
    return copy


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Run:
    """Does what commands.sh does, in this process."""
    monkeypatch.syspath_prepend(str(files("fabsim").joinpath("drop_in")))

    def steps(arch: str, width: int, height: int, rows: int, columns: int) -> None:
        bundle = collc.compile(
            "collectives.coll", target=arch, W=width, H=height, M=rows, N=columns
        )
        bundle.write("out/collectives")
        grid, block = f"width:{width},height:{height},", f"rows:{rows},columns:{columns}"
        fabric = f"--fabric-dims={width + 7},{height + 2} --fabric-offsets=4,1"
        for arguments in (
            f"layout.csl --params={block} -o out/program",
            f"baseline/layout.csl --params={grid}{block} -o out/baseline",
        ):
            options = f"--arch={arch} --memcpy --channels=1 {fabric}"
            compile_command(f"{arguments} {options}".split())
        spec = importlib.util.spec_from_file_location("gemv_run", "run.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        words = "run.py --name out/program --baseline out/baseline --collectives out/collectives"
        monkeypatch.setattr(sys, "argv", words.split())
        module.main()

    return steps


@pytest.mark.parametrize(
    "sizes",
    [("wse2", 6, 5, 3, 4), ("wse3", 4, 5, 2, 1), ("wse2", 2, 2, 1, 1), ("wse2", 3, 5, 20, 7)],
    ids=str,
)
def test_kernel_and_baseline_compute_what_numpy_does(
    sizes: tuple[str, int, int, int, int], run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    run(*sizes)
    said = capsys.readouterr().out
    assert "SUCCESS!" in said
    assert re.search(r"communication +\d+ +\d+", said)


def test_the_commands_run_as_they_stand(folder: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "fabsim", "shims", tmp_path / "tools"], check=True)
    path = os.pathsep.join((str(tmp_path / "tools"), str(Path(sys.executable).parent)))
    result = subprocess.run(
        ["bash", "commands.sh", "wse2", "4", "3", "2", "3"],
        cwd=folder,
        env=os.environ
        | {
            "PATH": f"{path}{os.pathsep}{os.environ['PATH']}",
            "FABSIM_OPTIONS": "--strict",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "SUCCESS!" in result.stdout


@pytest.mark.parametrize(
    ("file", "right", "wrong"),
    [
        ("pe.csl", "@fadds(own_y, own_y, own_b);", ""),
        ("product.csl", "column = @increment_dsd_offset(column, @as(i16, rows), f32);", ""),
        ("baseline/pe.csl", "if (column == 0) { @fadds(own_y, own_y, own_b); }", ""),
    ],
)
def test_the_host_script_finds_what_is_wrong(
    file: str, right: str, wrong: str, folder: Path, run: Run
) -> None:
    text = (folder / file).read_text()
    assert text.count(right) == 1
    (folder / file).write_text(text.replace(right, wrong))
    with pytest.raises(AssertionError):
        run("wse2", 4, 3, 2, 3)
