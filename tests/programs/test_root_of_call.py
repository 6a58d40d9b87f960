"""Roots that are given when the program runs: `broadcast from r < P`."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from libraries import library_of

from collc.base.diagnostics import CollcError
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.driver.planning import roots_of_call
from collc.language import parse_source
from collc.language.show import show_spec

TEXT = """target wse2
param P = 5
param B = 7
grid row = {grid}
collective spread = broadcast(x: {element}[B]) on {place} {{ {steps} }}
{other}
program {{ repeat {rounds} {{ {calls} }} }}
"""
STEPS = "broadcast from r < P"
TOTAL = "collective total = reduce(y: f32[9], add) on row { reduce chain to 0 }"


def text(
    grid: str = "P x 1",
    place: str = "row",
    steps: str = STEPS,
    element: str = "f32",
    other: str = "",
    calls: str = "spread",
    rounds: int = 5,
) -> str:
    return TEXT.format(
        grid=grid,
        place=place,
        steps=steps,
        element=element,
        other=other,
        calls=calls,
        rounds=rounds,
    )


def compiled(written: str, target: str = "wse2", skew: int = 0, **numbers: int) -> Bundle:
    bundle = compile_text(written, "test.coll", numbers, target, skew)
    return bundle


def refused(written: str) -> list[str]:
    with pytest.raises(CollcError) as caught:
        compiled(written)
    return [one.code for one in caught.value.diagnostics]


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("ranks", [1, 2, 3, 6])
@pytest.mark.parametrize(
    ("grid", "place", "order"),
    [
        ("P x 1", "row", ""),
        ("P x 1", "row", "order east_to_west"),
        ("1 x P", "row", "order south_to_north"),
        ("P x 3", "each row of row", ""),
        ("3 x P", "each column of row", "order south_to_north"),
    ],
)
def test_every_rank_in_turn_is_the_root(
    grid: str, place: str, order: str, ranks: int, target: str
) -> None:
    written = text(grid, place, f"{order} {STEPS}", rounds=ranks)
    bundle = compiled(written, target, P=ranks)
    report = bundle.run(lengths={"r": tuple(range(ranks))}, repeats=2)
    assert report.verified, report.problem


@pytest.mark.parametrize("element", ["f16", "i16", "u32"])
def test_elements_of_any_type_travel(element: str) -> None:
    assert compiled(text(element=element)).run(seed=3, repeats=3).verified


@pytest.mark.parametrize("element", ["f32", "i16"])
@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_a_length_may_be_given_as_well(element: str, target: str) -> None:
    bundle = compiled(text(element=element).replace("[B]", "[n <= B]"), target)
    given = {"r": (0, 4, 2, 1, 3), "n": (1, 7, 3, 6, 2)}
    assert bundle.run(lengths=given).verified
    assert bundle.run(seed=9, repeats=4).verified
    once = compiled(text(element=element, rounds=1).replace("[B]", "[n <= B]"), target)
    assert once.run(lengths={"r": (3,), "n": (4,)}).verified


def test_on_a_part_of_a_grid_ranks_are_counted_from_its_corner() -> None:
    written = text("8 x 4", "part").replace(
        "collective", "grid part = row[2 .. 6, 3]\ncollective", 1
    )
    assert compiled(written).run(lengths={"r": (0, 4, 2, 1, 3)}).verified


def test_other_collectives_share_the_program() -> None:
    bundle = compiled(text(other=TOTAL, calls="spread total spread"))
    assert bundle.run(repeats=3).verified
    assert sum(color.torn_down for color in bundle.program.colors) == 1


def test_pes_may_begin_late() -> None:
    bundle = compiled(text(other=TOTAL, calls="spread spread total"), skew=60)
    assert bundle.run(repeats=4).verified


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_rotating_costs_at_most_ninety_cycles_a_call(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABSIM_TIMING", "simfabric")
    rotating = compiled(text(rounds=64), target, P=64, B=64).run(lengths={"r": tuple(range(64))})
    fixed = compiled(text(steps="broadcast from 0", rounds=64), target, P=64, B=64).run()
    assert rotating.verified
    assert rotating.cycles - fixed.cycles <= 64 * 90


def test_a_root_is_a_rank_of_those_that_may_be_one() -> None:
    bundle = compiled(text(steps="broadcast from r < P - 1"))  # a near miss: not the last one
    assert bundle.run(lengths={"r": (3, 0, 1, 2, 3)}).verified
    with pytest.raises(CollcError, match="0 to 3"):
        bundle.run(lengths={"r": (4, 0, 0, 0, 0)})


@pytest.mark.parametrize(
    ("written", "code"),
    [
        (text(steps="broadcast from r < P + 1"), "C174"),
        (text(steps="broadcast from r < 0"), "C174"),
        (text(steps="broadcast from r <= P"), "C174"),
        (text(steps="broadcast from P < 5"), "C174"),
        (text("P x 3"), "C106"),
        (text(steps="order ring broadcast from r < P"), "C106"),
        (text().replace("[B]", "[n < B]"), "C170"),
        (
            text(other="collective spread_root = broadcast(z: f32[B]) on row { broadcast from 0 }"),
            "C108",
        ),
    ],
)
def test_what_is_no_root_of_the_call_is_refused(written: str, code: str) -> None:
    assert refused(written) == [code]


def test_a_spec_is_read_as_it_is_shown() -> None:
    spec = parse_source(text("P x 3", "each row of row", f"order east_to_west {STEPS}"))
    shown = show_spec(spec)
    assert "broadcast from r < 5" in shown
    assert show_spec(parse_source(shown)) == shown


def test_what_pes_choose_is_held_against_the_plan_of_each_root() -> None:
    plan = compiled(text()).program
    assert not list(roots_of_call(plan))
    (choice,) = plan.program.rooted
    behind, own, before = choice.names
    turned = replace(choice, names=(before, own, behind))
    changed = replace(plan, program=replace(plan.program, rooted=(turned,)))
    assert [one.code for one in roots_of_call(changed)] == ["C345"]
    always = replace(choice, by_root=choice.by_root[:1] * choice.ranks)
    changed = replace(plan, program=replace(plan.program, rooted=(always,)))
    assert [one.code for one in roots_of_call(changed)] == ["C345"]


def test_a_single_pe_runs_one_part_for_its_root() -> None:
    """A part without phases ends as those that have some, so the next one does not begin."""
    written = "collective spread = broadcast(x: f32[4]) on row { broadcast from r < 1 }"
    bundle = compile_text(f"target wse2 grid row = 1 x 1 {written} program {{ spread }}", "t", {})
    _, run = library_of(bundle.files).split("fn spread(")
    assert re.findall(r"\n  (.*) \{\n    spread_\w+\(vector\);", run) == [
        "if (r < params.spread_rank)",
        "} else if (r > params.spread_rank)",
        "} else",
    ]
    assert bundle.run().verified
