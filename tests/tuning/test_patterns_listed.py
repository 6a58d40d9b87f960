"""The algorithms that are considered are all that the prelude has."""

from __future__ import annotations

from collc.patterns.sources import Kind, all_patterns
from collc.tuning.candidates import ALGORITHMS


def test_every_algorithm_of_the_prelude_is_considered_once() -> None:
    listed = [pattern.text.partition("(")[0] for all_ in ALGORITHMS.values() for pattern in all_]
    known = [pattern.name for pattern in all_patterns() if pattern.kind is Kind.ALGORITHM]
    assert sorted(listed) == sorted(known)
