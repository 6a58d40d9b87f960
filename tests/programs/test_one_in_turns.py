"""A collective within fewer colors than its phases need each for itself: they take turns."""

from __future__ import annotations

from itertools import pairwise

import pytest

from collc.bundle import Bundle, ProgramBundle
from collc.by_colors import by_colors
from collc.diagnostics import CollcError
from collc.language import parse_source
from collc.programs import compile_any
from collc.target import TARGETS

TEXT = """target {target}
grid wafer = 6 x 5
collective total = allreduce(x: f32[8], add) on wafer {{
    reduce columns by chain to 0
    then reduce row by binomial to 0
    then broadcast from 0
    {own}
}}
program {{ total {whole} }}
"""


def compiled(own: str, whole: str = "", target: str = "wse2") -> Bundle | ProgramBundle:
    return compile_any(TEXT.format(target=target, own=own, whole=whole), "total.coll", {})


def refused(own: str) -> CollcError:
    with pytest.raises(CollcError) as caught:
        compiled(own)
    return caught.value


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_the_table_says_what_is_compiled_and_more_colors_never_cost_cycles(target: str) -> None:
    spec = parse_source(TEXT.format(target=target, own="", whole=""))
    rows = list(by_colors(spec.collectives[0], TARGETS[target], range(1, 7)))
    assert rows[0].refused.startswith("C302: ")
    assert all(row.torn_down for row in rows[1:4]) and rows[4].torn_down == rows[5].torn_down == ()
    for row in rows[1:]:
        bundle = compiled(f"within colors <= {row.allowed}", target=target)
        assert (row.cycles, row.colors) == (bundle.prediction.cycles, bundle.color_count)
    cycles = [row.cycles for row in rows if row.cycles is not None]
    assert all(fewer >= more for fewer, more in pairwise(cycles))


def test_the_limit_is_the_same_wherever_it_is_written() -> None:
    own, whole = compiled("within colors <= 2"), compiled("", "within colors <= 2")
    assert isinstance(own, ProgramBundle) and isinstance(whole, ProgramBundle)
    assert own.prediction == whole.prediction
    pe = "collectives_pe.csl"
    assert [n for n in own.files if n.endswith(pe)] == [n for n in whole.files if n.endswith(pe)]
    assert own.plan.colors == whole.plan.colors


def test_phases_that_take_turns_deliver() -> None:
    bundle = compiled("within colors <= 2")
    report = bundle.run(seed=3)
    assert report.verified, report.problem


def test_a_limit_that_suffices_for_all_phases_makes_no_program() -> None:
    assert isinstance(compiled("within colors <= 5"), Bundle)


def test_the_remedy_is_the_smallest_limit_that_compiles() -> None:
    (problem,) = refused("within colors <= 1").diagnostics
    assert problem.code == "C302"
    assert problem.help.startswith("allow 2 colors, on which phases take turns; or allow 5 colors")


def test_what_is_expected_is_expected_of_phases_in_turns() -> None:
    cycles = compiled("within colors <= 2").prediction.cycles
    assert compiled(f"within colors <= 2 expect cycles <= {cycles} expect colors <= 2")
    for unmet in (f"cycles < {cycles}", "colors < 2"):
        (problem,) = refused(f"within colors <= 2 expect {unmet}").diagnostics
        assert problem.code == "C401"
