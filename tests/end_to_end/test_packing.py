"""16-bit elements that travel two to a wavelet, from `.coll` text to fabsim."""

from __future__ import annotations

from itertools import cycle

import pytest
from libraries import has_simd

from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text

CONTRACTS = (
    ("allreduce(x: f16[B], add)", "wse2"),
    ("allreduce(x: f16[B], min)", "wse3"),
    ("allreduce(x: u16[B], xor)", "wse3"),
    ("allreduce(x: i16[B], max)", "wse2"),
)
TREES = ("chain", "star", "two_phase(S = 3)", "binomial")


def compiled(target: str, contract: str, body: str, ranks: int, length: int) -> Bundle:
    text = f"""target {target} param B = {length} grid row = {ranks} x 1
    collective total = {contract} on row {{ {body} }} program {{ total }}"""
    return compile_text(text, "test.coll", {})


@pytest.mark.parametrize(("contract", "target"), CONTRACTS)
def test_any_length_is_right_and_predicted(contract: str, target: str) -> None:
    for tree, length in zip(cycle(TREES), (1, 2, 3, 17, 18), strict=False):
        body = f"order west_to_east reduce {tree} to 0 then broadcast from 0"
        bundle = compiled(target, contract, body, 7, length)
        report = bundle.run()
        assert report.verified, report.problem
        assert bundle.prediction.bound <= report.cycles
        assert abs(report.cycles - bundle.prediction.cycles) <= 3


def test_a_pair_takes_the_time_of_one_element():
    body = "order west_to_east reduce chain to 0 then broadcast from 0"
    halves = compiled("wse2", "allreduce(x: f16[B], add)", body, 6, 200)
    words = compiled("wse2", "allreduce(x: f32[B], add)", body, 6, 100)
    assert halves.run(repeats=3).verified
    assert halves.run().cycles == words.run().cycles
    assert halves.prediction.bound == words.prediction.bound


def test_a_broadcast_moves_pairs_whatever_they_are():
    for length in (1, 2, 3, 17, 40):
        bundle = compiled("wse3", "broadcast(x: i16[B])", "broadcast from (2, 0)", 5, length)
        report = bundle.run()
        assert report.verified and report.cycles == bundle.prediction.cycles
        assert has_simd(bundle.files, "simd_32") == (length % 2 == 0)


def test_what_only_one_machine_does_in_pairs_is_for_that_one():
    body = "order west_to_east reduce chain to 0"
    on_wse3 = compiled("wse3", "reduce(x: f16[B], max)", body, 4, 8)
    assert "commands_wse2.sh" not in on_wse3.files
    on_wse2 = compiled("wse2", "reduce(x: f16[B], max)", body, 4, 8)
    assert "commands_wse3.sh" in on_wse2.files


EXCHANGES = (
    ("wse2", "allreduce(x: f16[B], add)", "order ring run ring_allreduce"),
    ("wse3", "allreduce(x: u16[B], xor)", "order west_to_east run recursive_doubling"),
    ("wse2", "reduce(x: f16[B], mul)", "order west_to_east run binary_tree_reduce(c = 2)"),
    ("wse3", "reduce_scatter(x: f16[B], add)", "order ring run ring_reduce_scatter"),
    ("wse2", "allgather(x: i16[B])", "order west_to_east run recursive_doubling_allgather"),
)


@pytest.mark.parametrize(("target", "contract", "body"), EXCHANGES)
def test_slices_are_cut_between_pairs(target: str, contract: str, body: str) -> None:
    for length in (2, 3, 24):
        bundle = compiled(target, contract, body, 4, length)
        report = bundle.run()
        assert report.verified, report.problem
        assert bundle.prediction.bound <= report.cycles
        assert abs(report.cycles - bundle.prediction.cycles) <= 2
        slices = "scatter" in contract or "gather" in contract
        paired = length == 24 if slices else length % 2 == 0
        assert has_simd(bundle.files, "simd_32") == paired
