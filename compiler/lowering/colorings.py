"""On which color each rank of a line receives; it sends on the color its parent receives on.

In time order a router sees its children's vectors (far side to ramp) on the rank's own color, its
own vector (ramp to near side) on the parent's, and only then, on any color, vectors that pass (far
to near side). So whatever the coloring, as long as a rank and its parent differ, a color has at
most two positions at a router.

- `by_parity`, the parity of the depth, needs two colors for any tree. A vector may then pass on
  the color the rank has received on; a control wavelet has to turn its router away from the ramp.
- `without_control` gives a rank a color on which no vector passes it. Nothing but the sender's own
  router ever moves on, which costs the sender nothing. It takes as many colors as vectors may be
  on their way past one rank, one for each ancestor with a later child, and one or two more: three
  for two-phase trees, about log P for binomial ones.
"""

from itertools import count

from collc.lowering.line import LineTree
from collc.schedule import ReducePhase


def by_parity(tree: LineTree) -> tuple[int, ...]:
    """0 for ranks of even depth, 1 for the others."""
    return tuple(depth % 2 for depth in tree.depth)


def without_control(tree: LineTree) -> tuple[int, ...]:
    """The lowest color that neither the parent receives on nor a passing vector has."""
    colors: list[int] = []
    passing: list[frozenset[int]] = []  # colors of vectors for the rank's ancestors that pass it
    for rank, above in enumerate(tree.parent):
        if above is None:
            taken, passes = frozenset[int](), frozenset[int]()
        else:
            taken = passing[above] | {colors[above]}
            passes = passing[above] if tree.is_last_child(rank) else taken
        colors.append(next(color for color in count() if color not in taken))
        passing.append(passes)
    return tuple(colors)


def by_place(tree: LineTree, phase: ReducePhase) -> tuple[int, ...]:
    """0 for ranks that neighbours at even places send to, 1 for the others; by the parity of depths
    where a vector goes to one that is no neighbour."""
    if any(above not in (None, rank - 1) for rank, above in enumerate(tree.parent)):
        return by_parity(tree)
    return tuple((phase.coordinate(rank) + 1) % 2 for rank in range(phase.ranks))
