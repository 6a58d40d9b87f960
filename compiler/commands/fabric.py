"""Options that say on which fabric a program is to be."""

import re
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from collc.target.fabric import MACHINES, MOST_CHANNELS, SIMULATOR, Wanted


def _pair(_: click.Context, __: click.Parameter, value: str | None) -> tuple[int, int] | None:
    """`X,Y`."""
    if value is None:
        return None
    found = re.fullmatch(r"([0-9]{1,5}),([0-9]{1,5})", value)
    if not found:
        raise click.BadParameter(f"{value!r} is not a pair such as 757,996")
    return int(found[1]), int(found[2])


def fabric_options(command: Callable[..., None]) -> Callable[..., None]:
    """`--machine`, `--fabric-dims`, `--fabric-offsets` and `--channels`, given to the command as
    one `wanted`."""

    @wraps(command)
    def wrapped(
        *positional: Any,  # noqa: ANN401 - whatever else the command declares
        machine: str | None,
        dims: tuple[int, int] | None,
        offsets: tuple[int, int] | None,
        channels: int | None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        command(*positional, wanted=Wanted(machine, dims, offsets, channels), **options)

    made: Callable[..., None] = wrapped
    for option in (
        click.option(
            "--channels",
            type=click.IntRange(1, MOST_CHANNELS),
            help="Channels that memcpy uses (1).",
        ),
        click.option(
            "--fabric-offsets",
            "offsets",
            callback=_pair,
            metavar="X,Y",
            help="Where on the fabric PE (0, 0) is (4,1).",
        ),
        click.option(
            "--fabric-dims",
            "dims",
            callback=_pair,
            metavar="W,H",
            help="Columns and rows of the fabric; the fewest that suffice, or the machine's.",
        ),
        click.option(
            "--machine",
            type=click.Choice([*MACHINES, SIMULATOR]),
            help="The fabric of a system, or as little as a simulator needs.",
        ),
    ):
        made = option(made)
    return made
