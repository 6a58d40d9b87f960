"""Claims of Rabenseifner's paper on reductions, under uniform cost.

Rounds are counted by following the steps of the algorithms; formulas are in
`collc_research.networks.uniform_forms`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import log2

from collc.base.diagnostics import CollcError
from collc.schedule import Schedule
from collc.spec import Algorithm
from collc.spec.exchange import Slicing
from collc_research.networks import uniform_forms as forms
from collc_research.networks.network import Uniform
from collc_research.networks.rounds import Round, rounds_of, rounds_of_steps
from collc_research.networks.uniform import UniformCost, uniform_cost
from collc_research.reproduce.claims import Claim, Depth, Finding, Verdict, exact, holds
from collc_research.reproduce.patterns import (
    allreduction,
    own_algorithms,
    proved,
    steps_of,
)
from collc_research.reproduce.rank_order import keeps_rank_order

Form = Callable[[int, float, Uniform], float]

FREE = Uniform(0.0, 0.0, 0.0)
UNITS = (
    replace(FREE, alpha_ns=1.0),
    replace(FREE, beta_ns_per_byte=1.0),
    replace(FREE, gamma_ns_per_byte=1.0),
)
CLUSTER = Uniform(alpha_ns=10_000, beta_ns_per_byte=10, gamma_ns_per_byte=1)
TOLERANCE = 1e-9


def _rounds(algorithm: Algorithm) -> tuple[Round, ...]:
    """Rounds for a vector of one element a slice."""
    return tuple(rounds_of_steps(algorithm.steps, Slicing(algorithm.slices, algorithm.slices)))


def _terms(algorithm: Algorithm) -> tuple[float, float, float]:
    """How many alpha, n beta and n gamma an algorithm takes."""
    rounds, n = _rounds(algorithm), algorithm.slices
    costs = [uniform_cost(unit, rounds, algorithm.ranks, 1).time_ns for unit in UNITS]
    return costs[0], costs[1] / n, costs[2] / n


def _deviation(form: Form, algorithms: Iterable[Algorithm]) -> float:
    """The largest difference between a formula and the rounds, over alpha, beta and gamma."""
    worst = 0.0
    for algorithm in algorithms:
        for counted, unit in zip(_terms(algorithm), UNITS, strict=True):
            worst = max(worst, abs(counted - form(algorithm.ranks, 1.0, unit)))
    return worst


def _is_proved(make: Callable[..., Schedule], *arguments: int | str) -> bool:
    """Whether a schedule can be made, which takes its proof."""
    try:
        make(*arguments)
    except CollcError:
        return False
    return True


def _left_out(_: Depth) -> Finding:
    """The ranks that go on to halve, and those that only exchange with a neighbour."""
    steps = steps_of("halving_doubling", 13).steps
    paired, active = (sorted(set(steps[i].source.tolist())) for i in (0, 2))
    equal = active == [0, 2, 4, 6, 8, 10, 11, 12] and paired == list(range(10))
    return exact(equal, ", ".join(map(str, active)))


def _first_halves(_: Depth) -> Finding:
    """Which slices of P0, P1 and P2 are sums after the first step."""
    first = steps_of("halving_doubling", 13).steps[0]
    columns = (first.destination, first.source, first.slice, first.count)
    arrived = {d: (s, a, c) for d, s, a, c in zip(*(c.tolist() for c in columns), strict=True)}
    equal = arrived[0] == (1, 0, 4) and arrived[1] == (0, 4, 4) and arrived[2] == (3, 0, 4)
    return exact(equal and bool(first.combines.all()), "A-D of 0-1, E-H of 0-1, A-D of 2-3")


def _results(depth: Depth) -> Finding:
    sizes = depth.of(range(2, 41), 10)
    fine = all(_is_proved(allreduction, "halving_doubling", p, 40) for p in sizes)
    roots = [(p, root) for p in depth.of(range(2, 25), 5) for root in depth.of(range(p), 5)]
    fine &= all(_is_proved(_reduce_to, p, root) for p, root in roots)
    ordered = all(keeps_rank_order(steps_of("halving_doubling", p)) for p in sizes)
    shown = f"proved for {len(sizes)} sizes and {len(roots)} roots"
    note = "partial results cover consecutive ranks" if ordered else "not in rank order"
    return exact(fine and ordered, shown, f"{note}: also for operations that do not commute")


def _reduce_to(ranks: int, root: int) -> Schedule:
    steps = f"run halving_doubling_reduce(root = {root}) to {root}"
    return proved("reduce(x: f32[24], add)", steps, ranks, own_algorithms())


def _halving_doubling(depth: Depth) -> Finding:
    algorithms = (steps_of("halving_doubling", p) for p in depth.of(range(2, 65), 20))
    worst = _deviation(forms.halving_doubling, algorithms)
    note = "the last message goes one way, and is charged as an exchange"
    return exact(worst < TOLERANCE, f"rounds differ by {worst:.1e}", note)


def _halving_doubling_reduce(depth: Depth) -> Finding:
    algorithms = (
        steps_of("halving_doubling_reduce", p, root=0) for p in depth.of(range(2, 40), 20)
    )
    worst = _deviation(forms.halving_doubling_reduce, algorithms)
    return exact(worst < TOLERANCE, f"rounds differ by {worst:.1e}")


def _ring(depth: Depth) -> Finding:
    sizes = depth.of(range(2, 40), 12)
    name = "exchange_and_ring_allreduce"
    worst = _deviation(forms.ring_allreduce, (steps_of(name, p) for p in sizes))
    fine = all(_is_proved(allreduction, name, p, 40, own_algorithms()) for p in sizes)
    note = "rank order would take two accumulators, for lower and for higher ranks"
    return exact(fine and worst < TOLERANCE, f"proved; rounds differ by {worst:.1e}", note)


def _doubling_and_tree(depth: Depth) -> Finding:
    fine, sizes = True, depth.of(range(2, 70), 24)
    for p in sizes:
        power = p & (p - 1) == 0
        doubling = tuple(rounds_of(allreduction("recursive_doubling", p)))
        fine &= len(doubling) == forms.ceil_log2(p) + (not power)
        steps = "reduce binomial to 0 then broadcast from 0"
        there_and_back = tuple(rounds_of(proved("allreduce(x: f32[1], add)", steps, p)))
        fine &= len(there_and_back) == 2 * forms.ceil_log2(p)
        fine &= keeps_rank_order(steps_of("recursive_doubling", p))
    note = "the step that takes the extra ranks in is one of the ceil(lg p)"
    return exact(fine, f"proved, and as many rounds, for {len(sizes)} sizes", note)


def _overlapped(algorithm: Algorithm) -> tuple[float, float, float]:
    """The same as `_terms`, if a rank only waits for its partners."""
    n, rounds = algorithm.slices, _rounds(algorithm)

    def ends(unit: Uniform) -> UniformCost:
        return uniform_cost(unit, rounds, algorithm.ranks, 1)

    costs = [ends(unit).overlapped_ns for unit in UNITS]
    return costs[0], costs[1] / n, costs[2] / n


def _blocks(depth: Depth) -> Finding:
    sizes = depth.of(range(2, 70), 16)
    fine = all(_is_proved(allreduction, "binary_blocks", p, 64) for p in sizes)
    blocks, halving = (_overlapped(steps_of(n, 13)) for n in ("binary_blocks", "halving_doubling"))
    less = blocks[1] < halving[1] and blocks[2] < halving[2]
    shown = f"{blocks[1]:g} n beta and {blocks[2]:g} n gamma, not {halving[1]:g} and {halving[2]:g}"
    in_step = _terms(steps_of("binary_blocks", 13))
    note = (
        f"proved; {blocks[0]:g} alpha, not {halving[0]:g}. A rank sends one message at a time and "
        f"waits for its partners only; step after step it would be {in_step[1]:g} n beta"
    )
    return holds(fine and less, shown, note)


def _doubled(_: Depth) -> Finding:
    """Leading terms: what p = 13 and its largest power of two save at the end added back."""
    odd, even = _terms(steps_of("halving_doubling", 13)), _terms(steps_of("halving_doubling", 8))
    transfer = (odd[1] + 2 / 8) / (even[1] + 2 / 8)
    computed = (odd[2] + 1 / 8) / (even[2] + 1 / 8)
    equal = abs(transfer - 2) < TOLERANCE and abs(computed - 1.5) < TOLERANCE
    return exact(equal, f"{transfer:.2f} and {computed:.2f}")


def _profile(_: Depth) -> Finding:
    share = 37.0 + 3.7
    return holds(share > 40, f"{share:.1f}%, {0.0854 * share:.2f}% of the run time")


def _blocks_are_chosen(p: int, size: int) -> bool:
    """The paper's rule for one machine."""
    bound = log2(size) / 2 - 2.5
    return p > 32 and size >= 16 * 1024 and forms.largest_gap(p) < bound


def _choice(_: Depth) -> Finding:
    refused = [size for size in (16, 32, 64) if not _blocks_are_chosen(33, size << 10)]
    chosen = _blocks_are_chosen(48, 16 << 10) and _blocks_are_chosen(540, 1 << 20)
    shown = f"33 PEs (gap {forms.largest_gap(33)}): no blocks up to {refused[-1]} KB"
    note = "at 32 KB the bound is 5, so 33 PEs have none at 32 KB either"
    return holds(chosen and refused == [16, 32], shown, note)


def _short_and_long(_: Depth) -> Finding:
    faster = []
    for size in (32, 1024, 1 << 20):
        times = [
            uniform_cost(
                CLUSTER,
                rounds_of_steps(a.steps, Slicing(a.slices, size // 4)),
                a.ranks,
                4,
            ).time_ns
            for a in (steps_of("recursive_doubling", 16), steps_of("halving_doubling", 16))
        ]
        faster.append(times[0] < times[1])
    shown = "doubling, doubling, halving" if faster == [True, True, False] else str(faster)
    return holds(faster == [True, True, False], shown, "alpha 10 us, beta 10 ns, gamma 1 ns: ours")


_E, _H = Verdict.EXACT, Verdict.HOLDS
_SIZES = "32 B, 1 KB, 1 MB"

CLAIMS = (
    Claim("R01", "ranks that halve", "13 ranks", "0 2 4 6 8 10 11 12", _E, _left_out),
    Claim("R02", "sums of the first step", "13 ranks", "P0, P1, P2", _E, _first_halves),
    Claim("R03", "halving and doubling is right", "p 2..40; 2..24, all roots", "yes", _E, _results),
    Claim("R04", "allreduce, halving, doubling", "p 2..64", "formula", _E, _halving_doubling),
    Claim("R05", "reduce, halving", "p 2..39", "formula", _E, _halving_doubling_reduce),
    Claim("R06", "ring allreduce", "p 2..39", "formula", _E, _ring),
    Claim("R07", "rounds of doubling and tree", "p 2..69", "ceil(lg p)", _E, _doubling_and_tree),
    Claim("R08", "binary blocks cost less", "p = 13; p 2..69", "yes", _H, _blocks),
    Claim("R09", "p not 2^k: transfer, computing", "p = 13", "2 and 1.5 times", _E, _doubled),
    Claim("R10", "reductions in MPI time", "37.0% + 3.7%", "over 40%", _H, _profile),
    Claim("R11", "33 PEs take halving below", "rule for the T3E", "32 KB", _H, _choice),
    Claim("R12", "doubling short, halving long", f"p = 16; {_SIZES}", "yes", _H, _short_and_long),
)
