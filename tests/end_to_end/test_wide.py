"""Exchanges whose instructions take two wavelets, from `.coll` text to fabsim."""

from __future__ import annotations

import pytest
from libraries import has_simd

from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.language import parse_source
from collc.language.show import show_steps
from collc.target import TARGETS
from collc.tuning import decided

WEST = "order west_to_east run"


def compiled(target: str, contract: str, body: str, ranks: int, length: int) -> Bundle:
    text = f"""target {target} param B = {length} grid row = {ranks} x 1
    collective total = {contract} on row {{ {body} }} program {{ total }}"""
    return compile_text(text, "test.coll", {})


@pytest.mark.parametrize(
    ("target", "contract", "body", "ranks", "length"),
    [
        ("wse2", "allreduce(x: f32[B], add)", f"{WEST} halving_doubling in simd", 2, 2),
        ("wse3", "allreduce(x: f32[B], max)", f"{WEST} recursive_doubling in simd", 2, 38),
        ("wse2", "allreduce(x: f16[B], add)", f"{WEST} halving_doubling in simd", 2, 60),
        ("wse3", "allreduce(x: f32[B], add)", "order ring run ring_allreduce in simd", 3, 34),
        ("wse2", "allreduce(x: i32[B], max)", "order ring run ring_allreduce in simd", 4, 10),
        ("wse2", "allreduce(x: f16[B], add)", "order ring run ring_allreduce in simd", 3, 24),
        ("wse2", "allgather(x: u16[B])", "order ring run ring_allgather in simd", 4, 32),
        (
            "wse3",
            "reduce_scatter(x: f32[B], add)",
            f"{WEST} pairwise_reduce_scatter in simd",
            3,
            12,
        ),
        ("wse2", "all_to_all(x: f32[B])", f"{WEST} pairwise_all_to_all in simd", 5, 40),
        ("wse2", "broadcast(x: i16[B])", f"{WEST} binary_tree_broadcast(c = 2) in simd", 6, 44),
        ("wse2", "scatter(x: i16[B])", f"{WEST} linear_scatter in simd", 4, 16),
        ("wse3", "scatter(x: f16[B])", f"{WEST} linear_scatter in simd", 8, 64),
    ],
)
def test_wide_exchanges_are_right_and_predicted(
    target: str, contract: str, body: str, ranks: int, length: int
) -> None:
    bundle = compiled(target, contract, body, ranks, length)
    assert has_simd(bundle.files, "simd_64")
    report = bundle.run(repeats=2 if "ring" in body else 1)
    assert report.verified, report.problem
    if "ring" not in body:
        assert bundle.prediction.bound <= report.cycles
        assert abs(report.cycles - bundle.prediction.cycles) <= 12


def test_two_pes_send_and_receive_at_the_rate_of_the_link():
    cycles = {}
    for wide in ("", " in simd"):
        for length in (1000, 2000):
            body = f"{WEST} halving_doubling{wide}"
            bundle = compiled("wse2", "allreduce(x: f32[B], add)", body, 2, length)
            cycles[wide, length] = bundle.run().cycles
            assert bundle.prediction.cycles == cycles[wide, length]
            assert bundle.prediction.bound <= cycles[wide, length]
    assert abs(cycles["", 2000] - cycles["", 1000] - 2000) <= 4
    assert abs(cycles[" in simd", 2000] - cycles[" in simd", 1000] - 1000) <= 4


def test_what_one_machine_takes_at_once_is_for_that_one():
    body = f"{WEST} halving_doubling in simd"
    on_wse3 = compiled("wse3", "allreduce(x: f32[B], max)", body, 2, 8)
    assert "commands_wse2.sh" not in on_wse3.files


def test_an_exchange_both_ways_is_chosen_for_long_vectors_of_few():
    text = """target wse2 grid pair = 2 x 1
    collective total = allreduce(x: f32[2048], add) on pair { run auto } program { total }"""
    spec = parse_source(text, {}, None, file="test.coll")
    assert show_steps(decided(spec.collectives[0], TARGETS["wse2"])).endswith(" in simd")


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_phases_that_take_turns_on_colors_each_have_their_mode(target: str) -> None:
    text = f"""target {target} grid row = 4 x 1
    collective halves = allreduce(x: f16[8], add) on row {{
        order west_to_east reduce chain to 0 then broadcast from 0
    }}
    collective odd = reduce(y: f16[7], add) on row {{ order west_to_east reduce chain to 0 }}
    collective twos = allreduce(z: f32[8], add) on row {{ order ring run ring_allreduce in simd }}
    program {{ halves odd twos reconfigure teardown }}"""
    report = compile_text(text, "test.coll", {}).run(repeats=2)
    assert report.verified, report.problem
