"""Slices that change places are followed all together: how many of them are not followed at all."""

from __future__ import annotations

import pytest

from collc.proof import line, prove
from tests.proof.algorithms import Case

ALL_TO_ALL = Case("all_to_all", "pairwise_all_to_all", 6, 12).schedule()
RING = Case("allreduce", "ring_allreduce", 6, 12).schedule()
BYTES = line.Line(ALL_TO_ALL, "x").bytes


def test_slices_that_take_too_much_room_together_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(line, "_LARGEST_BYTES", BYTES - 1)
    (problem,) = prove(ALL_TO_ALL)
    assert problem.code == "C211"
    assert "6 parts of 6 vectors change places" in problem.message
    assert problem.at is not None


def test_as_much_as_there_is_room_for_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line, "_LARGEST_BYTES", BYTES)
    assert list(prove(ALL_TO_ALL)) == []


def test_slices_that_stay_in_their_places_are_followed_in_turns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They need no room together, whatever their number."""
    monkeypatch.setattr(line, "_LARGEST_BYTES", 0)
    monkeypatch.setattr(line, "_MOST_BYTES", 1)
    assert list(prove(RING)) == []
