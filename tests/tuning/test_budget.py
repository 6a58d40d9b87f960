"""A search does no more work than its budget, which follows from the program alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from with_schedules import check_plan

from collc.checks import BUDGETS
from collc.cost.predict import cycles_or_never
from collc.driver.pipeline import compile_text
from collc.plan import Plan
from collc.spec import Decision
from collc.tuning import decide, predicted
from collc.tuning.budget import MOST_WORK, Budget
from collc.tuning.show import decision_as_data, show_decision

Allow = Callable[[int], None]
RANKS = 16
ONE = RANKS * RANKS  # what a plan takes
TEXT = f"""
target wse2
grid row = {RANKS} x 1
collective total = allreduce(x: f32[8], add) on row {{{{ {{steps}} }}}}
program {{{{ total }}}}
"""


def decision(steps: str) -> Decision:
    (found,) = compile_text(TEXT.format(steps=steps), "f.coll", {}).decisions
    return found


@pytest.fixture
def allow(monkeypatch: pytest.MonkeyPatch) -> Allow:
    def allowed(most: int) -> None:
        search = decide._Search
        monkeypatch.setattr(
            decide, "_Search", lambda *given, **more: search(*given, budget=Budget(most), **more)
        )

    return allowed


def test_nothing_is_left_out_on_a_line() -> None:
    assert decision("run auto").left_out == ()
    assert MOST_WORK > 1000 * 990**2  # a thousand candidates on the longest line


def test_what_there_is_no_work_left_for_is_named(allow: Allow) -> None:
    whole = decision("run auto")
    allow(3 * ONE)
    found = decision("run auto")
    looked_at = {one.text for one in (found.chosen, *found.lost)}
    assert 1 <= len(looked_at) < len(whole.lost)
    assert any("optimal" in text for text in found.left_out)
    assert "not looked at, for the work it takes: reduce optimal" in show_decision(found)
    assert decision_as_data(found)["left_out"] == list(found.left_out)


def test_one_plan_is_looked_at_however_long_it_takes(allow: Allow) -> None:
    allow(0)
    found = decision("run auto")
    assert found.chosen.cycles is not None
    assert all(one.cycles is None for one in found.lost), "ruled out by what they take at least"


def test_numbers_are_looked_for_within_the_budget(allow: Allow) -> None:
    steps = "reduce two_phase(S = auto) to 0 then broadcast from 0"
    assert decision(steps).left_out == ()
    allow(2 * ONE)
    found = decision(steps)
    assert len(found.lost) == 1 and "S = " in found.left_out[0]


def test_the_same_program_leaves_out_the_same(allow: Allow) -> None:
    allow(20 * ONE)
    assert decision("run auto") == decision("run auto")


def test_a_plan_that_needs_more_than_there_is_is_not_evaluated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    evaluated: list[Plan] = []

    def noted(plan: Plan) -> int:
        evaluated.append(plan)
        return cycles_or_never(plan)

    monkeypatch.setattr(predicted, "cycles_or_never", noted)
    decision("run auto within colors <= 2")
    assert evaluated
    assert not any(check_plan(plan, BUDGETS) for plan in evaluated)
