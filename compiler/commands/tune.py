"""`collc tune`: the best plans by length, as a table, data, or a clause to paste."""

import csv
import io
import os
import re
import sys
from dataclasses import replace
from functools import partial
from typing import Any

import click

from collc.base.cache import on_all_cores, workers
from collc.base.table import aligned
from collc.commands.output import WRONG_RUN, print_data
from collc.commands.over import with_bar
from collc.commands.source import Source, reporting, source_options
from collc.driver.questions import Question, Remembered
from collc.run import RunError
from collc.tuning.lengths import Row, crossing_of_plans, different, rows_of, sampled
from collc.tuning.show import plan_as_data


def _over(_: click.Context, __: click.Parameter, value: str) -> tuple[str, range]:
    """`B=1..8192`."""
    found = re.fullmatch(r" *([A-Za-z_]\w*) *= *([0-9]{1,6}) *\.\. *([0-9]{1,6}) *", value)
    if found and int(found[3]) < int(found[2]):
        name, first, last = found.groups()
        raise click.BadParameter(f"{value!r} ends before it begins: write {name}={last}..{first}")
    if not found or not int(found[2]):
        raise click.BadParameter(f"{value!r} is not NAME=FIRST..LAST, such as B=1..8192")
    return found[1], range(int(found[2]), int(found[3]) + 1)


@click.command()
@source_options
@click.option(
    "--over",
    callback=_over,
    required=True,
    metavar="NAME=FIRST..LAST",
    help="The parameter that sets the length, and its values.",
)
@click.option("--csv", "as_csv", is_flag=True, help="Print the table as CSV.")
@click.option("--select", "as_clause", is_flag=True, help="Print a `select` clause to paste.")
@click.option("--measure", is_flag=True, help="Also run both ends of every row on fabsim.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    default=os.cpu_count() or 1,
    help="Processes at the same time.",
)
@reporting
def command(  # noqa: PLR0913, PLR0917 - as many as there are options
    source: Source,
    over: tuple[str, range],
    as_csv: bool,
    as_clause: bool,
    measure: bool,
    jobs: int,
) -> None:
    """Find the best plan for FILE's contract for every length; its own steps are left aside.

    Choices are kept in the user's cache folder, so that an interrupted run goes on where it was.
    """
    name, lengths = over
    if name in source.definitions:
        raise click.UsageError(f"{name} is what --over varies; leave out -D {name}=...")
    if source.as_data + as_csv + as_clause > 1:
        raise click.UsageError("--json, --csv and --select are three forms of one table; name one")
    question = Question(source.text, str(source.file), source.definitions, source.target, name)
    remembered = Remembered(question)
    rows = _rows(question, remembered, lengths, jobs)
    if measure:
        try:
            rows = _measured(question, remembered, rows, jobs)
        except RunError as error:
            click.echo(f"collc: the run failed: {error}", err=True)
            sys.exit(WRONG_RUN)
    if source.as_data:
        print_data({"file": source.label, "over": name, "rows": list(map(_as_data, rows))})
    elif as_csv:
        click.echo(_as_csv(rows), nl=False)
    elif as_clause:
        click.echo(clause_of(rows), nl=False)
    else:
        click.echo(_as_table(name, rows), nl=False)


def _rows(question: Question, remembered: Remembered, lengths: range, jobs: int) -> list[Row]:
    wanted = sampled(lengths)
    deciding = on_all_cores(question.decide, wanted, remembered.plan, remembered.keep, jobs)
    chosen = dict(zip(wanted, with_bar(deciding, "choosing", len(wanted)), strict=True))
    crossings = list(different(chosen))
    with workers(min(len(crossings), jobs)) as pool:
        found = pool.starmap(partial(crossing_of_plans, question.least), crossings)
    return list(
        rows_of(chosen, {low: last for (low, *_), last in zip(crossings, found, strict=True)})
    )


def _measured(question: Question, remembered: Remembered, rows: list[Row], jobs: int) -> list[Row]:
    """The rows with the simulated cycles of their first and last length; each run is kept. Raises
    RunError."""
    ends = {row: tuple(dict.fromkeys((row.first, row.last))) for row in rows}
    wanted = [(row.plan.text, length) for row, lengths in ends.items() for length in lengths]

    def known(one: tuple[str, int]) -> int | None:
        return remembered.cycles(*one)

    def keep(one: tuple[str, int], cycles: int) -> None:
        remembered.keep_cycles(*one, cycles)

    running = on_all_cores(partial(_simulated, question), wanted, known, keep, jobs)
    found = dict(zip(wanted, with_bar(running, "running", len(wanted)), strict=True))
    return [
        replace(row, measured=tuple(found[row.plan.text, length] for length in lengths))
        for row, lengths in ends.items()
    ]


def _simulated(question: Question, one: tuple[str, int]) -> int:
    report = question.bundle(*one).run()
    if not report.verified:
        raise RunError(f"{one[0]} for {question.name} = {one[1]}: {report.problem}")
    return report.cycles


def _as_data(row: Row) -> dict[str, Any]:
    plan = plan_as_data(row.plan) | {"chosen_at": row.length}
    return {"first": row.first, "last": row.last, **plan, "measured": list(row.measured) or None}


def _cells(row: Row) -> tuple[str, ...]:
    plan = row.plan
    measured = " ".join(map(str, row.measured))
    numbers = (row.first, row.last, row.length, plan.cycles, plan.colors, plan.memory_bytes)
    return (*map(str, numbers), measured, plan.term, plan.text)


_HEADS = (
    "first",
    "last",
    "chosen at",
    "cycles",
    "colors",
    "bytes a PE",
    "measured",
    "most",
    "plan",
)


def _as_csv(rows: list[Row]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head.replace(" ", "_") for head in _HEADS)
    writer.writerows(map(_cells, rows))
    return text.getvalue()


def _as_table(name: str, rows: list[Row]) -> str:
    cells = [(f"{name} from", "to", f"at {name} =", *_HEADS[3:]), *map(_cells, rows)]
    kept = [index for index in range(len(_HEADS)) if any(row[index] for row in cells[1:])]
    numbers = [at for at, index in enumerate(kept) if index < _HEADS.index("most")]
    return "\n".join(aligned([[row[i] for i in kept] for row in cells], right=numbers)) + "\n"


def clause_of(rows: list[Row]) -> str:
    """The rows as the language takes them."""
    lines = [f"    n <= {row.last}: {row.plan.text}" for row in rows[:-1]]
    lines.append(f"    else: {rows[-1].plan.text}")
    return "\n".join(["select by n {", *lines, "}"]) + "\n"
