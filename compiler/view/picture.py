"""Pages as objects of notebooks, and pictures of them by a browser without a window."""

import html
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from collc.base.diagnostics import shown
from collc.base.files import put
from collc.base.values import dataclass
from collc.view.model import Observed, Viewed, view_data
from collc.view.page import page

VIEWS = ("routes", "motion", "lines", "waits", "compare")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_SIZE = "1600,1000"
_SECONDS = 120
# A page of our own needs neither the network nor the services that a browser starts with.
_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--virtual-time-budget=20000",
)


class PictureError(Exception):
    """There is no browser, or it made no picture."""


@dataclass(frozen=True)
class Page:
    """The viewer's page with data in it, which a notebook shows as it is."""

    html: str

    def write(self, file: str | Path) -> None:
        """Write it as one file. Raises OSError."""
        put(Path(file), self.html)

    def _repr_html_(self) -> str:
        held = html.escape(self.html, quote=True)
        how = 'style="width:100%;height:760px;border:0" sandbox="allow-scripts allow-downloads"'
        return f'<iframe srcdoc="{held}" {how}></iframe>'


def page_of(programs: Sequence[tuple[Viewed, Observed, str]], lesson: str = "") -> Page:
    """The page of some programs, each with its run and the text of its file; a `lesson` in
    Markdown is shown beside them."""
    data = [view_data(bundle, text, seen) for bundle, seen, text in programs]
    if lesson:
        data[0]["lesson"] = lesson
    title = ", ".join(dict.fromkeys(shown(bundle.spec.file) for bundle, _, _ in programs))
    return Page(page(data, [seen.trace for _, seen, _ in programs], title))


def picture(made: Page, view: str, *, dark: bool) -> bytes:
    """A PNG of a view of a page, of 1600 x 1000 pixels; an empty view is the page's own choice.
    Raises PictureError."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise PictureError("a picture needs Chromium or Chrome, and neither is on PATH")
    asked = f"t=peak&view={view}&theme={'dark' if dark else 'light'}"
    with tempfile.TemporaryDirectory(prefix="collc-view-") as name:
        directory = Path(name)
        made.write(directory / "view.html")
        target = directory / "view.png"
        command = [
            browser,
            *_OPTIONS,
            f"--user-data-dir={directory / 'profile'}",
            f"--window-size={_SIZE}",
            f"--screenshot={target}",
            f"{(directory / 'view.html').as_uri()}#{asked}",
        ]
        try:
            done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
        except subprocess.TimeoutExpired as error:
            raise PictureError(f"{browser} did not come to an end in {_SECONDS} s") from error
        if not target.exists():
            told = done.stderr.decode(errors="replace").strip().splitlines()
            raise PictureError(f"{browser} made no picture: {told[-1] if told else 'no message'}")
        return target.read_bytes()
