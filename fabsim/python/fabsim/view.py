"""`fabsim view TRACE`: a page that shows a run, made of its binary trace."""

from __future__ import annotations

import sys
from pathlib import Path

from fabsim.arguments import Parser
from fabsim.view_page import page_of_traces

_MAGIC = b"FABTRACE"
_MOST_BYTES = 400_000_000  # a browser has to hold a page several times over


def main(arguments: list[str]) -> int:
    """Write the page; the status that the command exits with."""
    parser = Parser(prog="fabsim view", description="Make a page of traces.")
    parser.add_argument(
        "traces", nargs="+", metavar="TRACE", help="written with --trace-form binary"
    )
    parser.add_argument("-o", "--output", help="the page (the first trace's name with .html)")
    found = parser.parse_args(arguments)
    output = Path(found.output) if found.output else Path(found.traces[0]).with_suffix(".html")
    traces = []
    for name in found.traces:
        try:
            traces.append((name, _read(Path(name))))
        except (OSError, ValueError) as error:
            print(f"fabsim view: {name}: {_why(error)}", file=sys.stderr)
            return 1
    try:
        output.write_text(page_of_traces(traces), encoding="utf-8")
    except OSError as error:
        print(f"fabsim view: {output}: {_why(error)}", file=sys.stderr)
        return 1
    print(output)
    return 0


def _why(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)


def _read(path: Path) -> bytes:
    """A trace; raises ValueError for what is none, and for one that no browser could show."""
    if path.stat().st_size > _MOST_BYTES:
        raise ValueError("too large to be shown; --trace-region and --trace-window record a part")
    data = path.read_bytes()
    if not data.startswith(_MAGIC):
        raise ValueError("this is no binary trace of fabsim (--trace-form binary makes one)")
    return data
