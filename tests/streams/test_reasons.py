"""Whether a phase streams, or why not, as `collc explain plan` has it."""

from __future__ import annotations

import pytest
import steps_patterns as s
from stream_forms import text_of

from collc.cost.choice import build_plan
from collc.cost.streaming import streaming
from collc.driver.pipeline import prove_text
from collc.lowering.streams import why_not
from collc.target import TARGETS

STRAIGHT = [(r, 0, r, r, 1, False) for r in range(1, 4)]


def said(text: str, parameters: dict[str, int], target: str = "wse2") -> str:
    _, schedule = prove_text(text, "t", parameters, target)
    return dict(streaming(schedule, build_plan(schedule, TARGETS[target])))["exchange"]


def test_a_stream_says_which_and_on_how_many_colors():
    assert said(text_of("gather"), {"P": 5, "B": 20}) == "streams as gather, on 1 color"
    found = said(text_of("all_to_all"), {"P": 16, "B": 64})
    assert found == "streams as all_to_all, on 10 colors"


@pytest.mark.parametrize(
    ("name", "steps", "reason"),
    [
        ("allgather", "ring_allgather", "passed on by ranks"),
        ("gather", "binomial_gather", "passed on by ranks"),
        ("reduce_scatter", "pairwise_reduce_scatter", "combined in another order"),
    ],
)
def test_steps_say_why_they_do_not_stream(name, steps, reason):
    text = text_of(name)
    straight = text.split("run ")[1].split(" ")[0]
    found = said(text.replace(straight, steps), {"P": 8, "B": 64})
    assert found.startswith("goes by steps: ")
    assert reason in found


def test_what_a_call_back_combines_says_so():
    found = said(text_of("reduce_scatter", "i32"), {"P": 5, "B": 20})
    assert found == "goes by steps: elements are combined by a call-back"


def test_too_few_colors_are_named():
    steps = "chain_reduce_scatter }"
    limited = "chain_reduce_scatter within colors <= 3 }"
    found = said(text_of("reduce_scatter").replace(steps, limited), {"P": 5, "B": 20})
    assert "no color is left, a stream takes 4 and 3 are allowed" in found


@pytest.mark.parametrize(
    ("phase", "reason"),
    [
        (s.phase((4, [STRAIGHT]), 4, 24, places=(0, 2, 3, 1)), "another order than PEs"),
        (s.phase((4, [STRAIGHT[:2]]), 4, 24), "is not what a gather"),
        (s.phase((6, [STRAIGHT]), 4, 24), "6 slices, not one for each of 4 ranks"),
        (s.phase((8, [STRAIGHT]), 4, 24), "is not what a gather"),  # one block of two
        (s.phase((8, [STRAIGHT]), 4, 25), "8 slices, of different lengths"),
        (s.phase((4, [STRAIGHT]), 4, 24), ""),
    ],
)
def test_the_first_reason_is_said(phase, reason):
    found = why_not(phase, path=None, own_only=False, in_code=False)
    assert reason in found
    assert bool(found) == bool(reason)
