"""`collc run`: run the emitted CSL on fabsim."""

import io
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.lib.format import MAGIC_PREFIX

from collc.base.columns import Array
from collc.base.diagnostics import printable, shown
from collc.base.progress import under_way
from collc.commands.directory import FILE, directory, write, write_file
from collc.commands.fabric import fabric_options
from collc.commands.output import WRONG_RUN, facts_of, predicted_facts, print_data
from collc.commands.run_on import Asked, Runs, back_end_options, run_on
from collc.commands.source import Source, reporting, source_options
from collc.driver.bundle import Bundle
from collc.plan.dynamic_lengths import checked_lengths
from collc.run import RunError, RunReport
from collc.run.program import NOTHING_KNOWN
from collc.target.fabric import Wanted

_OPTIONS = "FABSIM_OPTIONS"
Named = tuple[tuple[str, Path], ...]


def _named(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> Named:
    """`x.npy` or `x=vectors.npy`."""
    found = []
    for value in values:
        given = re.fullmatch(r"(?:([A-Za-z_]\w*)=)?(.+)", value)
        if not given:
            raise click.BadParameter(f"{value!r} is not [NAME=]FILE.npy")
        found.append((given[1] or "", Path(given[2])))
    return tuple(found)


def _there(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> Named:
    """The same, of files that are there."""
    named = _named(context, parameter, values)
    for value, (_, file) in zip(values, named, strict=True):
        if not file.is_file():
            raise click.BadParameter(f"{value!r} is not [NAME=]FILE.npy, a file that is there")
    return named


def by_buffer(named: Named, buffers: tuple[str, ...]) -> dict[str, Path]:
    """The files by buffer; one without a name is for the only buffer. Wrong usage where names are
    wrong."""
    found: dict[str, Path] = {}
    for given, file in named:
        if not given and len(buffers) != 1:
            there = f"NAME={shown(file)}: {', '.join(buffers) or 'none'}"
            raise click.UsageError(f"say which buffer {shown(file)} is for, {there}")
        name = given or buffers[0]
        if name in found:
            raise click.UsageError(f"{name} is given twice")
        found[name] = file
    return found


def read_inputs(named: Named, buffers: tuple[str, ...]) -> dict[str, Any] | None:
    """The arrays of files by buffer. Nothing in a file is run. Wrong usage where a file holds no
    array, or names are wrong."""
    found: dict[str, Any] = {}
    for name, file in by_buffer(named, buffers).items():
        try:
            found[name] = _array(file)
        except Exception as error:  # NumPy's, its tokenizer's, the system's
            said = printable(str(error)) or type(error).__name__
            raise click.UsageError(
                f"{shown(file)} cannot be read as a NumPy array: {said}"
            ) from None
    return found or None


def _array(file: Path) -> Any:  # noqa: ANN401 - a NumPy array of any type
    """The array in a file, which has to be there in full: its header alone may ask for any amount
    of memory. Raises whatever NumPy does where there is none."""
    with file.open("rb") as opened:
        if opened.read(len(MAGIC_PREFIX)) != MAGIC_PREFIX:
            raise ValueError("it does not begin like a .npy file")
    return np.array(np.load(file, mmap_mode="r", allow_pickle=False))


@contextmanager
def simulator_told(trace: Path | None, report: bool) -> Iterator[None]:
    """Fabsim's options with these beside those of the environment, which may ask for another form
    of the trace than the compact one."""
    first = ["--trace-form", "binary"] if trace else []
    words = ["--trace", str(trace)] if trace else []
    words += ["--report"] if report else []
    before: Mapping[str, str] = dict(os.environ)
    if words:
        parts = [shlex.join(first), before.get(_OPTIONS, ""), shlex.join(words)]
        os.environ[_OPTIONS] = " ".join(part for part in parts if part)
    try:
        yield
    finally:
        if words:
            os.environ.pop(_OPTIONS)
            os.environ.update({k: v for k, v in before.items() if k == _OPTIONS})


_SHOWN = 12  # lengths of rounds


def _lengths(
    _: click.Context, __: click.Parameter, values: tuple[str, ...]
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """`--length 37`, `--length 1,37,4096`, `--length n=37`."""
    found = []
    for value in values:
        given = re.fullmatch(r" *(?:([A-Za-z_]\w*) *=)? *([0-9]{1,6}(?: *, *[0-9]{1,6})*) *", value)
        if not given:
            raise click.BadParameter(f"{value!r} is not [NAME=]N[,N...], such as n=37 or 1,37,4096")
        found.append((given[1] or "", tuple(map(int, given[2].split(",")))))
    return tuple(found)


@click.command()
@source_options
@click.option("-o", "output", callback=directory, help="Also write the files here.")
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="Seed of the random input.",
)
@click.option(
    "--repeat",
    "repeats",
    type=click.IntRange(1),
    default=1,
    help="Runs on one load of the program.",
)
@click.option(
    "--skew",
    type=click.IntRange(0, 60_000),
    default=0,
    help="PEs wait before each call, each differently long, up to so many turns of a loop.",
)
@click.option(
    "--length",
    "--root",
    "lengths",
    multiple=True,
    callback=_lengths,
    metavar="[NAME=]N[,N...]",
    help="A length or a root that FILE leaves to the run, one for all rounds or one for each; else "
    "random.",
)
@click.option(
    "--input",
    "inputs",
    multiple=True,
    callback=_there,
    metavar="[NAME=]FILE.npy",
    help="Input vectors: an array [height, width, length]; random if not given.",
)
@click.option(
    "--output",
    "outputs",
    multiple=True,
    callback=_named,
    metavar="[NAME=]FILE.npy",
    help="Write what a buffer holds after the last run, an array of the same shape; of several "
    "rounds [round, height, width, length].",
)
@click.option(
    "--trace",
    type=FILE,
    help="Write fabsim's trace here, in the binary form that `fabsim view` reads.",
)
@click.option("--report", is_flag=True, help="Say where fabsim's cycles went.")
@fabric_options
@back_end_options
@reporting
def command(  # noqa: PLR0913, PLR0917 - as many as there are options
    source: Source,
    output: Path | None,
    seed: int,
    repeats: int,
    skew: int,
    lengths: tuple[tuple[str, tuple[int, ...]], ...],
    inputs: Named,
    outputs: Named,
    trace: Path | None,
    report: bool,
    wanted: Wanted,
    asked: Asked,
) -> None:
    """Compile FILE, run the emitted CSL on fabsim, compare with NumPy.

    With --on it is run there, too, by the emitted run.py: on `simfabric`, the simulator of a local
    SDK, on `appliance`, by the vendor's client package, on `cs`, a system of a local SDK; a table
    says what each made of it, and the status is 3 where results or cycles differ.
    """
    source = source.for_target(wanted.target)
    if asked.names and (inputs or outputs or trace or report):
        raise click.UsageError("--input, --output, --trace and --report are of runs without --on")
    if asked.names:
        runs = Runs(seed, max(2, repeats), skew or None, lengths)
        run_on(source, asked, wanted, runs, output)
        return
    bundle = source.compile(skew).placed(wanted)
    how: dict[str, Any] = {
        "seed": seed,
        "repeats": repeats,
        "inputs": read_inputs(inputs, _buffers(bundle)),
        "lengths": checked_lengths(bundle.program.program, lengths),
    }
    wanted_of_it = _outputs(outputs, bundle)
    with simulator_told(trace, report):
        made = _made(bundle, how)
    if isinstance(made, RunReport):
        for name, file in wanted_of_it.items():
            write_file(file, _npy(made.results[name]))
    if output:
        write(bundle.files, output)
    facts = facts_of(bundle) | _run_facts(made)
    if facts["lengths"]:
        facts |= predicted_facts(bundle.predicted(facts["lengths"]))
    if source.as_data:
        print_data(facts)
    else:
        _print_run(facts, output, skew)
    if not facts["verified"]:
        sys.exit(WRONG_RUN)


def _buffers(bundle: Bundle) -> tuple[str, ...]:
    """The buffers that can be given input."""
    held = (one for plan in bundle.plans for one in plan.collective.contract.in_memory)
    return tuple(sorted({one.buffer for one in held}))


def _outputs(named: Named, bundle: Bundle) -> dict[str, Path]:
    """The files for buffers, which have to be the program's."""
    buffers = _buffers(bundle)
    found = by_buffer(named, buffers)
    for name in found:
        if name not in buffers:
            there = ", ".join(buffers) or "none"
            raise click.UsageError(f"the program has no buffer {name}; it has {there}")
    return found


def _npy(array: Array) -> bytes:
    """The file that holds an array."""
    held = io.BytesIO()
    np.save(held, array, allow_pickle=False)
    return held.getvalue()


def _made(bundle: Bundle, how: dict[str, Any]) -> RunReport | RunError:
    """What came of the run; wrong usage where the input does not fit."""
    try:
        with under_way("simulating") as tell:
            predicted = bundle.prediction.cycles
            return bundle.run(
                **how, progress=lambda cycle: tell(f"cycle {cycle} of some {predicted}")
            )
    except RunError as error:
        return error
    except (ValueError, TypeError) as error:
        if how["inputs"] is None:
            raise
        raise click.UsageError(str(error)) from None


def _run_facts(report: RunReport | RunError) -> dict[str, Any]:
    """The same keys for every run; one that did not come to its end has no measurements."""
    told = [field.name for field in fields(RunReport) if field.name != "results"]
    if isinstance(report, RunReport):
        of_calls = [{"call": one.name, "compared": one.elements} for one in report.of_calls]
        return {name: getattr(report, name) for name in told} | {"of_calls": of_calls}
    unknown = dict.fromkeys(told)
    return unknown | {"verified": False, "problem": str(report)}


def _bounds(facts: dict[str, Any]) -> str:
    """The bounds and how far the prediction is above them."""
    if facts["gap"] is None:
        return str(facts["bound_cycles"])
    words = f"{facts['bound_cycles']} ({facts['gap']:.2f} x)"
    if facts["tree_gap"] is None:
        return words
    return f"{words}; for trees {facts['tree_bound_cycles']} ({facts['tree_gap']:.2f} x)"


def _few(lengths: Sequence[int]) -> str:
    """The lengths of the rounds, the first ones of many."""
    more = ", ..." if len(lengths) > _SHOWN else ""
    return ", ".join(map(str, lengths[:_SHOWN])) + more


def _verdict(facts: dict[str, Any]) -> tuple[str, str]:
    """What a run shows, and what is said of it where that is nothing good."""
    if facts["verified"]:
        return "verified against NumPy, bit by bit", ""
    if facts["problem"] == NOTHING_KNOWN:
        return "nothing was compared", "the run shows nothing"
    return "WRONG", "the run failed"


def _print_calls(facts: dict[str, Any]) -> None:
    """How many elements were compared of each call, where there are several."""
    counts = [f"{one['call']} {one['compared']}" for one in facts["of_calls"]]
    if len(counts) < 2:
        return
    more = ", ..." if len(counts) > _SHOWN else ""
    by_turns = " (each run by itself, too)" if facts["by_turns"] else ""
    click.echo(f"  of calls   {', '.join(counts[:_SHOWN])}{more}{by_turns}")


def _print_run(facts: dict[str, Any], output: Path | None, skew: int) -> None:
    verdict, failure = _verdict(facts)
    click.echo(f"{facts['file']} on {facts['target']}: {verdict}")
    if facts["cycles"] is not None:
        click.echo(f"  cycles     {facts['cycles']}")
    for name, lengths in (facts["lengths"] or {}).items():
        click.echo(f"  {name:<10} {_few(lengths)}")
    together = " (PEs that start together)" if skew else ""
    click.echo(f"  predicted  {facts['predicted_cycles']}{together}")
    click.echo(f"  bound      {_bounds(facts)}")
    click.echo(f"  colors     {facts['colors']}")
    if facts["compared"] is not None:
        click.echo(f"  compared   {facts['compared']} elements, all that the contract promises")
        _print_calls(facts)
    click.echo(f"  memory     {facts['memory_bytes']} bytes a PE (estimate)")
    if facts["cycles"] is not None:
        seconds = f"{facts['wall_seconds']:.2f} s"
        click.echo(f"  simulated  {facts['tile_cycles']} tile-cycles in {seconds}")
    if output:
        click.echo(f"  CSL        {shown(output)}")
    if not facts["verified"]:
        click.echo(f"collc: {failure}: {facts['problem']}", err=True)
        if facts["cycles"] is None:
            chosen = "".join(f" -D {name}={value}" for name, value in facts["params"].items())
            seen = f"{shlex.quote(facts['file'])} --target {facts['target']}{chosen}"
            click.echo(f"help: to see it: collc view {seen}", err=True)
