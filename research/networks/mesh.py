"""Link use of a schedule on the wafer's mesh: wavelets over every link between two PEs.

Transfers run straight along their line, or along the path that a collective's order folds its line
into; a broadcast runs along the root's row, and from every PE of it along its column, copied by
routers. An element is a wavelet.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from collc.base.paths import Path, Pe
from collc.base.values import dataclass
from collc.schedule import BroadcastPhase, ReducePhase, Schedule
from collc.spec.exchange import StepsPhase
from collc_research.networks.rounds import Ints


@dataclass(frozen=True)
class DirectionUse:
    """Of the `links` in one direction, how many carry something, the most and the sum of it."""

    direction: str
    links: int
    used: int
    most_wavelets: int
    wavelets: int


@dataclass(frozen=True)
class MeshUse:
    """Link use by direction; `wavelet_hops` is how far all wavelets travel together."""

    directions: tuple[DirectionUse, ...]

    @property
    def wavelet_hops(self) -> int:
        """Wavelets times links: the energy of the spatial model."""
        return sum(use.wavelets for use in self.directions)


_DIRECTIONS = ("east", "west", "south", "north")


class _Links:
    """Wavelets over links: `east[y, x]` from PE x to x + 1, `west[y, x]` back, and so on."""

    def __init__(self, width: int, height: int) -> None:
        self.east, self.west = np.zeros((2, height, max(width - 1, 0)), dtype=np.int64)
        self.south, self.north = np.zeros((2, width, max(height - 1, 0)), dtype=np.int64)

    def of(self, axis: str) -> tuple[Ints, Ints]:
        """Links along an axis by line: those on which coordinates grow, and the others."""
        return (self.east, self.west) if axis == "x" else (self.south, self.north)


def mesh_use(schedule: Schedule) -> MeshUse:
    """Follow all phases of a schedule."""
    grid = schedule.collective.grid
    length = schedule.collective.contract.length
    links = _Links(grid.width, grid.height)
    path = schedule.collective.path
    row = links if path is None else _Links(len(path), 1)
    for phase in schedule.phases:
        if isinstance(phase, BroadcastPhase):
            _broadcast(links, phase, max(length, 1))
        else:
            _line(row, phase, length)
    if path is not None:
        _fold(row, path, links)
    named = zip(_DIRECTIONS, (*links.of("x"), *links.of("y")), strict=True)
    return MeshUse(tuple(_use(name, loads) for name, loads in named))


def _fold(row: _Links, path: Path, links: _Links) -> None:
    """Put what goes along a path on the links of the grid: hop i is from place i to i + 1."""
    for gap in sorted(path.gaps):
        for loads, source, target in ((row.east[0], gap - 1, gap), (row.west[0], gap, gap - 1)):
            for hop in pairwise(path.way(source, target)):
                _add(links, *hop, int(loads[gap - 1]))
    here, there = slice(None, -1), slice(1, None)
    for loads, start, end in ((row.east[0], here, there), (row.west[0], there, here)):
        for axis, along, across in (("x", path.x, path.y), ("y", path.y, path.x)):
            step = along[end] - along[start]
            growing, falling = links.of(axis)
            across_step = across[end] - across[start]
            for onto, goes, first in (
                (growing, (step == 1) & (across_step == 0), start),
                (falling, (step == -1) & (across_step == 0), end),
            ):
                np.add.at(onto, (across[start][goes], along[first][goes]), loads[goes])


def _add(links: _Links, pe: Pe, other: Pe, wavelets: int) -> None:
    """Put wavelets on the link from one PE to its neighbour."""
    (x, y), (to_x, to_y) = pe, other
    if y == to_y:
        links.of("x")[to_x < x][y, min(x, to_x)] += wavelets
    else:
        links.of("y")[to_y < y][x, min(y, to_y)] += wavelets


def _use(name: str, loads: Ints) -> DirectionUse:
    used, most = int((loads > 0).sum()), int(loads.max(initial=0))
    high, low = loads >> 32, loads & (1 << 32) - 1  # their sums fit in 64 bits, whatever the loads
    total = (int(high.sum()) << 32) + int(low.sum())
    return DirectionUse(name, loads.size, used, most, total)


def _line(links: _Links, phase: ReducePhase | StepsPhase, length: int) -> None:
    """The same on every line of a phase."""
    if isinstance(phase, ReducePhase):
        source = np.array([phase.coordinate(t.source) for t in phase.transfers])
        destination = np.array([phase.coordinate(t.destination) for t in phase.transfers])
        size = np.full(len(source), length, dtype=np.int64)
    else:
        places = np.array(phase.places, dtype=np.int64)
        moves = phase.steps
        source = np.concatenate([places[m.source] for m in moves])
        destination = np.concatenate([places[m.destination] for m in moves])
        size = np.concatenate([_sizes(phase, i) for i in range(len(moves))])
    for loads, forward in zip(links.of(phase.axis), (True, False), strict=True):
        goes = (source < destination) == forward
        low, high = (source, destination) if forward else (destination, source)
        change = np.zeros(loads.shape[1] + 1, dtype=np.int64)
        np.add.at(change, low[goes], size[goes])
        np.add.at(change, high[goes], -size[goes])
        loads[phase.lines[0] : phase.lines[1] + 1] += change.cumsum()[:-1]


def _sizes(phase: StepsPhase, index: int) -> Ints:
    """Wavelets of the transfers of a step; a token is one."""
    moves, slicing = phase.steps[index], phase.slicing
    if slicing.length == 0:
        return np.ones(len(moves), dtype=np.int64)
    bounds = slicing.bounds
    sizes: Ints = bounds[moves.slice + moves.count] - bounds[moves.slice]
    return sizes


def _broadcast(links: _Links, phase: BroadcastPhase, length: int) -> None:
    links.east[phase.y, phase.x :] += length
    links.west[phase.y, : phase.x] += length
    links.south[:, phase.y :] += length
    links.north[:, : phase.y] += length
