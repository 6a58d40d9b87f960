"""Lengths that are given when the program runs, and choices by them: what is chosen, and that it
delivers, whatever the length."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from programs.texts import dynamic_length
from with_schedules import check_program

from collc.base.diagnostics import CollcError
from collc.cli import commands
from collc.commands.tune import clause_of
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.language import parse_source
from collc.language.show import show_spec
from collc.plan.dynamic_lengths import lengths_of_run
from collc.spec import Considered
from collc.tuning.lengths import Row

EXAMPLE = Path(__file__).parents[2] / "examples" / "select.coll"

HEAD = """
target {target}
param P = 7
grid row = P x 1
grid wide = 4 x 3
operation last(a, b: i16) = b
"""
CONTRACTS = {
    "sum": "reduce(x: f32[n <= 30], add) on row",
    "least": "reduce(x: f16[n <= 30], min) on row",
    "most": "reduce(x: i32[n <= 30], max) on row",
    "bits": "reduce(x: u16[n <= 30], xor) on row",
    "own": "reduce(x: i16[n <= 30], last) on row",
}
CHOICES = """
    select by n {
        n <= 1:  reduce star to 0
        n <= 9:  reduce binomial to 0
        n <= 28: reduce two_phase(S = 2) to 0
        else:    reduce chain to 0
    }
"""
OTHERS = {
    "one way": "reduce(x: f32[n <= 30], add) on row { reduce star to 2 }",
    "broadcast": "broadcast(x: f32[n <= 30]) on row { broadcast from 3 }",
    "grid": """allreduce(x: f32[n <= 30], add) on wide { select by n {
        n <= 3: reduce columns by star then reduce row by star then broadcast from 0
        n <= 20: reduce rows by chain then reduce column by star to 1 then broadcast from (0, 1)
        else: reduce columns by chain then reduce row by chain then broadcast from 0 } }""",
    "path": """reduce(x: f32[n <= 30], add) on wide { select by n {
        n <= 20: order snake reduce star to 0
        else: reduce columns by chain then reduce row by star } }""",
}


def bundle(text: str, target: str | None = None, skew: int = 0, **given: int) -> Bundle:
    compiled = compile_text(text, "test.coll", given, target, skew)
    return compiled


def program(collective: str, target: str, limits: str) -> str:
    rounds = "program { repeat 10 { total } " + limits + " }"
    return HEAD.format(target=target) + f"collective total = {collective}\n{rounds}\n"


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("kind", CONTRACTS)
def test_every_alternative_delivers_in_any_succession(kind: str, target: str) -> None:
    text = program(f"{CONTRACTS[kind]} {{ {CHOICES} }}", target, "within colors <= 2")
    made = bundle(text, skew=40)
    lengths = (1, 30, 2, 29, 9, 10, 28, 1, 17, 30)
    report = made.run(seed=3, lengths={"n": lengths})
    assert report.verified, report.problem
    assert report.lengths == {"n": lengths}
    for seed in (4, 5):
        report = made.run(seed=seed)
        assert report.verified, (report.lengths, report.problem)


@pytest.mark.parametrize("limits", ["", "within colors <= 3", "reconfigure teardown"])
@pytest.mark.parametrize("kind", OTHERS)
def test_other_contracts_and_grids_have_lengths_of_the_run(kind: str, limits: str) -> None:
    made = bundle(program(OTHERS[kind], "wse2", limits))
    report = made.run(lengths={"n": (30, 1, 2, 3, 4, 20, 21, 29, 30, 16)})
    assert report.verified, report.problem


def test_elements_behind_the_length_stay_as_they_are() -> None:
    """A result that is one element too long is found."""
    made = bundle(dynamic_length("chain", 2), P=5)
    source = made.files["pe_program.csl"]
    longer = source.replace("&x, n[0]", "&x, (n[0] + 1)")
    assert longer != source
    wrong = replace(made, files={**made.files, "pe_program.csl": longer})
    assert made.run(lengths={"n": (7,)}).verified
    assert "element 7" in wrong.run(lengths={"n": (7,)}).problem


def test_all_alternatives_use_the_same_colors() -> None:
    made = bundle(dynamic_length("binomial", 2))
    assert len(made.program.plans) == 3
    assert made.color_count == 2
    assert not check_program(made.program)


@pytest.mark.parametrize("index", range(3))
def test_an_alternative_whose_colors_are_not_torn_down_is_refused(index: int) -> None:
    plan = bundle(dynamic_length("binomial", 2)).program
    use = next(use for use in plan.uses if use.collective == index)
    kept = {k for _, k in use.positions}
    colors = tuple(
        replace(color, torn_down=color.torn_down and k not in kept)
        for k, color in enumerate(plan.colors)
    )
    found = check_program(replace(plan, colors=colors))
    assert "C333" in {problem.code for problem in found}


def test_what_is_shown_is_read_the_same() -> None:
    spec = parse_source(dynamic_length("chain", 2))
    assert show_spec(parse_source(show_spec(spec))) == show_spec(spec)
    assert "n <= 17: order east_to_west reduce two_phase(S = 3) to 7" in show_spec(spec)


def limits(alternatives: str, most: int = 600, ranks: int = 32) -> tuple[int | None, ...]:
    text = f"""target wse2 grid row = {ranks} x 1
        collective total = reduce(x: f32[n <= {most}], add) on row {{ select by n {{
            {alternatives} }} }} program {{ total within colors <= 2 }}"""
    (selection,) = bundle(text).program.program.selections
    return selection.limits


def test_limits_that_are_left_open_are_where_the_next_is_predicted_to_be_faster() -> None:
    made = bundle(
        """target wse2 grid row = 32 x 1
        collective total = reduce(x: f32[n <= 600], add) on row { select by n {
            n <= auto: reduce two_phase(S = 6) to 0
            n <= auto: reduce two_phase(S = 20) to 0
            else: reduce chain to 0 } } program { total within colors <= 2 }"""
    )
    ((_, ranges),) = made.choices()
    # groups of 20 are never the fastest
    assert [one.lengths for one in ranges] == [(1, 103), (104, 600)]
    for one, following in pairwise(ranges):
        assert one.next_cycles is not None
        assert one.cycles[1] <= one.next_cycles
        assert following.lengths[0] == one.lengths[1] + 1


def test_an_alternative_that_is_never_the_fastest_is_left_out() -> None:
    assert len(limits("n <= auto: reduce chain to 0 else: reduce star to 0", most=2)) == 0
    tree = "reduce two_phase(S = 4) to 0"
    slow = f"n <= auto: reduce chain to 0 n <= auto: {tree} else: reduce chain to 0"
    (only,) = limits(slow)
    assert only is not None and only == 101


def test_limits_by_hand_stay_and_those_between_them_are_found() -> None:
    found = limits("n <= 5: reduce chain to 0 n <= auto: reduce star to 0 else: reduce chain to 0")
    assert found[0] == 5
    assert len(found) in (1, 2)


def test_random_lengths_reach_every_alternative() -> None:
    program = bundle(dynamic_length("chain", 2, rounds=60)).program.program
    lengths = lengths_of_run(program, {}, 1)["n"]
    assert lengths == lengths_of_run(program, {}, 1)["n"]
    assert min(lengths) == 1
    assert max(lengths) <= 40
    assert {program.selections[0].chosen(n) for n in lengths} == {"total_1", "total_2", "total_3"}


@pytest.mark.parametrize(("ranks", "most"), [(1, 2), (2, 1), (17, 40), (64, 600)])
def test_the_example_delivers_and_is_predicted(ranks: int, most: int) -> None:
    made = bundle(EXAMPLE.read_text(), P=ranks, B=most)
    for n in {1, most // 3 + 1, most}:
        report = made.run(lengths={"n": (n,)})
        assert report.verified, report.problem
        predicted = made.predicted(report.lengths)
        assert abs(predicted.cycles - report.cycles) <= 0.02 * report.cycles + 90


def test_a_run_by_command_says_its_lengths(tmp_path: Path) -> None:
    path = tmp_path / "two.coll"
    path.write_text(dynamic_length("chain", 2, rounds=3))
    ran = CliRunner().invoke(commands, ["run", str(path), "--length", "1,40,5"])
    assert ran.exit_code == 0, ran.output
    assert "n          1, 40, 5" in ran.output
    for wrong, words in (("41", "n = 41: it is 1 to 40"), ("1,2", "2 lengths for 3 rounds")):
        ran = CliRunner().invoke(commands, ["run", str(path), "--length", wrong])
        assert ran.exit_code == 1
        assert words in ran.output
    ran = CliRunner().invoke(commands, ["cost", str(path)])
    assert "reduce star to 0" in ran.output


def test_a_choice_is_made_alike_by_the_program_and_by_the_compiler() -> None:
    """Every length is verified in the operand order of the alternative that is for it."""
    made = bundle(dynamic_length("binomial", 2, rounds=40), P=6)
    report = made.run(lengths={"n": tuple(range(1, 41))})
    assert report.verified, report.problem
    rng = np.random.default_rng(1)
    assert made.run(lengths={"n": tuple(rng.integers(1, 41, 40).tolist())}).verified


def test_what_tune_prints_is_read() -> None:
    plan = Considered("order east_to_west reduce star to 6", 1, 1, 2, 1, "", ())
    longer = replace(plan, text="order west_to_east reduce two_phase(S = 2) to 0")
    rows = [Row(1, 4, 2, plan), Row(5, 30, 8, longer)]
    made = bundle(program(f"{CONTRACTS['sum']} {{ {clause_of(rows)} }}", "wse2", ""))
    assert made.program.program.selections[0].limits == (4,)


def test_alternatives_that_end_elsewhere_are_refused() -> None:
    with pytest.raises(CollcError) as caught:
        bundle(dynamic_length("chain", 2).replace("to P - 1", "to 0"))
    assert [problem.code for problem in caught.value.diagnostics] == ["C336"]


def test_a_collective_beside_the_choice_is_in_flight_by_itself() -> None:
    text = dynamic_length("chain", 2).replace("{ total", "{ total and other")
    other = "collective other = reduce(y: f32[3], add) on row { reduce chain to 0 }"
    with pytest.raises(CollcError) as caught:
        bundle(text.replace("program {", f"{other} program {{"))
    assert [problem.code for problem in caught.value.diagnostics] == ["C106"]
