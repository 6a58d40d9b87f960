"""Running a bundle under fabsim with a binary trace."""

import os
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from collc.base.values import dataclass
from collc.run import RunError
from collc.view.model import Observed, Viewed

OPTIONS = "FABSIM_OPTIONS"  # what fabsim reads its options from


@dataclass(frozen=True)
class Scope:
    """The part of a run to be recorded: a rectangle (x, y, width, height), the first and the last
    cycle; None is all of it."""

    region: tuple[int, int, int, int] | None = None
    window: tuple[int, int] | None = None

    @property
    def options(self) -> list[str]:
        """As fabsim is told it."""
        found = []
        if self.region is not None:
            found += ["--trace-region", ",".join(map(str, self.region))]
        if self.window is not None:
            found += ["--trace-window", ":".join(map(str, self.window))]
        return found


def watched_run(bundle: Viewed, seed: int, scope: Scope) -> Observed:
    """Run a bundle once and keep the trace, also of a run that does not come to its end. Raises
    CollcError where fabsim is not installed."""
    with tempfile.TemporaryDirectory(prefix="collc-view-") as name:
        directory = Path(name)
        words = ["--trace", str(directory / "run.trace"), "--trace-form", "binary", *scope.options]
        with _options(words):
            try:
                report, problem = bundle.run(seed=seed), ""
            except RunError as error:
                report, problem = None, str(error)
        # a later simulator of one process numbers its file, and here it has a directory to itself
        traces = list(directory.iterdir())
        trace = traces[0].read_bytes() if traces else b""
    return Observed(report, problem, trace)


@contextmanager
def _options(words: list[str]) -> Iterator[None]:
    """The options that fabsim reads, with some more behind them, for as long as this lasts."""
    before = os.environ.get(OPTIONS)
    os.environ[OPTIONS] = " ".join(filter(None, [before, shlex.join(words)]))
    try:
        yield
    finally:
        if before is None:
            del os.environ[OPTIONS]
        else:
            os.environ[OPTIONS] = before
