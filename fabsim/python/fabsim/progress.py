"""How far a long run has got, on standard error: on a terminal, or if `--progress` asks for it."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import TextIO

#: Seconds of silence at first; seconds between two lines on a terminal, and elsewhere.
PATIENCE, PACE, SLOW_PACE = 2.0, 0.5, 10.0


@dataclass
class Reporter:
    """Tells of one run: `what` is the command, `cycle` where it was last seen, in a `unit`."""

    stream: TextIO
    shown: bool
    unit: str = "cycle"
    what: str = ""
    cycle: int = 0
    _began: float = field(default_factory=time.monotonic)
    _first: int | None = None
    _told: float = 0.0
    _open: bool = False

    def begin(self, what: str) -> None:
        """A command begins."""
        self.what, self._first = what, None
        self._began = self._told = time.monotonic()

    def told(self, cycle: int) -> None:
        """The simulation is at this cycle."""
        self.cycle = cycle
        if self._first is None:
            self._first = cycle
        if not self.shown:
            return
        now = time.monotonic()
        terminal = self.stream.isatty()
        pace = PACE if terminal else SLOW_PACE
        if now - self._began < PATIENCE or now - self._told < pace:
            return
        self._told = now
        speed = (cycle - self._first) / (now - self._began)
        text = f"fabsim: {self.what}: {self.unit} {cycle:,} ({speed:,.0f} a second)"
        self.stream.write(f"\r{text}\x1b[K" if terminal else f"{text}\n")
        self.stream.flush()
        self._open = terminal

    def end(self) -> None:
        """The command has ended: the line goes."""
        if self._open:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
            self._open = False


def reporter(asked: bool, unit: str = "cycle") -> Reporter:
    """A reporter on standard error."""
    shown = sys.stderr is not None and (asked or sys.stderr.isatty())
    return Reporter(sys.stderr, shown, unit)
