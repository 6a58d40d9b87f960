"""Orders that gap: trees, algorithms and multicasts, from text to emitted CSL to fabsim."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle

import pytest
from with_schedules import check

from collc.cost import predict
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.language import parse_source
from collc.plan import Detour, Plan
from collc.schedule import Phase, ReducePhase, build_schedule
from collc.schedule.show import operand_order, operands_of_steps
from collc.schedule.tree_steps import chunks_of, steps_of_tree
from collc.spec.exchange import StepsPhase
from collc_research.networks.mesh import mesh_use

ORDERS = {
    "row_major": "",
    "columns_first": "order columns_first(W, H) : i -> (i div H, i mod H)",
    "backwards": "order backwards(W, H) : i -> (W - 1 - i mod W, H - 1 - i div W)",
    "mixed": """order mixed = [(1, 2), (3, 0), (0, 0), (2, 1), (1, 0), (3, 2), (0, 1), (2, 2),
        (1, 1), (0, 2), (3, 1), (2, 0)]""",
}
BODIES = [
    ("reduce(x: f32[33], add)", "reduce two_phase(S = 4) to 0"),
    ("allreduce(x: f16[5], max)", "reduce chain, star to 7 then broadcast from 7"),
    ("reduce(x: i32[17], min)", "reduce binomial to 11"),
    ("broadcast(x: f32[9])", "broadcast from 5"),
    ("allreduce(x: f32[24], add)", "run ring_allreduce"),
    ("allgather(x: u16[17])", "run recursive_doubling_allgather"),
    ("all_to_all(x: f32[24])", "run pairwise_all_to_all"),
    ("barrier()", "run binomial_barrier"),
]


def compiled(order: str, contract: str, body: str, target: str = "wse2") -> Bundle:
    text = f"""target {target} {ORDERS[order]} grid g = 4 x 3
    collective c = {contract} on g {{ order {order} {body} }} program {{ c }}"""
    return compile_text(text, "test.coll", {})


CASES = zip(cycle(ORDERS), cycle(("wse2", "wse3", "wse3", "wse2")), BODIES * 2, strict=False)


@pytest.mark.parametrize(("order", "target", "what"), [case for case in CASES][: len(BODIES) + 3])
def test_what_goes_along_a_path_goes_along_an_order_that_leaps(
    order: str, target: str, what: tuple[str, str]
) -> None:
    bundle = compiled(order, *what, target)
    report = bundle.run(repeats=2)
    assert report.verified, report.problem
    assert abs(report.cycles - bundle.prediction.cycles) <= 0.02 * report.cycles + 90


@pytest.mark.parametrize("tree", ["binomial", "two_phase(S = 5)", "star"])
def test_a_tree_in_steps_combines_as_the_tree_does(tree: str) -> None:
    def phase_of(order: str) -> Phase:
        text = f"""target wse2 grid g = 4 x 3
        collective c = reduce(x: f32[999], add) on g {{ order {order} reduce {tree} to 0 }}
        program {{ c }}"""
        (phase,) = build_schedule(parse_source(text).collectives[0]).phases
        return phase

    steps, whole = phase_of("row_major"), phase_of("snake")
    assert isinstance(steps, StepsPhase) and isinstance(whole, ReducePhase)
    assert {text for _, text in operands_of_steps(steps)[0]} == {operand_order(whole)}


@pytest.mark.parametrize("root", [0, 5, 11])
@pytest.mark.parametrize("order", ["row_major", "mixed"])
def test_a_chain_streams_across_leaps(order: str, root: int) -> None:
    bundle = compiled(order, "reduce(x: f32[100], add)", f"reduce chain to {root}")
    report = bundle.run(repeats=2)
    assert report.verified, report.problem
    # detours that use links together, of both sides of a root for example, hold each other up
    alone = order == "row_major" and root in {0, 11}
    assert report.cycles < 600
    assert abs(report.cycles - bundle.prediction.cycles) <= (0 if alone else 90)


def test_a_tree_streams_if_only_neighbours_in_the_order_are_on_both_sides_of_a_leap() -> None:
    rows = "tree rows = 0 <- [1, 2, 3 <- [4 <- [5, 6, 7 <- [8 <- [9, 10, 11]]]]] "
    text = f"""target wse2 {rows} grid g = 4 x 3
    collective c = reduce(x: f32[50], add) on g {{ order row_major reduce rows to 0 }}
    program {{ c }}"""
    bundle = compile_text(text, "test.coll", {})
    assert isinstance(bundle.schedule.phases[0], ReducePhase)
    report = bundle.run(repeats=2)
    assert report.verified, report.problem
    assert abs(report.cycles - bundle.prediction.cycles) <= 0.02 * report.cycles + 90


def test_a_way_is_needed_where_a_chain_leaps() -> None:
    bundle = compiled("row_major", "reduce(x: f32[9], add)", "reduce chain to 0")
    without = changed(bundle.plan, detours_of(bundle)[1:])
    (found,) = check("paths", without)
    assert found.code == "C330" and "has no detour" in found.message


def test_a_chain_is_pipelined_and_ranks_with_many_children_take_turns() -> None:
    chain, star = ((1,), (2,), (3,), ()), ((1, 2, 3), (), (), ())
    assert chunks_of(star, 1000) == 1 and chunks_of(chain, 1) == 1 < chunks_of(chain, 1000)
    assert [len(moves) for moves in steps_of_tree(chain, range(4), 2)] == [1, 2, 2, 1]
    assert [moves.source.tolist() for moves in steps_of_tree(star, range(4), 1)] == [[1], [2], [3]]


def changed(plan: Plan, detours: tuple[Detour, ...]) -> Plan:
    return replace(plan, phases=(replace(plan.phases[0], detours=detours),))


def detours_of(bundle: Bundle) -> tuple[Detour, ...]:
    return bundle.plan.phases[0].detours


def test_detours_that_are_not_those_of_the_plan_are_refused() -> None:
    bundle = compiled("row_major", "reduce(x: f32[9], add)", "run binary_tree_reduce(c = 2)")
    detours = detours_of(bundle)
    assert detours and not list(check("paths", bundle.plan))
    first, last = detours[0], detours[-1]
    mutants = {
        "no detour": detours[1:],
        "leads from": (replace(first, pes=first.pes[::-1]), *detours[1:]),
        "not connected": (
            replace(first, pes=(first.pes[0], first.pes[-1], *first.pes[1:])),
            *detours,
        ),
        "leads": (*detours, last),
    }
    for words, mutant in mutants.items():
        found = list(check("paths", changed(bundle.plan, mutant)))
        assert [d.code for d in found] == ["C330"] and words in found[0].message


def test_ways_of_one_color_that_meet_are_refused() -> None:
    bundle = compiled("row_major", "allgather(x: f32[9])", "run recursive_doubling_allgather")
    detours = detours_of(bundle)
    one = next(detour for detour in detours if len(detour.pes) > 2)
    round_about = replace(one, pes=(one.pes[0], *one.pes[1:], one.pes[-2], one.pes[-1]))
    mutant = tuple(round_about if detour is one else detour for detour in detours)
    (found,) = check("paths", changed(bundle.plan, mutant))
    assert found.code == "C330" and "meet" in found.message


def test_all_links_of_a_way_are_counted() -> None:
    bundle = compiled("row_major", "broadcast(x: f32[8])", "run pipelined_broadcast(c = 2)")
    used = mesh_use(bundle.schedule)
    # three rows of three hops each, and two detours of one hop down and three back
    assert used.wavelet_hops == 8 * (9 + 2 * 4)
    assert predict(bundle.plan).cycles == bundle.prediction.cycles
