"""Lengths that are given when the program runs, in CSL.

A DSD of more than one dimension has its extents when compiled. So where several vectors are added
into memory by one operation, there is one such DSD for each length. It is found by halving, as the
alternative of a choice is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def cases_of_length(phase: str, least: int, most: int) -> tuple[str, ...]:
    """Statements that return the memory operand for n elements, `least` to `most`."""
    operands = [(n, memory_operand(phase, n)) for n in range(least, most + 1)]
    return tuple(halved("n", [(n, (f"return {operand};",)) for n, operand in operands]))


def memory_operand(phase: str, length: int) -> str:
    """A DSD that passes over a vector of a length once for every vector that a PE adds to it."""
    shape = f".extent = .{{ {phase}.stored, {length} }}, .stride = .{{ 1, {1 - length} }}"
    return f"@get_dsd(mem4d_dsd, .{{ .base_address = &nowhere, {shape} }})"


def halved(number: str, cases: Sequence[tuple[int, Sequence[str]]]) -> Iterator[str]:
    """Statements that carry out those of the first case whose limit a number keeps; it keeps the
    last."""
    if len(cases) == 1:
        yield from cases[0][1]
        return
    middle = (len(cases) + 1) // 2
    yield f"if ({number} <= {cases[middle - 1][0]}) {{"
    yield from (f"  {line}" for line in halved(number, cases[:middle]))
    yield "} else {"
    yield from (f"  {line}" for line in halved(number, cases[middle:]))
    yield "}"
