"""Numbers of a place as CSL of a layout."""

from __future__ import annotations

from collections.abc import Sequence

from collc.plan import Number


class Speller:
    """Spells the numbers of a phase, and keeps the tables that they look something up in; `place`
    is what the layout calls a PE's place on its line."""

    def __init__(self, phase: str, place: str = "p") -> None:
        self.phase, self.place = phase, place
        self.tables: dict[str, tuple[int, ...]] = {}

    def at(self, number: Number, places: Sequence[int], shift: int = 0, modulus: int = 0) -> str:
        """A number at some places, `shift` more, modulo `modulus` if that is not 0; a constant
        where it is the same at all of them."""
        values = {number.at(place) + shift for place in places}
        values = {value % modulus for value in values} if modulus else values
        if len(values) == 1:
            return str(values.pop())
        text = self.spelled(number)
        if modulus and (shift or modulus != number.modulus):
            low = min(number.at(place) for place in places)
            return f"(({text} + {shift + (-low // modulus + 1) * modulus * (low < 0)}) % {modulus})"
        return f"({text} + {shift})" if shift else text

    def spelled(self, number: Number) -> str:
        """A number as an expression of the place."""
        text = str(number.offset)
        if number.slope:
            index = self._divided(number.divisor)
            term = index if abs(number.slope) == 1 else f"({index} * {abs(number.slope)})"
            if number.slope < 0:
                text = f"({number.offset} - {term})"
            elif number.offset:
                text = f"({term} {'-' if number.offset < 0 else '+'} {abs(number.offset)})"
            else:
                text = term
        if number.modulus:
            text = f"({text} % {number.modulus})"
        if not number.table:
            return text
        name = next((n for n, of in self.tables.items() if of == number.table), "")
        if not name:
            name = f"{self.phase}_table_{len(self.tables)}"
            self.tables[name] = number.table
        entry = f"{name}[{self._divided(number.every)} % {len(number.table)}]"
        return entry if text == "0" else f"({text} + {entry})"

    def _divided(self, divisor: int) -> str:
        return self.place if divisor == 1 else f"({self.place} / {divisor})"
