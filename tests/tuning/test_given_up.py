"""C806: a program whose calls take more than by themselves, for want of colors, queues or
registers."""

from __future__ import annotations

import re

import pytest

from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text

SLICES = """target wse2
grid g = 4 x 3
collective total = allreduce(x: f32[LENGTH], add) on g {
    run rows by chain_reduce_scatter
    then run columns by chain_reduce(root = 1) on slices
    then run columns by direct_broadcast(root = 1) on slices
    then run rows by direct_allgather
}
collective go = barrier() on g { run rows by linear_barrier then run columns by linear_barrier }
collective spread = broadcast(y: f32[LENGTH]) on g { broadcast from 0 }
program { CALLS }
"""


def compiled(calls: str, length: int = 96) -> Bundle:
    return compile_text(SLICES.replace("CALLS", calls).replace("LENGTH", str(length)), "t.coll", {})


@pytest.mark.parametrize(
    ("length", "why", "slower"),
    [
        (96, "phases go by other plans", ["total"]),  # by steps, on colors of their own
        (768, "phases share 4 colors over time", ["go", "total"]),
    ],
)
def test_calls_that_have_no_queues_beside_others_are_named_with_their_cycles(
    length: int, why: str, slower: list[str]
) -> None:
    bundle = compiled("go total", length)
    (warning,) = (one for one in bundle.warnings if one.code == "C806")
    takes, alone = map(int, re.findall(r"\d+(?= cycles| by)", warning.message))
    assert takes == bundle.prediction.cycles
    assert alone == sum(compiled(name, length).prediction.cycles for name in ("go", "total"))
    assert f"{why}, since there are too few queues" in warning.message
    took = [re.findall(r"`(\w+)` takes (\d+)", note) for _, note in warning.also]
    assert took == [[(name, str(bundle.prediction.breakdown[name]))] for name in slower]
    # what is lost has one reason, and other warnings would name another
    (total,) = (one.collective for one in bundle.schedules if one.collective.name == "total")
    assert not {step.span for step in total.steps} & {one.at for one in bundle.warnings}


def test_calls_that_go_as_alone_are_not_named() -> None:
    for calls in ("total", "spread spread", "repeat 3 { spread }"):
        assert not [one for one in compiled(calls).warnings if one.code == "C806"], calls


def test_a_limit_of_colors_is_the_authors_own() -> None:
    bundle = compiled("go total within colors <= 4")
    assert not [one for one in bundle.warnings if one.code == "C806"]
