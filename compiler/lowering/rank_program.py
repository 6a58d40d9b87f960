"""What a rank of a line does, as a value."""

from dataclasses import dataclass

from collc.plan import ColorUse, Lane, Loop, Op


@dataclass(frozen=True)
class RankProgram:
    """What one rank does: its operations and its color settings. Ranks that do the same share a
    role."""

    loops: tuple[Loop, ...]
    colors: tuple[ColorUse, ...]
    relays: bool

    @property
    def ops(self) -> tuple[Op, ...]:
        """Its operations, each once, in order."""
        return tuple(op for loop in self.loops for entry in loop.entries for op in entry.ops)


def lanes_of(loops: tuple[Loop, ...]) -> tuple[Lane, ...]:
    """The one lane of a PE in a phase of whole vectors; none of a PE that only lets others pass."""
    return (Lane("vectors", loops),) if loops else ()
