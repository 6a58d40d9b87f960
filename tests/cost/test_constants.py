"""The constants of the cost model: what `make constants` measures, and a sample of it made anew."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from measuring.differences import isolated
from measuring.engine import measured_engine
from measuring.trees import measured_trees

from collc.target import TARGETS
from collc.target.constants import COUNTED, FILE, TIMING, Code, Engine, constants_of, read

TESTS = Path(__file__).parents[1]
SAMPLE = """
from measuring.probes import probe_of
from measuring.rows import stretches
from collc.target.constants import TIMING, constants_of, read

known = constants_of("{target}")
found = stretches(probe_of("{pattern}", 3, 6), "{target}", TIMING, known)
assert len(found) > 8, found
for one in found:
    takes = sum(count * getattr(known.code, name) for name, count in one.counts)
    assert takes == one.cycles, one
"""


@pytest.mark.parametrize("target", TARGETS)
def test_the_machine_and_the_phases_of_trees_are_as_measured(target: str) -> None:
    constants = constants_of(target)
    engine = measured_engine(target, TIMING)
    assert engine == {name: getattr(constants.engine, name) for name in engine}
    assert set(engine) == {field.name for field in fields(Engine)}
    trees = measured_trees(target, TIMING, engine)
    assert trees == {name: getattr(constants.code, name) for name in trees}


@pytest.mark.parametrize(
    ("target", "pattern"),
    [("wse2", "two_pes"), ("wse3", "prefix_sum")],
)
def test_rows_take_what_their_pieces_take(target: str, pattern: str) -> None:
    """In a process of its own, where nothing is compiled: tasks are looked at as they are written
    down."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(TESTS)}
    program = SAMPLE.format(target=target, pattern=pattern)
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("target", TARGETS)
def test_every_constant_is_in_one_of_the_two_files(target: str) -> None:
    counted, measured = read(COUNTED)[target], read(FILE)[TIMING][target]
    names = {field.name for kind in (Engine, Code) for field in fields(kind)}
    assert not set(counted) & set(measured)
    assert set(counted) | set(measured) == names


def test_what_differs_in_one_piece_tells_what_that_takes() -> None:
    stretches = [
        ("a", 13, {"x": 1, "y": 2}),
        ("b", 16, {"x": 2, "y": 2}),
        ("c", 40, {"x": 1, "y": 1, "z": 4}),
    ]
    found = {piece.name: piece for piece in isolated(stretches)}
    assert {name: piece.cycles for name, piece in found.items()} == {"x": 3, "y": 5, "z": 8}
    assert (found["x"].found[0].more, found["x"].found[0].less) == ("b", "a")


def test_what_always_comes_together_is_not_told_apart() -> None:
    assert isolated([("a", 3, {"x": 1, "y": 1}), ("b", 6, {"x": 2, "y": 2})]) == []


def test_differences_that_disagree_give_the_one_in_the_middle_and_say_so() -> None:
    stretches = [("a", 3, {"x": 1}), ("b", 8, {"x": 2}), ("c", 50, {"x": 5})]
    (piece,) = isolated(stretches)
    assert piece.cycles == 5 and piece.spread > 0
