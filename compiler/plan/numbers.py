"""Numbers that depend on the place of a PE on its line: one formula for a whole PE class."""

from collc.base.values import dataclass


@dataclass(frozen=True)
class Number:
    """A number that depends on the place p of a PE on its line. With i = p / divisor, rounded down,
    it is slope * i + offset, the remainder by `modulus` if that is not 0, plus an entry of `table`
    if that is not empty: entry p / every modulo its length.
    """

    offset: int
    slope: int = 0
    divisor: int = 1
    modulus: int = 0
    every: int = 1
    table: tuple[int, ...] = ()

    def at(self, place: int) -> int:
        """Its value at a place."""
        index = place // self.divisor
        value = self.slope * index + self.offset
        value = value % self.modulus if self.modulus else value
        return value + (self.table[place // self.every % len(self.table)] if self.table else 0)

    @property
    def varies(self) -> bool:
        """Whether it may differ from place to place."""
        return bool(self.slope or self.table)


ZERO, ONE = Number(0), Number(1)
