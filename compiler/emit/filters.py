"""Filters of color settings, and numbers of a place, as CSL."""

from __future__ import annotations

from collc.plan import Filter, Number, Slices


def filter_line(filter: Filter, phase: str, place: str) -> str:
    """The filter of a color setting, in wavelets that the layout counts."""

    def words(slices: Slices) -> str:
        given = (spelled_at(number, place) for number in (slices.first, slices.count))
        return f"{phase}_words({', '.join(given)})"

    period = words(filter.period)
    counter = f"(({period} - {words(filter.before)}) % {period})"
    return (
        ".filter = .{ .kind = .{ .counter = true }, .count_data = true, "
        f".init_counter = {counter}, .limit1 = {period} - 1, "
        f".max_counter = {words(filter.passes)} - 1 }},"
    )


def spelled_at(number: Number, place: str) -> str:
    """A number as an expression of the place; those of streams are lines, or remainders of them."""
    assert not number.table, "slices follow the places"
    text = _line(number, place)
    return f"({text} % {number.modulus})" if number.modulus else text


def _line(number: Number, place: str) -> str:
    if not number.slope:
        return str(number.offset)
    index = place if number.divisor == 1 else f"({place} / {number.divisor})"
    term = index if abs(number.slope) == 1 else f"({index} * {abs(number.slope)})"
    if number.slope < 0:
        return f"({number.offset} - {term})"
    if not number.offset:
        return term
    return f"({term} {'-' if number.offset < 0 else '+'} {abs(number.offset)})"
