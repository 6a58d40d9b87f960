"""Positions in the lists of ids that the modules take as parameters."""

from collc.base.values import dataclass


@dataclass
class Ids:
    """How many positions of each id list are handed out so far. `vector` is the position of the
    pair of DSRs for the vector in memory."""

    inputs: int = 0
    outputs: int = 0
    tasks: int = 0
    pairs: int = 0  # of a dsr_dest and a dsr_src0 with one number
    sources: int = 0  # of dsr_src1
    vector: int = 0

    def take(self, kind: str, count: int = 1) -> int:
        """The next free position of `kind`, the first of `count`."""
        position: int = getattr(self, kind)
        setattr(self, kind, position + count)
        return position
