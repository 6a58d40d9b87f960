"""The closed forms of the cost model under the names of the patterns, as they are written.

P PEs, B elements, `ramp` cycles between a processor and its router; other names are the pattern's
own. A test holds the words against `collc_research.reproduce.closed_forms`.
"""

from collc.base.values import dataclass


@dataclass(frozen=True)
class Formula:
    """Cycles as an expression; `where` says for which numbers, empty for all."""

    text: str
    where: str = ""

    def __str__(self) -> str:
        return f"{self.text}, for {self.where}" if self.where else self.text


FORMULAS = {
    "broadcast": Formula("P + 2 * ramp + B"),
    "chain": Formula("2 * (P - 1) * (ramp + 1) + B"),
    "star": Formula("2 * ramp + 2 + (P - 1) * B"),
    "binomial": Formula(
        "P + ceil(log2(P)) * (2 * ramp + 1) + B - 1 + "
        "sum(max(0, B - 2 * (2**k + ramp) - 1) for k in range(ceil(log2(P)) - 1))",
        "P == 2**ceil(log2(P))",
    ),
    "two_phase": Formula(
        "P + (S + ceil(P / S) - 2) * (2 * ramp + 1) + B - 1 + max(0, B - S - 2 * ramp - 1)",
        "1 < S < P / 2",
    ),
    "ring_allreduce": Formula("2 * (P - 1) * (B / P + 2 * ramp + 3)"),
    "butterfly": Formula(
        "sum(2 * (G - 1) * (B / G + 2 * ramp + 1 + (1 if G == 2 else 2) * G**k) "
        "for k in range(round(log2(P) / log2(G))))",
        "P == G**k",
    ),
}
