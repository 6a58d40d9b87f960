"""Predicted cycles against the number of colors that a collective may use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from collc.diagnostics import CollcError
from collc.pipeline import planned, proved
from collc.spec import Collective
from collc.target import Target
from collc.tokens import with_tokens


@dataclass(frozen=True)
class Allowed:
    """The best plan within a number of colors: what it takes, or why there is none.

    `colors` and `cycles` are None exactly when `refused` is not empty.
    """

    allowed: int
    colors: int | None
    cycles: int | None
    refused: str


def by_colors(collective: Collective, target: Target, counts: Iterable[int]) -> Iterator[Allowed]:
    """The best plan for each number of colors; the collective's own limit is left aside."""
    for count in counts:
        limits = replace(collective.limits, colors=count, colors_span=None)
        limited = replace(collective, limits=limits)
        try:
            plan, prediction = planned(with_tokens(proved(limited, target)), target)
        except CollcError as error:
            first = error.diagnostics[0]
            yield Allowed(count, None, None, f"{first.code}: {first.message}")
        else:
            yield Allowed(count, len(plan.colors), prediction.cycles, "")


def show_by_colors(found: Iterable[Allowed]) -> str:
    """The same as a table."""
    lines = ["allowed  taken  predicted cycles"]
    for row in found:
        if row.refused:
            lines.append(f"{row.allowed:>7}      -  {row.refused}")
        else:
            lines.append(f"{row.allowed:>7}  {row.colors:>5}  {row.cycles:>16}")
    return "\n".join(lines) + "\n"
