"""Where the `collc` command begins: before anything that takes time is imported, so that Ctrl-C is
one line and status 130 from the first moment on."""

from __future__ import annotations

import gc
import os
import signal
import sys

INTERRUPTED = 130  # what a shell says of SIGINT
_SAID = "collc: interrupted\n"


def main() -> None:
    """Entry point of the `collc` command."""
    try:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _end)
        from collc.cli import main as run  # noqa: PLC0415 - see above

        run()
    except KeyboardInterrupt:
        sys.stderr.write(_SAID)
        sys.exit(INTERRUPTED)
    finally:
        # as it ends, Python looks for cycles in all that is left: up to a fifth of a second
        gc.freeze()


def _end(*_: object) -> None:
    """End at once. While modules are imported there is nothing to put back, and an exception may be
    lost: Python ignores one that is raised within a callback of its import system."""
    os.write(2, _SAID.encode())
    os._exit(INTERRUPTED)


def interrupts_raise() -> None:
    """From here on an interrupt is an exception, so that what is half done is put back."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)
