"""All claims, by source, and what comes of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from collc_research.reproduce import (
    astra,
    rabenseifner,
    thesis_comparisons,
    thesis_patterns,
    thesis_structure,
    tuwien,
    two_tier,
)
from collc_research.reproduce.claims import Claim, Depth, Row

SOURCES: dict[str, str] = {
    "T": "Thesis on reduce and allreduce on the WSE",
    "R": "Rabenseifner 2004",
    "A": "Won 2022 (ASTRA-sim)",
    "N": "Jain, Lau, Kale 2012",
    "W": "Tello Fachin, Raidl 2023",
}

_CLAIMS: dict[str, tuple[Claim, ...]] = {
    "T": (*thesis_patterns.CLAIMS, *thesis_comparisons.CLAIMS, *thesis_structure.CLAIMS),
    "R": rabenseifner.CLAIMS,
    "A": astra.CLAIMS,
    "N": two_tier.CLAIMS,
    "W": tuwien.CLAIMS,
}


def claims() -> tuple[Claim, ...]:
    """Every claim, in the order of sources and numbers."""
    return tuple(c for source in _CLAIMS.values() for c in sorted(source, key=_number))


def _number(claim: Claim) -> tuple[int, str]:
    digits = re.sub(r"\D", "", claim.id)
    return int(digits), claim.id


def reproduce(*, quick: bool = False) -> Iterator[Row]:
    """Check all claims one after the other; `quick` takes some values of long ranges only."""
    depth = Depth(thorough=not quick)
    for claim in claims():
        yield checked(claim, depth)


def checked(claim: Claim, depth: Depth) -> Row:
    """A claim beside what this project computes."""
    found = claim.evaluate(depth)
    return Row(
        id=claim.id,
        source=SOURCES[claim.id[0]],
        claim=claim.claim,
        configuration=claim.configuration,
        printed=claim.printed,
        ours=found.ours,
        verdict=found.verdict,
        recorded=claim.recorded,
        note=found.note,
    )
