"""Collectives by steps, whose rows have all that rows can have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from collc.base.diagnostics import CollcError
from collc.patterns import Kind, Pattern, all_patterns, instance
from collc.patterns.facts import contracts_of
from collc.spec import ContractKind


@dataclass(frozen=True)
class Probe:
    """A program of one collective."""

    name: str
    text: str
    parameters: tuple[tuple[str, int], ...]


SIZES = ((3, 1), (3, 6), (5, 6), (6, 7))  # PEs in a row, elements
ORDERS = ("west_to_east", "ring") * 2
WHOLE = (ContractKind.ALLREDUCE, ContractKind.REDUCE, ContractKind.BROADCAST)


def probes() -> Iterator[Probe]:
    """All patterns by steps that are made for these sizes, in two orders; where contracts are about
    whole vectors also with the length as the most that it may be when the program runs."""
    for pattern in all_patterns():
        for (pes, length), order in zip(SIZES, ORDERS, strict=True):
            try:
                probe = probe_of(pattern.name, pes, length, order)
            except CollcError:
                continue
            yield probe
            if may_be_dynamic(pattern):
                yield of_dynamic_length(probe)


def may_be_dynamic(pattern: Pattern) -> bool:
    """Whether a pattern goes by steps and says nothing of slices."""
    return pattern.kind is Kind.ALGORITHM and contracts_of(pattern)[0] in WHOLE


def of_dynamic_length(probe: Probe) -> Probe:
    """The same, its length given when the program runs."""
    text = probe.text.replace("[B]", "[n <= B]")
    return replace(probe, name=f"{probe.name}, dynamic", text=text)


def probe_of(name: str, pes: int, length: int, order: str = "west_to_east") -> Probe:
    """A pattern on a row."""
    pattern = next(one for one in all_patterns() if one.name == name)
    kind = contracts_of(pattern)[0]
    choice, _, _ = instance(pattern, kind, pes, length, order=order)
    given = tuple(choice.parameters.items())
    return Probe(f"{name} on {pes} PEs with {length}", choice.text, given)
