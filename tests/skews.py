"""Example programs with PEs that start late at random: every round of every run compared.

    python tests/skews.py [--seeds 200] [--rounds 100] [--skew 200] [EXAMPLE ...]

Each program is compiled once for each target, by the simulator's strict rules. Its vectors are the
same in all runs; the numbers that say how long every PE waits before every call come from the seed.
What is done is kept in build/skews, for each emitted text by itself, so that an interrupted command
goes on; it prints a table of all that is kept for what is emitted now.
Run by hand; docs/program-costs.md has a result.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import click
import fingerprint

from collc.base.columns import Array
from collc.base.files import write_files
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.run import fabsim_module
from collc.run.program import Wanted, compare, copy_in, held_in, inputs_of, wanted_of

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "build" / "skews"
EXAMPLES = ("program_mixed", "program_grid")


@dataclass(frozen=True)
class Prepared:
    """A program that fabsim has compiled, its input, and what has to come out."""

    bundle: Bundle
    program: Any  # fabsim's
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
            cycles.append(_run(prepared, seed, key))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(cycles))
        mean = sum(cycles) / len(cycles)
        rows.append(f"| {key} | {len(cycles)} | {min(cycles)} | {mean:.0f} | {max(cycles)} |")
    print("| program | seeds | fewest cycles | mean | most |", "|---|---|---|---|---|", sep="\n")
    print(*rows, sep="\n")


def _prepared(example: str, target: str, rounds: int, skew: int) -> Prepared:
    text = (ROOT / "examples" / f"{example}.coll").read_text()
    bundle = compile_text(text, f"{example}.coll", {"R": rounds}, target, skew)
    assert not bundle.program.alone
    with tempfile.TemporaryDirectory() as directory:
        write_files(Path(directory), bundle.files)
        layout = str(Path(directory) / "layout.csl")
        program = fabsim_module().compile(layout, arch=target, strict=True)
    given = inputs_of(bundle.program, 1)
    due = {one.collective.name: one for one in bundle.schedules}
    return Prepared(bundle, program, given, wanted_of(bundle.program, due, given))


def _run(prepared: Prepared, seed: int, key: str) -> int:
    """The cycles of one run, from loading the program on."""
    simulator = fabsim_module().Simulator(prepared.program, threads=1)
    plan = prepared.bundle.program
    copy_in(simulator, plan, prepared.given, seed)
    launch = simulator.launch("run")
    problem = compare(simulator, plan, prepared.wanted, held_in(simulator, plan))
    simulator.stop()
    if problem:
        raise click.ClickException(f"{key}, seed {seed}: {problem}")
    return int(launch.cycles)


if __name__ == "__main__":
    main()
