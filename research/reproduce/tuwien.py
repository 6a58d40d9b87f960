"""Claims of the TU Wien exercise on pipelined collectives: rounds, counted on the steps.

In a round a rank sends one block and receives one, unless something else is said.
"""

from __future__ import annotations

from math import ceil, sqrt

from collc_research.networks.limited import one_neighbour, ports, rounds_taken, transfers_of
from collc_research.reproduce.claims import (
    Claim,
    Depth,
    Finding,
    Verdict,
    exact,
    holds,
    slip,
    unknown,
)
from collc_research.reproduce.patterns import allreduction, proved, steps_of
from collc_research.reproduce.rank_order import keeps_rank_order

ALPHA, BETA, ELEMENTS, RANKS = 1e-5, 1e-9, 1e6, 128


def _pipeline_rounds(name: str, ranks: int, blocks: int) -> int:
    return len(steps_of(name, ranks, c=blocks).steps)


def _linear(depth: Depth) -> Finding:
    equal, ordered = True, True
    for n in depth.of((2, 3, 5, 8, 20, 320), 5):
        for b in (1, 2, 7, 50):
            algorithm = steps_of("pipelined_reduce", n, c=b)
            equal &= len(algorithm.steps) == b + n - 2
            if n <= 20:
                equal &= rounds_taken(transfers_of(algorithm), ports(1, 1)) == b + n - 2
                equal &= _pipeline_rounds("pipelined_broadcast", n, b) == b + n - 2
                ordered &= keeps_rank_order(algorithm)
    proved("reduce(x: f32[50], add)", "run pipelined_reduce(c = 7)", 20)
    note = "rank order, from the right; the broadcast is its mirror"
    return exact(equal and ordered, "b + n - 2" if equal else "another number", note)


def _one_then_the_other(_: Depth) -> Finding:
    n, b = 20, 10
    there = _pipeline_rounds("pipelined_reduce", n, b)
    back = _pipeline_rounds("pipelined_broadcast", n, b)
    shown = there + back == 2 * (b + n - 2)
    return slip(shown, there + back, "two times its own b + n - 2")


def _combined(_: Depth) -> Finding:
    """Both neighbours in a round, one neighbour in a round, and one after the other."""
    rows, shown = [], True
    for n, b in ((2, 10), (5, 10), (20, 10), (20, 100)):
        algorithm = steps_of("pipelined_allreduce", n, c=b)
        both = len(algorithm.steps)
        one = rounds_taken(transfers_of(algorithm), one_neighbour(n))
        rows.append(f"{both} and {one}")
        shown &= both == 2 * (n - 1) + b - 1 and (n == 2 or n - 1 + b < both)
        shown &= one == (both if n == 2 else 2 * n + 2 * b - 3)
    allreduction("pipelined_allreduce(c = 10)", 20, 40)
    note = "2(n - 1) + b - 1 with both neighbours at once; with one, 2n + 2b - 3: nothing gained"
    return slip(shown, "; ".join(rows), note)


def _tree(depth: Depth) -> Finding:
    two, one = True, True
    for h in (1, 2, 3, 5) if depth.thorough else (1, 2, 4):
        for b in (1, 2, 9):
            transfers = transfers_of(steps_of("binary_tree_reduce", 2 ** (h + 1) - 1, c=b))
            two &= rounds_taken(transfers, ports(1, 2)) == h + b - 1
            one &= rounds_taken(transfers, ports(1, 1)) == 2 * h + 2 * (b - 1)
    shown = "h + b - 1; with one receipt a round 2h + 2(b - 1)"
    note = "own, left, right: rank order, as ranks are in pre-order"
    return holds(two and one, shown if two and one else "other numbers", note)


def _pipeline(first: int, every: int, blocks: int) -> float:
    """Seconds if the first block is there after `first` rounds, and one more every so many."""
    return (first + every * (blocks - 1)) * (ALPHA + BETA * ELEMENTS / blocks)


def _best_pipeline(first: int, every: int) -> float:
    """The least of these, if a vector could be cut into any number of blocks."""
    root = sqrt(every * (first - every) * ALPHA * BETA * ELEMENTS)
    return (first - every) * ALPHA + 2 * root + every * BETA * ELEMENTS


def _printed_pipeline(depth: int) -> float:
    root = sqrt(depth * ALPHA * BETA * ELEMENTS)
    return ALPHA * (depth - 1) + 2 * root + BETA * ELEMENTS


def _pipelined_tree(_: Depth) -> Finding:
    far = RANKS.bit_length() - 1
    printed, ours = _printed_pipeline(far), _best_pipeline(far, 1)
    least = min(_pipeline(far, 1, blocks) for blocks in range(1, 3000))
    shown = abs(least - ours) < 1e-6 < abs(printed - ours)
    note = "d - 1 under the root; b stands for block size, their number and the vector"
    return slip(shown, f"{ours:.6f} s, the least over all cuts {least:.6f}", note)


def _three_exchanges(_: Depth) -> Finding:
    """An inner rank of a tree that goes both ways has three partners for every block."""
    moves = steps_of("binary_tree_allreduce", 7, c=20).steps[8]
    partners = {int(r) for r in moves.source[moves.destination == 1]}
    far = RANKS.bit_length() - 1
    note = "an inner rank exchanges with three others for every block, as the cited paper has it"
    shown = f"3 rounds a block, {_best_pipeline(2 * far, 3):.6f} s"
    return slip(len(partners) == 3, shown, note)


def _block_size(count: int) -> int:
    """Elements in a block, by the exercise's rule."""
    if count < 10_000:
        return 100
    return 1000 if count < 1_000_000 else 1_000_000


def _blocks(_: Depth) -> Finding:
    blocks = {10**k: ceil(10**k / _block_size(10**k)) for k in range(8)}
    shown = ", ".join(f"{n} of {count}" for count, n in blocks.items() if count >= 1000)
    note = "a million elements are one block: no pipeline at all"
    return holds(max(blocks.values()) == 100 and blocks[10**6] == 1, f"blocks: {shown}", note)


_E, _H, _S, _O = Verdict.EXACT, Verdict.HOLDS, Verdict.SLIP, Verdict.OPEN
_NUMBERS = "n = 128, 10^6 elements"
_PAIRS = "(2, 10), (5, 10), (20, 10), (20, 100)"

CLAIMS = (
    Claim("W01", "rounds of the linear reduce", "n 2..320, b 1..50", "b + n - 2", _E, _linear),
    Claim("W02", "and the broadcast after it", "n = 20, b = 10", "58", _S, _one_then_the_other),
    Claim("W03", "linear allreduce, both at once", _PAIRS, "n - 1 + b", _S, _combined),
    Claim("W04", "binary tree, two receipts a round", "h 1..5, b 1..9", "-", _H, _tree),
    Claim("W05", "doubly pipelined tree, s", _NUMBERS, "0.001589", _S, _pipelined_tree),
    Claim("W06", "rounds for a block of that tree", _NUMBERS, "1", _S, _three_exchanges),
    Claim(
        "W07",
        "processes",
        "36 nodes of 32",
        "1152",
        _E,
        lambda _: exact(36 * 32 == 1152, 36 * 32),
    ),
    Claim("W08", "blocks of 100, 1000, 10^6", "1 to 10^7 elements", "pipelined", _H, _blocks),
    Claim(
        "W09",
        "linear pipeline over the library",
        "20 x 16 processes",
        "from 5 * 10^5",
        _O,
        unknown("needs alpha and beta of the machine"),
    ),
    Claim(
        "W10",
        "exercises 6 and 7",
        "-",
        "not implemented",
        _O,
        unknown("nothing is said to compare with"),
    ),
)
