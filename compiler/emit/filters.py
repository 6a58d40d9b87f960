"""Filters of color settings, and numbers of a place, as CSL."""

from collc.plan import Filter, Number, Slices


def filter_lines(filter: Filter, phase: str, place: str) -> tuple[str, ...]:
    """The filter of a color setting, in wavelets that the layout counts: where the counter begins,
    after how many it is 0 again, and how many of these the PE has."""

    def words(slices: Slices) -> str:
        given = (_bare(spelled_at(number, place)) for number in (slices.first, slices.count))
        counted = f"{phase}_words({', '.join(given)})"
        return f"({counted} * {slices.blocks})" if slices.blocks > 1 else counted

    period, none = words(filter.period), not filter.before.count.varies
    begins = f"({period} - {words(filter.before)}) % {period}"
    return (
        ".filter = .{",
        "  .kind = .{ .counter = true }, .count_data = true, .count_control = false,",
        f"  .init_counter = {'0' if none and not filter.before.count.offset else begins},",
        f"  .limit1 = {period} - 1,",
        f"  .max_counter = {words(filter.passes)} - 1,",
        "},",
    )


def _bare(text: str) -> str:
    """An argument without the parentheses around all of it; `spelled_at` has them at both ends, or
    around a first term."""
    inner = text[1:-1]
    return inner if text.startswith("(") and not set("()") & set(inner) else text


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
