"""Where the `collc` command begins: before anything that takes time is imported, so that Ctrl-C is
one line and status 130 from the first moment on."""

from __future__ import annotations

import sys

INTERRUPTED = 130  # what a shell says of SIGINT


def main() -> None:
    """Entry point of the `collc` command."""
    try:
        from collc.cli import main as run  # noqa: PLC0415 - see above

        run()
    except KeyboardInterrupt:
        sys.stderr.write("collc: interrupted\n")
        sys.exit(INTERRUPTED)
