"""Example programs with PEs that start late at random: every round of every run compared.

    python tests/skews.py [--seeds 200] [--rounds 100] [--skew 200] [EXAMPLE ...]

Each program is compiled for each target and seed, by the simulator's strict rules. Its vectors are
the same in all runs; how long every PE waits before every call comes from the seed.
What is done is kept in build/skews, for each emitted text by itself, so that an interrupted command
goes on; it prints a table of all that is kept for what is emitted now.
Run by hand; docs/program-costs.md has a result.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import click
import fingerprint

from collc.base.columns import Array
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.run import compiled, fabsim_module
from collc.run.program import Wanted, compare, copy_in, held_in, inputs_of, wanted_of

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "build" / "skews"
EXAMPLES = ("program_mixed", "program_grid")


@dataclass(frozen=True)
class Prepared:
    """A program, how long its PEs wait at most, its input, and what has to come out."""

    bundle: Bundle
    skew: int
    given: dict[str, Array]
    wanted: Wanted


@click.command()
@click.argument("examples", nargs=-1)
@click.option("--seeds", default=200)
@click.option("--rounds", default=100)
@click.option("--skew", default=200, help="Turns of an empty loop that a PE waits at most.")
@click.option("--target", "targets", multiple=True, default=("wse2", "wse3"))
def main(
    examples: tuple[str, ...], seeds: int, rounds: int, skew: int, targets: tuple[str, ...]
) -> None:
    """Run EXAMPLES with all seeds on all targets; one that goes wrong ends the command."""
    rows = []
    for example, target in product(examples or EXAMPLES, targets):
        prepared = _prepared(example, target, rounds, skew)
        key = f"{example} {target} {rounds} rounds skew {skew}"
        path = KEPT / f"{fingerprint.of_run(prepared.bundle.files, target, skew)}.json"
        cycles: list[int] = json.loads(path.read_text()) if path.exists() else []
        for seed in range(len(cycles) + 1, seeds + 1):
            cycles.append(_run(prepared, target, seed, key))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(cycles))
        mean = sum(cycles) / len(cycles)
        rows.append(f"| {key} | {len(cycles)} | {min(cycles)} | {mean:.0f} | {max(cycles)} |")
    print("| program | seeds | fewest cycles | mean | most |", "|---|---|---|---|---|", sep="\n")
    print(*rows, sep="\n")


def _prepared(example: str, target: str, rounds: int, skew: int) -> Prepared:
    text = (ROOT / "examples" / f"{example}.coll").read_text()
    bundle = compile_text(text, f"{example}.coll", {"R": rounds}, target)
    given = inputs_of(bundle.program, 1)
    due = {one.collective.name: one for one in bundle.schedules}
    return Prepared(bundle, skew, given, wanted_of(bundle.program, due, given))


def _run(prepared: Prepared, target: str, seed: int, key: str) -> int:
    """The cycles of one run, from loading the program on."""
    waits = {"most_idle": prepared.skew, "idle_seed": seed}
    program = compiled(fabsim_module(), prepared.bundle.files, target, waits)
    simulator = fabsim_module().Simulator(program, threads=1)
    plan = prepared.bundle.program
    copy_in(simulator, plan, prepared.given)
    launch = simulator.launch("run")
    problem = compare(simulator, plan, prepared.wanted, held_in(simulator, plan))
    simulator.stop()
    if problem:
        raise click.ClickException(f"{key}, seed {seed}: {problem}")
    return int(launch.cycles)


if __name__ == "__main__":
    main()
