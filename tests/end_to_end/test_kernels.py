"""The worked examples: kernels of their own around emitted collectives, each with its host script.

`commands.sh` is run as it stands once for each kernel; everything else is called in this process.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

import collc
from fabsim.cslc import compile_command

ROOT = Path(__file__).parents[2]
MORE = {  # parameters of the layout
    "layer_norm": "",
    "conjugate_gradient": ",iterations:40",
    "argmax": "",
}
SQUARE = ("argmax",)  # on as many rows as columns
Run = Callable[[str, str, int, int], None]


@pytest.fixture
def folder(tmp_path: Path) -> Callable[[str], Path]:
    """A copy of an example, without what was made in it."""

    def copy(kernel: str) -> Path:
        ignored = shutil.ignore_patterns("out", "__pycache__")
        return Path(shutil.copytree(ROOT / "examples" / kernel, tmp_path / kernel, ignore=ignored))

    return copy


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Does what commands.sh does, in the working directory."""
    monkeypatch.syspath_prepend(str(files("fabsim").joinpath("drop_in")))

    def steps(kernel: str, arch: str, pes: int, block: int) -> None:
        collc.compile("collectives.coll", target=arch, P=pes).write("out/collectives")
        compile_command(
            (
                f"layout.csl --arch={arch} -o out/program --memcpy "
                f"--params=block:{block}{MORE[kernel]} --channels=1 "
                f"--fabric-dims={pes + 7},{pes + 2 if kernel in SQUARE else 3} --fabric-offsets=4,1"
            ).split()
        )
        spec = importlib.util.spec_from_file_location("kernel_run", "run.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        words = ["run.py", "--name", "out/program", "--collectives", "out/collectives"]
        monkeypatch.setattr(sys, "argv", words)
        module.main()

    return steps


@pytest.mark.parametrize(
    ("kernel", "arch", "pes", "block"),
    [  # a grid of 7 x 7 has many plans to choose from
        *((kernel, "wse2", 3 if kernel in SQUARE else 7, 5) for kernel in MORE),
        *((kernel, "wse3", 2, 2) for kernel in MORE),
    ],
)
def test_a_kernel_computes_what_numpy_does(
    kernel: str, arch: str, pes: int, block: int, folder, run: Run, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(folder(kernel))
    run(kernel, arch, pes, block)
    assert "SUCCESS!" in capsys.readouterr().out


@pytest.mark.parametrize("kernel", MORE)
def test_the_commands_run_as_they_stand(kernel: str, folder, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "fabsim", "shims", tmp_path / "tools"], check=True)
    path = os.pathsep.join((str(tmp_path / "tools"), str(Path(sys.executable).parent)))
    result = subprocess.run(
        ["bash", "commands.sh", "wse2", "2" if kernel in SQUARE else "4", "3"],
        cwd=folder(kernel),
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
    ("kernel", "right", "wrong"),
    [
        ("layer_norm", "(mean * mean)", "mean"),
        ("conjugate_gradient", "s[0] += (beside[0] * west_r[0]);", ""),
        ("conjugate_gradient", "@fmacs(all_x, all_x, all_p, alpha);", ""),
        ("argmax", "while (values[index] != largest)", "while (values[index] < 0.0)"),
    ],
)
def test_the_host_script_finds_a_kernel_that_is_wrong(
    kernel: str, right: str, wrong: str, folder, run: Run, monkeypatch
) -> None:
    copy = folder(kernel)
    text = (copy / "pe.csl").read_text()
    assert text.count(right) == 1
    (copy / "pe.csl").write_text(text.replace(right, wrong))
    monkeypatch.chdir(copy)
    with pytest.raises(AssertionError):
        run(kernel, "wse2", 2 if kernel in SQUARE else 4, 9)
