"""Both axes of a grid busy at once: halves of a vector as two collectives in flight together."""

from __future__ import annotations

import pytest
from both_axes import halves_of

import collc
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.emit.library import libraries_of

ALL_TO_ALL = """target wse2
grid pes = 3 x 3
collective one = all_to_all(x: f32[9]) on pes
    { run columns by linear_all_to_all then run rows by linear_all_to_all }
collective other = all_to_all(y: f32[9]) on pes
    { run rows by linear_all_to_all then run columns by linear_all_to_all }
program { one and other }
"""


def compiled(contract: str, width: int, height: int, length: int, target: str) -> Bundle:
    bundle = compile_text(halves_of(contract, width, height, length), "test.coll", {}, target, 30)
    return bundle


@pytest.mark.parametrize(
    ("contract", "width", "height", "length", "target"),
    [
        ("allgather", 4, 3, 48, "wse2"),
        ("allgather", 3, 5, 7, "wse3"),  # shorter than the PEs, and halves of 4 and 3
        ("allgather", 2, 3, 24, "wse2"),
        ("reduce_scatter", 3, 4, 48, "wse2"),
        ("reduce_scatter", 4, 3, 5, "wse3"),
        ("allreduce", 4, 3, 25, "wse2"),
        ("scatter", 5, 3, 31, "wse2"),
        ("gather", 3, 4, 9, "wse3"),
        ("gather", 1, 4, 8, "wse2"),
    ],
)
def test_halves_on_both_axes_deliver(
    contract: str, width: int, height: int, length: int, target: str
) -> None:
    report = compiled(contract, width, height, length, target).run(seed=2)
    assert report.verified, report.problem


def test_joined_exchanges_have_registers_of_their_own() -> None:
    """Two for each, which its phases have in turn."""
    bundle = compiled("allreduce", 4, 3, 48, "wse2")
    one, other = libraries_of(bundle.program, "test.coll")
    assert min(len(one.dsr_ids), len(other.dsr_ids)) >= 2
    assert not set(one.dsr_ids) & set(other.dsr_ids)
    text = halves_of("allreduce", 4, 3, 48).replace("program {", "program { reserve dsrs 1 .. 3 ")
    assert compile_text(text, "test.coll", {}, "wse2", 30)
    with pytest.raises(collc.CollcError) as refused:
        compile_text(text.replace("1 .. 3", "1 .. 4"), "test.coll", {}, "wse2", 30)
    assert "C334" in {diagnostic.code for diagnostic in refused.value.diagnostics}


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_two_all_to_alls_at_once_need_more_microthreads_than_there_are(target: str) -> None:
    with pytest.raises(collc.CollcError) as refused:
        compile_text(ALL_TO_ALL, "test.coll", {}, target)
    assert {diagnostic.code for diagnostic in refused.value.diagnostics} == {"C334"}


def test_the_same_all_to_alls_one_after_the_other_deliver() -> None:
    report = compile_text(ALL_TO_ALL.replace(" and ", " "), "test.coll", {}).run()
    assert report.verified, report.problem


@pytest.mark.parametrize(
    ("contract", "width", "height", "length", "target"),
    [
        ("allgather", 5, 5, 500, "wse3"),
        ("reduce_scatter", 6, 4, 240, "wse2"),
        ("allreduce", 4, 3, 25, "wse2"),
    ],
)
def test_steps_in_flight_together_are_predicted_as_well_as_others(
    contract: str, width: int, height: int, length: int, target: str
) -> None:
    bundle = compile_text(halves_of(contract, width, height, length), "test.coll", {}, target)
    report = bundle.run(seed=2)
    assert report.verified, report.problem
    assert abs(bundle.prediction.cycles - report.cycles) <= 0.02 * report.cycles + 60
