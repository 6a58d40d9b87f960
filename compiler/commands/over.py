"""Many points: the sizes that `--over` gives, and a bar that says how far a command is."""

import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

import click
from rich.console import Console
from rich.progress import track

Answer = TypeVar("Answer")

Range = tuple[str, tuple[int, ...]]
_RANGE = re.compile(r"(\w+)=(?:(\d{1,9})\.\.(\d{1,9})(?::(\d{1,9}))?|(\d{1,9}(?:,\d{1,9})*))")
MOST_POINTS = 100_000


def over_of(text: str) -> Range:
    """`B=1..8192` (doubling, the last included), `B=1..100:10` (in steps), `B=1,5,9`."""
    found = _RANGE.fullmatch(text.replace(" ", ""))
    if not found:
        raise click.BadParameter(f"{text!r} is not NAME=FIRST..LAST, such as B=1..8192")
    name, first, last, step, listed = found.groups()
    if listed:
        return name, tuple(sorted({int(number) for number in listed.split(",")}))
    low, high = int(first), int(last)
    if not 0 < low <= high or step == "0":
        raise click.BadParameter(f"{text!r} has to go from a number above 0 to a larger one")
    if step:
        values = range(low, high + 1, int(step))
        if len(values) > MOST_POINTS:
            raise click.BadParameter(f"{text!r} has {len(values)} values")
        return name, tuple(values)
    doubling = [low << count for count in range((high // low).bit_length())]
    return name, tuple(sorted({*doubling, high}))


def with_bar(answers: Iterable[Answer], what: str, total: int) -> Iterator[Answer]:
    """The same, with a bar on a terminal until the last is there."""
    console = Console(stderr=True)
    silent = not console.is_terminal
    return iter(track(answers, what, total, console=console, transient=True, disable=silent))
