"""The command line: `collc check | build | run | cost | plot | reproduce | explain | list`.

The only module that prints, exits, or writes files the user asked for. Exit status: 0 fine, 1 the
program is at fault, 2 wrong usage, 3 a run gave a wrong result or got stuck.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, NoReturn

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, track

from collc.by_colors import by_colors, show_by_colors
from collc.cost import show_gap, show_prediction
from collc.diagnostics import CollcError, Diagnostic
from collc.explain import explained_codes, explanation
from collc.language import read_source
from collc.language.source import MAX_SOURCE_BYTES
from collc.lowering import show_plan
from collc.networks import cost_on, read_network, show_cost
from collc.patterns import all_patterns, as_data, facts_of, show_page, show_table
from collc.pipeline import Bundle, compile_text, prove_text
from collc.plot.command import plot
from collc.reproduce import claims, rows_as_data, summary, tables_of
from collc.reproduce import reproduce as check_claims
from collc.reproduce.figure_command import reproduce_figures
from collc.run import RunError, RunReport
from collc.schedule import Schedule
from collc.show import as_json, render, show_spec
from collc.show_schedule import show_schedule
from collc.spec import Spec
from collc.target import TARGETS
from collc.version import __version__

_FRONT: dict[str, Callable[[Spec, Schedule], str]] = {
    "spec": lambda spec, _: show_spec(spec),
    "schedule": lambda _, schedule: show_schedule(schedule),
}
FAULT, USAGE, WRONG_RUN = 1, 2, 3
_INTERRUPTED, _PIPE_CLOSED = 130, 141  # what a shell says of SIGINT and SIGPIPE


def main() -> None:
    """Entry point of the `collc` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name may hold what the stream cannot encode
            stream.reconfigure(errors="backslashreplace")
    try:
        _run_commands()
    except (click.exceptions.Abort, KeyboardInterrupt):
        _stop("interrupted", _INTERRUPTED)
    except _PipeClosedError:
        _drop_output()  # `collc ... | head`: whoever read has seen enough
        sys.exit(_PIPE_CLOSED)
    except OSError as error:
        _drop_output()
        _stop(f"{error.filename or 'cannot print'}: {error.strerror or error}", FAULT)


def _drop_output() -> None:
    """Let what could not be written go, so that Python does not try again as it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _run_commands() -> None:
    try:
        commands(standalone_mode=False)
    except click.ClickException as error:
        if "--json" in sys.argv:
            _print_data({"diagnostics": [as_json(Diagnostic("usage", error.message, None))]})
        error.show()
        sys.exit(USAGE)


def _stop(message: str, status: int) -> NoReturn:
    click.echo(f"collc: {message}", err=True)
    sys.exit(status)


class _PipeClosedError(Exception):
    """Standard output is a pipe that nobody reads any more."""


class _Commands(click.Group):
    """The commands; click itself would turn a closed pipe into the status of a faulty program."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - as click declares it
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _PipeClosedError from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="collc")
def commands() -> None:
    """Compile collectives to CSL for the Cerebras WSE, check them, predict and run them."""


commands.add_command(plot)


def _definition(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, int]:
    """`NAME=VALUE` options as a dictionary; a repeated name is a mistake."""
    definitions: dict[str, int] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not re.fullmatch(r" *[+-]?[0-9]{1,4000} *", value):
            raise click.BadParameter(f"{text!r} is not NAME=INTEGER, such as P=512")
        if name.strip() in definitions:
            raise click.BadParameter(f"{name.strip()} is given twice")
        definitions[name.strip()] = int(value)
    return definitions


def _directory(_: click.Context, __: click.Parameter, value: str | None) -> Path | None:
    """`-o DIRECTORY`; an unset shell variable must not mean the current directory."""
    if value == "":
        raise click.BadParameter("the directory has no name")
    return Path(value) if value is not None else None


def _source_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of every command that reads a `.coll` file."""
    for option in (
        click.option("--json", "as_data", is_flag=True, help="Print one JSON object."),
        click.option("--target", type=click.Choice(sorted(TARGETS)), help="Override the target."),
        click.option(
            "-D",
            "definitions",
            multiple=True,
            callback=_definition,
            metavar="NAME=VALUE",
            help="Set a parameter; may be repeated.",
        ),
        click.argument("file", type=click.Path(path_type=Path)),
    ):
        command = option(command)
    return command


@dataclass(frozen=True)
class Source:
    """What every command that reads a file is told: the file, and how to read it."""

    file: Path
    definitions: dict[str, int]
    target: str | None
    as_data: bool
    network: Path | None = None  # another file that messages may be about

    @cached_property
    def text(self) -> str:
        """What the file says; raises CollcError, or UsageError where there is no file."""
        if os.path.isdir(self.file):
            raise click.UsageError(f"{self.file} is a directory; name a .coll file")
        if not os.path.exists(self.file):
            raise click.UsageError(f"there is no file {self.file}")
        return read_source(self.file)

    def compile(self) -> Bundle:
        """The file's bundle; raises as `text` does, and CollcError for a program at fault."""
        return compile_text(self.text, str(self.file), self.definitions, self.target)

    def prove(self) -> tuple[Spec, Schedule]:
        """What the file says and how it is done, without looking at a machine; raises likewise."""
        return prove_text(self.text, str(self.file), self.definitions, self.target)

    def quotable(self) -> str:
        """The text for messages to quote, also where it is too long or no UTF-8."""
        try:
            return self.text
        except CollcError:
            if not self.file.is_file():
                return ""
        try:
            with self.file.open("rb") as file:
                return file.read(MAX_SOURCE_BYTES).decode("utf-8-sig", "replace")
        except OSError:
            return ""


def _reporting(command: Callable[..., None]) -> Callable[..., None]:
    """Hand the command its Source; turn a refused program into messages and exit status 1."""

    @wraps(command)
    def wrapped(
        *,
        file: Path,
        definitions: dict[str, int],
        target: str | None,
        as_data: bool,
        **options: Any,  # noqa: ANN401 - whatever else the command declares
    ) -> None:
        source = Source(file, definitions, target, as_data, options.get("network"))
        try:
            command(source, **options)
        except CollcError as error:
            _report(error.diagnostics, source)
            sys.exit(FAULT)

    return wrapped


def _report(diagnostics: tuple[Diagnostic, ...], source: Source) -> None:
    if source.as_data:
        _print_data({"diagnostics": [as_json(d) for d in diagnostics]})
        return
    sources = {str(source.file): source.quotable()}
    if source.network is not None:
        sources[str(source.network)] = replace(source, file=source.network).quotable()
    click.echo("\n".join(render(d, sources) for d in diagnostics), err=True, nl=False)
    count = len(diagnostics)
    click.echo(f"\n{count} problem{'s' if count > 1 else ''}; nothing was written", err=True)


def _print_data(data: dict[str, Any]) -> None:
    click.echo(json.dumps(data, indent=2))


def _write(bundle: Bundle, directory: Path) -> None:
    try:
        bundle.write(directory)
    except OSError as error:
        message = f"cannot write {directory}: {error.strerror or error}"
        help = "name a directory that can be written with -o"
        raise CollcError([Diagnostic("C502", message, None, help=help)]) from error


@commands.command()
@_source_options
@_reporting
def check(source: Source) -> None:
    """Prove FILE's collective right and within the machine's limits; write nothing."""
    bundle = source.compile()
    if source.as_data:
        _print_data(_facts(bundle))
    else:
        click.echo(f"{source.file}: fine. {_resources(bundle)}")


@commands.command()
@_source_options
@click.option("-o", "output", callback=_directory, help="Directory for the files.")
@click.option(
    "--dump", type=click.Choice(["spec", "schedule", "plan"]), help="Print a stage, write nothing."
)
@_reporting
def build(source: Source, output: Path | None, dump: str | None) -> None:
    """Compile FILE to CSL in a directory (default: FILE without its suffix, in ./out)."""
    if dump and output:
        raise click.UsageError("--dump writes no files; leave out -o")
    if dump in _FRONT and not source.as_data:
        click.echo(_FRONT[dump](*source.prove()), nl=False)
        return
    bundle = source.compile()
    if dump:
        _print_dump(bundle, dump, source)
        return
    directory = output or Path("out") / source.file.stem
    _write(bundle, directory)
    if source.as_data:
        _print_data(_facts(bundle) | {"directory": str(directory)})
        return
    size = sum(len(text) for text in bundle.files.values())
    click.echo(f"{len(bundle.files)} files, {size} bytes, in {directory}. {_resources(bundle)}")


@commands.command()
@_source_options
@click.option("-o", "output", callback=_directory, help="Also write the files here.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the random input.")
@click.option(
    "--repeat",
    "repeats",
    type=click.IntRange(1),
    default=1,
    help="Runs on one load of the program.",
)
@_reporting
def run(source: Source, output: Path | None, seed: int, repeats: int) -> None:
    """Compile FILE, run the emitted CSL on fabsim, compare with NumPy."""
    bundle = source.compile()
    report: RunReport | RunError
    try:
        with _progress(bundle.prediction.cycles) as progress:
            report = bundle.run(seed=seed, repeats=repeats, progress=progress)
    except RunError as error:
        report = error
    if output:
        _write(bundle, output)
    facts = _facts(bundle) | _run_facts(report)
    if source.as_data:
        _print_data(facts)
    else:
        _print_run(facts, output)
    if not facts["verified"]:
        sys.exit(WRONG_RUN)


@contextmanager
def _progress(predicted_cycles: int) -> Iterator[Callable[[int], None] | None]:
    """A bar on a terminal, for runs that take longer than a second; otherwise nothing."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("simulating"), BarColumn(), TextColumn("{task.completed:.0f} cycles"))
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        task = bar.add_task("", total=predicted_cycles, visible=False)

        def advance(cycle: int) -> None:
            late = (bar.tasks[0].elapsed or 0.0) > 1.0
            bar.update(task, completed=cycle, visible=late)

        yield advance


def _range(_: click.Context, __: click.Parameter, value: str | None) -> range | None:
    """`--colors 1..6`, or one number."""
    if value is None:
        return None
    found = re.fullmatch(r"([0-9]{1,3})(?:\.\.([0-9]{1,3}))?", value)
    if not found or not 0 < int(found[1]) <= int(found[2] or found[1]):
        raise click.BadParameter(f"{value!r} is not FIRST..LAST, such as 1..6")
    return range(int(found[1]), int(found[2] or found[1]) + 1)


@commands.command()
@_source_options
@click.option(
    "--colors",
    "counts",
    callback=_range,
    metavar="FIRST..LAST",
    help="Predict for each number of colors that the collective may use.",
)
@click.option(
    "--network",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Say what FILE's schedule costs on another network, described in this file.",
)
@_reporting
def cost(source: Source, counts: range | None, network: Path | None) -> None:
    """Predict FILE's cycles, and say where they go."""
    if counts is not None and network is not None:
        raise click.UsageError("--colors is about this machine; leave out --network")
    if counts is not None:
        _print_by_colors(source, counts)
        return
    if network is not None:
        _print_network_cost(source, network)
        return
    bundle = source.compile()
    if source.as_data:
        facts = _facts(bundle) | {"prediction": asdict(bundle.prediction)}
        _print_data(facts)
        return
    click.echo(show_prediction(bundle.prediction), nl=False)


def _print_network_cost(source: Source, file: Path) -> None:
    network = read_network(file)
    spec, schedule = source.prove()
    found = cost_on(schedule, network)
    if source.as_data:
        params = {p.name: p.value for p in spec.parameters}
        facts = {"file": spec.file, "network": str(file), "params": params}
        _print_data(facts | {"cost": asdict(found)})
        return
    click.echo(show_cost(found), nl=False)


@commands.command()
@click.option("--json", "as_data", is_flag=True, help="Print one JSON object.")
@click.option("--quick", is_flag=True, help="Take some values of long ranges, not all of them.")
@click.option(
    "--figures",
    type=click.Path(path_type=Path, file_okay=False),
    help="Also simulate the series of the thesis' figures, and put pictures and tables here.",
)
def reproduce(as_data: bool, quick: bool, figures: Path | None) -> None:
    """Compute the numbers of the published sources anew, and compare."""
    progress = Console(stderr=True)
    rows = list(
        track(
            check_claims(quick=quick),
            "checking",
            total=len(claims()),
            console=progress,
            transient=True,
            disable=not progress.is_terminal,
        )
    )
    if as_data:
        _print_data(rows_as_data(rows))
    else:
        console = Console()
        for table in tables_of(rows):
            console.print(table)
            console.print()
        click.echo(summary(rows))
    if figures:
        reproduce_figures(figures, quick=quick)
    if not all(row.as_recorded for row in rows):
        sys.exit(FAULT)


@commands.command()
@click.option("--json", "as_data", is_flag=True, help="Print one JSON object.")
@click.argument("code", required=False)
def explain(code: str | None, as_data: bool) -> None:
    """Explain the message with CODE, such as C101; without CODE, list them all."""
    if code is not None and explanation(code.upper()) is None:
        raise click.UsageError(f"there is no message with the code {code}")
    codes = [code.upper()] if code else explained_codes()
    pages = {code: explanation(code) or "" for code in codes}
    if as_data:
        _print_data(pages)
    elif code:
        click.echo(pages[code.upper()], nl=False)
    else:
        for page in pages.values():
            click.echo(page.partition("\n")[0].removeprefix("# "))


def _print_by_colors(source: Source, counts: range) -> None:
    spec, _ = source.prove()
    rows = list(by_colors(spec.collectives[0], TARGETS[spec.target], counts))
    if source.as_data:
        params = {p.name: p.value for p in spec.parameters}
        head = {"file": spec.file, "target": spec.target, "params": params}
        _print_data(head | {"by_colors": [asdict(row) for row in rows]})
    else:
        click.echo(show_by_colors(rows), nl=False)


@commands.command("list")
@click.option("--json", "as_json_", is_flag=True, help="Print one JSON object.")
@click.option("--page", is_flag=True, help="Print the page docs/patterns.md.")
@click.argument("names", nargs=-1)
def list_(as_json_: bool, page: bool, names: tuple[str, ...]) -> None:
    """List the patterns that come with the compiler, or those with NAMES, with what is known of
    each: contract, operand order, colors, the model's formula, limits."""
    known = {pattern.name: pattern for pattern in all_patterns()}
    for name in names:
        if name not in known:
            raise click.UsageError(f"there is no pattern called {name}")
    found = [facts_of(known[name]) for name in dict.fromkeys(names or known)]
    if as_json_:
        _print_data({"patterns": [as_data(facts) for facts in found]})
    else:
        click.echo((show_page if page else show_table)(found), nl=False)


def _print_dump(bundle: Bundle, stage: str, source: Source) -> None:
    text = _dumped(bundle, stage)
    if source.as_data:
        _print_data(_facts(bundle) | {stage: text})
    else:
        click.echo(text, nl=False)


def _dumped(bundle: Bundle, stage: str) -> str:
    texts = {
        "spec": lambda: _FRONT["spec"](bundle.spec, bundle.schedule),
        "schedule": lambda: _FRONT["schedule"](bundle.spec, bundle.schedule),
        "plan": lambda: show_plan(bundle.plan),
    }
    return texts[stage]().rstrip("\n") + "\n"


def _facts(bundle: Bundle) -> dict[str, Any]:
    return {
        "file": bundle.spec.file,
        "target": bundle.spec.target,
        "params": {p.name: p.value for p in bundle.spec.parameters},
        "predicted_cycles": bundle.prediction.cycles,
        "bound_cycles": bundle.prediction.bound,
        "gap": _rounded(bundle.prediction.gap),
        "tree_bound_cycles": bundle.prediction.tree_bound,
        "tree_gap": _rounded(bundle.prediction.tree_gap),
        "colors": len(bundle.plan.colors),
        "memory_bytes": bundle.plan.code_bytes + bundle.plan.data_bytes,
    }


def _rounded(ratio: float | None) -> float | None:
    return None if ratio is None else round(ratio, 4)


def _run_facts(report: RunReport | RunError) -> dict[str, Any]:
    """The same keys for every run; one that did not come to its end has no measurements."""
    if isinstance(report, RunReport):
        return asdict(report)
    unknown = dict.fromkeys(field.name for field in fields(RunReport))
    return unknown | {"verified": False, "problem": str(report)}


def _resources(bundle: Bundle) -> str:
    facts = _facts(bundle)
    colors = "1 color" if facts["colors"] == 1 else f"{facts['colors']} colors"
    return (
        f"{colors}, {facts['memory_bytes']} bytes a PE, predicted "
        f"{facts['predicted_cycles']} cycles{show_gap(bundle.prediction)}"
    )


def _bounds(facts: dict[str, Any]) -> str:
    """The bounds and how far the prediction is above them."""
    if facts["gap"] is None:
        return str(facts["bound_cycles"])
    words = f"{facts['bound_cycles']} (gap {facts['gap']:.2f})"
    if facts["tree_gap"] is None:
        return words
    return f"{words}; of any tree {facts['tree_bound_cycles']} (gap {facts['tree_gap']:.2f})"


def _print_run(facts: dict[str, Any], output: Path | None) -> None:
    verdict = "verified against NumPy, bit by bit" if facts["verified"] else "WRONG"
    click.echo(f"{facts['file']} on {facts['target']}: {verdict}")
    if facts["cycles"] is not None:
        click.echo(f"  cycles     {facts['cycles']}")
    click.echo(f"  predicted  {facts['predicted_cycles']}")
    click.echo(f"  bound      {_bounds(facts)}")
    click.echo(f"  colors     {facts['colors']}")
    click.echo(f"  memory     {facts['memory_bytes']} bytes a PE (estimate)")
    if facts["cycles"] is not None:
        seconds = f"{facts['wall_seconds']:.2f} s"
        click.echo(f"  simulated  {facts['tile_cycles']} tile-cycles in {seconds}")
    if output:
        click.echo(f"  CSL        {output}")
    if not facts["verified"]:
        click.echo(f"collc: the run failed: {facts['problem']}", err=True)
