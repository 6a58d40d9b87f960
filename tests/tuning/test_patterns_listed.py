"""The algorithms that are considered are all that the prelude has."""

from __future__ import annotations

from collc.patterns.sources import Kind, all_patterns
from collc.tuning.algorithms import ALGORITHMS

# a pipeline on longer ways; reductions to a rank within the line are trees on both sides
NEVER_FASTER = {"ring_reduce"}
ON_SLICES = {"chain_reduce", "direct_broadcast"}  # parts of a composition on a grid


def test_every_algorithm_of_the_prelude_is_considered_once() -> None:
    listed = [pattern.name for all_ in ALGORITHMS.values() for pattern in all_]
    known = [pattern.name for pattern in all_patterns() if pattern.kind is Kind.ALGORITHM]
    assert sorted(listed) == sorted(set(known) - NEVER_FASTER - ON_SLICES)
