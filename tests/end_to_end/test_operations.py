"""Operations of the user's own run as NumPy computes them, bit by bit."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, assume, given, settings

from collc.base.diagnostics import CollcError
from collc.driver.pipeline import compile_text
from collc.language import parse_source
from collc.language.show import show_spec
from tests.expressions import operations

CASES = int(os.environ.get("COLLC_CASES", "15"))

PROGRAM = """
target {target}
grid row = {ranks} x 1
{operation}
collective total = {kind}(x: {type}[{length}], {name}) on row {{ {steps} }}
program {{ total }}
"""


def program(operation: str, type: str, steps: str = "reduce chain to 0", **changes: object) -> str:
    name = operation.partition(" ")[2].partition("(")[0]
    values = {"target": "wse2", "ranks": 3, "kind": "reduce", "length": 9, "name": name}
    values |= {"operation": operation, "type": type, "steps": steps}
    return PROGRAM.format(**(values | changes))


def numbers_fit(text: str) -> bool:
    """Whether no number of the operation is out of range, the one thing that may be wrong."""
    try:
        parse_source(text)
    except CollcError as error:
        assert {diagnostic.code for diagnostic in error.diagnostics} == {"C116"}
        return False
    return True


def runs(text: str) -> None:
    bundle = compile_text(text, "test.coll", {})
    report = bundle.run(seed=3)
    assert report.verified, report.problem


@settings(
    max_examples=CASES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(operations())
def test_any_operation_computes_what_numpy_computes(drawn: tuple[str, str]) -> None:
    element, operation = drawn
    text = program(operation, element, ranks=2)
    assume(numbers_fit(text))
    runs(text)


@settings(max_examples=CASES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(operations())
def test_a_shown_operation_reads_as_the_same(drawn: tuple[str, str]) -> None:
    element, operation = drawn
    assume(numbers_fit(program(operation, element)))
    spec = parse_source(program(operation, element))
    shown = show_spec(spec)
    again = parse_source(shown)
    before, after = (s.collectives[0].contract.operation for s in (spec, again))
    assert before.formula == after.formula
    assert show_spec(again) == shown


FARTHER = "operation farther(a, b: i32) commutative = a * a < b * b ? b : a"
SECOND = "operation second(a, b: u16) = b"
MIXED = "operation mixed(a, b: u32) = a * 31 + b"
ROUNDED = "operation rounded(a, b: f16) commutative = f16(f32(a) + f32(b) * 0.5)"


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(
    ("operation", "element"), [(FARTHER, "i32"), (SECOND, "u16"), (ROUNDED, "f16")]
)
def test_an_operation_runs_by_every_kind_of_tree(operation, element, target):
    for tree in ("chain", "star", "binomial", "two_phase(S = 2)"):
        steps = f"reduce {tree} to 0 then broadcast from 0"
        runs(program(operation, element, steps, ranks=6, kind="allreduce", target=target))


@pytest.mark.parametrize("algorithm", ["ring_allreduce", "recursive_doubling", "butterfly(G = 3)"])
def test_a_commutative_operation_runs_by_steps(algorithm):
    steps = f"run {algorithm}"
    runs(program(FARTHER, "i32", steps, ranks=9, kind="allreduce", length=20))


@pytest.mark.parametrize("order", ["west_to_east", "ring"])
def test_operands_of_steps_come_in_the_order_of_their_ranks(order):
    steps = f"order {order} run pipelined_reduce(c = 3) then broadcast from 0"
    runs(program(MIXED, "u32", steps, ranks=7, kind="allreduce", length=20))


@pytest.mark.parametrize(("word", "element"), [("and", "u32"), ("or", "i16"), ("xor", "u16")])
@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_binary_digits_are_combined(word, element, target):
    text = program("", element, "reduce binomial to 0", ranks=7, name=word, target=target)
    runs(text)
