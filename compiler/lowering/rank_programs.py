"""What each rank of a line does, given the color each rank receives on.

    receive color   far -> RAMP, then far -> near    the sending side changes: a control wavelet
    send color      RAMP -> near, then far -> near   the receiving side changes: `.advance_switch`
    other colors    far -> near

The control wavelet goes behind the vector of a rank's last child. Every router between the two has
let that vector pass, hence is in its last position, where a control wavelet changes nothing.

At the end all routers go back to their first position, so that the collective may run again. Take a
vector that no other follows on its color at its sender's router. Then none follows at any router of
its path either: what would, comes from beyond the sender and passes it as well. A control wavelet
behind such a vector sets back every router that it passes; what the next run sends comes behind it.
"""

from collections.abc import Iterator

from collc.base.values import dataclass
from collc.lowering.line import LineTree, line_tree, passing_colors
from collc.lowering.root_bypass import laid_out
from collc.plan import (
    VECTOR,
    Action,
    Advance,
    ColorUse,
    Direction,
    Entry,
    Loop,
    Number,
    Op,
    Role,
    Route,
    lanes_of,
    once,
)
from collc.plan.geometry import bypass_color
from collc.plan.placement import SIDES
from collc.plan.plan import Once
from collc.schedule import ReducePhase


@dataclass(frozen=True)
class ColoredLine:
    """A tree with the color each rank receives on, the colors that pass each router, and names."""

    tree: LineTree
    received_on: tuple[int, ...]
    passing: tuple[frozenset[int], ...]
    names: tuple[str, ...]

    def sent_on(self, rank: int) -> int | None:
        """The color a rank sends on; None for the root."""
        parent = self.tree.parent[rank]
        return None if parent is None else self.received_on[parent]


@dataclass(frozen=True)
class Combining:
    """How ranks combine vectors: by a call-back for each element or not, and with an operation for
    each vector or one for all."""

    by_call_back: bool
    one_by_one: bool


def rank_programs(
    phase: ReducePhase, received_on: tuple[int, ...], how: Combining
) -> tuple[Role, ...]:
    """What each rank does, as a role without a name; ranks that do the same have the same one."""
    tree = line_tree(phase.children)
    names = _names(phase, max(received_on) + 1)
    line = ColoredLine(tree, received_on, passing_colors(tree, received_on), names)
    known: dict[tuple[object, ...], Role] = {}
    found = []
    for rank in range(phase.ranks):
        send_color, passing = line.sent_on(rank), line.passing[rank]
        advance = None if send_color is None else _advance(line, rank, send_color)
        same = len(tree.children[rank]), received_on[rank], send_color, passing, advance
        if same not in known:
            colors = tuple(_color_uses(line, rank, SIDES[phase.order]))
            known[same] = Role("", "", lanes_of(tuple(_loops(line, rank, how))), colors)
        found.append(known[same])
    return laid_out(found, phase, names[-1]) if phase.bypass else tuple(found)


def _names(phase: ReducePhase, needed: int) -> tuple[str, ...]:
    """The colors of a phase; the last one of a root bypass is that of the sum on its way to the
    root."""
    if not phase.bypass:
        return tuple(f"{phase.name}_{name}" for name in color_names(needed))
    return (*(f"{phase.name}_{name}" for name in color_names(needed - 1)), bypass_color(phase.name))


def color_names(needed: int) -> tuple[str, ...]:
    """What so many colors of a phase are called."""
    return ("even", "odd") if needed <= 2 else tuple(str(number) for number in range(needed))


def _loops(line: ColoredLine, rank: int, how: Combining) -> Iterator[Loop | Once]:
    """Combine all children's vectors in memory but the last, which is combined while sending.

    `@map` takes one element at a time, and no source says when its operand would advance the switch
    (M3.9-15). So where a call-back combines and the own router has to move on, the last vector is
    combined in memory, too, and the result sent from there.
    """
    received = len(line.tree.children[rank])
    color = line.names[line.received_on[rank]]
    send_color = line.sent_on(rank)
    advance = Advance.NOTHING if send_color is None else _advance(line, rank, send_color)
    from_memory = how.by_call_back and advance is Advance.OWN_ROUTER
    first = received if send_color is None or from_memory else received - 1
    if first > 0:
        turns, vectors = (first, 1) if how.one_by_one else (1, first)
        stored = Op(color, Action.COMBINE, VECTOR, vectors=vectors)
        again = Loop(Number(turns), Number(0), (Entry((stored,)),))
        yield once(stored) if turns == 1 else again
    if send_color is not None:
        combines = received and not from_memory
        from_, action = (color, Action.COMBINE) if combines else (VECTOR, Action.COPY)
        yield once(Op(from_, action, line.names[send_color], advance=advance))


def _advance(line: ColoredLine, rank: int, color: int) -> Advance:
    """What has to move on behind the vector of `rank`: the parent, the own router, or nothing."""
    parent = line.tree.parent[rank]
    assert parent is not None
    if line.tree.is_last_child(rank) and color in line.passing[parent]:
        return Advance.CONTROL
    if color in line.passing[rank]:
        return Advance.OWN_ROUTER
    between = range(parent + 1, rank)
    moved = any(color in _first_routes(line, router) for router in between)
    return Advance.RESET if moved else Advance.NOTHING


def _first_routes(line: ColoredLine, rank: int) -> Iterator[int]:
    """The colors on which a rank's router does something else before vectors pass."""
    if line.tree.children[rank]:
        yield line.received_on[rank]
    send_color = line.sent_on(rank)
    if send_color is not None:
        yield send_color


def _color_uses(
    line: ColoredLine, rank: int, near_far: tuple[Direction, Direction]
) -> Iterator[ColorUse]:
    """The positions of each color at a router, in order of color."""
    near, far = near_far
    first: dict[int, Route] = {}
    if line.tree.children[rank]:
        first[line.received_on[rank]] = Route(far, (Direction.RAMP,))
    send_color = line.sent_on(rank)
    if send_color is not None:
        first[send_color] = Route(Direction.RAMP, (near,))
    for color in sorted({*first, *line.passing[rank]}):
        positions = [first[color]] if color in first else []
        positions += [Route(far, (near,))] if color in line.passing[rank] else []
        yield ColorUse(line.names[color], tuple(positions))
