"""`run auto` for slices that go to a root, or come from one: any rank, fixed or given when the
program runs."""

from __future__ import annotations

import pytest

from collc.base.diagnostics import CollcError
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.language import parse_source
from collc.language.prelude import Declared, is_listed, prelude_kinds
from collc.language.show import show_spec
from collc.language.syntax import AlgorithmDecl

WORDS = {"gather": "to", "scatter": "from"}
OWN = [name for name in prelude_kinds() if not is_listed(name)]


def compiled(kind: str, grid: str, place: str, order: str = "", target: str = "wse2") -> Bundle:
    width, height = map(int, grid.split(" x "))
    made = f"{kind}(x: f32[{2 * width * height}])"
    steps = f"{order} run auto {WORDS[kind]} {place}"
    text = f"grid g = {grid} collective c = {made} on g {{ {steps} }} program {{ c }}"
    return compile_text(text, "t.coll", {}, target)


@pytest.mark.parametrize("kind", WORDS)
@pytest.mark.parametrize(
    ("grid", "place", "order"),
    [
        ("5 x 1", "4", ""),
        ("1 x 5", "2", "order south_to_north"),
        ("5 x 1", "1", "order east_to_west"),
        ("3 x 2", "(1, 1)", ""),
        ("3 x 2", "(2, 0)", "order south_to_north, east_to_west"),
        ("3 x 2", "4", "order snake"),
    ],
)
def test_any_rank_is_the_root_of_slices(kind: str, grid: str, place: str, order: str) -> None:
    report = compiled(kind, grid, place, order).run()
    assert report.verified, report.problem


@pytest.mark.parametrize("kind", WORDS)
def test_slices_stream_to_an_end_as_they_do_to_the_first_rank(kind: str) -> None:
    first, last = (compiled(kind, "9 x 1", place).prediction.cycles for place in ("0", "8"))
    assert last <= first + 10


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("kind", WORDS)
def test_the_root_of_slices_may_be_given_when_the_program_runs(kind: str, target: str) -> None:
    bundle = compiled(kind, "4 x 1", "r < 4", target=target)
    for root in range(4):
        report = bundle.run(lengths={"r": (root,)})
        assert report.verified, report.problem
    assert not bundle.warnings  # none names a plan that serves one root alone


def test_a_root_of_the_call_is_a_name_below_a_number() -> None:
    with pytest.raises(CollcError) as raised:
        compiled("gather", "4 x 1", "3 < 4")
    assert [one.code for one in raised.value.diagnostics] == ["C174"]


def test_what_auto_writes_for_them_is_shown_and_read_again() -> None:
    text = "target wse2 grid g = 4 x 1\n"
    text += "collective c = gather(x: f32[8]) on g { run auto to r < 4 } program { c }"
    shown = show_spec(parse_source(text))
    assert "run _gather_behind(root = r)" in shown and "r < 4" in shown
    assert show_spec(parse_source(shown)) == shown


def test_the_halves_that_auto_uses_are_not_listed_and_cannot_be_declared() -> None:
    algorithms = Declared(AlgorithmDecl)
    assert len(OWN) == 6
    assert all(name in algorithms and name not in list(algorithms) for name in OWN)
    text = f"target wse2 algorithm {OWN[0]}(n) {{ step {{ each r : r -> r }} }}"
    with pytest.raises(CollcError):
        parse_source(text + " grid g = 2 x 1 program { c }")
