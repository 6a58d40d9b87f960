"""Positions in the lists of ids that the modules take as parameters."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Ids:
    """How many positions of each id list are handed out so far."""

    inputs: int = 0
    outputs: int = 0
    tasks: int = 0
    sources: int = 0
    dests: int = 0
    owns: int = 0

    def take(self, kind: str, count: int = 1) -> int:
        """The next free position of `kind`, the first of `count`."""
        position: int = getattr(self, kind)
        setattr(self, kind, position + count)
        return position
