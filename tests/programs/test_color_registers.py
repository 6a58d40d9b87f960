"""Lengths of the run on many colors: registers for what is received on them, shared or not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collc.bundle import ProgramBundle
from collc.checks.program import check_program
from collc.lowering.color_registers import NONE, color_registers, registers_needed, source_positions
from collc.programs import compile_any
from collc.run_program import run_program

# as many ranks as make more colors than there are registers
MANY_COLORS = (
    ("recursive_doubling", 4),
    ("halving_doubling", 4),
    ("binary_blocks", 4),
    ("butterfly(G = 2)", 4),
    ("butterfly(G = 3)", 9),
    ("binary_tree_allreduce(c = 2)", 5),
)
OPERANDS = ("f16[n <= 12], min", "f32[n <= 40], add", "i32[n <= 7], max")


def program_of(target: str, ranks: int, operands: str, **steps: str) -> ProgramBundle:
    collectives = " ".join(
        f"collective {name} = allreduce(x: {operands}) on row {{ {of} }}"
        for name, of in steps.items()
    )
    calls = ", ".join((*steps, *steps))
    text = f"target {target} grid row = {ranks} x 1 {collectives} program {{ {calls} }}"
    bundle = compile_any(text, "test.coll", {})
    assert isinstance(bundle, ProgramBundle)
    return bundle


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(("algorithm", "ranks"), MANY_COLORS)
def test_steps_need_no_registers_of_colors(algorithm: str, ranks: int, target: str) -> None:
    for operands in OPERANDS:
        bundle = program_of(target, ranks, operands, s=f"order ring run {algorithm}")
        plan = bundle.plan
        assert len(plan.colors) > len(plan.dsr_ids)
        assert set(color_registers(plan)) == {NONE}
        report = bundle.run(repeats=2)
        assert report.verified, report.problem


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("root", [1, 3])
@pytest.mark.parametrize("algorithm", ["run ring_allreduce", "order ring run ring_allreduce"])
def test_a_tree_keeps_its_registers_from_an_exchange(
    algorithm: str, root: int, target: str
) -> None:
    tree = f"reduce chain to {root} then broadcast from {root}"
    bundle = program_of(target, 6, "f32[n <= 40], add", r=algorithm, s=tree)
    for of_color, others in _split(bundle):
        assert not of_color & others
    for n in (1, 17, 40):
        report = run_program(
            bundle.files, bundle.plan, bundle.spec.target, seed=n, repeats=2, lengths={"n": (n,)}
        )
        assert report.verified, report.problem


def _split(bundle: ProgramBundle) -> list[tuple[set[int], set[int]]]:
    """The registers of colors, and those that are left for phases."""
    plan = bundle.plan
    of_color = {one for one in color_registers(plan) if one != NONE}
    return [(of_color, set(source_positions(plan)[len(plan.colors) :]))]


def test_one_register_serves_colors_that_come_by_one_queue() -> None:
    tree = "reduce chain to 3 then broadcast from 3"
    plan = program_of("wse3", 6, "f32[n <= 40], add", r="run ring_allreduce", s=tree).plan
    registers = color_registers(plan)
    queues = [color.input_queue for color in plan.colors]
    having = [(one, queue) for one, queue in zip(registers, queues, strict=True) if one != NONE]
    assert len(set(having)) == len({one for one, _ in having}) < len(having)


def test_registers_that_do_not_suffice_are_refused() -> None:
    tree = "reduce chain to 3 then broadcast from 3"
    plan = program_of("wse3", 6, "f32[n <= 40], add", r="run ring_allreduce", s=tree).plan
    needed = registers_needed(plan)
    for registers, refused in ((needed, False), (needed - 1, True)):
        fewer = replace(plan, dsr_ids=plan.dsr_ids[:registers])
        assert ("C307" in {problem.code for problem in check_program(fewer)}) == refused


def test_colors_that_share_a_queue_on_a_pe_are_refused() -> None:
    plan = program_of("wse2", 4, OPERANDS[1], s="order ring run recursive_doubling").plan
    one = replace(plan.colors[0], input_queue=plan.colors[1].input_queue)
    other = replace(plan.colors[0], output_queue=plan.colors[1].output_queue)
    for changed in (one, other):
        wrong = replace(plan, colors=(changed, *plan.colors[1:]))
        clash = changed != plan.colors[0]
        assert ("C305" in {problem.code for problem in check_program(wrong)}) == clash
