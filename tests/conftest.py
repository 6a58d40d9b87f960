"""What all tests share: `--update-expect`, golden files compared as text, and the mark of the
stage that a test belongs to."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from allowed_skips import forbidden
from hypothesis import settings
from stages import OTHERWISE, STAGES, stage_of

from collc.base.allocation import allocate_for_a_compiler

# A busy machine is slow now and then; that is no failure.
settings.register_profile("collc", deadline=None)
settings.load_profile("collc")

Golden = Callable[[Path, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-expect", action="store_true", help="rewrite the golden files that differ"
    )
    parser.addoption(
        "--allowed-skips-only",
        action="store_true",
        default=os.environ.get("CI") == "true",
        help="a skip that is not in tests/allowed_skips.txt is a failure (default where CI=true)",
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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with its stage: `pytest -m proof`."""
    for item in items:
        item.add_marker(stage_of(item.path))


Report = Generator[None, pytest.TestReport, pytest.TestReport]
Collected = Generator[None, pytest.CollectReport, pytest.CollectReport]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Report:
    """A skip that is not allowed is a failure, where the run asks for that."""
    report = yield
    _fail_if_forbidden(item.config, report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Collected:
    """The same of a file that skips as a whole."""
    report = yield
    _fail_if_forbidden(collector.config, report)
    return report


def _fail_if_forbidden(
    config: pytest.Config, report: pytest.TestReport | pytest.CollectReport
) -> None:
    skipped = report.outcome == "skipped" and not hasattr(report, "wasxfail")
    if not skipped or not config.getoption("--allowed-skips-only"):
        return
    assert isinstance(report.longrepr, tuple)
    problem = forbidden(*report.longrepr)
    if problem:
        report.outcome = "failed"
        report.longrepr = problem


def pytest_collection_finish() -> None:
    """What has been collected stays to the end: the collector of cycles need not look at it over
    and over."""
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marks, allocate memory as commands do, and let commands that tests
    interrupt be interrupted even where the run itself, being in the background, ignores
    interrupts."""
    allocate_for_a_compiler()
    for stage in sorted({OTHERWISE, *STAGES.values()}):
        config.addinivalue_line("markers", f"{stage}: tests of this stage")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
