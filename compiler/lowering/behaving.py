"""What a rank of a line does, as a value."""

from __future__ import annotations

from dataclasses import dataclass

from collc.plan import ColorUse, Step


@dataclass(frozen=True)
class Behaviour:
    """What one rank does: its steps and its color settings. Ranks that do the same share a role."""

    steps: tuple[Step, ...]
    colors: tuple[ColorUse, ...]
    relays: bool
