"""What a choice by length costs, in cycles: against each of its alternatives, compiled by itself
for that very length.

    python tests/choice.py [FILE] [-D P=128] [-D B=4096] [--target wse3] [--beside STEPS]

Lengths rise by half, and there are the neighbours of every limit. STEPS are those of a pattern that
is no alternative, such as "reduce optimal to 0". Run by hand; docs/program-costs.md has a result.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.language.show import show_spec
from collc.spec import Selection, Spec

FILE = Path(__file__).parent.parent / "examples" / "select.coll"
FAR = 1.5  # times the prediction of the best: patterns beyond are not run


@dataclass(frozen=True)
class Compared:
    """Cycles for one length: of the choice, and of each pattern; None where that was not run."""

    length: int
    chosen: int
    cycles: int
    fixed: tuple[int | None, ...]

    @property
    def worse(self) -> int:
        """Cycles more than the best pattern takes."""
        return self.cycles - min(cycles for cycles in self.fixed if cycles is not None)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True), default=FILE)
@click.option("-D", "definitions", multiple=True, default=("P=128", "B=4096"))
@click.option("--target")
@click.option("--beside", multiple=True, help="Steps of a pattern that is no alternative.")
def main(
    file: Path, definitions: tuple[str, ...], target: str | None, beside: Sequence[str]
) -> None:
    """Compare the first choice of FILE with what it chooses from, and with patterns BESIDE it."""
    values = {name: int(value) for name, _, value in (d.partition("=") for d in definitions)}
    bundle = compile_text(file.read_text(), file.name, values, target)
    ((selection, ranges), *_) = bundle.choices()
    patterns = [*dict.fromkeys(one.text for one in ranges), *beside]
    print(f"{file.name} {' '.join(definitions)} {bundle.spec.target}, {bundle.color_count} colors")
    for one in ranges:
        print(f"  n = {one.lengths[0]} to {one.lengths[1]}: {one.text}")
    print("\n| n | chosen | cycles | " + " | ".join(patterns) + " | more than the best |")
    print("|---|" + "---|" * (len(patterns) + 3))
    worst = 0
    for length in _lengths(selection):
        found = _compare(bundle, selection, length, patterns)
        worst = max(worst, found.worse)
        cells = ["-" if cycles is None else str(cycles) for cycles in found.fixed]
        row = [length, found.chosen + 1, found.cycles, *cells, found.worse]
        print("| " + " | ".join(map(str, row)) + " |", flush=True)
    print(f"\nat most {worst} cycles more than the best")


def _lengths(selection: Selection) -> Iterable[int]:
    most = selection.length.most
    found, length = {1, most}, 1.0
    while length < most:
        found.add(int(length))
        length = max(length + 1, 1.5 * length)
    for index in range(len(selection.names)):
        first, last = selection.lengths(index)
        found |= {first - 1, first, first + 1, last - 1, last, last + 1}
    return sorted(n for n in found if 1 <= n <= most)


def _compare(
    bundle: Bundle, selection: Selection, length: int, patterns: Sequence[str]
) -> Compared:
    report = bundle.run(lengths={selection.length.name: (length,)})
    if not report.verified:
        sys.exit(f"n = {length}: {report.problem}")
    alone = [_alone(bundle.spec, selection, length, steps) for steps in patterns]
    best = min(one.prediction.cycles for one in alone)
    near = [one if one.prediction.cycles <= FAR * best else None for one in alone]
    fixed = tuple(one and one.run().cycles for one in near)
    chosen = selection.names.index(selection.chosen(length))
    return Compared(length, chosen, report.cycles, fixed)


def _alone(spec: Spec, selection: Selection, length: int, steps: str) -> Bundle:
    """A pattern compiled by itself, for vectors of one length."""
    first = next(c for c in spec.collectives if c.name == selection.names[0])
    contract = replace(first.contract, length=length, run_length=None)
    one = replace(first, name="total", contract=contract, steps=(), expectations=())
    text = show_spec(replace(spec, collectives=(one,), program=None))
    return compile_text(text.replace("on row {", f"on row {{\n    {steps}"), "alone.coll", {})


if __name__ == "__main__":
    main()
