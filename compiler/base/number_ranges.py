"""Numbers in few words: those that follow each other together."""

from collections.abc import Iterable


def consecutive(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """The first and the last of each run, of numbers that ascend."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        first = runs.pop()[0] if runs and runs[-1][1] == number - 1 else number
        runs.append((first, number))
    return runs
