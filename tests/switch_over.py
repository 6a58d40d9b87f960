"""What taking turns on few colors costs, in cycles of two collectives: against the same two on
colors of their own.

    python tests/switch_over.py [P] [B] [COLORS] [--target wse3]

The table has a row for what comes first and a column for what follows. Run by hand;
docs/programs.md keeps a result.
"""

from __future__ import annotations

import sys

import click
from programs.texts import PATTERNS, program_of

from collc.programs import compile_any


@click.command()
@click.argument("ranks", type=int, default=33)
@click.argument("length", type=int, default=16)
@click.argument("colors", type=int, default=3)
@click.option("--target", default="wse2")
def main(ranks: int, length: int, colors: int, target: str) -> None:
    """Measure all pairs of patterns on RANKS PEs with LENGTH elements and COLORS colors."""
    patterns = [name for name in PATTERNS if name != "ring" or colors > 2]
    print(f"P = {ranks}, B = {length}, {colors} colors, {target}")
    print("| first, then | " + " | ".join(patterns) + " |")
    print("|---|" + "---|" * len(patterns))
    for first in patterns:
        row = [_extra((first, then), ranks, length, colors, target) for then in patterns]
        print(f"| {first} | " + " | ".join(map(str, row)) + " |", flush=True)


def _extra(calls: tuple[str, str], ranks: int, length: int, colors: int, target: str) -> int:
    shared = _cycles(
        calls, f"within colors <= {colors} reconfigure teardown", ranks, length, target
    )
    return shared - _cycles(calls, "", ranks, length, target)


def _cycles(calls: tuple[str, str], limits: str, ranks: int, length: int, target: str) -> int:
    text = program_of(calls, limits, target=target)
    report = compile_any(text, "pair.coll", {"P": ranks, "B": length}).run()
    if not report.verified:
        sys.exit(f"{calls}: {report.problem}")
    return report.cycles


if __name__ == "__main__":
    main()
