"""How fast the simulator is and how much memory it takes: `make bench`.

Prints two tables, the second one of the machine without its shortcuts. Every row is run several
times and shows its fastest run, since other work on the machine can only slow a run down. `--quick`
leaves out the rows that take more than a few seconds. docs/performance.md says what the columns
mean.

    python tests/performance.py SPEED [--quick]     # SPEED: the program examples/speed.rs
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import collc

EXAMPLES = Path(__file__).parents[1] / "examples"
LIMIT_S = 600  # for one run


@dataclass(frozen=True)
class Row:
    """One measurement: the arguments of the program, and how many runs to choose from."""

    name: str
    arguments: tuple[str, ...]
    threads: int
    runs: int


@dataclass(frozen=True)
class Outcome:
    """The fastest run of a row: what the program said, and the seconds of the whole process."""

    row: Row
    facts: dict[str, Any]
    seconds: float


def chains(width: int, height: int, length: int, threads: int, runs: int) -> Row:
    """A chain reduce in every row of a grid."""
    arguments = ("chains", str(width), str(height), str(length))
    return Row(f"chains {width} x {height}, {length} words", arguments, threads, runs)


def code(width: int, height: int, turns: int, clock: str, runs: int) -> Row:
    """Tasks and scalar loops on every PE, by one of the clocks."""
    arguments = ("code", str(width), str(height), str(turns), clock)
    return Row(f"code {width} x {height}, {clock}", arguments, 1, runs)


def bundle(example: str, folder: Path, threads: int, runs: int, **parameters: int) -> Row:
    """An example, emitted into a folder: compiled, loaded and run."""
    compiled = collc.compile(EXAMPLES / f"{example}.coll", **parameters)
    place = folder / f"{example}{threads}"
    compiled.write(place)
    grid = compiled.schedule.collective.grid
    length = compiled.schedule.collective.contract.length
    sizes = (grid.width, grid.height, length, 4)
    arguments = ("bundle", str(place / "layout.csl"), "wse2", *map(str, sizes))
    text = ", ".join(f"{name} = {value}" for name, value in parameters.items())
    return Row(f"{example} {text}", arguments, threads, runs)


def rows(folder: Path, quick: bool) -> Iterator[Row]:
    """All measurements, in the order of the table."""
    yield chains(512, 4, 4096, threads=1, runs=5)
    for clock in ("streams", "simfabric"):
        yield code(64, 64, 20, clock, runs=5)
    yield bundle("two_phase", folder, threads=1, runs=5, P=512, B=4096, S=32)
    for side in (64, 128, 256, 512):
        yield chains(side, side, 64, threads=1, runs=3)
    yield chains(512, 512, 64, threads=2, runs=3)
    if not quick:
        for threads in (1, 2):
            yield bundle("allreduce_2d", folder, threads, runs=1, W=750, H=994, B=64)


def references() -> Iterator[Row]:
    """The same without any shortcut, where that does not take minutes."""
    for row in (
        chains(512, 4, 4096, threads=1, runs=1),
        *(code(64, 64, 20, clock, runs=1) for clock in ("streams", "simfabric")),
        chains(64, 64, 64, threads=1, runs=3),
        chains(128, 128, 64, threads=1, runs=1),
    ):
        yield replace(row, arguments=("--reference", *row.arguments))


def measure(program: str, row: Row) -> Outcome:
    """The run of a row that took the fewest seconds of processor time in the launch."""
    outcomes = []
    for _ in range(row.runs):
        began = perf_counter()
        command = [program, "--threads", str(row.threads), *row.arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=LIMIT_S)
        outcomes.append(Outcome(row, json.loads(done.stdout), perf_counter() - began))
    return min(outcomes, key=lambda outcome: float(outcome.facts["cpu"]))


def line(outcome: Outcome) -> str:
    """A row of the table."""
    facts = outcome.facts

    def rate(seconds: float) -> str:
        return f"{facts['tile_cycles'] / max(seconds, 1e-6) / 1e6:.1f}"

    return (
        f"| {outcome.row.name} | {outcome.row.threads} | {facts['cycles']} "
        f"| {facts['tile_cycles'] / 1e6:.1f} | {facts['compile']:.2f} | {facts['wall']:.2f} "
        f"| {facts['cpu']:.2f} | {rate(facts['wall'])} "
        f"| {rate(facts['cpu']) if outcome.row.threads == 1 else ''} "
        f"| {outcome.seconds:.2f} | {facts['peak_mb']:.0f} |"
    )


def main() -> int:
    """Measure and print."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--quick"]
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="collc-bench-") as folder:
        table(arguments[0], rows(Path(folder), "--quick" in sys.argv))
    print("\nWithout shortcuts (`--reference`):\n")
    table(arguments[0], references())
    return 0


def table(program: str, measured: Iterator[Row]) -> None:
    """Measure and print rows as they come."""
    print(
        "| program | threads | cycles | 10^6 tile-cycles | compile s | run s | run cpu s "
        "| 10^6 tile-cycles/s | the same by cpu | all s | MB |"
    )
    print("|---" * 11 + "|")
    for row in measured:
        print(line(measure(program, row)), flush=True)


if __name__ == "__main__":
    sys.exit(main())
