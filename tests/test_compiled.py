"""Functions that are compiled to machine code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from collc import compiled


def twice(number: int) -> int:
    return 2 * number


def test_they_do_the_same() -> None:
    assert compiled.compiled(twice)(21) == twice(21)


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


def test_what_goes_in_no_steps_does_not_load_the_compiler_of_loops() -> None:
    code = "import sys, collc; collc.compile('examples/chain.coll'); print('numba' in sys.modules)"
    root = Path(__file__).parents[1]
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["False"]
