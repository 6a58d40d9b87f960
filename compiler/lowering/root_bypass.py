"""What the ranks of a root bypass do, laid out on the places of their line
(`collc.plan.root_bypass`)."""

from collections.abc import Sequence
from dataclasses import replace

from collc.lowering.line import LineTree, line_tree
from collc.plan import ColorUse, Role, Route
from collc.plan.placement import SIDES
from collc.plan.root_bypass import Sides, turned
from collc.schedule import ReducePhase


def without_root(tree: LineTree) -> LineTree:
    """The tree that leads to the end of the line: its rank 0 is rank 1 of the bypass."""
    children = (tuple(child - 1 for child in below) for below in tree.children[1:])
    return line_tree(tuple(children))


def laid_out(programs: Sequence[Role], phase: ReducePhase, color: str) -> tuple[Role, ...]:
    """What is done at each place, from the nearer end on; `color` is that of the sum."""
    near, far = sides = SIDES[phase.order]
    root, *others = (_turned(one, color, sides) for one in programs)
    passing = ColorUse(color, (Route(near, (far,)),))
    for place in range(1, phase.bypass):
        others[place] = replace(others[place], colors=(*others[place].colors, passing))
    over = others[phase.bypass]  # what the root's router does for the others
    others[phase.bypass] = replace(root, colors=(*over.colors, *root.colors))
    return tuple(others)


def _turned(here: Role, color: str, sides: Sides) -> Role:
    return replace(here, colors=tuple(turned(use, color, sides) for use in here.colors))
