"""A schedule as rounds of messages between numbered ranks.

On a line, ranks have the numbers they have in the program, wherever the wafer has them stand. On a
grid they are numbered row by row. A step of an algorithm is a round. A tree is cut into rounds: a
rank takes one vector a round, in the order of the tree, and sends its own in the round after the
last. A broadcast, which routers would copy on the wafer, goes along a binomial tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from collc.base.values import dataclass
from collc.schedule import BroadcastPhase, Phase, ReducePhase, Schedule
from collc.spec.exchange import Moves, Slicing, StepsPhase

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Round:
    """Messages under way at the same time, sorted, at most one for each pair of ranks.

    `elements` is how long each is; `combined` is how many of these the receiver combines with its
    own instead of overwriting them.
    """

    source: Ints
    destination: Ints
    elements: Ints
    combined: Ints

    def __len__(self) -> int:
        return len(self.source)


def ranks_of(schedule: Schedule) -> int:
    """How many ranks a schedule has."""
    grid = schedule.collective.grid
    return grid.width * grid.height


def transfers_in(schedule: Schedule) -> int:
    """At most how many messages a schedule has, without making them."""
    return sum(_transfers(phase) for phase in schedule.phases)


def _transfers(phase: Phase) -> int:
    if isinstance(phase, BroadcastPhase):
        return phase.width * phase.height - 1
    lines = phase.lines[1] - phase.lines[0] + 1
    if isinstance(phase, ReducePhase):
        return len(phase.transfers) * lines
    return sum(map(len, phase.steps)) * lines


def rounds_of(schedule: Schedule, length: int | None = None) -> Iterator[Round]:
    """The messages of a schedule; with `length`, those of vectors of so many elements."""
    length = schedule.collective.contract.length if length is None else length
    numbers = _Numbers(schedule)
    found = (r for phase in schedule.phases for r in _rounds(phase, numbers, length))
    return (r for r in found if len(r))


def rounds_of_steps(steps: Iterable[Moves], slicing: Slicing) -> Iterator[Round]:
    """The messages of the steps of an algorithm, between ranks as it numbers them."""
    tokens = slicing.length == 0
    found = (
        _merged(moves.source, moves.destination, _elements(moves, slicing), moves.combines, tokens)
        for moves in steps
    )
    return (r for r in found if len(r))


class _Numbers:
    """The numbers of ranks: on each axis as the first phase along it has them. Along a path there
    is one axis, its places."""

    def __init__(self, schedule: Schedule) -> None:
        grid, path = schedule.collective.grid, schedule.collective.path
        self.path = path
        self.extent = {"x": grid.width, "y": grid.height}
        if path is not None:
            self.extent = {"x": len(path), "y": 1}
        self.width = self.extent["x"]
        self._ranks = {axis: np.arange(extent) for axis, extent in self.extent.items()}
        seen: set[str] = set()
        for phase in schedule.phases:
            if isinstance(phase, BroadcastPhase) or phase.axis in seen:
                continue
            seen.add(phase.axis)
            numbers = phase.place_of if isinstance(phase, ReducePhase) else range(phase.ranks)
            self._ranks[phase.axis][_places(phase)] = numbers

    def along(self, axis: str, places: Ints, lines: Ints) -> Ints:
        """Numbers of the ranks at places of an axis: a row for each of several lines across."""
        across = "y" if axis == "x" else "x"
        first, second = self._ranks[axis][places][None, :], self._ranks[across][lines][:, None]
        return second * self.width + first if axis == "x" else first * self.width + second

    def at(self, x: int, y: int) -> int:
        """The number of the rank at a PE."""
        if self.path is not None:
            x, y = self.path.place_of((x, y)), 0
        return int(self._ranks["y"][y] * self.width + self._ranks["x"][x])

    @property
    def count(self) -> int:
        """How many there are."""
        return self.extent["x"] * self.extent["y"]


def _places(phase: ReducePhase | StepsPhase) -> Ints:
    """Where the ranks of a phase stand on its axis."""
    if isinstance(phase, StepsPhase):
        return np.array(phase.places, dtype=np.int64)
    return np.array([phase.coordinate(rank) for rank in range(phase.ranks)], dtype=np.int64)


def _rounds(phase: Phase, numbers: _Numbers, length: int) -> Iterator[Round]:
    if isinstance(phase, BroadcastPhase):
        yield from _broadcast(numbers.at(phase.x, phase.y), numbers.count, length)
        return
    if isinstance(phase, ReducePhase):
        own = tree_rounds(phase.children, length)
    else:
        part = length if phase.blocks is None else replace(phase.blocks, length=length).longest
        own = rounds_of_steps(phase.steps, Slicing(phase.slicing.count, part))
    lines = np.arange(phase.lines[0], phase.lines[1] + 1)
    number = numbers.along(phase.axis, _places(phase), lines)
    yield from (_on_lines(r, number) for r in own)


def _on_lines(one: Round, number: Ints) -> Round:
    """The round of one line on many; `number` has a row for each."""
    source, destination = number[:, one.source], number[:, one.destination]
    times = len(number)
    return _merged(
        source.ravel(),
        destination.ravel(),
        np.tile(one.elements, times),
        np.tile(one.combined > 0, times),
        tokens=True,
    )


def tree_rounds(children: Sequence[Sequence[int]], length: int) -> Iterator[Round]:
    """The messages of a tree, given the children of every rank in order of receipt."""
    ready = [0] * len(children)
    sent: dict[int, list[tuple[int, int]]] = {}
    for rank in reversed(range(len(children))):
        for child in children[rank]:
            ready[rank] = max(ready[rank], ready[child]) + 1
            sent.setdefault(ready[rank], []).append((child, rank))
    return (_whole_vectors(sent[number], length, True) for number in sorted(sent))


def _broadcast(root: int, ranks: int, length: int) -> Iterator[Round]:
    """A binomial tree from `root` outwards, the others numbered on from there."""
    holders = 1
    while holders < ranks:
        far = range(holders, min(2 * holders, ranks))
        pairs = [((root + to - holders) % ranks, (root + to) % ranks) for to in far]
        yield _whole_vectors(pairs, length, False)
        holders *= 2


def _whole_vectors(pairs: list[tuple[int, int]], length: int, combines: bool) -> Round:
    ends = np.array(pairs, dtype=np.int64)
    many = len(pairs)
    sizes, sums = np.full(many, length), np.full(many, combines)
    return _merged(ends[:, 0], ends[:, 1], sizes, sums, tokens=True)


def _elements(moves: Moves, slicing: Slicing) -> Ints:
    """How many elements each transfer takes."""
    bounds = slicing.bounds
    sizes: Ints = bounds[moves.slice + moves.count] - bounds[moves.slice]
    return sizes


def _merged(
    source: npt.NDArray[np.integer],
    destination: npt.NDArray[np.integer],
    elements: Ints,
    combines: npt.NDArray[np.bool_],
    tokens: bool,
) -> Round:
    """One message for each pair; unless they are tokens, none where there is no element."""
    some = (elements > 0) | tokens
    first, second = source[some].astype(np.int64), destination[some].astype(np.int64)
    elements, combines = elements[some], combines[some]
    if not len(first):
        return Round(first, second, elements, elements)
    high = int(second.max()) + 1
    pairs, which = np.unique(first * high + second, return_inverse=True)
    total = np.zeros(len(pairs), dtype=np.int64)
    combined = np.zeros_like(total)
    np.add.at(total, which, elements)
    np.add.at(combined, which, elements * combines)
    return Round(pairs // high, pairs % high, total, combined)
