"""The page that is committed is what the sources build."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

VIEWER = Path(__file__).parents[2] / "viewer"


def node(*words: str) -> subprocess.CompletedProcess[str]:
    if not shutil.which("node") or not (VIEWER / "node_modules").is_dir():
        pytest.skip("no Node, or no packages: `make viewer` builds the page")
    return subprocess.run(["node", *words], cwd=VIEWER, capture_output=True, text=True, check=False)


def test_the_committed_page_is_a_fresh_build(tmp_path: Path) -> None:
    done = node("build.mjs", str(tmp_path / "viewer.html"))
    assert done.returncode == 0, done.stderr
    fresh = (tmp_path / "viewer.html").read_bytes()
    assert fresh == (VIEWER / "viewer.html").read_bytes(), "run `make viewer`, and commit the page"


def test_the_sources_are_typed_and_their_tests_pass() -> None:
    for tool in ("typescript/bin/tsc", "vitest/vitest.mjs"):
        words = ["--noEmit"] if "tsc" in tool else ["run"]
        done = node(f"node_modules/{tool}", *words)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_page_names_the_licences_of_what_it_brings() -> None:
    page = (VIEWER / "viewer.html").read_text(encoding="utf-8")
    assert page.count("Permission is hereby granted") == 2
    assert "gifenc" in page
    assert "fflate" in page


def test_both_packages_have_the_one_page() -> None:
    root = VIEWER.parent
    for link in ("compiler/view/viewer.html", "fabsim/python/fabsim/viewer.html"):
        assert (root / link).resolve() == VIEWER / "viewer.html"
    for link in ("compiler/view/page.py", "fabsim/python/fabsim/view_page.py"):
        assert (root / link).resolve() == VIEWER / "page.py"
