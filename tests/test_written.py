"""Programs written by Python calls: proved, run and refused like those of files."""

from __future__ import annotations

from typing import Any

import pytest

import collc
from collc import Move, Program


def of_a_row(pes: int = 8) -> tuple[Program, str]:
    program = Program("wse2", "mine")
    return program, program.grid("row", pes, 1)


def test_a_tree_that_is_a_python_function_is_run() -> None:
    program, row = of_a_row(11)
    program.tree("threes", 11, lambda rank: 0 if rank % 3 == 1 else rank - 1)
    program.collective("total", "reduce", row, "f32", 5, "add").reduce("threes").within(colors=2)
    bundle = program.compile()
    assert bundle.run().verified
    drawn = "0 <- [1 <- [2 <- [3]], 4 <- [5 <- [6]], 7 <- [8 <- [9]], 10]"
    assert f"tree threes = {drawn}\n" in str(program)


def test_pairs_strides_and_a_result_apart_are_written() -> None:
    program, row = of_a_row(4)
    best = program.collective("best", "reduce", row, "(f32, u32)", 3, "argmax", into="y")
    best.reduce("chain")
    sums = program.collective("sums", "reduce", row, "f32", 3, "add", buffer="z", stride=2)
    sums.reduce("chain")
    assert program.compile().run().verified
    assert "best = reduce(x: (f32, u32)[3], argmax) into y on row" in str(program)
    assert "sums = reduce(z: f32[3] by 2, add) on row" in str(program)
    with pytest.raises(ValueError, match="is no name"):
        program.collective("bad", "reduce", row, "(f32, u32) ", 3, "argmax")


def test_steps_that_are_python_lists_are_proved_and_run() -> None:
    program, row = of_a_row(4)
    ring = [
        [Move(r, (r + 1) % 4, (r - s + gathers) % 4, combine=not gathers) for r in range(4)]
        for gathers in (0, 1)
        for s in range(3)
    ]
    program.algorithm("ring", ring, slices=4)
    program.collective("total", "allreduce", row, "i32", 8, "add").order("ring").run("ring")
    assert program.compile().run().verified


def test_a_missing_move_is_refused_by_the_proof() -> None:
    program, row = of_a_row(4)
    program.algorithm("short", [[Move(1, 0, combine=True), Move(2, 0, combine=True)]])
    program.collective("total", "reduce", row, "f32", 8, "add").run("short")
    with pytest.raises(collc.CollcError, match="without the contribution of rank 3") as refused:
        program.compile()
    (found,) = refused.value.diagnostics
    assert found.at is not None
    assert "run short" in str(program).splitlines()[found.at.line - 1]


def test_a_contract_of_ones_own_and_several_collectives() -> None:
    program, row = of_a_row(3)
    program.contract("rotated", [(r, 0, (r + 1) % 3) for r in range(3)])
    program.algorithm("turn", [[Move(r, (r - 1) % 3) for r in range(3)]])
    program.collective("turned", "rotated", row, "u32", 6).run("turn")
    program.collective("spread", "broadcast", row, "f32", 4, buffer="y").broadcast(1)
    assert program.compile().run().verified


def test_a_grid_is_reduced_along_both_axes_and_told_of_by_a_pe() -> None:
    program = Program("wse3")
    pes = program.grid("pes", 4, 3)
    total = program.collective("total", "allreduce", pes, "f32", 3, "add")
    total.reduce("two_phase", lines="columns", S=2).reduce("chain", lines="row").broadcast((0, 0))
    assert program.compile().run().verified


@pytest.mark.parametrize("name", ["", "a b", "x { }", "x\n", "1x", "ü"])
def test_nothing_but_a_name_comes_in_through_one(name: str) -> None:
    with pytest.raises(ValueError, match="is no name"):
        Program("wse2").grid(name, 1, 1)


@pytest.mark.parametrize("number", ["1", 1.5, None])
def test_numbers_are_integers(number: Any) -> None:
    with pytest.raises(TypeError):
        Program("wse2").grid("row", number, 1)


def test_a_parent_that_comes_later_is_refused() -> None:
    with pytest.raises(ValueError, match="rank 1 sends to 2: a parent is a smaller rank"):
        of_a_row()[0].tree("wrong", 3, lambda rank: 3 - rank)


def test_only_public_names_are_shown() -> None:
    assert dir(collc) == sorted(collc.__all__)
    assert {name for name in vars(collc) if not name.startswith("_")} & {"re", "index"} == set()
