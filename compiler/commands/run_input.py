"""What `collc run` gives the simulator beside the program: input from files, a trace, a report."""

import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np

_OPTIONS = "FABSIM_OPTIONS"
Named = tuple[tuple[str, Path], ...]


def _named(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> Named:
    """`x.npy` or `x=vectors.npy`."""
    found = []
    for value in values:
        given = re.fullmatch(r"(?:([A-Za-z_]\w*)=)?(.+)", value)
        if not given or not Path(given[2]).is_file():
            raise click.BadParameter(f"{value!r} is not [NAME=]FILE.npy, a file that is there")
        found.append((given[1] or "", Path(given[2])))
    return tuple(found)


def run_input_options(command: Callable[..., None]) -> Callable[..., None]:
    """`--input`, `--trace` and `--report`."""
    for option in (
        click.option("--report", is_flag=True, help="Say where fabsim's cycles went."),
        click.option(
            "--trace",
            type=click.Path(path_type=Path, dir_okay=False),
            help="Write fabsim's trace of wavelets and operations here.",
        ),
        click.option(
            "--input",
            "inputs",
            multiple=True,
            callback=_named,
            metavar="[NAME=]FILE.npy",
            help="Vectors of one's own: an array [height, width, length]; else random.",
        ),
    ):
        command = option(command)
    return command


def read_inputs(named: Named, buffers: tuple[str, ...]) -> dict[str, Any] | None:
    """The arrays of files by buffer; one without a name is for the only buffer. Nothing in a file
    is run. Wrong usage where a file holds no array, or names are wrong."""
    found: dict[str, Any] = {}
    for given, file in named:
        if not given and len(buffers) != 1:
            there = ", ".join(buffers) or "none"
            raise click.UsageError(f"say which buffer {file} is for, NAME={file}: {there}")
        name = given or buffers[0]
        if name in found:
            raise click.UsageError(f"{name} is given twice")
        try:
            found[name] = np.load(file, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise click.UsageError(f"{file} holds no array of NumPy's: {error}") from None
    return found or None


@contextmanager
def simulator_told(trace: Path | None, report: bool) -> Iterator[None]:
    """Fabsim's options with these beside those of the environment."""
    words = ["--trace", str(trace)] if trace else []
    words += ["--report"] if report else []
    before: Mapping[str, str] = dict(os.environ)
    if words:
        os.environ[_OPTIONS] = f"{before.get(_OPTIONS, '')} {shlex.join(words)}".strip()
    try:
        yield
    finally:
        if words:
            os.environ.pop(_OPTIONS)
            os.environ.update({k: v for k, v in before.items() if k == _OPTIONS})
