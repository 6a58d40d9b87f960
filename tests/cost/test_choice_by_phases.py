"""Phases are chosen one after the other, and what is found of a plan is not looked for again."""

from __future__ import annotations

from itertools import product

import pytest

from collc.cost import choice, clocked
from collc.cost.choice import build_plan
from collc.cost.predict import cycles_of, cycles_or_never
from collc.driver.pipeline import compile_text, prove_text
from collc.lowering import alternatives_of, planned_by
from collc.plan import Plan
from collc.plan.alike import Alike
from collc.schedule.barrier_tokens import with_tokens
from collc.target import TARGETS


@pytest.mark.parametrize("target", sorted(TARGETS))
@pytest.mark.parametrize(("tree", "length"), [("chain", 2), ("star", 30), ("binomial", 1)])
def test_a_root_within_a_grid_is_as_fast_as_with_any_combination_of_colorings(
    tree: str, length: int, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"""
        grid g = 5 x 6
        collective total = allreduce(x: f32[{length}], add) on g {{
            reduce columns by {tree} to 2 then reduce row by {tree} to 2 then broadcast from (2, 2)
        }}
        program {{ total }}
    """
    machine = TARGETS[target]
    schedule = with_tokens(prove_text(text, "test.coll", {}, target)[1])
    offered = list(product(*alternatives_of(schedule, machine)))
    best = min(cycles_or_never(planned_by(of, schedule, machine, alone=True)) for of in offered)
    followed: set[Alike] = set()

    def told(plan: Plan) -> int:
        followed.add(Alike(plan))
        return cycles_or_never(plan)

    monkeypatch.setattr(choice, "cycles_or_never", told)
    assert cycles_of(build_plan(schedule, machine)) == best
    assert len(offered) == 16
    assert len(followed) <= 10  # one, and in each round one for each of the phases of two sides


def test_a_chosen_plan_is_clocked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
        target wse2
        grid g = 4 x 1
        collective total = allreduce(x: f32[9], add) on g { run auto }
        program { total }
    """
    runs: list[Alike] = []
    clock = clocked._clocked

    def told(program, *how):  # type: ignore[no-untyped-def]
        runs.append(Alike(program.plans[0]))
        return clock(program, *how)

    monkeypatch.setattr(clocked, "_clocked", told)
    assert compile_text(text, "test.coll", {}).prediction.cycles
    assert len(set(runs)) == len(runs) > 1
