"""Programs of several collectives on one row, for tests and measurements."""

from __future__ import annotations

from collections.abc import Sequence

PATTERNS = {
    "broadcast from the west": "broadcast({b}: f32[B]) on row {{ broadcast from 0 }}",
    "broadcast from the east": "broadcast({b}: f32[B]) on row {{ broadcast from P - 1 }}",
    "broadcast from the middle": "broadcast({b}: f32[B]) on row {{ broadcast from P div 2 }}",
    "chain": "reduce({b}: f32[B], add) on row {{ order west_to_east reduce chain to 0 }}",
    "two_phase": "reduce({b}: f32[B], add) on row "
    "{{ order west_to_east reduce two_phase(S = isqrt(P)) to 0 }}",
    "binomial": "reduce({b}: f32[B], add) on row {{ order west_to_east reduce binomial to 0 }}",
    "optimal": "reduce({b}: f32[B], add) on row {{ order west_to_east reduce optimal to 0 }}",
    "ring": "allreduce({b}: f32[B], add) on row {{ order ring run ring_allreduce }}",
}


def program_of(
    calls: Sequence[str],
    limits: str,
    rounds: int = 1,
    target: str = "wse2",
    others: bool = False,
) -> str:
    """A program that calls these patterns in order, with parameters P and B. A pattern that is
    called again is the same collective on the same buffer, or one of the `others`."""
    used = list(calls) if others else list(dict.fromkeys(calls))
    lines = [f"target {target}", "param P = 8", "param B = 4", "grid row = P x 1"]
    lines += [
        f"collective c{i} = {PATTERNS[pattern].format(b=f'v{i}')}" for i, pattern in enumerate(used)
    ]
    order = range(len(used)) if others else map(used.index, calls)
    words = " ".join(f"c{i}" for i in order)
    body = f"repeat {rounds} {{ {words} }}" if rounds > 1 else words
    return "\n".join([*lines, f"program {{ {body} {limits} }}"]) + "\n"


def dynamic_length(longest: str, colors: int, target: str = "wse2", rounds: int = 1) -> str:
    """A reduction by a star, a two-phase tree, or another tree, with parameters P and B."""
    lines = [f"target {target}", "param P = 8", "param B = 40", "grid row = P x 1"]
    lines += [
        "collective total = reduce(x: f32[n <= B], add) on row {",
        "    select by n {",
        "        n <= 2: reduce star to 0",
        "        n <= 17: order east_to_west reduce two_phase(S = 3) to P - 1",
        f"        else: reduce {longest} to 0",
        "    }",
        "}",
    ]
    body = f"repeat {rounds} {{ total }}" if rounds > 1 else "total"
    return "\n".join([*lines, f"program {{ {body} within colors <= {colors} }}"]) + "\n"


def all_pairs(patterns: Sequence[str]) -> list[str]:
    """A succession in which every pattern follows every pattern, itself included, once."""
    succession = [patterns[0]]
    left = {one: list(patterns) for one in patterns}
    trail: list[str] = []
    while succession:  # a closed trail through all pairs
        here = succession[-1]
        if left[here]:
            succession.append(left[here].pop())
        else:
            trail.append(succession.pop())
    return trail[::-1]
