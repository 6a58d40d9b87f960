"""The laws of plans: what a change of form or scope may cost, measured on the simulator.

    python tests/laws.py [--jobs N] [--seed N] [--drawn N] [--law N] [--page]

`tests/law_programs.py` says which programs: a fixed part, and a part that a seed chooses, which is
a new one each time and is printed; `--seed` repeats it. Each program is compiled and run.
Prints a table by law, then what is broken, worst first. Exits with 1 where a law is broken.
`--page` writes docs/laws.md. Some minutes on two processors.
"""

from __future__ import annotations

import json
import random
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from time import perf_counter

import click
import fingerprint
import law_programs
from law_programs import (
    LAWS,
    OF_A_PREDICTION,
    PART_OF_A_PREDICTION,
    Cell,
    Cliff,
    Run,
    choices,
    cliffs,
    drawn,
    fixed,
)

from collc.base.diagnostics import CollcError
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.run import RunError
from collc.run.program import KERNEL, NOTHING_KNOWN, run_program
from collc.spec.exchange import StepsPhase

ROOT = Path(__file__).parents[1]
PAGE, KEPT = ROOT / "docs" / "laws.md", ROOT / "build" / "laws.jsonl"
UNPRINTED = "C507"
# Messages that name what a machine has too little of: the size of its grid, colors, queues, tasks,
# DSRs, memory, extents of an operation, positions of switches, microthreads, filters; those of
# several together.
LIMITS = frozenset(
    {"C301", "C302", "C303", "C305", "C306", "C307", "C308", "C309", "C310", "C324", "C334", "C340"}
)
# What no machine has: a question without a meaning, which is answered with that.
MEANINGLESS = frozenset({"C175"})
LAUNCHES = 3
MOST_WAITING = 300  # turns of an empty loop
MOST_SECONDS = 120  # of processor time, for one program
TOO_LONG = "too long"
SHOWN = 12  # broken cells of a law that are listed


@dataclass(frozen=True)
class Figure:
    """What came of a program: its cycles and those that are predicted, or the code of
    the refusal and what it says; what is wrong with its results, or the traceback's last line."""

    cycles: int = 0
    predicted: int = 0
    by_steps: bool = False
    code: str = ""
    said: str = ""
    problem: str = ""

    @property
    def measured(self) -> bool:
        """Whether it has cycles to be compared."""
        return not self.code and not self.problem


@dataclass(frozen=True)
class Verdict:
    """A cell: what it took, what it may take, and whether the law is broken. `said` has
    the refusal, or what is wrong. A cell that cannot be judged, since one of its programs is
    refused, is neither kept nor broken."""

    cell: Cell
    took: int = 0
    may: float = 0
    broken: bool = False
    judged: bool = True
    said: str = ""

    @property
    def ratio(self) -> float:
        """What it took, of what it may take; without a figure 0."""
        return self.took / self.may if self.may else 0.0


# One program


def figure_of(run: Run) -> Figure:
    """What comes of a program."""
    try:
        bundle = compile_text(run.text, "law.coll", {}, run.target)
        return _simulated(run, bundle) if run.simulated else _predicted(bundle)
    except CollcError as error:
        return _refused(error)
    except RunError as error:
        return Figure(problem=str(error).splitlines()[0])
    except TimeoutError:
        return Figure(problem=TOO_LONG)
    except Exception as error:
        return Figure(problem=f"{type(error).__name__}: {error}")


def _refused(error: CollcError) -> Figure:
    first = error.diagnostics[0]
    return Figure(code=first.code, said=f"{first.message}; {first.help}")


def _predicted(bundle: Bundle) -> Figure:
    """What is predicted of a program that has been emitted."""
    assert any(bundle.files.values())
    return Figure(bundle.prediction.bound, bundle.prediction.cycles, _has_steps(bundle))


def _has_steps(bundle: Bundle) -> bool:
    return any(
        isinstance(phase, StepsPhase) for schedule in bundle.schedules for phase in schedule.phases
    )


def _simulated(run: Run, bundle: Bundle) -> Figure:
    files = {**bundle.files}
    if run.waits:
        files[KERNEL] = waiting(files[KERNEL])
    lengths = {name: (value,) * bundle.program.program.rounds for name, value in run.given}
    report = run_program(
        files,
        bundle.program,
        bundle.schedules,
        bundle.spec.target,
        seed=1,
        repeats=LAUNCHES if run.waits else 1,
        lengths=lengths or None,
    )
    problem = "" if report.problem == NOTHING_KNOWN else report.problem
    predicted = bundle.predicted(lengths).cycles
    return Figure(report.cycles, predicted, _has_steps(bundle), problem=problem.partition("\n")[0])


_LIBRARY = re.compile(r'^const (\w+) = @import_module\("\w+_pe\.csl"', re.MULTILINE)
_WAITING = """
const place_of_waiting = @import_module("<layout>");
var dice_of_waiting: u32 = 1;
var turns_of_waiting: u16 = 0;

fn wait_by_pe() void {
  dice_of_waiting = dice_of_waiting * 1664525 + 1013904223
    + @as(u32, place_of_waiting.get_x_coord()) * 7919
    + @as(u32, place_of_waiting.get_y_coord()) * 104729;
  turns_of_waiting = @as(u16, dice_of_waiting >> 16) % %MOST%;
  while (turns_of_waiting > 0) { turns_of_waiting -= 1; }
}
"""


def waiting(kernel: str) -> str:
    """A kernel that lets some time go by before each call of the library, on each PE and in each
    launch another; the library is the one that is shipped."""
    found = _LIBRARY.search(kernel)
    if found is None:
        raise ValueError("the kernel has no library")
    call = re.compile(rf"^( *)({found[1]}\.\w+\()", re.MULTILINE)
    text, count = call.subn(r"\1wait_by_pe();\n\1\2", kernel)
    if not count:
        raise ValueError("the kernel makes no call")
    return text.replace("\nfn run()", _WAITING.replace("%MOST%", str(MOST_WAITING)) + "\nfn run()")


# Judging


def verdict(cell: Cell, found: Mapping[Run, Figure]) -> Verdict:
    """A cell of a law, but for the last law's."""
    figure = found[cell.run]
    if cell.law == 0:
        return _compiles(cell, figure)
    if figure.problem:
        return Verdict(cell, broken=True, said=figure.problem)
    if figure.code:
        return Verdict(cell, judged=False, said=f"{figure.code} {figure.said}")
    if cell.law == 6:
        return Verdict(cell, figure.cycles)
    return _compared(cell, figure, [found[run] for run in cell.against])


HOW = {"sum": sum, "most": max, "least": min}


def _compared(cell: Cell, figure: Figure, against: Sequence[Figure]) -> Verdict:
    """What a cell takes beside what it may take; of plans that are enumerated those count that
    are not refused."""
    costs = [_cost(cell, one) for one in against if one.measured]
    if not costs or (cell.how != "least" and len(costs) < len(against)):
        return Verdict(cell, judged=False, said="what it is held against is refused")
    base, took = HOW[cell.how](costs), _cost(cell, figure)
    may = base * cell.factor + cell.more
    may += cell.by_steps * any(one.by_steps for one in against)
    return Verdict(cell, took, may, took > may, said=f"{took} for {base}")


def _cost(cell: Cell, figure: Figure) -> int:
    return figure.cycles if cell.run.simulated else figure.predicted


def _compiles(cell: Cell, figure: Figure) -> Verdict:
    if figure.problem:
        return Verdict(cell, broken=True, said=figure.problem)
    if figure.code in MEANINGLESS or figure.code == UNPRINTED:
        return Verdict(cell, judged=False, said=f"{figure.code} {figure.said}")
    return Verdict(
        cell,
        broken=bool(figure.code) and figure.code not in LIMITS,
        said=f"{figure.code} {figure.said}" if figure.code else "",
    )


def predictions(
    found: Mapping[Run, Figure], named: Mapping[Run, str] | None = None
) -> Iterator[Verdict]:
    """The last law: each program that was simulated and did not wait, as it is `named`."""
    for run, figure in found.items():
        if not run.simulated or run.waits or not figure.measured:
            continue
        cell = Cell(7, (named or {}).get(run) or _about(run), run)
        off = figure.predicted - figure.cycles
        may = PART_OF_A_PREDICTION * figure.cycles + OF_A_PREDICTION
        said = f"{figure.predicted} predicted, {figure.cycles} simulated"
        yield Verdict(cell, abs(off), may, abs(off) > may, said=said)


def _about(run: Run) -> str:
    """A program in a line."""
    given = ", ".join(f"{name} = {value}" for name, value in run.given)
    lines = [line for line in run.text.splitlines() if line and not line.startswith("//")]
    text = " ".join(" ".join(lines).split())
    return f"{text} {given}".strip()


def judged(cells: Sequence[Cell], found: Mapping[Run, Figure]) -> list[Verdict]:
    """All cells."""
    named = {cell.run: cell.about for cell in cells}
    return [*(verdict(cell, found) for cell in cells), *predictions(found, named)]


# Measuring


def _in_time(run: Run) -> Figure:
    """The same, within `MOST_SECONDS`."""
    with _limit():
        return figure_of(run)


@contextmanager
def _limit() -> Iterator[None]:
    signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _too_long(*_: object) -> None:
    raise TimeoutError


def measured(runs: Iterable[Run], jobs: int) -> dict[Run, Figure]:
    """All programs, each once, with a line now and then. What the same compiler and simulator have
    measured before is taken from `KEPT`."""
    once, mark = list(dict.fromkeys(runs)), fingerprint.of_tools()
    before, began = _kept(mark), perf_counter()
    found = {run: before[_key(run)] for run in once if _key(run) in before}
    missing = [run for run in once if run not in found]
    KEPT.parent.mkdir(exist_ok=True)
    if not before:
        KEPT.write_text(mark + "\n", encoding="utf-8")
    with KEPT.open("a", encoding="utf-8") as file, ProcessPoolExecutor(jobs) as pool:
        waiting_for = {pool.submit(_in_time, run): run for run in missing}
        for count, done in enumerate(as_completed(waiting_for), 1):
            run, figure = waiting_for[done], done.result()
            found[run] = figure
            file.write(json.dumps([_key(run), asdict(figure)]) + "\n")
            file.flush()
            if count % 100 == 0:
                spent = perf_counter() - began
                print(f"{count} of {len(missing)} programs in {spent:.0f} s", flush=True)
    return {run: found[run] for run in once}


def _key(run: Run) -> str:
    return sha256(repr(run).encode()).hexdigest()[:16]


def _kept(mark: str) -> dict[str, Figure]:
    """What has been measured by the compiler and the simulator with this mark."""
    if not KEPT.exists():
        return {}
    first, *lines = KEPT.read_text(encoding="utf-8").split("\n")[:-1] or [""]
    if first != mark:
        return {}
    rows = [json.loads(line) for line in lines]
    return {key: Figure(**figure) for key, figure in rows}


# Reporting


def kept(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """How far each law is kept, in words."""
    for law, about in LAWS.items():
        of = [one for one in verdicts if one.cell.law == law and one.judged]
        good = sum(not one.broken for one in of)
        share = "all" if good == len(of) else f"{good} of"
        yield f"- Law {law}, {about}: {share} {len(of)} cells."


def table(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """A row for each law: its cells, then what is broken and the worst ratio."""
    yield "| law | cells | broken | not judged | worst | where |"
    yield "|---|---|---|---|---|---|"
    for law, about in LAWS.items():
        of = [one for one in verdicts if one.cell.law == law]
        yield f"| {law}. {about} | {len(of)} | {' | '.join(_summary(of))} |"


def _summary(of: Sequence[Verdict]) -> Iterator[str]:
    yield str(sum(one.broken for one in of))
    yield str(sum(not one.judged for one in of))
    worst = max((one for one in of if one.may), key=lambda one: one.ratio, default=None)
    yield f"{worst.ratio:.2f}" if worst else "-"
    yield f"{_short(worst.cell.about)}: {worst.said}" if worst else "-"


def _short(about: str) -> str:
    return about if len(about) <= 160 else f"{about[:157]}..."


def broken(verdicts: Sequence[Verdict], most: int = SHOWN) -> Iterator[str]:
    """What is broken, law by law: refusals by what they say, figures worst first."""
    for law, about in LAWS.items():
        of = [one for one in verdicts if one.cell.law == law and one.broken]
        if not of:
            continue
        yield f"### Law {law}: {about}"
        yield ""
        figures_of = sorted((one for one in of if one.may), key=lambda one: -one.ratio)
        for one in figures_of[:most]:
            yield f"- {_short(one.cell.about)}: {one.said} ({one.ratio:.2f} of what it may)"
        if len(figures_of) > most:
            yield f"- and {len(figures_of) - most} more"
        said = Counter(one.said for one in of if not one.may)
        first = {one.said: one.cell.about for one in reversed(of)}
        for text, count in said.most_common():
            yield f"- {count} cells, such as {first[text]}: {text}"
        yield ""


def cliff_rows(found: Mapping[Run, Figure]) -> Iterator[str]:
    """The table of cliffs with today's figures."""
    yield "| the same thing | here | there | ratio | law |"
    yield "|---|---|---|---|---|"
    for cliff in cliffs():
        yield f"| {' | '.join(_cliff(cliff, found))} |"


def _cliff(cliff: Cliff, found: Mapping[Run, Figure]) -> Iterator[str]:
    here, runs = cliff.here
    there, run = cliff.there
    figure, base = found[run], [found[one] for one in runs]
    yield cliff.about
    yield f"{here}: {_figure(base, cliff.law)}"
    yield f"{there}: {_figure([figure], cliff.law)}"
    refused = not figure.measured or not all(one.measured for one in base)
    if refused or cliff.law == 7:
        yield "-"
    else:
        yield f"{figure.cycles / sum(one.cycles for one in base):.2f}"
    yield str(cliff.law)


def _figure(of: Sequence[Figure], law: int) -> str:
    wrong = next((one for one in of if not one.measured), None)
    if wrong is not None:
        return wrong.code or wrong.problem
    cycles, predicted = sum(one.cycles for one in of), sum(one.predicted for one in of)
    if law != 7:
        return f"{cycles:,}"
    return (
        f"{predicted:,} predicted, {cycles:,} simulated ({100 * (predicted / cycles - 1):+.1f} %)"
    )


HEAD = """\
# Laws of plans

Made by `make laws PAGE=--page` (`python tests/laws.py`), on the simulator, clock `simfabric`.

A law says what a change of form or scope may cost: a call in a program, a length that is given at
run time, a part of a grid. Where a law holds, cycles that were measured in one scope may be relied
on in the others. Where it is broken, this page says by what, and by how much.

In the table, *worst* is the cell that takes most of what it may take: a law is kept up to 1.00.
What a cell may take is what it is held against, and in cycles besides:

- {OF_A_CALL} for each call in a program, and {OF_A_DOUBLING} more for each doubling of the number
  of collectives (law 1);
- {OF_A_LENGTH} for a length given at run time, {OF_A_LENGTH_BY_STEPS} where vectors go by steps;
  {OF_A_ROOT} for a root (law 2);
- {OF_A_SCOPE} for a part, each row, or another collective beside it (law 4), and for a grid instead
  of its two halves, which may also copy each vector twice in memory where slices move (law 3);
- 1 % for what `run auto` chooses (law 5), 2 % and {OF_A_PREDICTION} cycles of a prediction (law 7).

A cell that is *not judged* has a program that is refused; which refusals are wrong, law 0 says.
{cells} cells: {part}, and {drawn} that seed {seed} has drawn.
"""


def page(
    verdicts: Sequence[Verdict],
    found: Mapping[Run, Figure],
    *,
    seed: int,
    count: int,
    every: int,
) -> str:
    """docs/laws.md."""
    cells = len(verdicts)
    part = "a fixed part" if every == 1 else f"one in {every} of a fixed part"
    words = {"cells": cells, "drawn": count, "seed": seed, "part": part}
    head = HEAD.format_map(vars(law_programs) | words)
    lines = [head, "## What may be relied on", "", *kept(verdicts), "", *table(verdicts), ""]
    lines += ["## What is broken today", "", *broken(verdicts)]
    lines += ["## The same thing in two forms", "", *cliff_rows(found)]
    return "\n".join(lines).rstrip() + "\n"


@click.command()
@click.option("--jobs", default=2, help="Processes.")
@click.option("--seed", type=int, help="Of the drawn part; another one each time unless said.")
@click.option("--drawn", "count", default=80, help="Cells that the seed draws.")
@click.option("--law", "chosen", type=int, multiple=True, help="These laws alone.")
@click.option("--every", default=1, help="One in so many of the cells that are not drawn.")
@click.option("--page", "written", is_flag=True, help="Write docs/laws.md.")
def main(
    jobs: int,
    seed: int | None,
    count: int,
    chosen: tuple[int, ...],
    every: int,
    written: bool,
) -> None:
    """Measure the cells of all laws, print what came of them."""
    seed = random.SystemRandom().randrange(10**6) if seed is None else seed
    print(f"seed {seed}", flush=True)
    cells = [*[*fixed(), *choices(seed)][::every], *drawn(seed, count)]
    cells = [cell for cell in cells if cell.law in chosen or not chosen]
    examples = [run for cliff in cliffs() for run in (*cliff.here[1], cliff.there[1])]
    runs = [run for cell in cells for run in (cell.run, *cell.against)]
    found = measured([*runs, *([] if chosen else examples)], jobs)
    verdicts = judged(cells, {run: found[run] for run in runs})
    print(*table(verdicts), "", *broken(verdicts), sep="\n")
    if not chosen:
        print(*cliff_rows(found), sep="\n")
    if written:
        PAGE.write_text(
            page(verdicts, found, seed=seed, count=count, every=every), encoding="utf-8"
        )
    sys.exit(any(one.broken for one in verdicts))


if __name__ == "__main__":
    main()
