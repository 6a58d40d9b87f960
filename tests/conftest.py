"""What all tests share: `--update-expect`, and golden files compared as text."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is slow now and then; that is no failure.
settings.register_profile("collc", deadline=None)
settings.load_profile("collc")

Golden = Callable[[Path, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-expect", action="store_true", help="rewrite the golden files that differ"
    )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare a text with a golden file, or write the file under --update-expect."""

    def compare(path: Path, text: str) -> None:
        if request.config.getoption("--update-expect"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        assert path.exists(), f"{path} is missing; pytest --update-expect writes it"
        assert text == path.read_text(encoding="utf-8")

    return compare


def pytest_configure() -> None:
    """A run in the background ignores interrupts; commands that tests interrupt must not."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
