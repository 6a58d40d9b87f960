"""Closed forms of the cost model, for reading beside the exact prediction.

The model (a thesis on reductions for this machine): a row of P PEs; vectors of B 32-bit elements;
a hop takes a cycle, and so does an operation of a processor on an element; `ramp` cycles lie
between a processor and its router, each way. Loading descriptors and starting tasks is not in it,
so a prediction lies above these by a start-up that hardly depends on P and B.

Lengths are in elements, results in cycles. Where the source's text differs from what its own
model gives, `as_printed=True` is the former; the docstring says by how much.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, isqrt, log2

RAMP = 2

Form = Callable[[int, int], int]
"""Cycles of a pattern on P PEs with vectors of B elements."""


def visits(pes: int, length: int, visited: int, ramp: int = RAMP) -> int:
    """A vector over `pes` PEs that enters `visited` processors on the way, each passing it on."""
    return pes + (visited + 1) * (2 * ramp + 1) + length - 1


def message(pes: int, length: int, ramp: int = RAMP) -> int:
    """A vector from the first of `pes` PEs to the last, past the processors between."""
    return visits(pes, length, 0, ramp)


broadcast = message  # routers copy at no cost


def broadcast_2d(east: int, south: int, length: int, *, as_printed: bool = False) -> int:
    """Over a grid, from a PE with `east` PEs from itself to the farther side edge and `south` to
    the farther of the other two; printed one PE too long.
    """
    return broadcast(east + south - (0 if as_printed else 1), length)


def star(pes: int, length: int, ramp: int = RAMP) -> int:
    """Every PE sends straight to PE 0, the nearest first."""
    return 2 * ramp + 2 + (pes - 1) * length


def star_spaced(pes: int, length: int, distance: int, *, as_printed: bool = False) -> int:
    """The star over every `distance`-th PE; the printed form needs length >= distance."""
    members = ceil(pes / distance)
    if as_printed or length >= distance or members == 1:
        return 2 * RAMP + 1 + distance + (members - 1) * length
    return message((members - 1) * distance + 1, length)


def chain(pes: int, length: int, ramp: int = RAMP) -> int:
    """Every PE adds its vector to its neighbour's, element by element, and passes the sum on."""
    return 2 * (pes - 1) * (ramp + 1) + length


def tree_stall(pes: int, length: int, ramp: int = RAMP) -> int:
    """What the binomial tree waits for vectors that come in faster than one can be added."""
    levels = range(max(0, (pes - 1).bit_length() - 1))
    return sum(max(0, length - 2 * (2**level + ramp) - 1) for level in levels)


def binomial(pes: int, length: int, ramp: int = RAMP) -> int:
    """The binomial tree; exact where `pes` is a power of two, and only there."""
    depth = (pes - 1).bit_length()
    return visits(pes, length, depth - 1, ramp) + tree_stall(pes, length, ramp)


def group_size(pes: int) -> int:
    """The usual group of the two-phase pattern: the square root, rounded up."""
    return isqrt(pes - 1) + 1


def two_phase(pes: int, length: int, group: int | None = None, *, as_printed: bool = False) -> int:
    """Chains in groups of `group` PEs, then a chain over their first PEs.

    Printed with two visits too many, with one where there are two groups.
    """
    size = group_size(pes) if group is None else group
    groups = ceil(pes / max(size, 1))
    if size >= pes or size <= 1:
        return chain(pes, length)
    surplus = 2 if as_printed else 0
    if groups == 2:
        lone = pes - size == 1 and not as_printed
        first = 0 if lone else chain(pes - size, length)
        return max(first + length, visits(pes, length, size - 1 + surplus // 2))
    passed = visits(pes, length, size + groups - 3 + surplus)
    return passed + max(0, length - (size + 2 * RAMP + 1))


def left_right(pes: int, length: int, root: int, left: Form = chain, right: Form = chain) -> int:
    """Two reductions that meet at `root`, which first takes the smaller side."""
    if root in (0, pes - 1):
        return left(pes, length)
    root = min(root, pes - 1 - root)
    return max(left(root + 1, length) + length, right(pes - root - 1, length) + 2 * RAMP + 2)


def ring_reduce(pes: int, length: int) -> int:
    """A chain over every second PE and back over the others; 1 more for roots next to a turn."""
    return chain(pes, length) + pes - 3


def jump(pes: int, length: int, root: int, base: Form = chain) -> int:
    """A reduction that leaves the root out, towards its nearer end, then over to the root.

    The exact time is a cycle longer.
    """
    return base(pes - 1, length) + 2 * RAMP + 1 + root


def reduce_2d(rows: int, columns: int, length: int, base: Form = chain) -> int:
    """Every column, then the row of their results."""
    return base(rows, length) + base(columns, length)


def reduce_then_broadcast(pes: int, length: int, root: int = 0, base: Form = chain) -> int:
    """An allreduce; `root` in the first half. Two PEs answer at once."""
    if pes == 2:
        return broadcast(2, length) + broadcast(2, 1)
    return base(pes, length) + broadcast(pes - root, length)


def ring_allreduce(pes: int, length: int, hops: int = 2, ramp: int = RAMP) -> float:
    """2 (P - 1) rounds of B / P elements over `hops` links."""
    return 2 * (pes - 1) * (length / pes + 2 * ramp + 1 + hops)


def butterfly(pes: int, length: int, group: int, *, as_printed: bool = False) -> float:
    """Rounds of rings among `group` PEs, ever farther apart; `pes` is a power of `group`.

    Printed with log2(group) rounds of rings among all PEs.
    """

    def hops(turn: int) -> int:
        return 2 ** (turn - 1) if group == 2 else int(2 * group ** (turn - 1))

    if as_printed:
        turns = range(1, int(log2(group)) + 1)
        return sum(ring_allreduce(pes, length, hops(turn)) for turn in turns)
    rounds = 0
    while group**rounds < pes:
        rounds += 1
    return sum(ring_allreduce(group, length, hops(turn)) for turn in range(1, rounds + 1))
