"""A choice by a number that is known when the program runs, in CSL: by halving."""

from collections.abc import Iterator, Sequence


def halved(number: str, cases: Sequence[tuple[int, Sequence[str]]]) -> Iterator[str]:
    """Statements that carry out those of the first case whose limit a number keeps; it keeps the
    last."""
    if len(cases) == 1:
        yield from cases[0][1]
        return
    middle = (len(cases) + 1) // 2
    yield f"if ({number} <= {cases[middle - 1][0]}) {{"
    yield from (f"  {line}" for line in halved(number, cases[:middle]))
    yield "} else {"
    yield from (f"  {line}" for line in halved(number, cases[middle:]))
    yield "}"
