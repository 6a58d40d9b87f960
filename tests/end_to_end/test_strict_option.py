"""`fabsim cslc --strict`, FABSIM_STRICT and `strict=` refuse what is a warning without them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

fabsim = pytest.importorskip("fabsim")

LAYOUT = """
layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl"); }
"""
PE = """
const one = @get_dsr(dsr_src1, 2);
const two = @get_dsr(dsr_src1, 2);
const three = @get_dsr(dsr_src1, 2);
"""
DOUBT = "is given twice to @get_dsr"


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    (tmp_path / "pe.csl").write_text(PE)
    (tmp_path / "layout.csl").write_text(LAYOUT)
    return tmp_path / "layout.csl"


def cslc(layout: Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    place = ["--fabric-dims=8,3", "--fabric-offsets=4,1"]
    words = [sys.executable, "-m", "fabsim", "cslc", layout.name, *place, *options]
    environment = {**os.environ, **variables}
    return subprocess.run(
        words, cwd=layout.parent, env=environment, capture_output=True, text=True, check=False
    )


def test_without_it_a_doubt_is_said_once_with_the_number_of_further_places(layout: Path) -> None:
    compiled = cslc(layout)
    assert compiled.returncode == 0, compiled.stderr
    assert compiled.stderr.count(DOUBT) == 1
    assert "[dsr-twice]; so at 1 more place, see --strict" in compiled.stderr


def test_the_option_and_the_environment_refuse_it(layout: Path) -> None:
    for refused in (cslc(layout, "--strict"), cslc(layout, FABSIM_STRICT="1")):
        assert refused.returncode == 1
        assert refused.stderr.count(DOUBT) == 2
    assert cslc(layout, FABSIM_STRICT="0").returncode == 0


def test_the_function_has_it_too(layout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(fabsim.CslError, match="dsr-twice"):
        fabsim.compile(str(layout), strict=True)
    monkeypatch.setenv("FABSIM_STRICT", "1")
    with pytest.raises(fabsim.CslError, match="dsr-twice"):
        fabsim.compile(str(layout))
    assert len(fabsim.compile(str(layout), strict=False).warnings) == 1
