"""The commands of `sdk_debug_shell` that public scripts use: compiling, and reading logs.

compile LAYOUT.csl OPTIONS                                   what cslc does
wavelet-trace --artifact_dir DIR --x X --y Y [--color C] LOG  wavelets that arrive at a PE

`LOG` names a trace, a text one or a binary one, or stands for the one that a run leaves by itself:
`trace` is simfab_traces/fabsim.trace of DIR. X and Y are coordinates of the fabric.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from fabsim._native import CslError
from fabsim.arguments import Parser
from fabsim.cslc import compile_command, fabric_offsets
from fabsim.mistakes import UserError
from fabsim.simfabric import as_text

FAULT, USAGE = 1, 2

#: Where a run leaves its trace by itself, below the directory it runs in.
OWN_TRACE = Path("simfab_traces", "fabsim.trace")

_ARRIVAL = re.compile(
    r"@(\d+) P(\d+)\.(\d+) \(hwtile\) wavelet C(\d+) ctrl=(\d), idx=(\w+), data=(\w+) .* "
    r"landing=([ENWSR]) "
)


def main(arguments: list[str]) -> int:
    """Carry out one command; its status."""
    commands = {"compile": _compile, "wavelet-trace": _wavelet_trace}
    if not arguments or arguments[0] not in commands:
        asked_for_help = arguments[:1] in (["-h"], ["--help"])
        if arguments and not asked_for_help:
            print(f"sdk_debug_shell: fabsim has no command {arguments[0]!r}", file=sys.stderr)
        print(__doc__, file=sys.stdout if asked_for_help else sys.stderr)
        return 0 if asked_for_help else USAGE
    try:
        commands[arguments[0]](arguments[1:])
    except CslError as error:
        print(error, file=sys.stderr)
        return FAULT
    except UserError as error:
        print(f"sdk_debug_shell: {error}", file=sys.stderr)
        return FAULT
    return 0


def _compile(arguments: list[str]) -> None:
    compile_command(arguments)


def _wavelet_trace(arguments: list[str]) -> None:
    """Print cycle, color, kind, side, index and data of what arrives at the router of a PE."""
    parser = Parser(prog="sdk_debug_shell wavelet-trace")
    parser.add_argument("--artifact_dir", default=".")
    parser.add_argument("--x", type=int, required=True)
    parser.add_argument("--y", type=int, required=True)
    parser.add_argument("--color", type=int)
    parser.add_argument("log", nargs="?", default="trace")
    found = parser.parse_args(arguments)
    trace = _trace_of(Path(found.artifact_dir), found.log)
    offsets = fabric_offsets(str(_program_of(Path(found.artifact_dir))))
    place = found.x - offsets[0], found.y - offsets[1]
    print("cycle color ctrl link index data")
    for color, line in _arrivals(trace, place):
        if found.color in (None, color):
            print(line)


def _trace_of(directory: Path, log: str) -> Path:
    for path in (Path(log), directory / log, directory / OWN_TRACE, OWN_TRACE):
        if path.is_file():
            return path
    raise UserError(
        f"there is no trace {log!r}: run with suppress_simfab_trace=False or "
        f"FABSIM_OPTIONS='--trace FILE'"
    )


def _program_of(directory: Path) -> Path:
    """The output directory: the one named, or the only one in it."""
    found = [path.parent for path in directory.glob("*/fabsim.json")]
    if (directory / "fabsim.json").is_file() or len(found) != 1:
        return directory
    return found[0]


def _arrivals(trace: Path, place: tuple[int, int]) -> Iterator[tuple[int, str]]:
    with trace.open("rb") as first:
        form = "text" if first.read(1) == b"@" else "binary"
    text = Path(as_text(str(trace), form))
    try:
        with text.open() as lines:
            for line in lines:
                found = _ARRIVAL.match(line)
                if found and (int(found[2]), int(found[3])) == place:
                    cycle, _, _, color, control, index, data, side = found.groups()
                    yield int(color), f"{cycle} {color} {control} {side} {index} {data}"
    finally:
        if text != trace:
            text.unlink(missing_ok=True)
