"""The figures the project stands by, measured in one go: `make acceptance`.

Runs every row on fabsim and prints cycles, limit, prediction and verdict; exits with 1 if a row
fails. Rows are published measurements (docs/machine.md) or limits set by this project. `--quick`
leaves out the sweep over all examples.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from time import perf_counter

import collc

EXAMPLES = Path(__file__).parents[1] / "examples"

# Cycles of a published two-phase reduce, P = 512, B = 4096, on the vendor's simulator, by S.
PUBLISHED_TWO_PHASE = {2: 10055, 4: 9421, 8: 9117, 16: 8989, 32: 8973, 64: 9061, 128: 9297} | {
    256: 9800
}
START_UP = 90  # cycles that a prediction may be off besides its 2 %


@dataclass(frozen=True)
class Row:
    """One measurement: `least` and `most` bound the cycles where a limit is set."""

    example: str
    target: str
    parameters: dict[str, int] = field(hash=False)
    least: int | None = None
    most: int | None = None


@dataclass(frozen=True)
class Outcome:
    """What a row gave; `fault` is empty when all is well."""

    row: Row
    cycles: int
    predicted: int
    fault: str


def limited_rows() -> Iterator[Row]:
    """The rows with a limit on cycles."""
    yield Row("chain", "wse2", {"P": 512, "B": 4096}, 7162, 7262)
    yield Row("chain", "wse2", {"P": 15, "B": 128}, most=275)
    yield Row("chain", "wse3", {"P": 15, "B": 128}, most=300)
    for group, cycles in PUBLISHED_TWO_PHASE.items():
        parameters = {"P": 512, "B": 4096, "S": group}
        yield Row("two_phase", "wse2", parameters, most=cycles * 101 // 100)
    yield Row("binomial", "wse2", {"P": 512, "B": 1}, most=680)
    yield Row("star", "wse2", {"P": 512, "B": 1}, most=610)
    yield Row("broadcast", "wse2", {"P": 512, "B": 1024}, most=1610)
    yield Row("allreduce_2d", "wse2", {"W": 32, "H": 24, "B": 100})


def sweep_rows() -> Iterator[Row]:
    """Every example with the parameters it has, over sizes that divide by nothing; one that says
    that its vectors are even, over the even lengths."""
    for path in sorted(EXAMPLES.glob("*.coll")):
        even = "B mod 2 == 0" in path.read_text(encoding="utf-8")
        names = {p.name for p in collc.compile(path).spec.parameters}
        for target, ranks, length in product(
            ("wse2", "wse3"), (1, 2, 3, 5, 7, 31, 64), (1, 2, 17, 1000)
        ):
            wanted = {"P": ranks, "W": ranks, "H": (ranks + 1) // 2, "B": length}
            if "S" in names:
                wanted["S"] = min(8, ranks)
            given = {name: value for name, value in wanted.items() if name in names}
            row = Row(path.stem, target, given)
            if ("P" in names or "W" in names or ranks == 1) and not (even and length % 2):
                yield row


def measure(row: Row) -> Outcome:
    """Compile and run one row."""
    path = EXAMPLES / f"{row.example}.coll"
    try:
        bundle = collc.compile(path, target=row.target, **row.parameters)
        report = bundle.run()
    except (collc.CollcError, collc.RunError) as error:
        return Outcome(row, 0, 0, str(error))
    predicted = bundle.prediction.cycles
    return Outcome(row, report.cycles, predicted, _fault(row, report, predicted))


def _fault(row: Row, report: collc.RunReport, predicted: int) -> str:
    if not report.verified:
        return report.problem
    if row.least is not None and report.cycles < row.least:
        return f"fewer cycles than {row.least}"
    if row.most is not None and report.cycles > row.most:
        return f"more cycles than {row.most}"
    if abs(report.cycles - predicted) > 0.02 * report.cycles + START_UP:
        return "prediction is off"
    return ""


def main() -> int:
    """Measure all rows on all cores and print the table."""
    rows = list(limited_rows())
    if "--quick" not in sys.argv:
        rows += sweep_rows()
    began = perf_counter()
    failures = 0
    with ProcessPoolExecutor() as pool:
        for outcome in pool.map(measure, rows):
            failures += bool(outcome.fault)
            print(_line(outcome), flush=True)
    print(f"{len(rows)} rows, {failures} failures, {perf_counter() - began:.0f} s")
    return 1 if failures else 0


def _line(outcome: Outcome) -> str:
    row = outcome.row
    parameters = " ".join(f"{name}={value}" for name, value in row.parameters.items())
    limit = f"{row.least or ''}..{row.most or ''}" if row.most else ""
    verdict = outcome.fault or "ok"
    return (
        f"{row.example:<14} {row.target} {parameters:<22} {outcome.cycles:>7} {limit:>11} "
        f"predicted {outcome.predicted:>7}  {verdict}"
    )


if __name__ == "__main__":
    sys.exit(main())
