"""Positions of phases on the colors of a program, whose routers change one side each."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from collc.lowering import sharing


def positions_of(monkeypatch: pytest.MonkeyPatch, colors: int, kept: int) -> list[tuple[int, ...]]:
    """Those of two phases that change the receiving and the sending side everywhere, of so many
    colors each, both on the first ones to begin with."""
    names = tuple(f"color_{k}" for k in range(colors))
    masks = [
        {(name, side): np.ones((1, 4), np.bool_) for name in names} for side in ("input", "output")
    ]
    given: list[Any] = [SimpleNamespace(collective=i, phase=i, colors=names) for i in range(2)]
    plans: list[Any] = [SimpleNamespace(collective=i) for i in range(2)]
    dealt: list[Any] = [SimpleNamespace(of_choice=False)] * 2
    monkeypatch.setattr(sharing, "turning", lambda _, phase: masks[phase])
    first = tuple(range(colors))
    return sharing._one_side_each(given, plans, [first, first], dealt, kept)


def test_a_phase_that_changes_the_other_side_goes_to_other_colors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert positions_of(monkeypatch, 2, 4) == [(0, 1), (2, 3)]


def test_where_no_positions_help_few_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    first = tuple(range(11))
    assert positions_of(monkeypatch, 11, 20) == [first, first]  # of 7 * 10 ** 12 ways
