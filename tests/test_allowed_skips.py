"""A skipped test passes for a green one only where that is meant."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from allowed_skips import ROOT, allowed, forbidden

TESTS = {
    "test_one.py": "import pytest\n\ndef test_it():\n    pytest.importorskip('not_there')\n",
    "test_file.py": "import pytest\n\npytest.importorskip('not_there')\n\ndef test_it(): pass\n",
    "test_done.py": "import pytest\n\ndef test_it():\n    pytest.importorskip('json')\n",
}


def ran(folder: Path, ci: str, *options: str) -> subprocess.CompletedProcess[str]:
    """A run of these tests under this repository's conftest."""
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "tests")
    environment = {**os.environ, "CI": ci, "PYTHONPATH": str(folder / "tests")}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_skips_that_are_not_allowed_fail_in_continuous_integration_alone(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    for name in ("conftest.py", "allowed_skips.py", "allowed_skips.txt", "stages.py"):
        shutil.copy(ROOT / "tests" / name, tmp_path / "tests")
    for name, text in TESTS.items():
        (tmp_path / "tests" / name).write_text(text)
    done = ran(tmp_path, "true", "--continue-on-collection-errors")
    assert done.returncode == 1 and "1 failed, 1 passed, 1 error" in done.stdout
    assert "allowed_skips.txt does not have it" in done.stdout
    assert ran(tmp_path, "").returncode == 0


def test_a_skip_is_allowed_for_its_reason_in_its_file() -> None:
    viewer = str(ROOT / "tests" / "view" / "test_page.py")
    assert forbidden(viewer, 3, "Skipped: no Chromium: the pages are not opened") == ""
    assert "tests/view/test_page.py:3 skips" in forbidden(
        viewer, 3, "Skipped: could not import 'fabsim'"
    )
    assert forbidden(str(ROOT / "tests" / "test_cli.py"), 3, "Skipped: no Chromium: none") != ""


def test_every_file_that_is_listed_skips_for_that_reason() -> None:
    for file, reason in allowed():
        place = ROOT / file
        text = (place / "conftest.py" if place.is_dir() else place).read_text(encoding="utf-8")
        known = reason in text or "importorskip" in text or "skip(f" in text
        assert known, f"{file} does not skip with {reason}"
