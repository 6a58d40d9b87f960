"""Every kind of collective, emitted and run on both machines, without the language in between."""

from __future__ import annotations

import pytest
from with_schedules import run_program

from emitting import every_kind_of_collective, files_of, plan_of


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(("name", "what"), every_kind_of_collective().items())
def test_every_kind_of_collective_delivers(name: str, what: object, target: str) -> None:
    report = run_program(files_of(what, target), plan_of(what, target), target, seed=7)
    assert report.verified, report.problem
