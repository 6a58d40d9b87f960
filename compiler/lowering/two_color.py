"""Two colors for any pre-order tree: a PE sends on the parity of its parent's depth.

So a PE receives on its own parity and sends on the other. In time order a router sees on its own
parity its children's vectors (far side to ramp), on the other its own vector (ramp to near side),
and only then, on either, vectors that pass (far to near side): at most two positions a color.

    receive color   far -> RAMP, then far -> near    the sending side changes: a control wavelet
    send color      RAMP -> near, then far -> near   the receiving side changes: `.advance_switch`

The control wavelet goes behind the vector of a rank's last child. Every router between the two has
let that vector pass, hence is in its last position, where a control wavelet changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from collc.lowering.line import Behaviour, LineTree, line_tree, sides
from collc.lowering.rounds import rounds_for
from collc.plan import Advance, ColorUse, Direction, Route, SendVector, Step, StoreVectors
from collc.schedule import ReducePhase

PARITY_NAMES = ("even", "odd")


def two_color(phase: ReducePhase, length: int, max_extent: int) -> tuple[Behaviour, ...]:
    """What each rank of the line does; `length` is the vector's, in elements."""
    tree = line_tree(phase.children)
    names = tuple(f"{phase.name}_{parity}" for parity in PARITY_NAMES)
    return tuple(
        Behaviour(
            steps=tuple(_steps(tree, rank, names, length, max_extent)),
            colors=tuple(_color_uses(tree, rank, names, sides(phase))),
            relays=any(tree.passes[rank]),
        )
        for rank in range(phase.ranks)
    )


def _steps(
    tree: LineTree, rank: int, names: tuple[str, ...], length: int, max_extent: int
) -> Iterator[Step]:
    """Add all children's vectors into memory but the last, which is added while sending."""
    received = len(tree.children[rank])
    own = names[tree.depth[rank] % 2]
    stored = received if tree.parent[rank] is None else received - 1
    if stored > 0:
        yield StoreVectors(own, stored, rounds_for(stored, length, max_extent))
    if tree.parent[rank] is not None:
        other = names[1 - tree.depth[rank] % 2]
        yield SendVector(other, own if received else None, _advance(tree, rank))


def _advance(tree: LineTree, rank: int) -> Advance:
    """What has to move on behind the vector of `rank`: the parent, the own router, or nothing."""
    parent = tree.parent[rank]
    assert parent is not None
    color = tree.depth[parent] % 2
    if tree.is_last_child(rank) and tree.passes[parent][color]:
        return Advance.CONTROL
    return Advance.OWN_ROUTER if tree.passes[rank][color] else Advance.NOTHING


def _color_uses(
    tree: LineTree, rank: int, names: tuple[str, ...], near_far: tuple[Direction, Direction]
) -> Iterator[ColorUse]:
    """The positions of both colors at the router of `rank`, the receive color first."""
    near, far = near_far
    own = tree.depth[rank] % 2
    first: dict[int, Route] = {}
    if tree.children[rank]:
        first[own] = Route(far, (Direction.RAMP,))
    if tree.parent[rank] is not None:
        first[1 - own] = Route(Direction.RAMP, (near,))
    for parity in (own, 1 - own):
        positions = [first[parity]] if parity in first else []
        positions += [Route(far, (near,))] if tree.passes[rank][parity] else []
        if positions:
            yield ColorUse(names[parity], tuple(positions))
