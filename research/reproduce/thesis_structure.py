"""Claims of the thesis about colors, switches, operand order and its text.

Colors and switch positions are counted in plans that the compiler makes for the machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from collc.checks import check_plan
from collc.plan import Plan, Route
from collc.proof import follow
from collc.schedule import ReducePhase, Schedule
from collc.target import TARGETS
from collc_research.reproduce.claims import (
    Claim,
    Depth,
    Evaluate,
    Finding,
    Verdict,
    exact,
    holds,
    slip,
    unknown,
    wording,
)
from collc_research.reproduce.closed_forms import RAMP
from collc_research.reproduce.patterns import (
    TARGET,
    all_trees,
    best_tree,
    proved,
    reduction,
    schedule_of_tree,
    steps_of,
    tree,
    two_color_plan,
)

LENGTH = 16


def _positions(plan: Plan) -> Iterator[tuple[tuple[Route, ...], int]]:
    """The positions of every color at every router, with how many PEs have them."""
    for phase in plan.phases:
        for region, role in phase.regions:
            for use in phase.roles[role].colors:
                yield use.positions, len(region.x) * len(region.y)


def _switching(plan: Plan) -> tuple[int, int, int]:
    """The most positions of a router and color; changes of the sending side; of the other only."""
    most, sending, receiving = 0, 0, 0
    for positions, pes in _positions(plan):
        most = max(most, len(positions))
        for before, after in pairwise(positions):
            turns = before.send != after.send
            sending += pes * turns
            receiving += pes * (not turns)
    return most, sending, receiving


def _colors(name: str, colors: int) -> Evaluate:
    """Check how many colors a tree takes at 512 PEs."""

    def evaluate(_: Depth) -> Finding:
        plan = two_color_plan(reduction(f"reduce {name} to 0", 512, LENGTH))
        most, sending, receiving = _switching(plan)
        shown = (
            f"{len(plan.colors)}, {most} position{'s' if most > 1 else ''}, changes: "
            f"{sending} of the sending side, {receiving} of the receiving side only"
        )
        fits = most <= TARGETS[TARGET].switch_positions
        return exact(len(plan.colors) == colors and fits, shown)

    return evaluate


def _sound(schedule: Schedule) -> tuple[bool, int]:
    """Whether two colors do for a tree, by all checks; the most positions."""
    plan = two_color_plan(schedule)
    fine = len(plan.colors) <= 2 and not list(check_plan(plan, schedule))
    return fine, _switching(plan)[0]


def _every_tree(depth: Depth) -> Finding:
    largest = 8 if depth.thorough else 6
    small = [t for ranks in range(2, largest + 1) for t in all_trees(ranks)]
    large = (tree("binomial", 512), tree("two_phase(S = 23)", 512), best_tree(512, 64, RAMP))
    found = [_sound(schedule_of_tree(t, LENGTH)) for t in (*small, *large)]
    turns = {}
    for size in (2, 3, 4, 5):
        plan = two_color_plan(reduction(f"reduce two_phase(S = {size}) to 0", 512, LENGTH))
        turns[size] = _switching(plan)[1]
    shown = (
        f"so for {len(found)} trees, of up to {largest} PEs and of 512; at most "
        f"{max(most for _, most in found)} positions"
    )
    changes = ", ".join(f"{count} for S = {size}" for size, count in turns.items())
    note = f"changes of the sending side, which take a control wavelet, in two-phase: {changes}"
    return holds(all(fine for fine, _ in found), shown, note)


def _rank_order(depth: Depth) -> Finding:
    ordered = True
    for ranks in range(2, 8 if depth.thorough else 7):
        for children in all_trees(ranks):
            phase = schedule_of_tree(children).phases[0]
            assert isinstance(phase, ReducePhase)
            ordered &= follow(phase)[0] == ((0, ranks - 1),)
    note = "any such tree serves operations that do not commute; rings and skips do not"
    return holds(ordered, "rank order" if ordered else "not always rank order", note)


def hilbert(order: int) -> list[tuple[int, int]]:
    """The cells of a square of 2^order in the order of Hilbert's curve."""
    if order == 0:
        return [(0, 0)]
    half, inner = 1 << (order - 1), hilbert(order - 1)
    return [
        *((y, x) for x, y in inner),
        *((x, y + half) for x, y in inner),
        *((x + half, y + half) for x, y in inner),
        *((2 * half - 1 - y, half - 1 - x) for x, y in inner),
    ]


def _hilbert(_: Depth) -> Finding:
    cells = np.array(hilbert(5))
    apart = np.abs(cells[:, None] - cells[None]).sum(axis=2)
    steps = np.abs(np.arange(len(cells))[:, None] - np.arange(len(cells))[None])
    np.fill_diagonal(steps, 1)
    most = float((apart / np.sqrt(steps)).max())
    neighbours = bool((np.abs(np.diff(cells, axis=0)).sum(axis=1) == 1).all())
    return holds(neighbours and most <= 3, f"at most {most:.3f} sqrt(gap)")


def _memory(_: Depth) -> Finding:
    total = 850_000 * 48e3 / 1e9
    return holds(abs(total - 40) < 1, f"{total:.1f} GB", "48 KB as 48000 bytes")


def _ring_colors(_: Depth) -> Finding:
    """Colors of a ring in a plan, as section 6.2 has them too."""
    plan = two_color_plan(proved("allreduce(x: f32[16], add)", "order ring run ring_allreduce", 8))
    return slip(len(plan.colors) == 3, f"{len(plan.colors)} colors", "as its section 6.2 says")


def _partners(_: Depth) -> Finding:
    """With how many others a rank of a butterfly shares a group of G."""
    group = 4
    first = steps_of("butterfly", group**2, G=group).steps[: 2 * (group - 1)]
    others = {int(r) for moves in first for r in moves.source[moves.source < group]} - {0}
    return slip(len(others) == group - 1, f"G - 1 others, {len(others)} for G = 4", "not G")


def _two_processors(_: Depth) -> Finding:
    """A ring is one exchange there and back on two ranks only."""
    rounds = {p: len(steps_of("ring_allreduce", p).steps) for p in (2, 4)}
    note = "for two processors, not for a power of two"
    return slip(rounds == {2: 2, 4: 6}, f"{rounds[2]} steps for 2, {rounds[4]} for 4", note)


def _late_groups(_: Depth) -> Finding:
    """Groups are cut from the far end, so that only the first may be short."""
    children = tree("two_phase(S = 3)", 8)
    parent = {child: rank for rank, below in enumerate(children) for child in below}
    heads = [0, *(rank for rank in range(1, 8) if parent[rank] != rank - 1)]
    return slip(
        heads == [0, 2, 5], "groups of 2, 3, 3 for P = 8, S = 3", "it is the last two that stall"
    )


_E, _H, _S, _O = Verdict.EXACT, Verdict.HOLDS, Verdict.SLIP, Verdict.OPEN

CLAIMS = (
    Claim("T28a", "colors of the chain", "P = 512", "2", _E, _colors("chain", 2)),
    Claim("T28b", "colors of the tree", "P = 512", "2", _E, _colors("binomial", 2)),
    Claim(
        "T28c", "colors of two-phase", "P = 512, S = 23", "2", _E, _colors("two_phase(S = 23)", 2)
    ),
    Claim("T28d", "colors of the star", "P = 512", "1", _E, _colors("star", 1)),
    Claim("T29", "operand order of pre-order trees", "all of 2..7 PEs", "-", _H, _rank_order),
    Claim("T30", "distance on Hilbert's curve", "32 x 32", "3 sqrt(gap)", _H, _hilbert),
    Claim("T31", "memory of 850000 PEs", "48 KB each", "40 GB", _H, _memory),
    Claim(
        "T32",
        "bits loaded and stored in a cycle",
        "sections 2.1, 3.2, 7.2",
        "128 and 64, 64 and 128",
        _S,
        wording("128 loaded, 64 stored", "3.2 has the two exchanged; 7.2 agrees with 2.1"),
    ),
    Claim(
        "T33",
        "GEMV by two-phase over chain; by own chain over the library's",
        "64 x 64",
        "10%; 544 cycles",
        _O,
        unknown("needs the time that the library takes to set up routes"),
    ),
    Claim("T34", "colors of the ring", "section 7.3", "2", _S, _ring_colors),
    Claim("T35", "others in a group of a butterfly", "section 7.3", "G", _S, _partners),
    Claim(
        "T36",
        "caption of figure 7.3",
        "text",
        "that of figure 5.4",
        _S,
        wording("a butterfly of G = 2 on 4 PEs", "the caption is that of the two-phase picture"),
    ),
    Claim("T37", "where a ring is one exchange", "section 7.3", "P = 2^k", _S, _two_processors),
    Claim(
        "T38",
        "where the result of GEMV is",
        "chapter 8",
        "bottom right",
        _S,
        wording("bottom left, as a later sentence has it"),
    ),
    Claim(
        "T39",
        "what `advance_switch` needs",
        "chapter 9",
        "another sending side",
        _S,
        wording("another receiving side", "as its own explanation and example have it"),
    ),
    Claim(
        "T40",
        "better than which patterns",
        "conclusion",
        "ring or chain",
        _S,
        wording("ring or butterfly", "as abstract and chapter 7 say; the chain is its own base"),
    ),
    Claim("T41", "groups that stall, lemma 5.8", "text", "the first two", _S, _late_groups),
    Claim(
        "T43", "two colors for every pre-order tree", "all of 2..8, P = 512", "2", _H, _every_tree
    ),
)
