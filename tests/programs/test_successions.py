"""Collectives that share few colors, one after the other in every order."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import pytest
from programs.texts import PATTERNS, all_pairs, program_of
from switch_over import extra

import fabsim
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.target import TARGETS


def compiled(text: str, skew: int = 0, **parameters: int) -> Bundle:
    bundle = compile_text(text, "test.coll", parameters, None, skew)
    return bundle


SIZES = ((2, 0), (3, 60), (8, 0), (9, 90), (33, 60), (64, 0))


@pytest.mark.parametrize(
    ("target", "ranks", "skew"),
    [(target, ranks, skew) for target in TARGETS for ranks, skew in SIZES],
)
def test_every_pattern_follows_every_pattern(target: str, ranks: int, skew: int) -> None:
    calls = all_pairs(list(PATTERNS))
    assert len(set(pairwise(calls))) == len(PATTERNS) ** 2
    # on two PEs there are two ways, and two colors, but for a ring
    limits = "within colors <= 3" + " reconfigure teardown" * (ranks == 2)
    bundle = compiled(program_of(calls, limits, target=target), skew, P=ranks, B=2)
    assert any(color.torn_down for color in bundle.program.colors)
    report = bundle.run(seed=ranks, repeats=2)
    assert report.verified, report.problem


def test_what_is_known_of_a_buffer_ends_with_a_reduction() -> None:
    """A second sum over what a first one has left behind promises nothing, so a buffer of its own
    is what shows that rounds are right."""
    bundle = compiled(program_of(["chain"], "reconfigure teardown", rounds=3), P=4, B=3)
    report = bundle.run()
    assert report.verified, report.problem


def test_what_two_collectives_promise_together_is_compared() -> None:
    """A reduce_scatter leaves each rank its slice, and that is all that an allgather needs."""
    text = """
    target wse2
    grid row = 6 x 1
    collective parts = reduce_scatter(x: f32[12], add) on row {
        order ring run ring_reduce_scatter
    }
    collective whole = allgather(x: f32[12]) on row { order ring run ring_allgather }
    program { parts whole }
    """
    bundle = compile_text(text, "test.coll", {})
    report = bundle.run()
    assert report.verified, report.problem
    assert report.compared == 6 * 12


def test_a_program_whose_calls_leave_nothing_known_is_verified_turn_by_turn() -> None:
    report = compiled(program_of(["chain", "chain"], ""), P=4, B=3).run()
    assert report.verified, report.problem
    assert report.by_turns
    assert report.compared == 2 * 3


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_phases_of_one_collective_share_colors_on_a_grid(target: str) -> None:
    text = """
    target wse2
    grid wafer = 5 x 4
    collective total = allreduce(x: u32[3], add) on wafer {
        order north_to_south, west_to_east
        reduce columns by binomial to 1
        then reduce row by two_phase(S = 2) to 3
        then broadcast from (3, 1)
    }
    program { repeat 4 { total } within colors <= 2 }
    """
    bundle = compile_text(text, "test.coll", {}, target, 50)
    assert bundle.color_count == 2
    report = bundle.run(seed=4)
    assert report.verified, report.problem


def test_colors_of_their_own_are_not_torn_down() -> None:
    calls = ["chain", "broadcast from the west"]
    apart = compiled(program_of(calls, ""))
    assert not any(color.torn_down for color in apart.program.colors)
    assert "router.csl" not in apart.files
    assert apart.run().verified
    forced = compiled(program_of(calls, "reconfigure teardown"))
    assert all(color.torn_down for color in forced.program.colors)


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(
    ("calls", "most"),
    [
        (("chain", "broadcast from the west"), 80),
        (("two_phase", "chain"), 140),
        (("binomial", "binomial"), 140),
        (("ring", "ring"), 160),
    ],
)
def test_switching_over_takes_few_cycles(
    calls: tuple[str, str], most: int, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against the same two on colors of their own, by the published constants; a PE waits for the
    handler of a teardown, as the vendor's allreduce does. `tests/switch_over.py` measures all
    pairs."""
    monkeypatch.setattr(fabsim, "compile", partial(fabsim.compile, timing="simfabric"))
    assert extra(calls, 16, 16, 3, target) <= most
