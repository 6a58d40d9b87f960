"""The emitted text of four programs, file by file; tests/end_to_end/test_kinds.py runs the same.

`pytest --update-expect` renews the golden files.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from emitting import every_kind_of_bundle

GOLDEN = Path(__file__).parent / "golden"
SHOWN = {"two_phase", "grid", "minimum", "u32_max"}


@pytest.mark.parametrize(
    ("name", "files"), [bundle for bundle in every_kind_of_bundle() if bundle[0] in SHOWN]
)
def test_the_emitted_text_is_the_golden_one(golden, name: str, files: dict[str, str]) -> None:
    for file, text in files.items():
        if file != "manifest.json":  # its hashes follow from the others
            golden(GOLDEN / name / file, text)


def test_no_golden_file_is_left_over() -> None:
    expected = {
        GOLDEN / name / file
        for name, files in every_kind_of_bundle()
        if name in SHOWN
        for file in files
        if file != "manifest.json"
    }
    assert {path for path in GOLDEN.rglob("*") if path.is_file()} == expected
