"""Every contract in every scope under `run auto`: what compiles, what is refused, with which code.

    python tests/cells.py [--jobs 2] [--target wse2] [--every 7] [--list C302]

A cell is a contract, the PEs that it runs on, what is given when the program runs, the program
around it, the type and the form of its buffers, and a target; grids are small. Each cell compiles,
or is refused with a message that has a place and a help. A traceback, or a message that lacks one
of these, ends the command with status 1. The table counts outcomes by contract.
Run by hand and by .ci/nightly; tests/tuning/test_cells.py takes a sample that has every kind.
"""

from __future__ import annotations

import sys
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import product

import click

from collc.base.diagnostics import CollcError
from collc.driver.pipeline import compile_text

TARGETS = ("wse2", "wse3")
CONTRACTS = (
    "broadcast",
    "reduce",
    "allreduce",
    "scatter",
    "gather",
    "allgather",
    "reduce_scatter",
    "all_to_all",
    "barrier",
)
COMBINING = ("reduce", "allreduce", "reduce_scatter")
ROOTED = {"broadcast": "from", "reduce": "to", "scatter": "from", "gather": "to"}
# Declarations of the PEs `g`, the phrase behind `on`, and how many ranks a line of them has, if the
# collective is about one line.
SITES = {
    "row": ("grid g = 5 x 1", "g", 5),
    "column": ("grid g = 1 x 5", "g", 5),
    "one PE": ("grid g = 1 x 1", "g", 1),
    "grid": ("grid g = 4 x 3", "g", 0),
    "path": ("grid g = 4 x 3", "g", 12),
    "part": ("grid g = 6 x 5 grid p = g[1 .. 4, 1 .. 3]", "p", 0),
    "row of a part": ("grid g = 6 x 4 grid p = g[1 .. 5, 2]", "p", 5),
    "each row": ("grid g = 5 x 3", "each row of g", 5),
    "each column": ("grid g = 3 x 5", "each column of g", 5),
}
GIVEN = ("fixed", "length", "root", "length and root")
AROUND = (
    "alone",
    "before another",
    "behind another",
    "beside another",
    "repeated",
    "within 1",
    "within 2",
    "within 3",
)
ELEMENTS = ("f32", "f16", "i32", "u32", "i16", "u16", "(f32, u32)", "(u32, u32)")
FORMS = ("plain", "by 3", "into", "into by 2", "by 2 into")


@dataclass(frozen=True)
class Cell:
    """A program of the product."""

    contract: str
    site: str = "row"
    given: str = "fixed"
    around: str = "alone"
    element: str = "f32"
    form: str = "plain"
    target: str = "wse2"

    @property
    def text(self) -> str:
        """The program, as it is written."""
        grids, on, ranks = SITES[self.site]
        order = "order snake " if self.site == "path" else ""
        root = f" {ROOTED[self.contract]} r < {ranks}" if "root" in self.given else ""
        limit = f" within colors <= {self.around[-1]}" if self.around[:6] == "within" else ""
        body = f"{order}run auto{root}{limit if self.given == 'fixed' else ''}"
        other, calls = "", {"repeated": "repeat 3 { c }"}.get(self.around, "c")
        calls += "" if self.given == "fixed" else limit
        if self.around.endswith("another"):
            other = "collective o = allreduce(z: f32[8], max) on g { run auto }"
            calls = {"before": "c o", "behind": "o c", "beside": "c and o"}[self.around.split()[0]]
        return (
            f"{grids}\n"
            f"collective c = {self.contract}({self._buffer}){self._into} on {on} {{ {body} }}\n"
            f"{other}\n"
            f"program {{ {calls} }}\n"
        )

    @property
    def _buffer(self) -> str:
        if self.contract == "barrier":
            return ""
        apart = self.form.partition(" into")[0] if self.form.startswith("by") else ""
        operation = "argmax" if self.element.startswith("(") else "add"
        length = f"n <= {_LENGTH}" if "length" in self.given else str(_LENGTH)
        of_elements = f", {operation}" if self.contract in COMBINING else ""
        return f"x: {self.element}[{length}] {apart}{of_elements}"

    @property
    def _into(self) -> str:
        if "into" not in self.form:
            return ""
        return " into y" + self.form.partition("into")[2]

    def __str__(self) -> str:
        return ", ".join(
            (
                self.target,
                self.contract,
                self.site,
                self.given,
                self.around,
                self.element,
                self.form,
            )
        )


_LENGTH = 60  # a multiple of the ranks of every site, for all_to_all


def cells() -> Iterator[Cell]:
    """All cells: what is about plans in full, then forms of buffers on a row and on a grid."""
    plans = product(CONTRACTS, SITES, GIVEN, AROUND)
    buffers = product(CONTRACTS, ("row", "grid"), GIVEN[:3], ELEMENTS, FORMS)
    found = [Cell(*of) for of in plans]
    found += [Cell(c, s, g, "alone", *of) for c, s, g, *of in buffers]
    for cell in dict.fromkeys(found):
        if _has_a_meaning(cell):
            yield from (replace(cell, target=target) for target in TARGETS)


def _has_a_meaning(cell: Cell) -> bool:
    """Whether the language has words for it: a barrier has no buffer, and a root that is given is
    that of a rooted contract, on lines."""
    if cell.contract == "barrier" and (cell.given, cell.element, cell.form) != (
        "fixed",
        "f32",
        "plain",
    ):
        return False
    return "root" not in cell.given or (cell.contract in ROOTED and SITES[cell.site][2] > 0)


@dataclass(frozen=True)
class Outcome:
    """What came of a cell: `compiles`, the code of the first message, or `traceback`; what was
    said; and what is wrong with that, if anything is."""

    name: str
    said: str
    wrong: str = ""


def outcome(cell: Cell) -> Outcome:
    """Compile a cell as far as files."""
    try:
        files = compile_text(cell.text, "cell.coll", {}, cell.target).files
        assert any(files[name] for name in files)
    except CollcError as error:
        first = error.diagnostics[0]
        lacks = [word for word, there in (("help", first.help), ("place", first.at)) if not there]
        wrong = f"a message without a {' and a '.join(lacks)}" if lacks else ""
        return Outcome(first.code, f"{first.message}\n    help: {first.help}", wrong)
    except Exception:
        last = traceback.format_exc(limit=-2)
        return Outcome("traceback", last, last.splitlines()[-1])
    return Outcome("compiles", "")


def table(found: dict[Cell, Outcome]) -> str:
    """How many cells of each contract came to what."""
    counts = {kind: Counter[str]() for kind in (*CONTRACTS, "all")}
    for cell, one in found.items():
        counts[cell.contract][one.name] += 1
        counts["all"][one.name] += 1
    names = sorted(counts["all"], key=lambda name: (name != "compiles", name))
    rows = [("contract", *names), ("---",) * (1 + len(names))]
    rows += [(kind, *(str(of[name]) for name in names)) for kind, of in counts.items()]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


@click.command()
@click.option("--jobs", default=2)
@click.option("--target", "targets", multiple=True, default=TARGETS)
@click.option("--every", default=1, help="Take one of so many cells.")
@click.option("--list", "listed", help="List the cells that came to this, too.")
def main(jobs: int, targets: tuple[str, ...], every: int, listed: str | None) -> None:
    """Compile all cells and print what came of them."""
    of = [cell for cell in cells() if cell.target in targets][::every]
    with ProcessPoolExecutor(jobs) as pool:
        found = dict(zip(of, pool.map(outcome, of, chunksize=4), strict=True))
    print(table(found))
    said: dict[str, list[Cell]] = defaultdict(list)
    for cell, one in found.items():
        if one.name != "compiles":
            said[f"{one.name} {one.said}"].append(cell)
    for text, which in sorted(said.items()):
        print(f"\n{text}\n    {len(which)} cells, the first: {which[0]}")
    print(*(cell for cell, one in found.items() if one.name == listed), sep="\n")
    wrong = [f"{cell}: {one.wrong}" for cell, one in found.items() if one.wrong]
    print(*wrong, sep="\n", file=sys.stderr)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
