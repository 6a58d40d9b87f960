"""Where roles are too many for conditions, they are listed in tables; such text compiles."""

from __future__ import annotations

import os
import re
from functools import cache
from itertools import product
from pathlib import Path

import pytest

import fabsim
from collc.driver.pipeline import compile_text
from collc.emit.conditions import MOST_CONDITIONS, Cases
from collc.patterns import Kind, Pattern, all_patterns, instance
from collc.patterns.facts import contracts_of
from collc.spec import ContractKind, ElementType, Operation

RANKS = MOST_CONDITIONS + 1
COMBINING = (ContractKind.REDUCE, ContractKind.ALLREDUCE, ContractKind.REDUCE_SCATTER)


def combining_contract(pattern: Pattern) -> ContractKind | None:
    """The contract of a pattern, if it combines and is a tree or an algorithm."""
    if pattern.kind not in {Kind.TREE, Kind.ALGORITHM}:
        return None
    first = next(iter(contracts_of(pattern)))
    return first if first in COMBINING else None


@cache
def patterns() -> dict[str, Pattern]:
    """Those that combine, by name; not when tests are collected, since to find them out each one
    is proved."""
    return {one.name: one for one in all_patterns() if combining_contract(one)}


PARTS = 5
# An instruction, one that is turned by signs, call-backs on words, on halves of them and on pairs.
KINDS = [
    (ElementType.F32, Operation.ADD),
    (ElementType.F16, Operation.MIN),
    (ElementType.U32, Operation.MAX),
    (ElementType.I16, Operation.MUL),
    (ElementType.F32_U32, Operation.ARGMAX),
]
OPERATIONS = [
    (element, operation)
    for element, operation in product(ElementType, Operation)
    if operation.combines(element)
]
ALL = bool(os.environ.get("COLLC_ALL_SIZES"))  # the nightly run compiles them all


def compiles(
    name: str, element: ElementType, operation: Operation, ranks: int, into: Path
) -> dict[str, str]:
    """The text of a pattern with an operation, which fabsim's front end has taken."""
    pattern = patterns()[name]
    contract = combining_contract(pattern)
    assert contract is not None
    choice, _, _ = instance(pattern, contract, ranks, ranks, order="west_to_east", target="wse2")
    text, count = re.subn(
        r"\bf32(\[.*?\]), add\b", rf"{element.value}\1, {operation.value}", choice.text
    )
    assert count == 1, choice.text
    bundle = compile_text(text, "many.coll", choice.parameters)
    bundle.write(into)
    fabsim.compile(str(into / "layout.csl"), arch="wse2", strict=True)
    return dict(bundle.files)


@pytest.mark.parametrize("part", range(PARTS))
def test_a_float_minimum_compiles_just_above_the_most_conditions(part: int, tmp_path: Path) -> None:
    names = sorted(patterns())[part::PARTS]
    assert len(names) >= 4
    for name in names:
        compiles(name, ElementType.F32, Operation.MIN, RANKS, tmp_path / name)


@pytest.mark.parametrize(("element", "operation"), OPERATIONS if ALL else KINDS)
def test_an_operation_by_steps_compiles_just_above_the_most_conditions(
    element: ElementType, operation: Operation, tmp_path: Path
) -> None:
    files = compiles("binary_tree_reduce", element, operation, RANKS, tmp_path)
    assert any("_classes = [" in text for text in files.values())


def test_a_table_without_a_name_is_none() -> None:
    with pytest.raises(AssertionError, match="has a name"):
        Cases((), 0, "", "true", (1, 2), "x")
