"""What taking turns on few colors costs, in cycles of two collectives: against the same two on
colors of their own, as many for each as it may use here.

    python tests/switch_over.py [P] [B] [COLORS] [--target wse3] [--auto]
    python tests/switch_over.py --sweep     # other P and B, both targets: the largest of each

Colors are torn down behind each use; with --auto only where the compiler chooses so, and the two
collectives are different ones with buffers of their own, also where their patterns are the same.

The table has a row for what comes first and a column for what follows. Run by hand;
docs/program-costs.md has a result.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import click
from programs.bare import planned, run_planned
from programs.texts import PATTERNS, program_of
from with_schedules import check_program, schedules_of

from collc.cost.choice import fastest
from collc.driver.proving import refuse_if_any
from collc.lowering.sharing import apart
from collc.plan.plan import ProgramPlan
from collc.run.program import NOTHING_KNOWN
from collc.spec import Spec
from collc.target import TARGETS

SWEEP_RANKS = (8, 33, 64)
SWEEP_LENGTHS = (1, 16, 256)
SWEEP_COLORS = 3


@click.command()
@click.argument("ranks", type=int, default=33)
@click.argument("length", type=int, default=16)
@click.argument("colors", type=int, default=3)
@click.option("--target", default="wse2")
@click.option("--auto", is_flag=True, help="What the compiler chooses, not always a teardown.")
@click.option("--sweep", is_flag=True, help="Other sizes and targets, only the largest of each.")
def main(ranks: int, length: int, colors: int, target: str, auto: bool, sweep: bool) -> None:
    """Measure all pairs of patterns on RANKS PEs with LENGTH elements and COLORS colors."""
    if sweep:
        print("| target | P | B | largest | of | chain, then broadcast | mean |")
        print("|---|---|---|---|---|---|---|")
        for of, p, b in product(("wse2", "wse3"), SWEEP_RANKS, SWEEP_LENGTHS):
            print(f"| {of} | {p} | {b} | {_summary(p, b, of, auto)} |", flush=True)
        return
    patterns = [name for name in PATTERNS if name != "ring" or colors > 2]
    print(f"P = {ranks}, B = {length}, {colors} colors, {target}")
    print("| first, then | " + " | ".join(patterns) + " |")
    print("|---|" + "---|" * len(patterns))
    for first in patterns:
        row = [extra((first, then), ranks, length, colors, target, auto) for then in patterns]
        print(f"| {first} | " + " | ".join(map(str, row)) + " |", flush=True)


def _summary(ranks: int, length: int, target: str, auto: bool) -> str:
    """The largest and what it is of, that of a chain before a broadcast, the mean."""
    extras = {
        pair: extra(pair, ranks, length, SWEEP_COLORS, target, auto)
        for pair in product(PATTERNS, PATTERNS)
    }
    worst = max(extras, key=lambda pair: extras[pair])
    after_chain = max(_after_chain(extras))
    mean = sum(extras.values()) / len(extras)
    return f"{extras[worst]} | {worst[0]}, then {worst[1]} | {after_chain} | {mean:.0f}"


def _after_chain(extras: dict[tuple[str, str], int]) -> Iterator[int]:
    for (first, then), extra in extras.items():
        if first == "chain" and then.startswith("broadcast"):
            yield extra


def extra(
    calls: tuple[str, str], ranks: int, length: int, colors: int, target: str, auto: bool = False
) -> int:
    """Both times with the plans that the limit of colors leaves for each of the two."""
    limits = f"within colors <= {colors}" + " reconfigure teardown" * (not auto)
    text = program_of(calls, limits, target=target, others=auto)
    spec, time_multiplexed = planned(text, {"P": ranks, "B": length})
    schedules = schedules_of(time_multiplexed)
    plans = tuple(fastest(one, time_multiplexed.target, colors) for one in schedules)
    unlimited = replace(time_multiplexed.program, colors=None)
    by_themselves = apart(plans, unlimited, TARGETS[target])
    refuse_if_any(check_program(by_themselves))
    return _cycles(spec, time_multiplexed) - _cycles(spec, by_themselves)


def _cycles(spec: Spec, plan: ProgramPlan) -> int:
    report = run_planned(spec, plan)
    if not report.verified and report.problem != NOTHING_KNOWN:
        sys.exit(f"{spec.program}: {report.problem}")
    return report.cycles


if __name__ == "__main__":
    main()
