"""The emitted text of some programs, file by file; tests/end_to_end/test_kinds.py runs the same.

`pytest --update-expect` renews the golden files.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from emitting import every_kind_of_bundle

GOLDEN = Path(__file__).parent / "golden"
SHOWN = {"two_phase", "grid", "minimum", "u32_max"}
# of larger ones the files whose names end so: a length given at run time, step tables, colors that
# are torn down between calls, a rank mapping that is not contiguous, one element
SHOWN_IN_PART = {
    "dynamic_length": ("_pe.csl", "registers.csl"),
    "recursive_doubling": ("total_layout.csl", "total_pe.csl"),
    "program_parts": ("collectives_layout.csl", "collectives_pe.csl", "totals_pe.csl"),
    "row_major": ("total_layout.csl", "total_pe.csl"),
    "one_word": ("total_pe.csl",),
}


def shown(name: str, files: dict[str, str]) -> dict[str, str]:
    """The files of a bundle that are kept. The hashes of the manifest follow from the others."""
    kept = {file: text for file, text in files.items() if file != "manifest.json"}
    if name in SHOWN_IN_PART:
        return {file: text for file, text in kept.items() if file.endswith(SHOWN_IN_PART[name])}
    return kept if name in SHOWN else {}


@pytest.mark.parametrize(
    ("name", "files"),
    [
        pytest.param(name, files, id=name)
        for name, files in every_kind_of_bundle()
        if name in SHOWN | set(SHOWN_IN_PART)
    ],
)
def test_the_emitted_text_is_the_golden_one(
    golden, name: str, files: Callable[[], dict[str, str]]
) -> None:
    for file, text in shown(name, files()).items():
        golden(GOLDEN / name / file, text)


def test_no_golden_file_is_left_over() -> None:
    expected = {
        GOLDEN / name / file
        for name, files in every_kind_of_bundle()
        if name in SHOWN | set(SHOWN_IN_PART)  # of others nothing is shown
        for file in shown(name, files())
    }
    found = (path for path in GOLDEN.rglob("*") if path.is_file())
    assert {path for path in found if path.suffix != ".pyc"} == expected
