"""What is under way, for whoever waits at a terminal.

A stage does its work within `under_way("proving")`; of stages within stages the outermost is shown,
with what it tells of how far it is. A command lets it be shown within `shown_on`: in one line that
is written over, from a second on, and is gone when nothing is under way. So nothing else may be
printed within a stage. Elsewhere `under_way` does nothing.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from time import monotonic
from typing import TextIO

SILENT_SECONDS = 1.0  # of silence, from the beginning of a command
PACE_SECONDS = 0.2  # from one line to the next

Tell = Callable[[str], None]

_line: ContextVar[_Line | None] = ContextVar("line", default=None)


@contextmanager
def shown_on(stream: TextIO | None, *, wanted: bool = True) -> Iterator[None]:
    """Show what is under way on a stream, if that is wanted and it is a terminal."""
    before = _line.set(_Line(stream) if wanted and stream is not None and stream.isatty() else None)
    try:
        yield
    finally:
        _line.reset(before)


@contextmanager
def under_way(what: str) -> Iterator[Tell]:
    """Within it `what` is under way, unless it is within something that is; gives what to call with
    how far it is, as often as one likes."""
    line = _line.get()
    if line is None or line.is_busy:
        yield _nobody_waits
        return
    line.begin(what)
    try:
        yield line.tell
    finally:
        line.end()


def _nobody_waits(_: str) -> None:
    """Nothing is shown."""


class _Line:
    """The line on a terminal. A thread writes it, since a stage may be long in one place; there is
    one only while something is under way, so that commands may start processes meanwhile."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._began = stream, monotonic()
        self._what = self._how_far = ""
        self._columns = 0  # that are written
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def is_busy(self) -> bool:
        """Whether something is under way."""
        return self._thread is not None

    def begin(self, what: str) -> None:
        """Something is under way."""
        self._what, self._how_far = what, ""
        self._over.clear()
        self._thread = threading.Thread(target=self._show, daemon=True)
        self._thread.start()

    def tell(self, how_far: str) -> None:
        """How far it is."""
        self._how_far = how_far

    def end(self) -> None:
        """Nothing is under way any more: the line goes."""
        self._over.set()
        try:
            if self._thread is not None:
                self._thread.join()
        finally:
            self._thread = None
            self._write("")

    def _show(self) -> None:
        pause = max(SILENT_SECONDS - (monotonic() - self._began), 0)
        while not self._over.wait(pause):
            of = f": {self._how_far}" if self._how_far else ""
            self._write(f"{self._what}{of} ({monotonic() - self._began:.0f} s)")
            pause = PACE_SECONDS

    def _write(self, text: str) -> None:
        """Write a text over the one before, without codes that only some terminals know."""
        if not text and not self._columns:
            return
        with suppress(OSError, ValueError):  # the terminal may have gone
            text = text[: self._width()]
            self._stream.write(f"\r{text.ljust(self._columns)}" + ("" if text else "\r"))
            self._stream.flush()
            self._columns = len(text)

    def _width(self) -> int:
        """Columns that fit, one less than there are: some terminals go to the next line behind the
        last one."""
        try:
            return max(os.get_terminal_size(self._stream.fileno()).columns - 1, 1)
        except OSError:
            return 79
