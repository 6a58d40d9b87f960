"""The gallery: programs for common needs, each run on both targets, at two sizes."""

from __future__ import annotations

from pathlib import Path

import pytest

import collc

ROOT = Path(__file__).parents[2]
GALLERY = sorted((ROOT / "examples" / "gallery").glob("*.coll"))
OTHERS = {
    "argmin": {"P": 7, "B": 3},
    "centre_broadcast": {"W": 1, "H": 5, "B": 7},
    "gatherv": {"P": 3, "E": 5},
    "halo": {"W": 2, "H": 3, "E": 5},
    "library": {"P": 5, "B": 9},
    "own_tree": {"P": 10, "G": 3, "B": 5},
    "scan": {"P": 11, "B": 2},
    "select": {"P": 9, "B": 100},
    "softmax": {"P": 5, "B": 1},
    "sub_grid": {"W": 3, "H": 4, "B": 3},
    "transpose": {"N": 3, "E": 7},
    "two_colors": {"W": 3, "H": 5, "B": 3},
}


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_a_program_of_the_gallery_delivers(path: Path, target: str) -> None:
    for given in ({}, OTHERS[path.stem]):
        report = collc.compile(path, target=target, **given).run()
        assert report.verified, (given, report.problem)


def test_every_program_of_the_gallery_is_on_its_page_and_says_how_to_run_it() -> None:
    page = (ROOT / "docs" / "gallery.md").read_text()
    assert set(OTHERS) == {path.stem for path in GALLERY}
    for path in GALLERY:
        assert f"../examples/gallery/{path.name}" in page
        assert f"collc run {path.name}" in path.read_text().split("target")[0] or (
            f"collc build {path.name}" in path.read_text().split("target")[0]
        )
