"""Claims of the paper on two-tier direct networks: bytes over the links of 16384 cores.

Tables 3 to 5 give, for 64 supernodes of 16 nodes of 16 cores and vectors of 1 GB (64 KB a core),
how many links of each class are used, and the least and the most traffic on one. Printed sizes mix
units of 1000 and of 1024, and are rounded or cut; whatever reading fits counts as reproduced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from math import floor

import numpy as np

from collc.spec.exchange import Slicing
from collc_research.networks import two_tier_patterns as patterns
from collc_research.networks.network import TwoTier
from collc_research.networks.rounds import Round, rounds_of_steps
from collc_research.networks.two_tier import LinkUse, Loads
from collc_research.reproduce.claims import (
    Claim,
    Depth,
    Evaluate,
    Finding,
    Verdict,
    differs,
    exact,
    holds,
    slip,
    wording,
)
from collc_research.reproduce.patterns import steps_of

Numbers = tuple[float, float, float, float, float, float]
Printed = tuple[int | str, ...]

NET = TwoTier(supernodes=64, nodes=16, cores=16)
SMALL = TwoTier(supernodes=4, nodes=2, cores=2)
UNIT = 64 * 1024
TOTAL = 1 << 30
MIB, GIB = 1 << 20, 1 << 30

PRINTED: dict[str, Printed] = {
    "scatter, binomial": (1036, "1 MB", "141 MB", 56, "16.7 MB", "520 MB"),
    "scatter, two-tier": (960, "1 MB", "64 MB", 63, "1 MB", "16 MB"),
    "broadcast, scatter and allgather": (1588, "2 MB", "1.1 GB", 95, "32 MB", "1.09 GB"),
    "broadcast, two-tier": (15360, "64 MB", "128 MB", 3937, "64 MB", "64 MB"),
    "allgather, doubling": (10496, "16 MB", "15.1 GB", 384, "4.2 GB", "4.3 GB"),
    "allgather, ring": (1080, "1 GB", "1 GB", 634, "1 GB", "1 GB"),
    "allgather, two-tier": (15360, "65 MB", "65 MB", 4032, "16 MB", "16 MB"),
    "reduce-scatter, pairwise": (15360, "2 GB", "2 GB", 4032, "4 GB", "4 GB"),
    "reduce-scatter, two-tier": (15360, "65 MB", "65 MB", 4032, "16 MB", "16 MB"),
    "reduce, pairwise and gather": (15360, "2 GB", "3 GB", 4032, "4 GB", "5 GB"),
    "reduce, two-tier": (15360, "66 MB", "130 MB", 4032, "16 MB", "32 MB"),
}
_NAMES = ("L1 used", "L1 least", "L1 most", "L2 used", "L2 least", "L2 most")


def _rounds(name: str, ranks: int) -> Iterable[Round]:
    """The steps of an algorithm with as many slices as ranks; elements are slices."""
    return rounds_of_steps(steps_of(name, ranks).steps, Slicing(ranks, ranks))


def _add_steps(loads: Loads, name: str) -> None:
    for one in _rounds(name, loads.network.ranks):
        loads.add_ranks(one.source, one.destination, one.elements * UNIT)


def _add_ring(loads: Loads) -> None:
    """A ring allgather: every rank sends its neighbour all slices but one."""
    rank = np.arange(loads.network.ranks)
    loads.add_ranks(rank, np.roll(rank, -1), (len(rank) - 1) * UNIT)


def _add_pairwise(loads: Loads) -> None:
    """A pairwise reduce-scatter: every rank sends every other a slice, here node by node."""
    network = loads.network
    nodes = network.supernodes * network.nodes
    source, destination = (index.ravel() for index in np.indices((nodes, nodes)))
    other = source != destination
    loads.add_nodes(source[other], destination[other], UNIT * network.cores**2)


def _same_as_steps(name: str, add: Callable[[Loads], None]) -> bool:
    """Whether a sum over all steps is what the steps make, on a network small enough for them."""
    summed, stepped = Loads(SMALL), Loads(SMALL)
    add(summed)
    _add_steps(stepped, name)
    return bool((summed.l1 == stepped.l1).all() and (summed.l2 == stepped.l2).all())


def _stepped(*names: str) -> Loads:
    loads = Loads(NET)
    for name in names:
        _add_steps(loads, name)
    return loads


def _with(loads: Loads, *adding: Callable[[Loads], None]) -> Loads:
    for add in adding:
        add(loads)
    return loads


_LOADS: dict[str, Callable[[bool], Loads]] = {
    "scatter, binomial": lambda _: _stepped("binomial_scatter"),
    "scatter, two-tier": lambda _: patterns.scatter(NET, UNIT),
    "broadcast, scatter and allgather": lambda _: _with(_stepped("binomial_scatter"), _add_ring),
    "broadcast, two-tier": lambda departs: patterns.broadcast(NET, TOTAL, repeats=departs),
    "allgather, doubling": lambda _: _stepped("recursive_doubling_allgather"),
    "allgather, ring": lambda _: _with(Loads(NET), _add_ring),
    "allgather, two-tier": lambda departs: patterns.allgather(NET, UNIT, own=departs),
    "reduce-scatter, pairwise": lambda _: _with(Loads(NET), _add_pairwise),
    "reduce-scatter, two-tier": lambda _: patterns.reduce_scatter(NET, TOTAL),
    "reduce, pairwise and gather": lambda _: _with(_stepped("binomial_gather"), _add_pairwise),
    "reduce, two-tier": lambda departs: patterns.reduce(NET, TOTAL, exchanges=departs),
}
"""How each column comes about; some depart from the wording where that fits the tables better."""


@cache
def _use(name: str, departs: bool = False) -> LinkUse:
    """Link use of an algorithm."""
    return _LOADS[name](departs).use()


def _numbers(use: LinkUse) -> Numbers:
    """In the order of the tables."""
    one, two = use.l1, use.l2
    return one.used, one.least_bytes, one.most_bytes, two.used, two.least_bytes, two.most_bytes


def _reads_as(printed: int | str, value: float) -> bool:
    """Whether a number may have been printed so."""
    if isinstance(printed, int):
        return printed == value
    digits, unit = printed.split()
    decimals = 10 ** len(digits.partition(".")[2])
    wanted = round(float(digits) * decimals)
    for size in (MIB, 10**6) if unit == "MB" else (GIB, 10**9):
        scaled = value / size * decimals
        if wanted in (floor(scaled + 0.5), floor(scaled + 1e-9)):
            return True
    return False


def _matches(name: str, departs: bool = False) -> list[bool]:
    numbers = _numbers(_use(name, departs))
    return [_reads_as(p, v) for p, v in zip(PRINTED[name], numbers, strict=True)]


def _shown(value: float, is_size: bool) -> str:
    if not is_size:
        return f"{value:.0f}"
    return f"{value / MIB:.4g} MiB" if value < GIB else f"{value / GIB:.4g} GiB"


def _column(name: str) -> Evaluate:
    """Check a column of the tables: all six numbers, three at least, or fewer."""

    def evaluate(_: Depth) -> Finding:
        good, numbers = _matches(name), _numbers(_use(name))
        texts = [_shown(value, i % 3 > 0) for i, value in enumerate(numbers)]
        missed = [
            f"{_NAMES[i]} {PRINTED[name][i]}, not {texts[i]}" for i in range(6) if not good[i]
        ]
        verdict = Verdict.CLOSE if sum(good) >= 3 else Verdict.DIFFERS
        verdict = Verdict.EXACT if all(good) else verdict
        return Finding(f"{sum(good)} of 6: {', '.join(texts)}", verdict, "; ".join(missed))

    return evaluate


def _links(_: Depth) -> Finding:
    use = Loads(NET).use()
    shown = f"{use.l2.links} L2, {use.l1.links} L1"
    return exact((use.l2.links, use.l1.links) == (4032, 15360), shown, "each direction counts")


def _all_numbers(_: Depth) -> Finding:
    sums = _same_as_steps("ring_allgather", _add_ring)
    sums &= _same_as_steps("pairwise_reduce_scatter", _add_pairwise)
    worded = sum(sum(_matches(name)) for name in PRINTED)
    departing = sum(sum(_matches(name, True)) for name in PRINTED)
    near = sums and len(PRINTED) * 3 <= worded < len(PRINTED) * 6
    shown = f"{worded} of 66 as worded, {departing} with three departures"
    note = (
        "departures: a broadcast spreads chunks again, an allgather takes a supernode to be linked "
        "with itself, a reduce exchanges shares within supernodes"
    )
    return Finding(shown, Verdict.CLOSE if near else Verdict.DIFFERS, note)


def _broadcast_links(_: Depth) -> Finding:
    worded = _use("broadcast, two-tier").l2.used
    everyone = patterns.broadcast(NET, TOTAL, repeats=True, all_forward=True).use().l2.used
    shown = f"{worded} as worded, {everyone} if all supernodes forward"
    note = "3937 = 63 * 62 + 31: all pairs without the root's supernode, and 31"
    return differs(3937 not in (worded, everyone), shown, note)


def _scatter_links(_: Depth) -> Finding:
    used = _use("scatter, binomial").l2.used
    both = _use("broadcast, scatter and allgather").l2.used
    note = f"each of 63 supernodes needs one; the broadcast's {both} links are 63 + 64 - 32"
    return differs(used != 56, f"{used}, the least there can be", note)


def _ring_links(_: Depth) -> Finding:
    used = _use("allgather, ring").l2.used
    return differs(used != 634, used, "one from each supernode")


def _doubling_most(_: Depth) -> Finding:
    most = _use("allgather, doubling").l2.most_bytes
    note = "256 cores pass 512 MB on; the 15.1 GB of L1 in the same column need this, too"
    return differs(not _reads_as("4.3 GB", most), _shown(most, True), note)


def _broadcast_gain(_: Depth) -> Finding:
    gain = _gain("broadcast")
    shown = abs(gain - 2 * 16 / 3) < 0.01
    return slip(shown, f"{gain:.2f}", "2 nps / 3: the usual cost has a factor of 2")


def _gain(operation: str) -> float:
    usual = patterns.usual_cost(operation, 1.0, NET.ranks)
    return usual / patterns.printed_cost(operation, 1.0, NET)


def _reduce_cost(_: Depth) -> Finding:
    most = _use("reduce, two-tier").l1.most_bytes
    printed = TOTAL / NET.nodes
    note = "collecting at the root takes another 1/nps + 2/(sn nps), as its table 5 has"
    return slip(most > 2 * printed, f"{_shown(most, True)} over L1 alone", note)


def _allgather_cost(_: Depth) -> Finding:
    use = _use("allgather, two-tier")
    paid = (use.l1.most_bytes + use.l2.most_bytes) / TOTAL
    printed = patterns.printed_cost("allgather", 1.0, NET)
    shown = f"{_shown(use.l1.most_bytes, True)} on L1, {_shown(use.l2.most_bytes, True)} on L2"
    return exact(abs(paid - printed) < 1e-12, shown)


def _gains(_: Depth) -> Finding:
    operations = ("scatter", "allgather", "broadcast", "reduce-scatter", "reduce")
    gains = {operation: _gain(operation) for operation in operations}
    shown = ", ".join(f"{operation} {gain:.2f}" for operation, gain in gains.items())
    note = "by the printed costs"
    return holds(round(gains["scatter"], 2) == min(NET.nodes, NET.supernodes), shown, note)


def _worst_link(_: Depth) -> Finding:
    before = _use("broadcast, scatter and allgather").l1.most_bytes
    after = _use("broadcast, two-tier").l1.most_bytes
    shown = f"{_shown(before, True)} to {_shown(after, True)}, {before / after:.1f} times less"
    return holds(before > 8 * after, shown, "an order of magnitude, generously")


_E, _H, _C, _D, _S = (
    Verdict.EXACT,
    Verdict.HOLDS,
    Verdict.CLOSE,
    Verdict.DIFFERS,
    Verdict.SLIP,
)
_RECORDED = (_D, _C, _E, _C, _C, _C, _C, _E, _E, _C, _C)
_SIZE = "16384 cores, 1 GB"


def _columns() -> Iterable[Claim]:
    """N02 to N12: the columns of tables 3 to 5."""
    for number, (name, recorded) in enumerate(zip(PRINTED, _RECORDED, strict=True), 2):
        printed = ", ".join(map(str, PRINTED[name]))
        yield Claim(f"N{number:02d}", name, _SIZE, printed, recorded, _column(name))


CLAIMS = (
    Claim("N01", "links", "64 x 16 x 16", "4032 L2, 15360 L1", _E, _links),
    *_columns(),
    Claim("N13", "numbers of tables 3 to 5", _SIZE, "66", _C, _all_numbers),
    Claim("N14", "L2 links of two-tier broadcast", _SIZE, "3937", _D, _broadcast_links),
    Claim("N15", "L2 links of binomial scatter", _SIZE, "56", _D, _scatter_links),
    Claim("N16", "L2 links of ring allgather", _SIZE, "634", _D, _ring_links),
    Claim("N17", "L2 most of doubling allgather", _SIZE, "4.3 GB", _D, _doubling_most),
    Claim("N18", "gain of two-tier broadcast", "nps = 16", "nps / 3 = 5.33", _S, _broadcast_gain),
    Claim("N19", "cost of two-tier reduce", _SIZE, "(1/nps + 2/sn) n beta", _S, _reduce_cost),
    Claim("N20", "cost of two-tier allgather", _SIZE, "64 + 16 + 1 MB", _E, _allgather_cost),
    Claim(
        "N21",
        "factor of the usual reduce, table 1",
        "text",
        "(p - 1)/n",
        _S,
        wording("(p - 1)/p", "as in its table 2"),
    ),
    Claim(
        "N22",
        "number of cores",
        "text",
        "sn nps cps",
        _S,
        wording("sn nps cpn", "cores of a node are called cpn before and after"),
    ),
    Claim("N23", "worst link of the broadcast", _SIZE, "1.1 GB to 128 MB", _H, _worst_link),
    Claim("N24", "gains by the costs", "nps = 16, sn = 64", "scatter 16", _H, _gains),
)
