"""A browser without a window, and pages made once for all tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import collc
from collc.run import RunReport
from collc.view import Observed, Scope, page_of, watched_run

EXAMPLES = Path(__file__).parents[2] / "examples"
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, driven by Playwright; without either the tests are skipped."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no Chromium: the viewer's pages are not opened (apt install chromium)")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="no Playwright: pip install playwright"
    )
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=path, args=OPTIONS)
        yield found
        found.close()


class Opened:
    """A page of the viewer in the browser, and all that went wrong in it."""

    def __init__(self, browser: Any, file: Path, fragment: str) -> None:
        self.context = browser.new_context(
            viewport={"width": 1400, "height": 900}, accept_downloads=True
        )
        self.page = self.context.new_page()
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda said: said.type == "error" and self.errors.append(said.text))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(f"{file.as_uri()}{fragment}")
        self.page.wait_for_selector("body[data-ready]", timeout=30_000)

    def text(self, name: str) -> str:
        """The text of an element by its test id."""
        return str(self.page.locator(f'[data-testid="{name}"]').first.inner_text())

    def number(self, name: str) -> int:
        """A number with thin spaces, and without what follows it."""
        return int(self.text(name).replace("\u2009", "").split()[0])

    def show(self, view: str) -> None:
        """Select a view by its tab."""
        self.page.get_by_test_id(f"tab-{view}").click()

    def drawn(self) -> int:
        """How many different colors the stage shows."""
        self.page.wait_for_timeout(60)
        return int(
            self.page.evaluate(
                """() => {
                  const stage = document.querySelector('canvas.stage');
                  const { width, height } = stage;
                  const { data } = stage.getContext('2d').getImageData(0, 0, width, height);
                  return new Set(new Uint32Array(data.buffer)).size;
                }"""
            )
        )


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., Opened]]:
    """Open a file; at the end nothing may have gone wrong in it."""
    pages: list[Opened] = []

    def of(file: Path, fragment: str = "") -> Opened:
        pages.append(Opened(browser, file, fragment))
        return pages[-1]

    yield of
    for one in pages:
        assert one.errors == []
        assert [
            url for url in one.requests if not url.startswith(("file:", "data:", "blob:"))
        ] == []
        one.context.close()


class Made:
    """A page of an example: its file, and what ran."""

    def __init__(self, file: Path, bundle: Any, seen: Observed) -> None:
        self.file, self.bundle, self.seen = file, bundle, seen

    @property
    def report(self) -> RunReport:
        """Of a run that came to its end."""
        assert self.seen.report is not None
        return self.seen.report


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Made]:
    """Make the page of an example once."""
    pytest.importorskip("fabsim")
    known: dict[str, Made] = {}

    def of(name: str, *, run: bool = True, **params: int) -> Made:
        key = f"{name} {sorted(params.items())} {run}"
        if key not in known:
            file = EXAMPLES / f"{name}.coll"
            bundle = collc.compile(file, **params)
            seen = watched_run(bundle, 1, Scope()) if run else Observed()
            target = tmp_path_factory.mktemp("view") / f"{name}.html"
            page_of([(bundle, seen, file.read_text())]).write(target)
            known[key] = Made(target, bundle, seen)
        return known[key]

    return of


@pytest.fixture(autouse=True)
def _no_options(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a developer asks fabsim for is not what these tests ask it for."""
    monkeypatch.delenv("FABSIM_OPTIONS", raising=False)
    assert "FABSIM_OPTIONS" not in os.environ
