"""Where the `collc` command begins. From here on Ctrl-C is one line and status 130, whenever it
comes. Before, and at the very last, it is Python's to answer, by its own end or a traceback;
so neither this nor the package, which is imported first, imports anything that takes time."""

from __future__ import annotations

import gc
import os
import sys

# of `signal`, which first makes enumerations of them, for milliseconds
from _signal import (  # type: ignore[import-not-found]
    SIGINT,
    default_int_handler,
    getsignal,
    signal,
)

INTERRUPTED = 130  # what a shell says of SIGINT
_SAID = "collc: interrupted\n"


def main() -> None:
    """Entry point of the `collc` command."""
    _interrupts_end()
    try:
        from collc.cli import main as run  # noqa: PLC0415 - see above

        run()
    except KeyboardInterrupt:
        sys.stderr.write(_SAID)
        sys.exit(INTERRUPTED)
    finally:
        _interrupts_end()
        # as it ends, Python looks for cycles in all that is left: up to a fifth of a second
        gc.freeze()


def _interrupts_end() -> None:
    """From here on an interrupt ends the process, unless somebody has another use for it."""
    if getsignal(SIGINT) is default_int_handler:
        signal(SIGINT, _end)


def _end(*_: object) -> None:
    """End at once. While modules are imported there is nothing to put back, and an exception may be
    lost: Python ignores one that is raised within a callback of its import system. As the command
    ends there is nothing either, and nobody who would catch it."""
    try:
        os.write(2, _SAID.encode())
    finally:
        os._exit(INTERRUPTED)


def interrupts_raise() -> None:
    """From here on an interrupt is an exception, so that what is half done is put back."""
    if getsignal(SIGINT) is _end:
        signal(SIGINT, default_int_handler)
