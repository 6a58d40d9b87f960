"""Other plans of a collective: each is predicted once, whoever asks for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from collc.language.clauses import Use, order, run
from collc.tuning import other_plans, predicted
from collc.tuning.other_plans import Trials
from collc.tuning.written import written
from tests.tuning.warned import compiled

ALLREDUCE = "allreduce(x: f32[64], add)"
IN_A_SNAKE = written((order("snake"), run(Use("halving_doubling"))))
SNAKE = IN_A_SNAKE.text


def counted(monkeypatch: pytest.MonkeyPatch, module: object, name: str) -> Counter[str]:
    """How often a function of candidates, or of collectives, is called for each."""
    real: Callable = getattr(module, name)
    calls: Counter[str] = Counter()

    def counting(first: object, *rest: object) -> object:
        calls[getattr(first, "text", "") or predicted.show_steps(first)] += 1
        return real(first, *rest)

    monkeypatch.setattr(module, name, counting)
    return calls


def test_a_snake_is_predicted_once_for_shared_links_and_leaps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = counted(monkeypatch, other_plans, "predicted")
    _ = compiled(ALLREDUCE, "order row_major run halving_doubling", "4 x 4").warnings
    assert calls[SNAKE] == 1
    assert set(calls.values()) == {1}


def test_the_schedule_of_a_plan_without_a_choice_is_built_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bundle = compiled(ALLREDUCE, "order row_major run halving_doubling", "4 x 4")
    built = counted(monkeypatch, predicted, "build_schedule")
    assert Trials(bundle.schedule, bundle.plan.target).faster(IN_A_SNAKE, 10_000) is not None
    assert built == {SNAKE: 1}


def test_what_was_too_slow_is_checked_in_full_where_more_is_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bundle = compiled(ALLREDUCE, "order row_major run halving_doubling", "4 x 4")
    fresh = Trials(bundle.schedule, bundle.plan.target).faster(IN_A_SNAKE, 10_000)
    assert fresh is not None
    predicted = counted(monkeypatch, other_plans, "predicted")
    trials = Trials(bundle.schedule, bundle.plan.target)
    for below, found, calls in (
        (fresh.cycles, None, 1),
        (fresh.cycles - 1, None, 1),
        (fresh.cycles + 1, fresh, 2),
        (10_000, fresh, 2),
        (fresh.cycles, None, 2),
    ):
        assert trials.faster(IN_A_SNAKE, below) == found
        assert predicted[SNAKE] == calls
