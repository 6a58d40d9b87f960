"""Emitted text and kernels compile under the releases claimed for them, and under no others.

`SDK_RELEASES` says which they are. What a release lacks is in one table of fabsim's and in its rows
of builtins; `Program.since` is the first release that has all that a program uses. That of every
example is compared where its constructs are, in `test_constructs.py`; here a few are compiled under
every release there is, and the kernels under those that are claimed and the one before.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import collc
from collc.target import SDK_RELEASES

fabsim = pytest.importorskip("fabsim")

ROOT = Path(__file__).parents[2]
RELEASES = ("1.0", "1.1", "1.2", "1.3", "1.4", "2.10")
EVERY_FORM = ("argmax", "barrier", "program_mixed", "ring_allreduce", "two_phase")
# Parameters of the collectives and of the layout.
KERNELS = {
    "argmax": ({"P": 2}, {"block": 2}),
    "conjugate_gradient": ({"P": 4}, {"block": 3, "iterations": 4}),
    "gemv": ({"W": 3, "H": 2, "M": 4, "N": 4}, {"rows": 4, "columns": 4}),
    "layer_norm": ({"P": 4}, {"block": 3}),
}
# Text beside a program that is not in this repository.
DROP_INS = ("collectives_2d",)
CSL = "examples/*/**/*.csl"
ON_BOTH = pytest.mark.parametrize("target", SDK_RELEASES)


def accepted(layout: Path, target: str, sdk: str, **more: object) -> bool:
    """Whether a release takes a program; raises for what is wrong for another reason."""
    try:
        fabsim.compile(layout, arch=target, sdk=sdk, strict=True, **more)
    except fabsim.CslError as error:
        errors = [line for line in str(error).splitlines() if ": error: " in line]
        of_release = re.compile(r"came with SDK [0-9.]+, .* does not have it|exists up to SDK")
        assert errors and all(of_release.search(line) for line in errors), error
        return False
    return True


@ON_BOTH
@pytest.mark.parametrize("name", EVERY_FORM)
def test_an_example_is_text_of_the_releases_it_claims_and_of_no_others(
    name: str, target: str, tmp_path: Path
) -> None:
    collc.compile(ROOT / "examples" / f"{name}.coll", target=target).write(tmp_path)
    taking = tuple(sdk for sdk in RELEASES if accepted(tmp_path / "layout.csl", target, sdk))
    assert taking == SDK_RELEASES[target]


@ON_BOTH
@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_is_text_of_the_releases_that_its_collectives_claim(
    name: str, target: str, tmp_path: Path
) -> None:
    shutil.copytree(ROOT / "examples" / name, tmp_path, dirs_exist_ok=True)
    sizes, params = KERNELS[name]
    made = tmp_path / "out" / "collectives"
    collc.compile(tmp_path / "collectives.coll", target=target, **sizes).write(made)
    before = RELEASES.index(SDK_RELEASES[target][0]) - 1
    taking = tuple(
        sdk
        for sdk in RELEASES[before:]
        if accepted(tmp_path / "layout.csl", target, sdk, params=params, import_paths=[str(made)])
    )
    assert taking == SDK_RELEASES[target]


def test_every_kernel_among_the_examples_is_compiled_here() -> None:
    folders = {path.relative_to(ROOT / "examples").parts[0] for path in ROOT.glob(CSL)}
    assert folders == {*KERNELS, *DROP_INS}


def test_the_releases_are_those_the_page_names() -> None:
    page = (ROOT / "docs" / "hardware.md").read_text()
    for target, claimed in SDK_RELEASES.items():
        assert set(claimed) <= set(RELEASES), target
        assert all(f"SDK {sdk}" in page for sdk in claimed), target
