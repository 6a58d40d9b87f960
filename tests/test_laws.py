"""The laws of plans, on a few cells of each, and what judges them."""

from __future__ import annotations

from dataclasses import replace

import laws
import pytest
from _pytest.mark import ParameterSet
from cells import Cell as Scope
from law_programs import (
    LAWS,
    Cell,
    Run,
    Shape,
    alone,
    drawn,
    fixed,
    law_1,
    law_2,
    law_2_by_name,
    law_3,
    law_4,
    law_5,
    law_6,
    of_scope,
)
from laws import Figure, Verdict, figure_of, verdict

from collc.driver.pipeline import compile_text

RUN, OTHER = Run("one", "wse2"), Run("two", "wse2")


def judged(cell: Cell, took: Figure, *against: Figure) -> Verdict:
    """A cell whose programs came to this."""
    return verdict(cell, dict(zip((cell.run, *cell.against), (took, *against), strict=True)))


def test_the_fixed_cells_are_of_all_laws_and_more_than_400() -> None:
    found = list(fixed())
    assert len(found) >= 400
    assert {cell.law for cell in found} == set(LAWS) - {
        5,
        7,
    }  # see `choices`; the last is about all runs


def test_a_seed_draws_the_same_cells_again_and_another_one_others() -> None:
    assert list(drawn(5, 30)) == list(drawn(5, 30))
    assert set(drawn(5, 30)) != set(drawn(6, 30))
    assert len(list(drawn(7, 30))) == 30


@pytest.mark.parametrize(("took", "broken"), [(159, False), (160, False), (161, True)])
def test_a_law_is_broken_from_the_first_cycle_beyond_what_it_allows(
    took: int, broken: bool
) -> None:
    cell = Cell(4, "", RUN, (OTHER,), more=60)
    assert judged(cell, Figure(took), Figure(100)).broken is broken


def test_what_plans_by_steps_may_take_more_is_for_them_alone() -> None:
    cell = Cell(2, "", RUN, (OTHER,), more=60, by_steps=60)
    assert judged(cell, Figure(161), Figure(100)).broken
    assert not judged(cell, Figure(161), Figure(100, by_steps=True)).broken


def test_a_cell_whose_program_is_refused_is_not_judged_and_a_wrong_result_breaks_the_law() -> None:
    cell = Cell(4, "", RUN, (OTHER,))
    refused, wrong = Figure(code="C106", said="no"), Figure(100, problem="1 of 2 elements")
    assert not judged(cell, refused, Figure(100)).judged
    assert not judged(cell, Figure(100), refused).judged
    assert judged(cell, wrong, Figure(100)).broken


@pytest.mark.parametrize(
    ("code", "broken", "is_judged"),
    [("", False, True), ("C305", False, True), ("C106", True, True), ("C175", False, False)],
)
def test_a_refusal_keeps_the_first_law_if_it_names_a_limit_of_the_machine(
    code: str, broken: bool, is_judged: bool
) -> None:
    found = judged(Cell(0, "", RUN), Figure(code=code, said="said"))
    assert (found.broken, found.judged) == (broken, is_judged)


def test_a_traceback_breaks_the_first_law(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise IndexError("list index out of range")

    monkeypatch.setattr(laws, "compile_text", fails)
    found = figure_of(alone(Shape("gather", 4, 1, 4, "wse2")))
    assert judged(Cell(0, "", RUN), found).said == "IndexError: list index out of range"


@pytest.mark.parametrize(("predicted", "broken"), [(1080, False), (920, False), (1081, True)])
def test_a_prediction_may_be_off_by_two_percent_and_sixty_cycles(
    predicted: int, broken: bool
) -> None:
    found = laws.predictions({RUN: Figure(1000, predicted)})
    assert [one.broken for one in found] == [broken]


ALL_TO_ALL = Shape("all_to_all", 7, 1, 21, "wse2")


def test_a_kernel_waits_before_each_call_of_the_library() -> None:
    shape = Shape("reduce", 3, 1, 3, "wse2")
    cell = next(cell for cell in law_6(shape) if cell.about.endswith("in rounds"))
    files = compile_text(cell.run.text, "t.coll", {}, None).files
    kernel = laws.waiting(files[laws.KERNEL])
    lines = [line.strip() for line in kernel.splitlines()]
    calls = [at for at, line in enumerate(lines) if line.startswith("t.")]
    assert len(calls) == 4  # the first with the launch, and each where it is due
    assert [lines[at - 1] for at in calls] == ["wait_by_pe();"] * 4


def test_a_kernel_without_a_library_or_a_call_is_none_that_can_wait() -> None:
    with pytest.raises(ValueError, match="library"):
        laws.waiting("fn run() void {}")
    with pytest.raises(ValueError, match="call"):
        laws.waiting('const t = @import_module("t_pe.csl", .{});\nfn run() void {}')


def test_what_is_built_is_right_in_a_kernel_that_waits() -> None:
    _, in_rounds, *_ = law_6(Shape("broadcast", 3, 1, 3, "wse3"))
    assert judged(in_rounds, figure_of(in_rounds.run)).said == ""


def test_a_join_that_is_missing_is_found_whether_a_kernel_waits_or_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """PEs that begin together need it as well: vectors that are under way are not waited for."""
    body = "run pairwise_all_to_all"
    run = replace(alone(ALL_TO_ALL, body), waits=True)
    assert not figure_of(run).problem
    run_program = laws.run_program

    def without_join(files: dict[str, str], *rest: object, **options: object) -> object:
        join = files["join.csl"]
        assert join.count("@block(end);") == 2
        changed = join.replace("@block(end);", "")
        return run_program({**files, "join.csl": changed}, *rest, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(laws, "run_program", without_join)
    for waits in (False, True):
        assert "elements are wrong" in figure_of(replace(run, waits=waits)).problem


def test_a_join_that_begins_too_early_is_found_by_a_kernel_that_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """PEs that begin together never need it, in however many launches: what is to end last does."""
    cells = law_6(Shape("all_to_all", 4, 1, 8, "wse2"))
    run = next(cell.run for cell in cells if cell.about.endswith("alone"))
    assert run.waits
    run_program = laws.run_program

    def without_block(files: dict[str, str], *rest: object, **options: object) -> object:
        join, again = files["join.csl"], "  @block(end);  // for the next time\n"
        assert join.count(again) == 1
        changed = {**files, "join.csl": join.replace(again, "")}
        options["repeats"] = laws.LAUNCHES
        return run_program(changed, *rest, **options)  # type: ignore[arg-type]

    assert not figure_of(run).problem
    monkeypatch.setattr(laws, "run_program", without_block)
    assert not figure_of(replace(run, waits=False)).problem
    assert "elements are wrong" in figure_of(run).problem


KEPT = (
    of_scope(Scope("gather", "row", "root")),
    next(law_1(Shape("broadcast", 4, 1, 8, "wse3"), 2)),
    next(law_2(Shape("broadcast", 5, 1, 10, "wse2"))),
    next(law_3(Shape("broadcast", 3, 2, 6, "wse3"))),
    next(law_4(Shape("reduce", 4, 1, 8, "wse2"))),
    next(law_5(Shape("gather", 3, 1, 6, "wse2"))),
    of_scope(Scope("broadcast", "row", "length", form="into")),
    next(law_1(Shape("all_to_all", 6, 1, 6, "wse3"), 3)),
    next(law_2(Shape("allgather", 6, 1, 12, "wse2"))),
    next(law_2_by_name(Shape("allgather", 14, 1, 56, "wse3"))),
    *list(law_2(Shape("gather", 14, 1, 56, "wse2")))[1:],  # roots
    of_scope(Scope("scatter", "path", "length and root")),
    next(law_3(Shape("all_to_all", 3, 3, 9, "wse2"))),
    list(law_4(Shape("reduce_scatter", 3, 1, 3, "wse2")))[1],  # beside another
)
BROKEN = (
    (of_scope(Scope("gather", "grid", "length")), "C172"),
    (of_scope(Scope("all_to_all", "row", "length")), "C172"),
)


def outcome(cell: Cell) -> Verdict:
    """A cell measured."""
    runs = dict.fromkeys((cell.run, *cell.against))
    return verdict(cell, {run: figure_of(run) for run in runs})


@pytest.mark.parametrize("cell", KEPT, ids=lambda cell: f"{cell.law}: {cell.about}")
def test_a_law_is_kept(cell: Cell) -> None:
    found = outcome(cell)
    assert found.judged and not found.broken, found.said


def broken_today(cell: Cell, said: str) -> ParameterSet:
    """A cell that breaks its law, with what it takes for what it is held against."""
    return pytest.param(cell, marks=pytest.mark.xfail(strict=True, reason=said), id=said)


@pytest.mark.parametrize("cell", [broken_today(cell, said) for cell, said in BROKEN])
def test_a_law_that_is_broken_today_is_kept(cell: Cell) -> None:
    assert not outcome(cell).broken
