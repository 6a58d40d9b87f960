"""The best tree is as good as the recursion tried in full, and as every tree there is."""

from __future__ import annotations

import time
from functools import cache

import numpy as np
import pytest

from collc.language.optimal_tree import optimum
from tests.trees import all_trees, model_cycles

RAMP = 2
LENGTHS = (1, 2, 3, 5, 8, 13, 40, 64, 100, 333, 1000, 4096)


@cache
def _in_full(ranks: int, length: int, turn: int, sends: bool = False) -> int:
    """The recursion with every first part tried."""
    if ranks == 1:
        return 0
    received = [
        _in_full(ranks - i, length, turn, True) + i + 2 * RAMP + 1 for i in range(1, ranks - 1)
    ]
    received.append(length + ranks + 2 * RAMP)
    return min(
        max(_in_full(i, length, turn) + length + (turn if sends and i > 1 else 0), received[i - 1])
        for i in range(1, ranks)
    )


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("turn", [0, 23, 100])
def test_following_the_crossing_finds_what_trying_every_first_part_finds(
    length: int, turn: int
) -> None:
    found = optimum(120, np.array([length]), RAMP, turn)
    due = [_in_full(p, length, turn) for p in range(1, 121)]
    assert [int(t) for t in found.times[1:, 0]] == due


@pytest.mark.parametrize("turn", [0, 23])
def test_many_lengths_at_once_are_found_as_one_by_one(turn: int) -> None:
    together = optimum(90, np.array(LENGTHS), RAMP, turn)
    for index, length in enumerate(LENGTHS):
        alone = optimum(90, np.array([length]), RAMP, turn)
        for part in ("times", "first", "first_sending"):
            assert (getattr(alone, part)[:, 0] == getattr(together, part)[:, index]).all()


@pytest.mark.parametrize("ranks", range(1, 10))
def test_no_pre_order_tree_is_faster(ranks: int) -> None:
    found = optimum(ranks, np.array(LENGTHS), RAMP)
    for index, length in enumerate(LENGTHS):
        best = min(model_cycles(tree, length, RAMP) for tree in all_trees(ranks))
        assert found.times[ranks, index] == best


def test_the_tree_takes_the_time_that_is_claimed() -> None:
    found = optimum(64, np.array(LENGTHS), RAMP)
    for ranks in (1, 2, 3, 7, 33, 64):
        for index, length in enumerate(LENGTHS):
            tree = found.tree(ranks, index)
            assert model_cycles(tree, length, RAMP) == found.times[ranks, index]


def test_a_whole_sweep_of_lengths_on_a_long_line_takes_about_a_second() -> None:
    began = time.perf_counter()
    optimum(1024, np.arange(1, 8193), RAMP)
    assert time.perf_counter() - began < 5  # about 0.6 s alone on a machine
