"""Algorithms by steps whose length is given when the program runs: slices of the actual length."""

from __future__ import annotations

import pytest

from collc.driver.pipeline import compile_text

TEXT = """
target wse2
grid row = {ranks} x 1
collective total = {contract}(x: {element}[n <= {most}]{operation}) on row {{ {steps} }}
program {{ repeat {rounds} {{ total }} {limits} }}
"""
CHOICE = "select by n {{ n <= 6: reduce chain to 0 then broadcast from 0 else: run {} }}"


def program(steps: str, ranks: int, most: int, **other: object) -> str:
    how = {"contract": "allreduce", "element": "f32", "operation": ", add", "rounds": 4}
    how |= {"limits": ""} | other
    return TEXT.format(steps=steps, ranks=ranks, most=most, **how)


CASES = [
    (
        "wse2",
        program("order ring run ring_allreduce", 6, 40),
        (40, 1, 5, 23),
    ),
    ("wse3", program("run halving_doubling", 7, 30), (30, 2, 13, 7)),
    (
        "wse2",
        program("run scatter_allgather", 5, 17, contract="broadcast", operation=""),
        (17, 1, 4, 6),
    ),
    (
        "wse3",
        program("run binary_blocks", 6, 25, element="f16", operation=", min"),
        (25, 3, 2, 16),
    ),
    (
        "wse2",
        program("run direct_allreduce", 4, 20, element="i32", operation=", max"),
        (20, 3, 1, 19),
    ),
    (
        "wse2",
        program(CHOICE.format("ring_allreduce"), 5, 40),
        (6, 40, 7, 1),
    ),
    (
        "wse2",
        program("order ring run ring_allreduce", 5, 33, limits="reconfigure teardown"),
        (33, 4, 4, 20),
    ),
    (
        "wse3",
        program("run ring_allgather", 6, 40, contract="allgather", operation=""),
        (40, 1, 5, 23),
    ),
    (
        "wse2",
        program("run auto", 5, 33, contract="allgather", operation=""),
        (1, 33, 4, 6),
    ),
    (
        "wse2",
        program("run chain_reduce_scatter", 6, 31, contract="reduce_scatter"),
        (31, 1, 5, 6),
    ),
    (
        "wse3",
        program("run auto", 5, 31, contract="reduce_scatter", element="i16"),
        (2, 31, 5, 30),
    ),
    ("wse2", program("run auto", 7, 30, contract="gather", operation=""), (30, 1, 6, 8)),
    ("wse3", program("run auto", 7, 30, contract="scatter", operation=""), (30, 1, 6, 8)),
]


@pytest.mark.parametrize(("target", "text", "lengths"), CASES)
def test_slices_are_those_of_the_length_of_the_run(target, text, lengths):
    bundle = compile_text(text, "n.coll", {}, target)
    report = bundle.run(lengths={"n": lengths})
    assert report.verified, report.problem
    predicted = bundle.predicted({"n": lengths}).cycles
    assert abs(predicted - report.cycles) <= 0.08 * report.cycles + 60


def test_no_length_needs_another_table() -> None:
    text = program("run ring_allreduce", 4, 12, rounds=12)
    report = compile_text(text, "n.coll", {}).run(lengths={"n": tuple(range(1, 13))})
    assert report.verified, report.problem


def test_a_fixed_length_has_the_text_that_it_had() -> None:
    text = program("run ring_allreduce", 4, 12, rounds=1).replace("n <= 12", "12")
    files = compile_text(text, "n.coll", {}).files
    assert not any("bounds" in content for content in files.values())
