"""A vector that no PE can hold is refused before anything is chosen or planned for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from with_schedules import check_plan

from collc.base.diagnostics import CollcError
from collc.checks import ALONE, BUDGETS
from collc.checks.budgets.memory import memory, vector_fits
from collc.cli import commands
from collc.driver import proving
from collc.driver.pipeline import compile_text
from collc.spec import Collective
from collc.tuning import decide, predicted

MOST = (49152 - 8272) // 4
RING = "run ring_allreduce"
TREE = "reduce chain to 0 then broadcast from 0"
TEXT = """
target {target}
grid row = 4 x 1
collective c = allreduce(x: f32[{length}], add) on row {{ {steps} }}
program {{ {calls} }}
"""
BARRIER = """
target wse2
grid row = 4 x 1
collective c = barrier() on row { run auto }
program { c }
"""
BY_LENGTH = """
target wse2
grid row = 4 x 1
collective c = allreduce(x: f32[n <= {length}], add) on row {{
    select by n {{ n <= auto: {tree} else: {tree} }}
}}
program {{ c }}
"""


def text(steps: str, length: int, calls: str = "c", target: str = "wse2") -> str:
    return TEXT.format(steps=steps, length=length, calls=calls, target=target)


@pytest.fixture
def planning(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever makes a schedule or reads a plan for a vector that does not fit fails."""

    def short(real: Callable[..., object]) -> Callable[..., object]:
        def called(collective: Collective, *rest: object) -> object:
            assert collective.contract.length <= MOST
            return real(collective, *rest)

        return called

    for module in (proving, predicted):
        monkeypatch.setattr(module, "build_schedule", short(module.build_schedule))
    monkeypatch.setattr(decide, "plans", short(decide.plans))


@pytest.mark.usefixtures("planning")
@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("calls", ["c", "repeat 2 { c }", "c, c"])
@pytest.mark.parametrize("steps", [RING, TREE, "run auto"])
def test_nothing_is_planned_whatever_the_steps_and_the_program(
    steps: str, calls: str, target: str
) -> None:
    with pytest.raises(CollcError, match="needs 40884 bytes for `x` alone") as caught:
        compile_text(text(steps, MOST + 1, calls, target), "test.coll", {})
    assert [problem.code for problem in caught.value.diagnostics] == ["C308"]


@pytest.mark.usefixtures("planning")
def test_nothing_is_planned_of_one_collective_or_of_a_choice_by_length() -> None:
    for refuse in (
        lambda: compile_text(text(RING, MOST + 1), "test.coll", {}),
        lambda: compile_text(BY_LENGTH.format(length=MOST + 1, tree=TREE), "test.coll", {}),
    ):
        with pytest.raises(CollcError, match="needs 40884 bytes for `x` alone"):
            refuse()


@pytest.mark.usefixtures("planning")
@pytest.mark.parametrize("words", [("cost", "--colors", "1..4"), ("explain", "plan")])
def test_nothing_is_planned_for_tables(words: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "c.coll"
    file.write_text(text("run auto", MOST + 1))
    result = CliRunner().invoke(commands, [*words, str(file)])
    assert result.exit_code == 1 and "for `x` alone" in result.output


@pytest.mark.parametrize("steps", [RING, TREE])
def test_a_vector_that_leaves_nothing_for_code_is_planned(steps: str) -> None:
    with pytest.raises(CollcError, match=r"\(data \d+, code about \d+\)"):
        compile_text(text(steps, MOST), "test.coll", {})


def test_a_schedule_needs_no_machine(tmp_path: Path) -> None:
    file = tmp_path / "c.coll"
    file.write_text(text(RING, MOST + 1))
    given = ["export", str(file), "--chakra", str(tmp_path / "traces")]
    assert CliRunner().invoke(commands, given).exit_code == 0


@pytest.mark.parametrize(("kept", "most"), [("", MOST), ("reserve memory 0", 49152 // 4)])
def test_memory_is_kept_for_memcpy_and_the_stack_unless_said_otherwise(
    kept: str, most: int
) -> None:
    longer = text(f"{TREE}\n    {kept}", most + 1)
    with pytest.raises(CollcError, match="alone") as refused:
        compile_text(longer, "long.coll", {})
    said = refused.value.diagnostics[0].message
    assert ("beside 8272 for memcpy and the stack" in said) == (not kept)
    compile_text(text(f"{TREE}\n    {kept}", most - 1200), "long.coll", {})


@pytest.mark.parametrize("wrong", ["memory 0 .. 3", "memory 49153"])
def test_memory_is_reserved_as_a_number_of_bytes(wrong: str) -> None:
    with pytest.raises(CollcError) as refused:
        compile_text(text(f"{TREE}\n    reserve {wrong}", 4), "wrong.coll", {})
    assert refused.value.diagnostics[0].code == "C162"


def test_a_barrier_has_no_vector_to_be_shortened() -> None:
    bundle = compile_text(BARRIER, "test.coll", {})
    plan = replace(bundle.plan, target=replace(bundle.plan.target, kept_bytes=49_000))
    (problem,) = memory(plan)
    assert (problem.code, "shorten" in problem.help) == ("C308", False)
    assert not list(vector_fits(plan.collective, replace(plan.target, memory_bytes=0)))


STAGED = """target wse2 grid row = 16 x 1
collective c = all_to_all(x: f32[{length}]) on row {{ run pairwise_all_to_all }} program {{ c }}"""


def test_what_is_staged_beside_the_vector_is_counted_when_a_length_is_advised() -> None:
    with pytest.raises(CollcError, match=r"needs \d+ bytes \(data") as refused:
        compile_text(STAGED.format(length=16 * 500), "test.coll", {})
    (problem,) = refused.value.diagnostics
    most = int(problem.help.split("at most ")[1].split()[0])
    assert most < 16 * 500 < 2 * most
    compile_text(STAGED.format(length=most // 16 * 16), "test.coll", {})


SLICES = """target wse2 grid row = 8 x 1
collective c = reduce_scatter(x: f32[{length}], add) on row {{ run chain_reduce_scatter }}
program {{ c }}"""


def test_the_length_that_is_advised_is_that_of_the_plan_with_the_fewest_bytes() -> None:
    with pytest.raises(CollcError, match="C308") as refused:
        compile_text(SLICES.format(length=10_000), "test.coll", {})
    (edit,) = refused.value.diagnostics[0].fix
    compile_text(SLICES.format(length=int(edit.text)), "test.coll", {})
    with pytest.raises(CollcError, match="C308"):
        compile_text(SLICES.format(length=int(edit.text) + 1), "test.coll", {})


def test_traffic_is_not_followed_in_a_plan_that_no_pe_has_room_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    for name, check in ALONE.items():
        monkeypatch.setitem(
            ALONE, name, lambda plan, n=name, of=check: (asked.append(n), *of(plan))[1:]
        )
    fits = compile_text(STAGED.format(length=64), "test.coll", {}).plan
    assert set(asked) == set(ALONE)
    asked.clear()
    problems = check_plan(replace(fits, target=replace(fits.target, memory_bytes=9000)))
    assert [problem.code for problem in problems] == ["C308"] and set(asked) == set(BUDGETS)
    no_colors = replace(fits, target=replace(fits.target, memory_bytes=9000, colors=()))
    assert {problem.code for problem in check_plan(no_colors)} >= {"C302", "C308"}
