"""Links that a waiting vector and a moving one, of another color, use at the same time.

A vector that has to wait at a router that is still closed to it fills the queues on its way there:
`router_queue` elements in each router. They have to get there first, over links that the ranks in
between send their own vectors on. A link carries one element a cycle and serves colors in turn, so
each such element that has not passed before costs the other vector a cycle:

    rank      z closed    z+1  ...  d-1       d                s
              X <---------[4]  ...  [4] <---- 4 (d - 1 - z) of the vector of s, color X
                                        <---- the vector of d, another color
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from collc.base.values import dataclass

if TYPE_CHECKING:
    from collc.cost.operations import Costs


@dataclass(frozen=True)
class Passing:
    """A vector on its way past other ranks: who sends it, to whom, from which cycle on."""

    source: int
    destination: int
    first: int


class Crowd:
    """The vectors on their way past the rank under evaluation, the nearest of a color last.

    Ranks join from the far end on. Of a color only the nearest vector moves: the next is behind it.
    """

    def __init__(
        self, costs: Costs, children: tuple[tuple[int, ...], ...], opens: list[dict[str, int]]
    ) -> None:
        self.costs = costs
        self.opens = opens
        self.parent = {child: rank for rank, sources in enumerate(children) for child in sources}
        self.passing: dict[str, list[Passing]] = {}
        self.closed: dict[str, list[int]] = {}

    def join(self, rank: int, color: str, first: int) -> None:
        """The vector of `rank` is on its way from cycle `first` on."""
        self.passing.setdefault(color, []).append(Passing(rank, self.parent[rank], first))

    def delay(self, rank: int, color: str, first: int) -> int:
        """Cycles by which the end of the vector of `rank`, sent from `first` on, is delayed."""
        total = 0
        for other, vectors in self.passing.items():
            while vectors and vectors[-1].destination >= rank:
                vectors.pop()
            if vectors and other != color:
                total += self._delay_by(vectors[-1], rank, other, first)
        return total

    def _delay_by(self, vector: Passing, rank: int, color: str, first: int) -> int:
        """The elements of `vector` that use the link of `rank` while its own vector does."""
        costs = self.costs
        gate = max(self._closed_below(rank, color), vector.destination)
        if gate == vector.destination:
            return 0
        count = min(costs.length, costs.router_queue * (rank - 1 - gate))
        if count <= 0:
            return 0
        passes = first + costs.ramp_up
        comes = self._comes(vector, rank, color, passes + costs.length) - passes
        remaining = costs.length - max(0, comes)
        return max(0, min(count - max(0, -comes), remaining))

    def _comes(self, vector: Passing, rank: int, color: str, late: int) -> int:
        """The cycle in which the first element of `vector` is at the router of `rank`; of any that
        are `late`, it does not matter which."""
        costs = self.costs
        comes = vector.first + costs.ramp_up + costs.hop * (vector.source - rank)
        gate = self._closed_below(vector.source, color)
        while gate >= rank and comes < late:
            opened = self.opens[gate][color] or NEVER
            comes = max(comes, opened + costs.hop * (gate - rank) + 1)
            gate = self._closed_below(gate, color)
        return comes

    def _closed_below(self, rank: int, color: str) -> int:
        """The nearest router before `rank` that starts closed to a color; -1 if there is none."""
        if color not in self.closed:
            nearest, found = -1, []
            for router, closed in enumerate(self.opens):
                found.append(nearest)
                nearest = router if color in closed else nearest
            self.closed[color] = found
        return self.closed[color][rank]


NEVER = 1 << 60  # a router that opens when the rank under evaluation has long sent its vector
