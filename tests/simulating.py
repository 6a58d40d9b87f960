"""What tests of emitted text share: examples compiled, and fabsim with other options."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
# What programs took when each form of a plan had a text of its own, by test file.
BEFORE: dict[str, dict[str, int]] = json.loads(
    (ROOT / "tests" / "emit" / "cycles.json").read_text()
)


def most_cycles(test: str, what: str) -> float:
    """The cycles that a program of a test file may take: 2 % and 10 more than it once took."""
    return BEFORE[test][what] * 1.02 + 10


@contextmanager
def fabsim_options(options: str) -> Iterator[None]:
    """Fabsim with other options."""
    before = os.environ.get("FABSIM_OPTIONS")
    os.environ["FABSIM_OPTIONS"] = options
    try:
        yield
    finally:
        if before is None:
            del os.environ["FABSIM_OPTIONS"]
        else:
            os.environ["FABSIM_OPTIONS"] = before


def compiled(name: str, target: str, given: Mapping[str, int]) -> Bundle:
    """An example with some parameters."""
    path = EXAMPLES / f"{name}.coll"
    return compile_text(path.read_text(), path.name, dict(given), target)
