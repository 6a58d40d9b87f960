"""The text of lanes beside the text of each form: cycles, and lines that are generated.

    python tests/lanes_text.py [EXAMPLE ...]

Each example runs on both targets, three calls on one load, and once more with PEs that begin late;
results are compared with NumPy. Lines are those of CSL, without comments and empty lines; of the
text of lanes the fixed files do not count. What the text of lanes does not print yet is listed with
what it says. The status is 1 where a result is wrong, or a call takes more than 2 % and 10 cycles
longer than by the text of its form.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import click

from collc.base.diagnostics import CollcError
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.run import RunError

ROOT = Path(__file__).parents[1]
EXAMPLES = {path.stem: path for path in sorted((ROOT / "examples").glob("*.coll"))}
TARGETS = ("wse2", "wse3")
FIXED = ("ops.csl", "join.csl", "queues.csl", "router.csl", "routers.csl")
CALLS = 3


@dataclass(frozen=True)
class Row:
    """An example on a target: cycles and lines by the text of its form, and by that of lanes."""

    name: str
    target: str
    before: int
    after: int
    lines_before: int
    lines_after: int
    problem: str

    @property
    def worse(self) -> bool:
        """Whether the text of lanes takes more than it may."""
        return bool(self.problem) or self.after > most(self.before)


def most(cycles: int) -> float:
    """What the text of lanes may take where that of the form takes so many cycles."""
    return cycles * 1.02 + 10


@contextmanager
def fabsim_options(options: str) -> Iterator[None]:
    """Fabsim with other options."""
    before = os.environ.get("FABSIM_OPTIONS")
    os.environ["FABSIM_OPTIONS"] = options
    try:
        yield
    finally:
        if before is None:
            del os.environ["FABSIM_OPTIONS"]
        else:
            os.environ["FABSIM_OPTIONS"] = before


def compiled(name: str, target: str, text: str, given: Mapping[str, int]) -> Bundle:
    """An example by one of the texts."""
    path = EXAMPLES[name]
    return compile_text(path.read_text(), path.name, dict(given), target, emitted=text)


def row_of(name: str, target: str, given: Mapping[str, int]) -> Row:
    """An example measured; raises CollcError for what is not printed yet."""
    lanes = compiled(name, target, "lanes", given)
    forms = compiled(name, target, "forms", given)
    before, problem, after = forms.run().cycles, "", 0
    try:
        runs = [lanes.run(repeats=CALLS)]
        with fabsim_options("--late-starts 300:7"):
            runs.append(lanes.run(repeats=CALLS))
        problem = next((run.problem for run in runs if not run.verified), "")
        after = runs[0].cycles
    except RunError as error:
        problem = str(error)
    return Row(name, target, before, after, lines_of(forms.files), lines_of(lanes.files), problem)


def lines_of(files: Mapping[str, str]) -> int:
    """Lines of generated CSL of the PE's text and the layout's, without comments."""
    csl = [
        text
        for file, text in files.items()
        if file.endswith(".csl")
        and file not in FIXED
        and not file.startswith(("op_", "loop_", "table_"))
    ]
    lines = (line.strip() for text in csl for line in text.splitlines())
    return sum(bool(line) and not line.startswith("//") for line in lines)


@click.command()
@click.argument("examples", nargs=-1)
@click.option("--target", "targets", multiple=True, default=TARGETS)
def main(examples: tuple[str, ...], targets: tuple[str, ...]) -> None:
    """Measure EXAMPLES, all of them if none is named."""
    rows, refused = [], []
    for name in examples or EXAMPLES:
        for target in targets:
            try:
                rows.append(row_of(name, target, {}))
            except CollcError as error:
                refused.append((name, target, error.diagnostics[0].message))
                continue
            row = rows[-1]
            said = row.problem.splitlines()[0] if row.problem else "worse" if row.worse else ""
            print(
                f"| {row.name} | {row.target} | {row.before} | {row.after} "
                f"| {row.lines_before} | {row.lines_after} | {said} |",
                flush=True,
            )
    for name, target, message in refused:
        if target == targets[0]:
            print(f"- {name}: {message}")
    right = [row for row in rows if not row.problem]
    if right:
        ratio = median(row.after / row.before for row in right)
        lines = median(row.lines_after / row.lines_before for row in right)
        print(f"{len(rows)} rows, cycles in median {ratio:.3f}, lines in median {lines:.2f}")
    sys.exit(any(row.worse for row in rows))


if __name__ == "__main__":
    main()
