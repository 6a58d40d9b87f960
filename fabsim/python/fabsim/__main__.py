"""The command `fabsim`: stand-ins for the vendor's compiler and Python.

fabsim cslc LAYOUT.csl OPTIONS         compile like cslc, into the directory given with -o
fabsim python [OPTIONS] SCRIPT.py ...  run a host script against fabsim's SdkRuntime
fabsim trace BINARY TEXT [OPTIONS]     make text of a binary trace, or of a part of it
fabsim view TRACE [TRACE] [-o FILE]    make a page of binary traces: motion, time lines, waits
fabsim debug-shell COMMAND ...         the commands of `sdk_debug_shell` that read
fabsim timing NAME                     print the table of a clock, to be changed and given to
                                       `fabsim cslc --timing FILE`
fabsim shims DIR                       write `cslc`, `cs_python` and `sdk_debug_shell` into DIR, to
                                       be put on PATH

`fabsim COMMAND --help` lists the options of the first three; `fabsim --version` prints the version.
"""

from __future__ import annotations

import errno
import os
import runpy
import shlex
import sys
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from fabsim import (
    CslError,
    SimulationError,
    convert_trace,
    debug_shell,
    options,
    timing_table,
    view,
)
from fabsim.arguments import Parser
from fabsim.cslc import compile_command
from fabsim.mistakes import UserError

FAULT, USAGE, INTERRUPTED = 1, 2, 130
# A disk or a quota has no room left, or a device cannot be written.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


SHIMS = (("cslc", "cslc"), ("cs_python", "python"), ("sdk_debug_shell", "debug-shell"))


def main() -> None:
    """Entry point of the command."""
    sys.exit(_guarded(sys.argv[1:]))


def _run(arguments: list[str]) -> int:
    """Do what the command line says; the status."""
    commands = {"cslc": _cslc, "python": _python, "trace": _trace, "shims": _shims}
    commands["view"] = view.main
    commands["timing"] = _timing
    commands["debug-shell"] = debug_shell.main
    if arguments[:1] == ["--version"]:
        print(f"fabsim {version('fabsim')}")
        return 0
    if not arguments or arguments[0] not in commands:
        asked_for_help = arguments[:1] in (["-h"], ["--help"])
        print(__doc__, file=sys.stdout if asked_for_help else sys.stderr)
        return 0 if asked_for_help else USAGE
    return commands[arguments[0]](arguments[1:])


def _guarded(arguments: list[str]) -> int:
    """`_run` with all of its output written; where that fails, a line says why."""
    _open_standard_streams()
    name = " ".join(["fabsim", *arguments[:1]])
    try:
        try:
            status = _run(arguments)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads has seen enough.
        _discard_output()
        return FAULT
    except OSError as error:
        # An error of a host script's own is the script's to report.
        if arguments[:1] == ["python"] and error.errno not in FULL:
            raise
        _discard_output()
        where = f"{error.filename}: " if error.filename else ""
        print(f"{name}: {where}{error.strerror or error}", file=sys.stderr)
        return FAULT
    return status


def _open_standard_streams() -> None:
    """Give a stream that was closed its number back, lest a file takes it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _discard_output() -> None:
    """Drop what is left of standard output: Python would try again to write it at the end."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _cslc(arguments: list[str]) -> int:
    try:
        compile_command(arguments)
    except CslError as error:
        print(error, file=sys.stderr)
        return FAULT
    except ValueError as error:
        print(f"cslc: {error}", file=sys.stderr)
        return USAGE
    return 0


def _python(arguments: list[str]) -> int:
    """Run a script with the drop-in modules first on its path."""
    _, arguments = options.take(arguments)
    if not arguments:
        print("fabsim python: name a script", file=sys.stderr)
        return USAGE
    sys.path.insert(0, str(files("fabsim").joinpath("drop_in")))
    sys.path.insert(0, str(Path(arguments[0]).resolve().parent))
    sys.argv = arguments
    try:
        runpy.run_path(arguments[0], run_name="__main__")
    except CslError as error:
        print(error, file=sys.stderr)
        return FAULT
    except (SimulationError, UserError) as error:
        print(f"fabsim: {error}", file=sys.stderr)
        return FAULT
    except KeyboardInterrupt as error:
        print(f"fabsim: {str(error) or 'interrupted'}", file=sys.stderr)
        return INTERRUPTED
    return 0


def _trace(arguments: list[str]) -> int:
    """Convert a binary trace."""
    parser = Parser(prog="fabsim trace", description="Make text of a trace.")
    parser.add_argument("binary", help="a trace written with --trace-form binary")
    parser.add_argument("text", help="the file to be written")
    parser.add_argument("--region", type=options.region, metavar="X,Y,WIDTH,HEIGHT")
    parser.add_argument("--window", type=options.window, metavar="FIRST:LAST")
    found = parser.parse_args(arguments)
    try:
        convert_trace(found.binary, found.text, region=found.region, window=found.window)
    except (OSError, ValueError) as error:
        print(f"fabsim trace: {found.binary}: {error}", file=sys.stderr)
        return FAULT
    return 0


def _timing(arguments: list[str]) -> int:
    """Print a table of cycle costs."""
    parser = Parser(prog="fabsim timing", description="Print a clock's table.")
    parser.add_argument("name", choices=timing_table.TIMINGS)
    print(timing_table.text(timing_table.table(parser.parse_args(arguments).name)), end="")
    return 0


def _shims(arguments: list[str]) -> int:
    """Write the commands that a commands file calls."""
    if len(arguments) != 1:
        print("fabsim shims: name one directory", file=sys.stderr)
        return USAGE
    directory = Path(arguments[0])
    directory.mkdir(parents=True, exist_ok=True)
    python = shlex.quote(sys.executable)
    for name, command in SHIMS:
        path = directory / name
        path.write_text(f'#!/bin/sh\nexec {python} -m fabsim {command} "$@"\n')
        os.chmod(path, 0o755)
    return 0


if __name__ == "__main__":
    main()
