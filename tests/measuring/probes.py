"""Collectives by steps, whose rows have all that rows can have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from collc.base.diagnostics import CollcError
from collc.patterns import all_patterns, instance
from collc.patterns.facts import contracts_of


@dataclass(frozen=True)
class Probe:
    """A program of one collective."""

    name: str
    text: str
    parameters: tuple[tuple[str, int], ...]


SIZES = ((3, 1), (3, 6), (5, 6), (6, 7))  # PEs in a row, elements


def probes() -> Iterator[Probe]:
    """All patterns by steps that are made for these sizes, in two orders."""
    for pattern in all_patterns():
        for (pes, length), order in zip(SIZES, ("west_to_east", "ring") * 2, strict=True):
            try:
                yield probe_of(pattern.name, pes, length, order)
            except CollcError:
                continue


def probe_of(name: str, pes: int, length: int, order: str = "west_to_east") -> Probe:
    """A pattern on a row."""
    pattern = next(one for one in all_patterns() if one.name == name)
    kind = contracts_of(pattern)[0]
    choice, _, _ = instance(pattern, kind, pes, length, order=order)
    given = tuple(choice.parameters.items())
    return Probe(f"{name} on {pes} PEs with {length}", choice.text, given)
