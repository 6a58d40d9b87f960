"""Results in a buffer of their own: the input stays as it is, and what is copied is counted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from libraries import name_of

from collc.driver.pipeline import compile_text
from collc.language import parse_source
from collc.language.show import show_spec
from collc.run import RunReport
from collc.target import TARGETS
from tests.end_to_end.test_pairs import program

TO_ALL = "reduce chain to 0 then broadcast from 0"


def runs(text: str) -> RunReport:
    bundle = compile_text(text, "into.coll", {})
    report = bundle.run(seed=3)
    assert report.verified, report.problem
    assert abs(bundle.prediction.cycles - report.cycles) <= 0.03 * report.cycles + 30
    return report


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("contract", "steps"),
    [
        ("allreduce(x: f32[200], add) into y", TO_ALL),
        ("reduce(x: f32[9], min) into y by 2", "reduce star to 0"),
        ("reduce(x: i16[9] by 3, max) into y", "reduce binomial to 0"),
        ("broadcast(x: f16[40]) into y", "broadcast from 2"),
        ("allreduce(x: f32[20] by 2, add) into y by 3", "order ring run ring_allreduce"),
        ("reduce_scatter(x: f32[20], add) into y", "run chain_reduce_scatter"),
        ("all_to_all(x: u32[10]) into y", "run pairwise_all_to_all"),
        ("allgather(x: (f32, u32)[7]) into y", "run linear_gather then broadcast from 0"),
    ],
)
def test_a_result_apart_is_right_and_its_input_as_it_was(contract, steps, target):
    runs(program(contract, steps, target=target))


def test_the_buffers_of_a_run_are_both_there():
    report = runs(program("allreduce(x: f32[4], add) into y", TO_ALL))
    assert set(report.results) == {"x", "y"}
    total = report.results["x"].astype(np.float64).sum(axis=(0, 1))
    np.testing.assert_allclose(report.results["y"], np.broadcast_to(total, (1, 5, 4)), rtol=1e-6)


def test_a_scan_over_a_grid_is_numpys_cumulative_sum():
    text = (Path(__file__).parents[2] / "examples" / "scan_grid.coll").read_text()
    bundle = compile_text(text, "scan_grid.coll", {"W": 5, "H": 3, "B": 2})
    given = np.arange(30, dtype=np.int32).reshape(3, 5, 2) ** 2
    report = bundle.run(inputs={"x": given})
    assert report.verified, report.problem
    assert (report.results["y"].reshape(15, 2) == given.reshape(15, 2).cumsum(axis=0)).all()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("ranks", [1, 5])
@pytest.mark.parametrize("calls", ["repeat 2 { best best }", "best"])
def test_copying_takes_the_cycles_predicted(calls, ranks, target):
    for operation in ("add", "min"):
        contract = f"allreduce(x: f32[40], {operation}) into y"
        text = program(contract, TO_ALL, ranks=ranks, calls=calls, target=target)
        report = runs(text)
        assert compile_text(text, "into.coll", {}).prediction.cycles == report.cycles


def test_one_pe_copies_to_elements_further_apart():
    contract = "reduce(x: f32[9], min) into y by 2"
    text = program(contract, "reduce star to 0", ranks=1, calls="repeat 3 { best best }")
    assert compile_text(text, "into.coll", {}).prediction.cycles == runs(text).cycles


@pytest.mark.parametrize("calls", ["repeat 2 { best best }", "best"])
def test_one_pe_copies(calls):
    runs(program("allreduce(x: f32[4], add) into y", TO_ALL, ranks=1, calls=calls))


@pytest.mark.parametrize("place", ["1 .. 3, 2", "2, 1"])
def test_pes_beside_a_part_keep_what_they_have(place):
    text = f"""
        target wse2
        grid pes = 5 x 4
        grid part = pes[{place}]
        collective sum = allreduce(x: f32[6], add) into y on part {{ {TO_ALL} }}
        program {{ sum }}
    """
    bundle = compile_text(text, "into.coll", {})
    assert bundle.run(seed=3).verified


def test_a_result_is_the_input_of_the_next_call():
    text = f"""
        target wse2
        grid row = 5 x 1
        collective sum = allreduce(x: f32[6], add) into y on row {{ {TO_ALL} }}
        collective most = allreduce(y: f32[6], max) into x on row {{ {TO_ALL} }}
        program {{ repeat 2 {{ sum most sum }} }}
    """
    runs(text)


def test_collectives_in_flight_at_once_have_results_of_their_own():
    text = """
        target wse2
        grid pes = 4 x 3
        collective rows = reduce(x: f32[6], add) into y on each row of pes { reduce chain to 0 }
        collective columns = reduce(z: f32[6], add) into w by 2 on each column of pes {
            reduce chain to 0
        }
        program { repeat 2 { rows and columns } }
    """
    assert compile_text(text, "into.coll", {}).run(seed=3).verified


def test_an_input_that_changes_is_found():
    bundle = compile_text(program("allreduce(x: f32[4], add) into y", TO_ALL), "into.coll", {})
    name, moved = name_of(bundle.files), "const own = @set_dsd_base_addr(whole_vector, vector);"
    changed = bundle.files[name].replace(moved, f"{moved} (input.*)[0] = 0.0;")
    assert changed != bundle.files[name]
    files = dict(bundle.files) | {name: changed}
    assert "`x`" in replace(bundle, files=files).run(seed=3).problem


def test_a_spec_with_a_result_reads_as_it_is_shown():
    text = program("reduce(x: f32[2] by 3, add) into y by P - 1", "reduce chain")
    shown = show_spec(parse_source(text))
    assert "reduce(x: f32[2] by 3, add) into y by 4" in shown
    assert show_spec(parse_source(shown)) == shown
