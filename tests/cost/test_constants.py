"""The constants of the machine: what `make constants` measures, made anew."""

from __future__ import annotations

from dataclasses import asdict, fields

import pytest
from measuring.engine import measured_engine
from measuring.pairs import measured_pairs

from collc.target import TARGETS
from collc.target.constants import FILE, TIMING, Code, Engine, constants_of, read


@pytest.mark.parametrize("target", TARGETS)
def test_the_machine_is_as_measured(target: str) -> None:
    assert measured_engine(target, TIMING) == asdict(constants_of(target).engine)


@pytest.mark.parametrize("target", TARGETS)
def test_the_call_backs_of_pairs_are_as_measured(target: str) -> None:
    assert measured_pairs(target, TIMING) == asdict(constants_of(target).code)


@pytest.mark.parametrize("target", TARGETS)
def test_every_constant_is_in_the_file_and_nothing_else_is(target: str) -> None:
    values = read(FILE)[TIMING][target]
    assert set(values) == {field.name for kind in (Engine, Code) for field in fields(kind)}
