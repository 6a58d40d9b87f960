"""fabsim's Python side answers in words, whatever files and host scripts give it; a sample of
`tests/fuzz_fabsim.py`, and what that has found."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fuzz_fabsim
import numpy as np
import pytest

from fabsim import core_file, timing_table


@pytest.fixture(name="place")
def in_a_workplace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[fuzz_fabsim.Workplace]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("FABSIM_OPTIONS", f"--max-cycles {fuzz_fabsim.CYCLES}")
    yield fuzz_fabsim.Workplace(tmp_path)


@pytest.mark.parametrize("target", fuzz_fabsim.TARGETS)
def test_what_is_wrong_is_said_in_words(target: str, place: fuzz_fabsim.Workplace) -> None:
    choose = random.Random(7)
    seeds = place.seeds.get(target, [])
    for _ in range(25):
        data = fuzz_fabsim.changed(choose.choice(seeds), choose) if seeds else choose.randbytes(8)
        assert fuzz_fabsim.tried(fuzz_fabsim.TARGETS[target], place, data) == ("", "")


def test_an_answer_that_is_not_in_words_is_found(place: fuzz_fabsim.Workplace) -> None:
    def attempt(_: fuzz_fabsim.Workplace, data: bytes) -> None:
        assert data != b"bad"

    assert fuzz_fabsim.tried(attempt, place, b"good") == ("", "")
    where, said = fuzz_fabsim.tried(attempt, place, b"bad")
    assert where.endswith("AssertionError") and "Traceback" in said


def test_files_that_are_nested_too_deep_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text("[" * 100_000)
    with pytest.raises(ValueError, match="no table of cycle costs"):
        timing_table.read(str(file), "wse3")
    with pytest.raises(ValueError, match="no core file"):
        core_file.read(file)


def host(place: fuzz_fabsim.Workplace) -> tuple[Any, Any]:
    sdk = fuzz_fabsim.runtime()
    runtime = sdk.SdkRuntime(str(place.program))
    runtime.load()
    runtime.run()
    return sdk, runtime


def test_arguments_of_another_kind_are_named(place: fuzz_fabsim.Workplace) -> None:
    sdk, runtime = host(place)
    words, kind = np.ones(24, np.uint32), sdk.MemcpyDataType.MEMCPY_32BIT
    how = {"streaming": False, "nonblock": False}
    for order, data_type, wanted in (
        (0, kind, "a MemcpyOrder is wanted, not 0"),
        (sdk.MemcpyOrder.ROW_MAJOR, 32, "a MemcpyDataType is wanted, not 32"),
    ):
        with pytest.raises(TypeError, match=wanted):
            runtime.memcpy_h2d(0, words, 0, 0, 3, 2, 4, order=order, data_type=data_type, **how)
    with pytest.raises(TypeError, match="a task is what a command gave, not 3"):
        runtime.task_wait(3)
    runtime.memcpy_h2d(
        0, words, 0, 0, 3, 2, 4, order=sdk.MemcpyOrder.ROW_MAJOR, data_type=kind, **how
    )


def test_no_array_is_made_for_pes_that_are_not_there(place: fuzz_fabsim.Workplace) -> None:
    sdk, runtime = host(place)
    how = {
        "streaming": False,
        "nonblock": False,
        "order": sdk.MemcpyOrder.ROW_MAJOR,
        "data_type": sdk.MemcpyDataType.MEMCPY_32BIT,
    }
    words = np.ones(8, np.uint32)
    with pytest.raises(ValueError, match="not within the program's 3 x 2"):
        runtime.memcpy_h2d_rowbcast(0, words, 0, 0, 2**32, 2, 4, **how)
    with pytest.raises(ValueError, match="not within the program's 3 x 2"):
        runtime.memcpy_h2d_colbcast(0, words[:4], 3, 0, 1, 2, 4, **how)
    runtime.memcpy_h2d_rowbcast(0, words, 0, 0, 3, 2, 4, **how)
    assert isinstance(runtime.read_symbol(2, 1, "buffer"), np.ndarray)
