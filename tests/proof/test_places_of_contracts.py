"""A contract of one's own is proved at every place, the first one included."""

from __future__ import annotations

import pytest

from collc.base.diagnostics import Diagnostic
from collc.language import parse_source
from collc.proof import prove
from collc.schedule import build_schedule

AFTER_ALL = "after each r : r has (r - 1) mod n"


def problems(
    after: str, step: str, before: str = "", contract: str = "handed_on(x: f32[8])"
) -> list[Diagnostic]:
    """What is wrong with one step on four ranks."""
    text = f"""target wse2 grid row = 4 x 1
    contract handed_on(n) {{ {before} {after} }}
    algorithm one_step(n) {{ step {{ {step} }} }}
    collective c = {contract} on row {{ run one_step }}
    program {{ c }}"""
    return list(prove(build_schedule(parse_source(text).collectives[0])))


def test_what_every_rank_hands_on_is_proved() -> None:
    assert problems(AFTER_ALL, "each r : r -> (r + 1) mod n") == []


@pytest.mark.parametrize("rank", range(4))
def test_a_rank_that_receives_nothing_is_named(rank: int) -> None:
    (problem,) = problems(AFTER_ALL, f"each r where (r + 1) mod n != {rank} : r -> (r + 1) mod n")
    assert f"rank {rank}" in problem.message


@pytest.mark.parametrize("rank", range(4))
def test_a_rank_that_is_promised_nothing_may_receive_nothing(rank: int) -> None:
    after = f"after each r where r != {rank} : r has (r - 1) mod n"
    assert problems(after, f"each r where (r + 1) mod n != {rank} : r -> (r + 1) mod n") == []


@pytest.mark.parametrize("rank", range(4))
def test_a_rank_that_is_given_nothing_has_nothing_to_hand_on(rank: int) -> None:
    before = f"before each r where r != {rank} : r has r"
    after = f"after each r where r != {rank} : r has r"
    assert (
        problems(after, f"each r where (r - 1) mod n == {rank} : r -> (r - 1) mod n", before) == []
    )
    (problem,) = problems(after, f"each r where r == {rank} : r -> (r + 1) mod n", before)
    assert f"rank {(rank + 1) % 4}" in problem.message


@pytest.mark.parametrize("rank", range(4))
def test_what_a_rank_was_not_given_is_told_when_it_is_combined(rank: int) -> None:
    before = f"before each r where r != {rank} : r has r"
    step = f"each r where r == {rank} : r => (r + 1) mod n"
    (problem,) = problems(
        before.replace("before", "after"), step, before, contract="handed_on(x: f32[8], add)"
    )
    assert f"rank {(rank + 1) % 4} ends with what nobody had before" in problem.message
