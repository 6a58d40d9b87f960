"""Standard streams, also where they are closed, full, or pipes that nobody reads."""

import io
import os
import sys
from contextlib import suppress


def prepare() -> None:
    """Make output and error fit for whatever is printed. What is closed, which Python has as None,
    is opened, so that no other file gets its number: printing on such an output is an error, as on
    a full disk, and what is said on such an error is lost. Standard input stays None."""
    for number, how in enumerate((os.O_RDWR, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, how)  # which gets the lowest number that is free
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name may hold what the stream cannot encode
            stream.reconfigure(errors="backslashreplace")


def drop(number: int) -> None:
    """Let what could not be written go, so that Python does not try again as it exits."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)
