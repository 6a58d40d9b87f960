"""Sets of ranks as few strided runs.

Roles of regular trees repeat: every second rank, every group's leader, every second rank of every
second group. `compress` finds such runs greedily, from either end, and keeps the shorter answer;
what is irregular comes out as many runs, and is printed as a table.
"""

from collections.abc import Iterable, Sequence

from collc.plan import Region, Strided
from collc.schedule import ReducePhase
from collc.spec.exchange import StepsPhase


def compress(ranks: Sequence[int]) -> tuple[Strided, ...]:
    """Disjoint strided runs that hold exactly `ranks`, which are ascending and distinct."""
    extent = ranks[-1] + 1
    mirrored = [extent - 1 - rank for rank in reversed(ranks)]
    forward = _repeat(_runs(ranks))
    backward = [run.mirrored(extent) for run in _repeat(_runs(mirrored))]
    return tuple(sorted(forward if len(forward) <= len(backward) else backward))


def _runs(ranks: Sequence[int]) -> list[Strided]:
    """Maximal arithmetic runs, taken from the left.

    A run of two is only kept if the next rank is no better neighbour of the second.
    """
    runs: list[Strided] = []
    at = 0
    while at < len(ranks):
        size = _run_length(ranks, at)
        if size == 2 and _run_length(ranks, at + 1) > 2:
            size = 1
        step = ranks[at + 1] - ranks[at] if size > 1 else 1
        runs.append(Strided(ranks[at], ranks[at + size - 1], step))
        at += size
    return runs


def _run_length(ranks: Sequence[int], at: int) -> int:
    """How many ranks from index `at` on stand at one distance from each other."""
    if at + 1 >= len(ranks):
        return len(ranks) - at
    step = ranks[at + 1] - ranks[at]
    end = at + 1
    while end + 1 < len(ranks) and ranks[end + 1] - ranks[end] == step:
        end += 1
    return end - at + 1


def _repeat(runs: list[Strided]) -> list[Strided]:
    """Neighbouring runs of one shape at one distance, folded into one repeated run."""
    folded: list[Strided] = []
    at = 0
    while at < len(runs):
        size = _shape_length(runs, at)
        folded.append(_fold(runs[at], runs[at + 1].first - runs[at].first if size > 1 else 0, size))
        at += size
    return folded


def _shape_length(runs: list[Strided], at: int) -> int:
    """How many runs from index `at` on have one shape and stand at one distance."""
    shape = _shape(runs[at])
    if at + 1 >= len(runs) or _shape(runs[at + 1]) != shape:
        return 1
    period = runs[at + 1].first - runs[at].first
    end = at + 1
    while (
        end + 1 < len(runs)
        and _shape(runs[end + 1]) == shape
        and runs[end + 1].first - runs[end].first == period
    ):
        end += 1
    return end - at + 1


def _shape(run: Strided) -> tuple[int, int]:
    return run.last - run.first, run.step


def _fold(run: Strided, period: int, size: int) -> Strided:
    """`size` runs like `run`; a repeated single rank is a plain stride."""
    if size == 1:
        return run
    if run.first == run.last:
        return Strided(run.first, run.first + (size - 1) * period, period)
    return Strided(run.first, run.last, run.step, period, size)


def regions_of(
    pattern: ReducePhase | StepsPhase, places_of_roles: Iterable[Sequence[int]]
) -> tuple[tuple[Region, int], ...]:
    """The roles' places in grid coordinates, on all lines."""
    across, at, found = Strided(*pattern.lines), pattern.coordinates, []
    for role, places in enumerate(places_of_roles):
        for run in compress(places):
            along = run.shifted(at.start) if at.step > 0 else run.mirrored(at.start + 1)
            region = Region(along, across) if pattern.axis == "x" else Region(across, along)
            found.append((region, role))
    return tuple(sorted(found))
