"""Lines of a grid that run on slices: an allreduce of long vectors."""

from __future__ import annotations

import pytest

from collc.base.diagnostics import CollcError
from collc.driver.pipeline import compile_text
from collc.language import parse_source
from collc.language.show import show_spec
from collc.plan.form import Form, form_of
from collc.schedule import build_schedule
from collc.schedule.own_slices import asks_own_slices, own_slices

TEXT = """target {target}
grid wafer = {width} x {height}
algorithm halves(n) slices 2 {{ step {{ each r where r == 1 : slice 0 r -> 0 }} }}
collective all = {contract} on wafer {{
    {steps}
}}
program {{ all }}
"""
STEPS = """run rows by chain_reduce_scatter
    then run columns by chain_reduce(root = {root}) on slices
    then run columns by direct_broadcast(root = {root}) on slices
    then run rows by direct_allgather"""


def text(
    steps: str = STEPS.format(root=2),
    *,
    contract: str = "allreduce(x: f32[60], add)",
    width: int = 5,
    height: int = 4,
    target: str = "wse2",
) -> str:
    return TEXT.format(target=target, width=width, height=height, contract=contract, steps=steps)


def codes(written: str) -> list[str]:
    with pytest.raises(CollcError) as refused:
        compile_text(written, "test.coll", {})
    return [one.code for one in refused.value.diagnostics]


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(
    ("width", "height", "root", "contract"),
    [
        (5, 4, 0, "allreduce(x: f32[60], add)"),
        (4, 7, 6, "allreduce(x: f32[61], max)"),  # slices and blocks of unequal lengths
        (9, 3, 1, "allreduce(x: f16[72], add)"),
        (3, 6, 3, "allreduce(x: f32[2], add)"),  # slices without elements
        (4, 6, 3, "allreduce(x: f16[12], add)"),  # slices that are no pairs of 16-bit elements
    ],
)
def test_a_long_vector_is_summed_call_after_call(
    width: int, height: int, root: int, contract: str, target: str
) -> None:
    steps = STEPS.format(root=root)
    written = text(steps, contract=contract, width=width, height=height, target=target)
    bundle = compile_text(written, "test.coll", {})
    streams = all(form_of(phase) is Form.STREAM for phase in bundle.program.plans[0].phases)
    by_steps = (
        {"allreduce(x: f32[2], add)", "allreduce(x: f16[72], add)"} if target == "wse2" else ()
    )
    assert streams or contract in by_steps  # where some phase takes fewer cycles so
    report = bundle.run(seed=width, repeats=3)
    assert report.verified, report.problem
    assert abs(bundle.prediction.cycles - report.cycles) <= 0.02 * report.cycles + 60
    assert report.cycles >= bundle.prediction.bound


@pytest.mark.parametrize("across", ["ring_allreduce", "recursive_doubling", "halving_doubling"])
def test_lines_across_may_go_by_steps_and_either_axis_may_be_first(across: str) -> None:
    steps = (
        f"run columns by ring_reduce_scatter then run rows by {across} on slices "
        "then run columns by ring_allgather"
    )
    written = text(steps, contract="allreduce(x: f32[37], add)", target="wse3")
    assert compile_text(written, "test.coll", {}).run(seed=1, repeats=2).verified


def test_what_is_shown_is_read_again() -> None:
    spec = parse_source(text())
    shown = show_spec(spec)
    assert shown.count(" on slices") == 2
    assert show_spec(parse_source(shown)) == shown


ROWS, AGAIN = "run rows by chain_reduce_scatter", "then run rows by direct_allgather"


@pytest.mark.parametrize(
    ("steps", "contract", "code"),
    [
        # whole vectors across: the slices of the others are lost
        (f"{ROWS} then run columns by ring_allreduce {AGAIN}", "allreduce", "C204"),
        # nobody puts the slices together, or leaves them
        (f"{ROWS} then run columns by ring_allreduce on slices", "allreduce", "C204"),
        (f"run columns by ring_allreduce on slices {AGAIN}", "allreduce", "C204"),
        # along the same lines
        (f"{ROWS} then run rows by ring_allreduce on slices {AGAIN}", "allreduce", "C204"),
        # whole sums instead of slices, and a tree between
        (
            f"run rows by ring_allreduce then run columns by halves on slices {AGAIN}",
            "allreduce",
            "C201",
        ),
        (
            f"reduce columns by star to 0 then {ROWS} then run columns by ring_allreduce on slices "
            f"{AGAIN}",
            "allreduce",
            "C204",
        ),
        # only one column sums its slices
        (f"{ROWS} then run column by ring_allreduce on slices {AGAIN}", "allreduce", "C204"),
        # slices go to one rank and come from another
        (STEPS.format(root=1).replace("broadcast(root = 1", "broadcast(root = 2"), "", "C201"),
        ("run rows by ring_reduce(c = 1, root = 0) on slices", "reduce", "C177"),
    ],
)
def test_what_does_not_keep_the_contract_is_refused(steps: str, contract: str, code: str) -> None:
    written = text(steps, contract=f"{contract or 'allreduce'}(x: f32[60], add)")
    assert code in codes(written)


def test_a_single_line_has_no_lines_across() -> None:
    assert codes(text("run ring_allreduce on slices", height=1)) == ["C177"]


def test_a_dynamic_length_has_no_slices_of_lines() -> None:
    assert codes(text(contract="allreduce(x: f32[n <= 60], add)")) == ["C172"]


def test_own_slices_are_asked_of_the_lines_around_and_the_vector_of_the_root() -> None:
    schedule = build_schedule(parse_source(text()).collectives[0])
    rows, up, down, back = schedule.phases
    assert [asks_own_slices(schedule, phase) for phase in schedule.phases] == [
        True,
        True,
        False,
        False,
    ]
    assert own_slices(up)[:, 0].tolist() == [False, False, True, False]
    assert own_slices(rows).trace() == rows.ranks == back.ranks
    assert own_slices(down) is None


def test_phases_share_output_queues_where_the_machine_binds_them_to_no_color() -> None:
    two, three = (compile_text(text(target=of), "test.coll", {}) for of in ("wse2", "wse3"))
    (plan,) = two.program.plans
    assert len(set(plan.output_queues)) < len(plan.output_queues)
    assert "commands_wse3.sh" not in two.files
    assert two.run(seed=3).verified
    assert "commands_wse2.sh" not in three.files or len(set(plan.output_queues)) <= 4


def test_auto_sums_long_vectors_on_slices() -> None:
    contract = "allreduce(x: f32[1024], add)"
    sliced = compile_text(text("run auto", contract=contract, width=24, height=20), "t.coll", {})
    trees = "reduce columns by optimal to 0 then reduce row by optimal to 0 then broadcast from 0"
    other = compile_text(text(trees, contract=contract, width=24, height=20), "t.coll", {})
    cycles = [one.run(seed=3).cycles for one in (sliced, other)]
    assert cycles[0] < cycles[1]
    assert sum(form_of(phase) is Form.STREAM for phase in sliced.program.plans[0].phases) == 4
