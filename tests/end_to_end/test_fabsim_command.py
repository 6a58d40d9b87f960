"""What the command `fabsim` says of itself, and of what it does not have."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path


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
