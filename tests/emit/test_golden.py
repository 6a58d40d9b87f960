"""The emitted text of some programs, file by file; tests/end_to_end/test_kinds.py runs the same.

`pytest --update-expect` renews the golden files.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from emitting import every_kind_of_bundle

GOLDEN = Path(__file__).parent / "golden"
LIBRARY = ("_layout.csl", "_pe.csl")
# By bundle, how the names of the files end that are kept: of one all, of the others what it has
# beyond that one.
SHOWN = {
    "two_phase": ("",),
    "grid": (*LIBRARY, "run.py"),
    "minimum": (*LIBRARY, "op_min_f16.csl"),  # signs that are turned before and behind
    "u32_max": ("_pe.csl", "op_max_u32.csl", "run.py"),  # call-backs
    "one_word": ("_pe.csl",),
    "row_major": ("_pe.csl",),  # a rank mapping that is not contiguous
    "scatter": LIBRARY,  # a stream
    "ring_allreduce": (*LIBRARY, "loop_add_f32.csl"),  # slices in turns
    "recursive_doubling": (*LIBRARY, "join.csl"),  # steps, operation by operation
    "direct_allreduce": ("_layout.csl", "table_add_f32.csl"),  # by a step table
    # a length given at run time, and colors that are torn down between calls
    "dynamic_length": ("_pe.csl", "router.csl", "routers.csl", "pe_program.csl"),
    "program_together": ("pe_program.csl",),  # calls beside each other
}


def shown(name: str, files: dict[str, str]) -> dict[str, str]:
    """The files of a bundle that are kept. The hashes of the manifest follow from the others."""
    return {
        file: text
        for file, text in files.items()
        if file != "manifest.json" and file.endswith(SHOWN.get(name, ()))
    }


@pytest.mark.parametrize(
    ("name", "files"),
    [pytest.param(name, files, id=name) for name, files in every_kind_of_bundle() if name in SHOWN],
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
        if name in SHOWN
        for file in shown(name, files())
    }
    found = (path for path in GOLDEN.rglob("*") if path.is_file())
    assert {path for path in found if path.suffix != ".pyc"} == expected
