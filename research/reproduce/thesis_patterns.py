"""Claims of the thesis about single patterns: formulas against following every vector.

Where nothing else is said, a processor is 2 cycles from its router, as in the thesis' plots.
"""

from __future__ import annotations

import numpy as np

from collc.base.columns import Ints
from collc.language.optimal_tree import optimum
from collc_research.reproduce import closed_forms as forms
from collc_research.reproduce.claims import (
    Claim,
    Depth,
    Finding,
    Verdict,
    close,
    exact,
    holds,
    slip,
)
from collc_research.reproduce.closed_forms import RAMP
from collc_research.reproduce.patterns import all_trees, best_tree, tree
from collc_research.reproduce.row_model import chain, cycles, cycles_by_element, star

LENGTHS = (1, 2, 9, 64, 512, 4096)
GROUPS = (2, 4, 8, 16, 32, 64, 128, 256, 512)
MEASURED = (10055, 9421, 9117, 8989, 8973, 9061, 9297, 9800, 7218)


def _basic(depth: Depth) -> Finding:
    """Messages, visits, star and chain against vectors, and vectors against elements."""
    trees = [tree(name, ranks) for name in _NAMES for ranks in (2, 3, 5, 8, 13, 16)]
    equal = all(cycles(t, b) == cycles_by_element(t, b) for t in trees for b in (1, 2, 5, 17))
    for ranks in (2, 3, 4, 7, 16, 64, 512):
        for length in depth.of(LENGTHS):
            equal &= cycles(tree("chain", ranks), length) == forms.chain(ranks, length)
            equal &= cycles(tree("star", ranks), length) == forms.star(ranks, length)
            far = cycles(chain(2), length, (0, ranks - 1))
            equal &= far == forms.message(ranks, length)
            for visited in {0, 1, ranks - 2} & set(range(ranks - 1)):
                places = (*range(visited + 1), ranks - 1)
                way = cycles(chain(visited + 2), length, places)
                equal &= way == forms.visits(ranks, length, visited)
    return exact(equal, "equal to following every element" if equal else "not equal")


_NAMES = ("chain", "star", "binomial", "two_phase(S = 3)")


def _grid_broadcast(_: Depth) -> Finding:
    """The farthest of 4 x 4 PEs from a corner, and the formula."""
    farthest = max(forms.message(x + y + 1, 1) for x in range(4) for y in range(4))
    printed, ours = forms.broadcast_2d(4, 4, 1, as_printed=True), forms.broadcast_2d(4, 4, 1)
    note = "the longest way has a PE less; broadcasts have no third argument"
    return slip(ours == farthest == printed - 1, ours, note)


def _spaced_star(_: Depth) -> Finding:
    followed = cycles(star(32), 1, range(0, 512, 16))
    printed, ours = forms.star_spaced(512, 1, 16, as_printed=True), forms.star_spaced(512, 1, 16)
    note = "short of B = i the distance decides, not what rank 0 takes"
    return slip(ours == followed != printed, ours, note)


def _scalars(_: Depth) -> Finding:
    least = int(optimum(512, _array(1), RAMP).times[512, 0])
    names = ("star", "binomial", "chain")
    found = {name: cycles(tree(name, 512), 1) for name in names}
    equal = found["star"] == least == forms.message(512, 1) < found["binomial"] < found["chain"]
    shown = ", ".join(f"{name} {value}" for name, value in found.items())
    return exact(equal, f"{shown}, optimum {least}")


def _worst_for_scalars(_: Depth) -> Finding:
    shown = all(
        cycles(tree("star", p), 1) < cycles(tree("binomial", p), 1) < cycles(tree("chain", p), 1)
        for p in (4, 8, 64, 512)
    )
    return slip(shown, "the star is best and the chain worst", "read scalar pattern for chain")


def _stalls(depth: Depth) -> Finding:
    worst = max(
        abs(cycles(tree("binomial", p), b) - forms.binomial(p, b))
        for p in (2, 4, 8, 16, 64, 512)
        for b in depth.of((1, 2, 7, 8, 9, 10, 16, 64, 512, 4096))
    )
    note = "an equality, not only a bound; a line before it lacks the + 1 of a stall"
    return exact(worst == 0, f"largest deviation {worst}", note)


def _odd_sizes(_: Depth) -> Finding:
    pairs = [
        (forms.binomial(p, b), cycles(tree("binomial", p), b))
        for p in (3, 5, 6, 7, 9, 48, 300, 500, 511)
        for b in (1, 64, 512)
    ]
    gaps = [formula - true for formula, true in pairs]
    shown = f"off by {min(gaps)} to {max(gaps)} cycles, right in {gaps.count(0)} of {len(gaps)}"
    note = "the last PE visits as many others as P - 1 has binary ones, less one"
    return close(pairs, shown, note)


def _above_star(_: Depth) -> Finding:
    above = forms.binomial(1024, 1) - forms.star(1024, 1)
    note = "one visit less than written: (ceil(log2 P) - 1)(2 TR + 1)"
    return holds(above <= 50, above, note)


def _two_phase(depth: Depth) -> Finding:
    gaps, sound = set(), 0
    for p in (9, 16, 36, 100, 511, 512):
        for size in depth.of(range(2, p), 12):
            for length in (1, 16, 64, 300, 4096):
                true = cycles(tree(f"two_phase(S = {size})", p), length)
                sound = max(sound, abs(true - forms.two_phase(p, length, size)))
                if p - size > 1:
                    gaps.add(forms.two_phase(p, length, size, as_printed=True) - true)
    note = "S + ceil(P/S) - 3 visits, and S - 1 with two groups, as its own proof has it"
    shown = f"printed high by {_listed(gaps)}; with the right visits by {sound}"
    return slip(sound == 0 and max(gaps) == 10 and min(gaps) >= 0, shown, note)


def _sweep(_: Depth) -> Finding:
    pairs = list(zip(GROUPS, MEASURED, strict=True))
    printed = [m - forms.two_phase(512, 4096, s, as_printed=True) for s, m in pairs]
    sound = [m - forms.two_phase(512, 4096, s) for s, m in pairs]
    predicted = [(m, forms.two_phase(512, 4096, s)) for s, m in pairs]
    shown = f"above the printed form {_span(printed[:-1])}, above the sound one {_span(sound[:-1])}"
    note = f"and {sound[-1]} for the chain, S = P; one start-up fits all S with the right visits"
    return close(predicted, shown, note)


def _best_group(_: Depth) -> Finding:
    texts, near = [], True
    for length in (64, 4096):
        times = {s: forms.two_phase(512, length, s, as_printed=True) for s in range(2, 256)}
        best = min(times, key=lambda s: times[s])
        near &= abs(best - 23) <= 5 and times[23] <= 1.01 * times[best]
        texts.append(f"B = {length}: S = {best} takes {times[best]}, S = 23 {times[23]}")
    return holds(near, "; ".join(texts), "at B = 4096 the chain is faster than any")


def _optimum(depth: Depth) -> Finding:
    equal = True
    for length in (1, 2, 3, 5, 8, 13, 20, 40, 100):
        for p in range(2, 9 if depth.thorough else 8):
            least = min(cycles(t, length) for t in all_trees(p))
            equal &= least == optimum(p, _array(length), RAMP).times[p, 0]
    for p in (17, 64, 200):
        for length in (1, 10, 100):
            best = int(optimum(p, _array(length), RAMP).times[p, 0])
            equal &= cycles(best_tree(p, length, RAMP), length) == best
    shown = "the least of all trees" if equal else "not the least"
    return exact(equal, shown, "stated for P > 2, and right for 2")


def _array(length: int) -> Ints:
    return np.array([length], dtype=np.int64)


def _listed(values: set[int]) -> str:
    return ", ".join(map(str, sorted(values)))


def _span(values: list[int]) -> str:
    return f"{min(values)} to {max(values)}"


_E, _H, _S, _C = Verdict.EXACT, Verdict.HOLDS, Verdict.SLIP, Verdict.CLOSE

_SWEEP = ", ".join(map(str, MEASURED))

CLAIMS = (
    Claim("T01", "message, visits, star and chain", "P 2..512, B 1..4096", "formulas", _E, _basic),
    Claim("T02", "2D broadcast from (i, j)", "4 x 4, (0, 0), B = 1", "13", _S, _grid_broadcast),
    Claim("T03", "star over every i-th PE", "P = 512, i = 16, B = 1", "52", _S, _spaced_star),
    Claim("T04", "for scalars the star is optimal", "P = 512, B = 1", "517", _E, _scalars),
    Claim("T05", "best for scalars", "B = 1, P 4..512", "the chain", _S, _worst_for_scalars),
    Claim("T06", "binomial tree with stalls", "P = 2^k <= 512", "a bound", _E, _stalls),
    Claim("T07", "the same for other P", "P 3..511", "for 2^k only", _C, _odd_sizes),
    Claim("T08", "tree above star, at most", "P = 1024, B = 1", "50", _H, _above_star),
    Claim("T09", "visits of two-phase", "P 9..512, all S", "S + ceil(P/S) - 1", _S, _two_phase),
    Claim("T10", "two-phase measured, over S", "P = 512, B = 4096", _SWEEP, _C, _sweep),
    Claim("T11", "best group is near sqrt(P)", "P = 512", "about 23", _H, _best_group),
    Claim("T12", "recursion of the optimum", "P 2..8, 9 lengths", "optimal", _E, _optimum),
)
