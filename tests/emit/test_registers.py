"""Registers in emitted text: got once, by the file that imports the modules, and in valid pairs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import pytest

from collc.cost.choice import build_plan
from collc.driver.pipeline import compile_text
from collc.plan import Advance
from collc.target import TARGETS
from emitting import every_kind_of_bundle

GOT = re.compile(r"const (\w+) = @get_dsr\((dsr_\w+), (\w+(?:\[\d+\])?)\);")
PARAMETER = re.compile(r"^param (\w+): (dsr_\w+);", re.MULTILINE)
GIVEN = re.compile(r"^  \.(\w+) = ([^\n]*\w+_dsr_\d+[^\n]*),$", re.MULTILINE)
OPERATION = re.compile(r"@(?!load_to_dsr|get_dsr)\w+\((\w+), (\w+)[,)]")
NUMBER = re.compile(r"(dest|src0|src1)_dsr_(\d+)")

BUNDLES = [pytest.param(made, id=name) for name, made in every_kind_of_bundle()]


def importers(files: dict[str, str]) -> dict[str, str]:
    """The texts that get registers."""
    return {name: text for name, text in files.items() if "@get_dsr" in text}


@pytest.mark.parametrize("made", BUNDLES)
def test_a_register_is_got_once_and_never_memcpys(made: Callable[[], dict[str, str]]) -> None:
    for name, text in importers(made()).items():
        assert name == "pe_program.csl" or GOT.search(text), name
        got = [(kind, number) for _, kind, number in GOT.findall(text)]
        assert text.count("@get_dsr") == len(got)
        assert max(Counter(got).values()) == 1
        assert all(number != "0" for _, number in got)


@pytest.mark.parametrize("made", BUNDLES)
def test_operands_in_dest_and_src0_have_one_number(made: Callable[[], dict[str, str]]) -> None:
    files = made()
    given = dict(pair for text in importers(files).values() for pair in GIVEN.findall(text))
    pairs = 0
    for name, text in files.items():
        types = dict(PARAMETER.findall(text))
        for dest, source in OPERATION.findall(text) if name.endswith("_pe.csl") else ():
            if types.get(dest) == "dsr_dest" and types.get(source) == "dsr_src0":
                (first,), (second,) = (NUMBER.findall(given[one]) for one in (dest, source))
                assert (first[0], second[0]) == ("dest", "src0")
                assert first[1] == second[1], f"{name}: {dest}, {source}"
                pairs += 1
    assert pairs or not any("_src0" in one for one in given)


@pytest.mark.parametrize("target", TARGETS)
def test_a_call_back_never_moves_the_switch_behind_what_it_sends(target: str) -> None:
    text = f"""target {target} grid g = 16 x 1
    collective c = reduce(x: i32[6], max) on g {{ order west_to_east reduce binomial to 0 }}
    program {{ c }}"""
    bundle = compile_text(text, "test.coll", {})
    ops = [op for phase in bundle.plan.phases for role in phase.roles for op in role.ops]
    moving = [op for op in ops if op.advance is Advance.OWN_ROUTER]
    assert moving and all(op.combines_from is None for op in moving)
    assert any(op.combines_from for op in ops)
    assert build_plan(bundle.schedule, TARGETS[target]).phases == bundle.plan.phases


def test_two_chains_have_registers_however_their_pes_overlap() -> None:
    """On a ring that comes back through its PEs each of two chains has slots that only some PEs
    have, and some of one chain are apart from some of the other."""
    text = """target wse2 grid g = 8 x 1
    collective c = allgather(x: f32[64]) on g { order ring run direct_allgather }
    program { c }"""
    bundle = compile_text(text, "test.coll", {})
    report = bundle.run(seed=3)
    assert report.verified, report.problem
    assert report.cycles == pytest.approx(bundle.prediction.cycles, rel=0.02, abs=60)
