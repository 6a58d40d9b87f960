"""Colors of an order that is not contiguous are not torn down: what the refusal says helps, and
what else."""

from __future__ import annotations

import re

import pytest
from programs.bare import planned

from collc.base.diagnostics import CollcError, Diagnostic

TEXT = """target {target}
grid pes = 4 x 3
collective a = reduce(x: f32[6], add) on pes {{ order {order} reduce chain to 0 }}
collective b = allreduce(y: f32[12], add) on pes {{ order {order} run ring_allreduce }}
collective c = broadcast(x: f32[6]) on pes {{ broadcast from (2, 1) }}
collective d = allreduce(z: f32[12], add) on pes {{ order hilbert run ring_allreduce }}
collective e = reduce(z: f32[12], add) on pes {{ reduce columns by chain then reduce row by chain }}
program {{ {calls} }}
"""


def refused(calls: str, order: str = "row_major", target: str = "wse2") -> list[Diagnostic]:
    """What is wrong with a program that calls some of these; nothing if it is planned."""
    try:
        planned(TEXT.format(calls=calls, order=order, target=target))
    except CollcError as error:
        return list(error.diagnostics)
    return []


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(
    ("calls", "help"),
    [
        ("a c reconfigure teardown", "leave `reconfigure teardown` out, or use"),
        ("a c within colors <= 4", "allow 5 colors, or use"),
        (
            "a c within colors <= 4 reconfigure teardown",
            "leave `reconfigure teardown` out and allow 5 colors, or use",
        ),
    ],
)
def test_what_the_help_says_helps(calls: str, help: str, target: str) -> None:
    found = refused(calls, target=target)
    assert {problem.code for problem in found} == {"C338"}
    assert all(problem.help.startswith(help) for problem in found)
    mended = calls
    if "leave `reconfigure teardown` out" in help:
        mended = mended.replace("reconfigure teardown", "")
    if allowed := re.search(r"allow (\d+) colors", help):
        mended = re.sub(r"colors <= \d+", f"colors <= {allowed[1]}", mended)
    assert refused(mended, target=target) == []
    assert refused(calls, order="snake", target=target) == []


@pytest.mark.parametrize(
    "calls", ["a b c d e reserve input_queues 2", "a b c d e reconfigure teardown"]
)
def test_where_the_target_has_too_few_queues_fewer_collectives_help(calls: str) -> None:
    found = refused(calls)
    assert {problem.code for problem in found} == {"C338"}
    assert all("call fewer collectives in this program" in problem.help for problem in found)
    assert refused(calls.replace("b c d e", "c").replace("reconfigure teardown", "")) == []


def test_where_colors_share_queues_there_are_enough_for_all() -> None:
    assert refused("a b c d e") == []


def test_colors_of_their_own_may_leap_beside_colors_that_are_not_torn_down() -> None:
    assert refused("a a c within colors <= 5") == []
