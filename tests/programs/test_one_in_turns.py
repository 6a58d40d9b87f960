"""A collective within fewer colors than its phases need each for itself: they alternate."""

from __future__ import annotations

import pickle
import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from libraries import library_of

from collc.base.diagnostics import CollcError, Diagnostic
from collc.cli import commands
from collc.driver import planning, proving
from collc.driver.bundle import Bundle
from collc.driver.cycles_by_colors import by_colors
from collc.driver.pipeline import compile_text, prove_text
from collc.language import parse_source
from collc.language.show import show_steps
from collc.proof import prove
from collc.schedule import Schedule
from collc.target import TARGETS
from collc.tuning import decide
from collc.tuning.time_multiplexed import TimeMultiplexed, fastest_time_multiplexed

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


@cache
def built(text: str) -> Bundle:
    """What `run auto` chooses within few colors takes a second or two, and is asked for more than
    once."""
    return compile_text(text, "total.coll", {})


def compiled(own: str, whole: str = "", target: str = "wse2") -> Bundle:
    return compile_text(TEXT.format(target=target, own=own, whole=whole), "total.coll", {})


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
    assert own.program.in_turn and whole.program.in_turn
    assert own.prediction == whole.prediction
    assert library_of(own.files) == library_of(whole.files)
    assert own.program.colors == whole.program.colors


def test_phases_that_take_turns_deliver() -> None:
    bundle = compiled("within colors <= 2")
    report = bundle.run(seed=3)
    assert report.verified, report.problem


def test_a_limit_that_suffices_for_all_phases_makes_no_program() -> None:
    assert isinstance(compiled("within colors <= 5"), Bundle)


def test_the_remedy_is_the_smallest_limit_that_compiles() -> None:
    (problem,) = refused("within colors <= 1").diagnostics
    assert problem.code == "C302"
    assert problem.help.startswith(
        "allow 2 colors, on which phases share colors over time; or allow 5 colors"
    )


def test_what_is_expected_is_expected_of_phases_in_turns() -> None:
    cycles = compiled("within colors <= 2").prediction.cycles
    assert compiled(f"within colors <= 2 expect cycles <= {cycles} expect colors <= 2")
    for unmet in (f"cycles < {cycles}", "colors < 2"):
        (problem,) = refused(f"within colors <= 2 expect {unmet}").diagnostics
        assert problem.code == "C401"


@pytest.mark.parametrize(
    ("own", "whole", "warned"),
    [
        ("within colors <= 1", "", False),
        ("", "within colors <= 1", False),
        ("within colors <= 3", "", True),
        ("", "within colors <= 3", True),
        ("", ", total", True),
    ],
)
def test_nothing_is_said_of_phases_by_themselves_if_they_take_turns(
    own: str, whole: str, warned: bool
) -> None:
    steps = "reduce columns by star to 0 then reduce row by star to 0 then broadcast from 0"
    text = left_open(steps, own, whole, grid="12 x 12")
    bundle = compile_text(text.replace("f32[8]", "f32[64]"), "total.coll", {})
    assert [warning.code for warning in bundle.warnings] == ["C801"] * warned


@pytest.fixture
def proofs(monkeypatch: pytest.MonkeyPatch) -> list[Schedule]:
    """The schedules that are proved from now on."""
    found: list[Schedule] = []

    def noted(schedule: Schedule) -> tuple[Diagnostic, ...]:
        found.append(schedule)
        return tuple(prove(schedule))

    monkeypatch.setattr(proving, "prove", noted)
    return found


def test_what_takes_turns_is_proved_and_planned_once(
    proofs: list[Schedule], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []

    def fastest(*given: Any) -> TimeMultiplexed | None:
        found.append(fastest_time_multiplexed(*given))
        return found[-1]

    monkeypatch.setattr(planning, "fastest_time_multiplexed", fastest)
    bundle = compiled("within colors <= 2")
    assert len(proofs) == 1
    assert bundle.program is found[0].plan and bundle.prediction is found[0].prediction


def test_for_all_numbers_of_colors_there_is_one_proof(proofs: list[Schedule]) -> None:
    spec = parse_source(TEXT.format(target="wse2", own="", whole=""))
    assert len(list(by_colors(spec.collectives[0], TARGETS["wse2"], range(1, 7)))) == 6
    assert len(proofs) == 1


AUTO = """target wse2
grid wafer = {grid}
grid part = wafer[0 .. 2, 0 .. 1]
grid line = wafer[0 .. 3, 0]
collective total = {contract} on {where} {{
    {steps}
    {own}
}}
program {{ total {whole} }}
"""


def left_open(steps: str, own: str, whole: str = "", **more: str) -> str:
    known = {"grid": "4 x 3", "contract": "allreduce(x: f32[8], add)", "where": "wafer"} | more
    return AUTO.format(steps=steps, own=own, whole=whole, **known)


def chosen(bundle: Bundle) -> str:
    (decision,) = bundle.decisions
    return decision.chosen.text


def test_auto_takes_turns_where_no_plan_has_colors_of_its_own_for_each_phase() -> None:
    own = built(left_open("run auto", "within colors <= 2"))
    whole = built(left_open("run auto", "", "within colors <= 2"))
    assert own.program.in_turn and own.color_count == 2
    assert own.prediction == whole.prediction and chosen(own) == chosen(whole)
    assert own.run(seed=3).verified
    assert isinstance(compile_text(left_open("run auto", "within colors <= 3"), "", {}), Bundle)


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("whose", ["own", "whole"])
def test_auto_leaves_out_plans_that_cannot_even_take_turns(whose: str, most: int) -> None:
    limits = {"own": "", "whole": ""} | {whose: f"within colors <= {most}"}
    bundle = built(left_open("run auto", **limits, grid="8 x 6"))
    assert bundle.color_count == most and ("star" in chosen(bundle)) == (most == 1)
    assert bundle.run(seed=3).verified


def test_numbers_that_are_left_open_are_found_for_turns() -> None:
    steps = "reduce two_phase(S = auto) to auto then broadcast from auto"
    bundle = compile_text(
        left_open(steps, "within colors <= 2", grid="8 x 3", where="line"), "", {}
    )
    assert bundle.color_count == 2 and bundle.run(seed=3).verified


def test_auto_on_a_part_of_a_grid_takes_turns() -> None:
    bundle = compile_text(left_open("run auto", "within colors <= 2", where="part"), "", {})
    assert bundle.color_count == 2 and bundle.run(seed=3).verified


def test_streams_take_turns_on_one_color() -> None:
    text = left_open("run auto", "within colors <= 1", contract="allgather(x: f32[30])")
    bundle = built(text)
    assert bundle.color_count == 1 and "gather" in chosen(bundle)
    assert bundle.run(seed=3).verified


def test_auto_is_refused_with_a_number_of_colors_that_is_enough() -> None:
    text = left_open("run auto", "within colors <= 1", contract="all_to_all(x: f32[24])")
    with pytest.raises(CollcError) as caught:
        compile_text(text, "total.coll", {})
    (problem,) = caught.value.diagnostics
    found = re.match(r"allow (\d+) colors, (or|on which)", problem.help)
    assert problem.code == "C302" and found
    enough = text.replace("<= 1", f"<= {found[1]}")
    assert compile_text(enough, "total.coll", {}).plans


def test_a_program_is_refused_for_what_the_fastest_plan_lacks_if_none_can_take_turns() -> None:
    text = left_open("run auto", "", "within colors <= 1", contract="all_to_all(x: f32[24])")
    with pytest.raises(CollcError) as caught:
        compile_text(text, "total.coll", {})
    (problem,) = caught.value.diagnostics
    assert problem.code == "C302" and "the program's limit is 1" in problem.message


def test_schedules_of_plans_that_take_turns_are_shown_too() -> None:
    text = left_open("run auto", "within colors <= 1")
    _, schedule = prove_text(text, "total.coll", {})
    assert schedule.collective.limits.colors == 1
    assert show_steps(schedule.collective) == chosen(built(text))


@pytest.mark.parametrize(("own", "whole"), [("within colors <= 1", ""), ("", "within colors <= 1")])
def test_plans_that_take_turns_are_listed(own: str, whole: str, tmp_path: Path) -> None:
    file = tmp_path / "total.coll"
    file.write_text(left_open("run auto", own, whole))
    result = CliRunner().invoke(commands, ["explain", "plan", str(file)])
    assert result.exit_code == 0 and "C302: a phase has more colors than 1" in result.output


def test_what_has_too_few_colors_goes_from_process_to_process() -> None:
    error = refused("within colors <= 1")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is CollcError and again.diagnostics == error.diagnostics


LINE = """target {target}
grid pes = {grid}
collective total = allreduce(x: f32[{length}], add) on pes {{ {steps} within colors <= {colors} }}
program {{ total }}
"""


@pytest.mark.parametrize(
    ("target", "grid", "length", "colors", "most"),
    [
        ("wse2", "12 x 1", 64, 2, 330),  # a star has colors of its own, and takes 807 cycles
        ("wse3", "5 x 4", 16, 2, 280),  # the best plan without the limit takes 345
    ],
)
def test_auto_takes_what_is_fastest_with_its_reconfiguration(
    target: str, grid: str, length: int, colors: int, most: int
) -> None:
    text = LINE.format(target=target, grid=grid, length=length, colors=colors, steps="run auto")
    bundle = compile_text(text, "total.coll", {})
    (decision,) = bundle.decisions
    assert bundle.color_count == colors and bundle.prediction.cycles <= most
    assert decision.chosen.cycles == bundle.prediction.cycles
    report = bundle.run(seed=3)
    assert report.verified, report.problem


def test_no_plan_of_the_list_is_faster_within_a_limit() -> None:
    shape = {"target": "wse2", "grid": "5 x 1", "length": 20, "colors": 2}
    bundle = compile_text(LINE.format(steps="run auto", **shape), "total.coll", {})
    (decision,) = bundle.decisions
    assert bundle.prediction.cycles == decision.chosen.cycles
    predicted = {one.text: one.cycles for one in decision.lost if one.cycles}
    left_out = [text for text in decision.left_out if "auto" not in text]
    refused = set()
    for text in (*predicted, *left_out):
        try:
            other = compile_text(LINE.format(steps=text, **shape), "total.coll", {})
        except CollcError as error:
            refused |= {(text, problem.code) for problem in error.diagnostics}
            continue
        cycles = other.prediction.cycles
        assert bundle.prediction.cycles <= cycles <= predicted.get(text, cycles), text
    assert refused <= {(text, "C302") for text in left_out} and len(refused) < len(left_out)


def test_what_no_time_is_left_for_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decide, "MOST_SHARING", 1)
    text = LINE.format(target="wse2", grid="4 x 3", length=20, colors=2, steps="run auto")
    (decision,) = compile_text(text, "total.coll", {}).decisions
    assert any("two_phase(S = auto)" in one for one in decision.left_out)
    assert len(set(decision.left_out)) == len(decision.left_out)
