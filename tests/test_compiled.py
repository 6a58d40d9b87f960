"""Functions that are compiled to machine code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

from collc import compiled


def twice(number: int) -> int:
    return 2 * number


def test_they_do_the_same() -> None:
    assert compiled.compiled(twice)(21) == twice(21)


def set_first(numbers: np.ndarray) -> None:
    numbers[0] = 21


def test_they_change_what_they_are_given() -> None:
    for way in (compiled.compiled, compiled.compiled_in_place, compiled.inlined):
        numbers = np.zeros(2, dtype=np.int64)
        way(set_first)(numbers)
        assert numbers.tolist() == [21, 0]


def test_where_nothing_can_be_kept_they_are_compiled_all_the_same(monkeypatch) -> None:
    whole, kept = compiled.to_machine_code, []

    def unwritable(cache=False, **options):
        kept.append(cache)
        if cache:
            raise RuntimeError("cannot cache function 'twice': no locator available")
        return whole(**options)

    monkeypatch.setattr(compiled, "to_machine_code", unwritable)
    assert compiled.compiled(twice)(21) == twice(21)
    assert kept == [True, False]


def test_a_function_is_compiled_anew_when_a_file_has_changed_that_its_own_imports_from(
    monkeypatch, tmp_path
) -> None:
    texts = {
        "collc.first": "from collc.second import (\n    TWO,\n)\n",
        "collc.second": "from collc.first import ONE\nTWO = 2\n",
        "collc.third": "THREE = 3\n",
    }
    for name, text in texts.items():
        module = ModuleType(name)
        module.__file__ = str(tmp_path / name)
        (tmp_path / name).write_text(text)
        monkeypatch.setitem(sys.modules, name, module)

    def digest() -> str:
        compiled._digest.cache_clear()
        return compiled._digest("collc.first")

    before = digest()
    (tmp_path / "collc.third").write_text("THREE = 4\n")
    assert digest() == before
    (tmp_path / "collc.second").write_text("TWO = 3\n")
    assert digest() != before


def test_what_goes_in_no_steps_does_not_load_the_compiler_of_loops() -> None:
    code = "import sys, collc; collc.compile('examples/chain.coll'); print('numba' in sys.modules)"
    root = Path(__file__).parents[1]
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["False"]
