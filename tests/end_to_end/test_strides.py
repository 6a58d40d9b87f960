"""Buffers whose elements are apart: what is between them stays as it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from collc.base.diagnostics import CollcError
from collc.driver.pipeline import compile_text
from collc.language import parse_source
from collc.language.show import show_spec
from collc.run.program import read_vectors, write_vectors
from collc.target import TARGETS
from tests.end_to_end.test_pairs import program


def runs(text: str, **how: object) -> None:
    report = compile_text(text, "apart.coll", {}).run(seed=3, **how)
    assert report.verified, report.problem


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("contract", "steps"),
    [
        ("allreduce(x: f32[9] by 3, min)", "reduce star to 0 then broadcast from 0"),
        ("allreduce(x: i16[10] by 2, max)", "order ring run ring_allreduce"),
        ("allreduce(x: f16[8] by 2, add)", "reduce chain to 2 then broadcast from 2"),
        ("reduce_scatter(x: f32[12] by 5, add)", "run chain_reduce_scatter"),
        ("all_to_all(x: f32[10] by 3)", "run pairwise_all_to_all"),
        ("gather(x: i32[11] by 4)", "run linear_gather"),
    ],
)
def test_elements_that_are_apart_are_moved_and_combined(contract, steps, target):
    runs(program(contract, steps, target=target))


def test_blocks_of_a_grid_may_be_apart():
    steps = "run columns by ring_reduce_scatter then run rows by ring_reduce_scatter"
    runs(program("reduce_scatter(x: f32[31] by 3, add)", steps, rows=3))


def test_a_length_of_the_run_may_be_apart():
    text = program("allreduce(x: f32[n <= 9] by 3, add)", "order ring run ring_allreduce")
    runs(text, lengths={"n": [7]})


def test_rounds_have_buffers_behind_each_other():
    steps = "reduce chain to 0 then broadcast from 0"
    runs(program("allreduce(x: f32[5] by 2, add)", steps, calls="repeat 3 { best }"))


def test_two_of_16_bits_that_are_apart_do_not_share_a_wavelet():
    steps = "reduce chain to 0"
    near, apart = (
        compile_text(program(f"reduce(x: f16[64]{by}, add)", steps), "apart.coll", {})
        for by in ("", " by 2")
    )
    assert near.plan.phases[0].paired
    assert not apart.plan.phases[0].paired


@pytest.mark.parametrize("target", TARGETS)
def test_columns_of_tiles_are_exchanged(target):
    text = (Path(__file__).parents[2] / "examples" / "program_halo_columns.coll").read_text()
    for sizes in ({"P": 3, "Q": 2, "B": 7, "T": 4}, {"P": 1, "Q": 1, "B": 2, "T": 3}):
        report = compile_text(text, "program_halo_columns.coll", sizes, target).run(seed=3)
        assert report.verified, report.problem


class Memory:
    """A PE's buffer, in place of a simulator."""

    def memcpy_h2d(self, name, words, *place):
        self.words = words.copy()

    def memcpy_d2h(self, name, dtype, *place):
        return self.words.astype(dtype)


def test_what_changes_between_elements_is_found():
    (collective,) = parse_source(program("reduce(x: f32[4] by 3, add)", "reduce chain")).collectives
    memory, grid, contract = Memory(), replace(collective.grid, width=1), collective.contract
    vectors = np.arange(4, dtype=np.float32).reshape(1, 1, 1, 4)
    write_vectors(memory, contract, vectors)
    found, wrong = read_vectors(memory, grid, contract, 1)
    assert ((found == vectors).all(), wrong) == (True, "")
    memory.words[4] = 0
    assert read_vectors(memory, grid, contract, 1)[1]


def test_a_spec_with_a_stride_reads_as_it_is_shown():
    text = program("reduce(x: f32[2] by P - 2, add)", "reduce chain")
    shown = show_spec(parse_source(text))
    assert "reduce(x: f32[2] by 3, add)" in shown
    assert show_spec(parse_source(shown)) == shown


def test_memory_counts_what_is_between():
    with pytest.raises(
        CollcError, match=r"(?s)C308.* shorten `x` to at most 97 elements"
    ) as caught:
        compile_text(program("broadcast(x: f32[101] by 100)", "broadcast from 0"), "a.coll", {})
    assert "(data 40068," in str(caught.value)
    runs(program("broadcast(x: f32[97] by 100)", "broadcast from 0"))
