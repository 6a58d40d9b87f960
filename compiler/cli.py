"""The command line: `collc check | build | run | cost | explain`.

The only module that prints, exits, or writes files the user asked for. Exit status: 0 fine, 1 the
program is at fault, 2 wrong usage, 3 a run gave a wrong result or got stuck.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from collc.diagnostics import CollcError, Diagnostic
from collc.explain import explanation
from collc.language import read_source
from collc.lowering import show_plan
from collc.pipeline import Bundle, compile_text
from collc.run import RunError, RunReport
from collc.schedule import show_schedule
from collc.show import as_json, render, show_spec
from collc.target import TARGETS
from collc.version import __version__

FAULT, USAGE, WRONG_RUN = 1, 2, 3
_INTERRUPTED = 130


def main() -> None:
    """Entry point of the `collc` command."""
    try:
        commands(standalone_mode=False)
    except click.exceptions.Abort:
        _stop("interrupted", _INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(USAGE)
    except KeyboardInterrupt:
        _stop("interrupted", _INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)


def _stop(message: str, status: int) -> NoReturn:
    click.echo(f"collc: {message}", err=True)
    sys.exit(status)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="collc")
def commands() -> None:
    """Compile collectives to CSL for the Cerebras WSE, check them, predict and run them."""


def _definition(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, int]:
    """`NAME=VALUE` options as a dictionary; a repeated name is a mistake."""
    definitions: dict[str, int] = {}
    for text in values:
        name, equals, value = text.partition("=")
        try:
            number = int(value, 0)
        except ValueError:
            equals = ""
        if not equals or not name.strip():
            raise click.BadParameter(f"{text!r} is not NAME=INTEGER, such as P=512")
        if name.strip() in definitions:
            raise click.BadParameter(f"{name.strip()} is given twice")
        definitions[name.strip()] = number
    return definitions


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

    def compile(self) -> Bundle:
        """The file's bundle; raises CollcError, or UsageError where there is no file."""
        if self.file.is_dir():
            raise click.UsageError(f"{self.file} is a directory; name a .coll file")
        if not self.file.exists():
            raise click.UsageError(f"there is no file {self.file}")
        return compile_text(read_source(self.file), str(self.file), self.definitions, self.target)


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
        source = Source(file, definitions, target, as_data)
        try:
            command(source, **options)
        except CollcError as error:
            _report(error.diagnostics, source)
            sys.exit(FAULT)
        except RunError as error:
            _print_run_error(str(error), source)
            sys.exit(WRONG_RUN)
        except OSError as error:
            _stop(f"{error.filename or file}: {error.strerror or error}", FAULT)

    return wrapped


def _report(diagnostics: tuple[Diagnostic, ...], source: Source) -> None:
    if source.as_data:
        click.echo(json.dumps({"diagnostics": [as_json(d) for d in diagnostics]}, indent=2))
        return
    sources = {str(source.file): _text_of(source.file)}
    click.echo("\n".join(render(d, sources) for d in diagnostics), err=True, nl=False)
    count = len(diagnostics)
    click.echo(f"\n{count} problem{'s' if count > 1 else ''}; nothing was written", err=True)


def _print_run_error(message: str, source: Source) -> None:
    if source.as_data:
        click.echo(json.dumps({"verified": False, "problem": message}, indent=2))
    else:
        click.echo(f"the run failed:\n{message}", err=True)


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


@commands.command()
@_source_options
@_reporting
def check(source: Source) -> None:
    """Prove FILE's collective right and within the machine's limits; write nothing."""
    bundle = source.compile()
    if source.as_data:
        click.echo(json.dumps(_facts(bundle), indent=2))
    else:
        click.echo(f"{source.file}: fine. {_resources(bundle)}")


@commands.command()
@_source_options
@click.option("-o", "output", type=click.Path(path_type=Path), help="Directory for the files.")
@click.option(
    "--dump", type=click.Choice(["spec", "schedule", "plan"]), help="Print a stage, write nothing."
)
@_reporting
def build(source: Source, output: Path | None, dump: str | None) -> None:
    """Compile FILE to CSL in a directory (default: FILE without its suffix, in ./out)."""
    bundle = source.compile()
    if dump:
        click.echo(_dumped(bundle, dump), nl=False)
        return
    directory = output or Path("out") / source.file.stem
    bundle.write(directory)
    if source.as_data:
        click.echo(json.dumps(_facts(bundle) | {"directory": str(directory)}, indent=2))
        return
    size = sum(len(text) for text in bundle.files.values())
    click.echo(f"{len(bundle.files)} files, {size} bytes, in {directory}. {_resources(bundle)}")


@commands.command()
@_source_options
@click.option("-o", "output", type=click.Path(path_type=Path), help="Also write the files here.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the random input.")
@_reporting
def run(source: Source, output: Path | None, seed: int) -> None:
    """Compile FILE, run the emitted CSL on fabsim, compare with NumPy."""
    bundle = source.compile()
    with _progress(bundle.prediction.cycles) as progress:
        report = bundle.run(seed=seed, progress=progress)
    if output:
        bundle.write(output)
    if source.as_data:
        click.echo(json.dumps(_facts(bundle) | asdict(report), indent=2))
    else:
        _print_run(bundle, report, output)
    if not report.verified:
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


@commands.command()
@_source_options
@_reporting
def cost(source: Source) -> None:
    """Predict FILE's cycles, and say where they go."""
    bundle = source.compile()
    if source.as_data:
        facts = _facts(bundle) | {"prediction": asdict(bundle.prediction)}
        click.echo(json.dumps(facts, indent=2))
        return
    prediction = bundle.prediction
    gap = prediction.cycles / max(prediction.bound, 1)
    click.echo(f"predicted {prediction.cycles} cycles, lower bound {prediction.bound} ({gap:.2f}x)")
    for name, cycles in prediction.breakdown.items():
        click.echo(f"  {name:<12} {cycles:>8}")


@commands.command()
@click.argument("code")
def explain(code: str) -> None:
    """Explain the message with CODE, such as C101."""
    page = explanation(code.upper())
    if page is None:
        raise click.UsageError(f"there is no message with the code {code}")
    click.echo(page, nl=False)


def _dumped(bundle: Bundle, stage: str) -> str:
    texts = {
        "spec": lambda: show_spec(bundle.spec),
        "schedule": lambda: show_schedule(bundle.schedule),
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
        "colors": len(bundle.plan.colors),
        "memory_bytes": bundle.plan.code_bytes + bundle.plan.data_bytes,
    }


def _resources(bundle: Bundle) -> str:
    facts = _facts(bundle)
    return (
        f"{facts['colors']} colors, {facts['memory_bytes']} bytes a PE, predicted "
        f"{facts['predicted_cycles']} cycles (bound {facts['bound_cycles']})"
    )


def _print_run(bundle: Bundle, report: RunReport, output: Path | None) -> None:
    facts = _facts(bundle)
    verdict = (
        "verified against NumPy, bit by bit" if report.verified else f"WRONG: {report.problem}"
    )
    click.echo(f"{facts['file']} on {facts['target']}: {verdict}")
    click.echo(f"  cycles     {report.cycles}")
    click.echo(f"  predicted  {facts['predicted_cycles']}")
    click.echo(f"  bound      {facts['bound_cycles']}")
    click.echo(f"  colors     {facts['colors']}")
    click.echo(f"  memory     {facts['memory_bytes']} bytes a PE (estimate)")
    click.echo(f"  simulated  {report.tile_cycles} tile-cycles in {report.wall_seconds:.2f} s")
    if output:
        click.echo(f"  CSL        {output}")
