"""What the compiler chooses is never predicted to be slower than what could have been written."""

from __future__ import annotations

import pytest

import collc
from collc.driver.pipeline import compile_text, prove_text
from collc.driver.planning import planned
from collc.language.elaborate import with_steps
from collc.machine.prediction import Prediction
from collc.schedule import Schedule
from collc.schedule.barrier_tokens import with_tokens
from collc.spec import ContractKind
from collc.target import TARGETS
from collc.tuning.algorithms import ALGORITHMS, on_slices
from collc.tuning.cost_terms import least_terms, terms_of
from collc.tuning.predicted import candidate_of, predicted
from collc.tuning.written import written

TREES = ("chain", "star", "binomial", "two_phase(S = 3)", "optimal")


def text(contract: str, steps: str, grid: str, length: int, *, more: str = "") -> str:
    buffer = f"x: f32[{length}], add" if "reduce" in contract else f"x: f32[{length}]"
    return f"""
        target wse2
        grid g = {grid}
        operation first(a, b: f32) = a == 0.0 ? b : a
        collective total = {contract}({buffer}) on g {{ {steps} {more} }}
        program {{ total }}
    """


def planned_text(written: str) -> tuple[Schedule, Prediction]:
    spec, schedule = prove_text(written, "test.coll", {})
    schedule = with_tokens(schedule)
    return schedule, planned(schedule, TARGETS[spec.target])[1]


def cycles(*args: str, **more: str) -> int:
    return planned_text(text(*args, **more))[1].cycles


@pytest.mark.parametrize(
    ("length", "within"), [(1, ""), (30, ""), (700, ""), (30, "within colors <= 3")]
)
def test_an_allreduce_on_a_line(length: int, within: str) -> None:
    best = cycles("allreduce", "run auto", "17 x 1", length, more=within)
    for tree in TREES:
        for root in (0, 8):
            steps = f"reduce {tree} to {root} then broadcast from {root}"
            try:
                other = cycles("allreduce", steps, "17 x 1", length, more=within)
            except collc.CollcError:
                continue  # more colors than are allowed
            assert best <= other, steps
    for algorithm in ("ring_allreduce", "recursive_doubling"):
        assert best <= cycles("allreduce", f"run {algorithm}", "17 x 1", length)


def test_a_long_vector_on_a_large_grid_goes_by_slices() -> None:
    slices = (
        "run rows by chain_reduce_scatter "
        "then run columns by chain_reduce(root = 32) on slices "
        "then run columns by direct_broadcast(root = 32) on slices "
        "then run rows by direct_allgather"
    )
    trees = (
        "reduce columns by optimal to 0 then reduce row by optimal to 0 then broadcast from (0, 0)"
    )
    found = cycles("allreduce", "run auto", "66 x 66", 2048)
    assert found <= cycles("allreduce", slices, "66 x 66", 2048)
    assert found < 0.9 * cycles("allreduce", trees, "66 x 66", 2048)


@pytest.mark.parametrize(
    ("element", "length"), [("f16", 3072), ("f32", 12), ("f32", 3072), ("(f32, u32)", 512)]
)
def test_what_compositions_on_slices_take_at_least_is_no_more_than_they_take(
    element: str, length: int
) -> None:
    operation = "argmax" if "," in element else "add"
    spec, _ = prove_text(
        f"""
        target wse2
        grid g = 6 x 4
        collective total = allreduce(x: {element}[{length}], {operation}) on g {{
            reduce columns by chain to 0 then reduce row by chain to 0 then broadcast from (0, 0)
        }}
        program {{ total }}
        """,
        "test.coll",
        {},
    )
    (collective,), target = spec.collectives, TARGETS["wse2"]
    for steps, at_least in on_slices(collective, target):
        one = candidate_of(with_steps(collective, written(steps).clauses), target)
        found = predicted(one, target, [])[1].cycles
        assert found is not None and at_least <= found


@pytest.mark.parametrize("length", [2, 500])
def test_a_grid(length: int) -> None:
    best = cycles("allreduce", "run auto", "5 x 6", length)
    back = "then broadcast from auto"
    for tree in ("chain", "star", "optimal"):
        for steps in (
            f"reduce columns by {tree} to 0 then reduce row by {tree} to 0 {back}",
            f"reduce rows by {tree} to 2 then reduce column by {tree} to 0 {back}",
            f"order snake reduce {tree} to 0 {back}",
        ):
            assert best <= cycles("allreduce", steps, "5 x 6", length), steps


@pytest.mark.parametrize("contract", ["broadcast", "scatter", "gather", "allgather", "barrier"])
def test_every_contract_has_a_best_plan_that_runs(contract: str) -> None:
    written = text(contract, "run auto", "4 x 1", 8)
    if contract == "barrier":
        written = written.replace("x: f32[8]", "")
    bundle = compile_text(written, "test.coll", {})
    assert bundle.schedule.collective.decision is not None
    assert bundle.run().verified


def test_numbers_are_as_good_as_any() -> None:
    best = cycles("reduce", "reduce two_phase(S = auto)", "20 x 1", 40)
    assert best == min(
        cycles("reduce", f"reduce two_phase(S = {size})", "20 x 1", 40) for size in range(1, 21)
    )


@pytest.mark.parametrize("place", [0, 3, 6])
def test_the_root_of_an_algorithm_is_found_whatever_rank_it_is(place: int) -> None:
    steps = f"order ring run ring_reduce(c = {{0}}, root = {{1}}) to {place}"
    best = cycles("reduce", steps.format("auto", "auto"), "7 x 1", 16)
    assert best == min(
        cycles("reduce", steps.format(c, place), "7 x 1", 16) for c in (1, 2, 4, 7, 8, 16)
    )


@pytest.mark.parametrize(
    ("steps", "grid", "roots"),
    [
        ("order ring run {} to 66", "68 x 1", (66,)),
        ("order ring run {} to (65, 0)", "68 x 1", (35,)),
        ("run columns by {0} to (1, 66) then run rows by {0} to (1, 66)", "2 x 68", (66, 1)),
        ("order snake run {} to (0, 34)", "2 x 35", (68,)),
    ],
)
def test_the_rank_that_is_said_is_the_root_of_an_algorithm_on_long_lines_too(
    steps: str, grid: str, roots: tuple[int, ...]
) -> None:
    written = text("reduce", steps.format("ring_reduce(c = 2, root = auto)"), grid, 4)
    decision = planned_text(written)[0].collective.decision
    assert decision is not None
    assert decision.lost == ()
    assert [f"root = {root})" in decision.chosen.text for root in roots] == [True] * len(roots)


def test_where_no_rank_is_said_the_root_of_an_algorithm_is_looked_for() -> None:
    written = text("reduce", "order ring run ring_reduce(c = 2, root = auto)", "5 x 1", 4)
    decision = planned_text(written)[0].collective.decision
    assert decision is not None
    assert "root = 0)" in decision.chosen.text
    assert len(decision.lost) == 4


def test_a_root_is_as_good_as_the_ends_and_the_middle() -> None:
    steps = "reduce chain to {} then broadcast from auto"
    best = cycles("allreduce", steps.format("auto"), "40 x 1", 10)
    assert best <= min(
        cycles("allreduce", steps.format(root), "40 x 1", 10) for root in (0, 7, 19, 20, 39)
    )


def test_ranks_of_an_operation_that_does_not_commute_stay_in_order() -> None:
    written = text("allreduce", "run auto", "12 x 1", 3).replace("add", "first")
    bundle = compile_text(written, "test.coll", {})
    assert "to 0 " in bundle.schedule.collective.decision.chosen.text
    assert bundle.run().verified


@pytest.mark.parametrize("grid", ["9 x 1", "1 x 4", "4 x 3"])
@pytest.mark.parametrize("contract", ["reduce", "reduce_scatter"])
def test_what_keeps_their_order_is_found_for_a_place_within_and_for_slices(
    contract: str, grid: str
) -> None:
    places = {"9 x 1": "4", "1 x 4": "2", "4 x 3": "(2, 1)"}
    steps = f"run auto to {places[grid]}" if contract == "reduce" else "run auto"
    written = text(contract, steps, grid, 24).replace("add", "first")
    assert compile_text(written, "test.coll", {}).run().verified


def test_what_keeps_their_order_goes_by_rank_0_only_where_it_has_to() -> None:
    schedule, _ = planned_text(text("reduce", "run auto to 4", "9 x 1", 24))
    decision = schedule.collective.decision
    assert not any("to 0 then run" in one.text for one in (decision.chosen, *decision.lost))


def test_a_choice_is_the_same_every_time_and_stands_in_the_manifest() -> None:
    bundles = [
        compile_text(text("reduce", "run auto to (3, 0)", "9 x 1", 20), "test.coll", {})
        for _ in range(2)
    ]
    assert bundles[0].files == bundles[1].files
    assert bundles[0].schedule.collective.decision.chosen.text in bundles[0].files["manifest.json"]


KINDS = [(kind, pattern) for kind, patterns in ALGORITHMS.items() for pattern in patterns]


@pytest.mark.parametrize(("kind", "pattern"), KINDS, ids=lambda value: getattr(value, "name", ""))
def test_no_algorithm_takes_fewer_cycles_than_is_said_before_it_is_read(kind, pattern) -> None:
    machine = TARGETS["wse2"]
    name = pattern.use({"G": 4, "c": 3}.get(pattern.number, 0)).text
    for ranks in (4, 16):
        length = 3 * ranks
        written = text(kind.value, f"run {name}", f"{ranks} x 1", length)
        if kind is ContractKind.BARRIER:
            written = written.replace(f"x: f32[{length}]", "")
            length = 0
        schedule = with_tokens(prove_text(written, "test.coll", {})[1])
        assert pattern.at_least(ranks, length, machine)[0] <= least_terms(schedule, machine).cycles


@pytest.mark.parametrize(
    ("length", "operation"), [(1, "f32:add"), (25, "f32:min"), (25, "i32:add"), (400, "f32:add")]
)
def test_nothing_is_predicted_to_take_fewer_cycles_than_it_takes_at_least(
    length: int, operation: str
) -> None:
    element, name = operation.split(":")
    for steps in (
        *(f"reduce {tree} to {root} then broadcast from auto" for tree in TREES for root in (0, 5)),
        "run ring_allreduce",
        "run halving_doubling",
    ):
        written = text("allreduce", steps, "9 x 1", length)
        written = written.replace("f32[", f"{element}[").replace("add)", f"{name})")
        schedule, prediction = planned_text(written)
        terms = terms_of(schedule, prediction.cycles, TARGETS["wse2"])
        assert terms.waiting >= 0, steps
        assert terms.cycles == prediction.cycles


@pytest.mark.parametrize("target", sorted(TARGETS))
@pytest.mark.parametrize("contract", ["allreduce(x: f32[1], add)", "barrier()"])
def test_one_word_and_tokens_take_no_less_than_they_take_at_least(
    contract: str, target: str
) -> None:
    """The more PEs, the less of a root's code comes behind the first word."""
    for ranks, tree, root in ((2, "chain", 0), (8, "star", 0), (8, "chain", 0), (16, "chain", 8)):
        steps = f"reduce {tree} to {root} then broadcast from auto"
        written = (
            f"grid g = {ranks} x 1 collective c = {contract} on g {{ {steps} }} program {{ c }}"
        )
        schedule = with_tokens(prove_text(written, "test.coll", {}, target)[1])
        prediction = planned(schedule, TARGETS[target])[1]
        assert least_terms(schedule, TARGETS[target]).cycles <= prediction.cycles, (tree, ranks)
