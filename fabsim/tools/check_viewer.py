"""Open a text trace in the public trace viewer, in a browser without a window, and look at it.

    python fabsim/tools/check_viewer.py VIEWER TRACE [--browser FILE] [--screenshot FILE]

VIEWER is the viewer's directory: a page `index.html` that loads traces. It is no part of this
project. Needed beside it: the package `playwright`, and a Chromium that it finds or that --browser
names. The page reaches the browser without a server and without the network. The status is 0 if the
viewer reads the trace without complaint, shows its cycles, and finds its wavelets and instructions.
"""

from __future__ import annotations

import argparse
import mimetypes
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import ConsoleMessage, Page, Route, sync_playwright

ORIGIN = "http://viewer.invalid/"
# Where software does what a graphics card would.
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--no-zygote")
SIZE = {"width": 1400, "height": 700}
LOADED = "() => Number(document.getElementById('scrubBar').max) > 0"
# The viewer's own parser, on the same text: what it makes of the lines.
PARSE = """async (text) => {
    const { TraceParser } = await import('./trace-parser.js');
    const found = await TraceParser.index(new Blob([text]));
    return {
        width: found.dimX, height: found.dimY,
        first: found.minCycle, last: found.maxCycle,
        wavelets: found.waveletIndex.size,
        hops: [...found.waveletIndex.values()].reduce((n, w) => n + w.hops.cycles.length, 0),
        born: [...found.waveletIndex.values()].filter(w => w.birthCycle != null).length,
        elements: found.peStateIndex.size,
        opcodes: found.opLookup.filter(name => name),
        held: found.backpressureIndex ? found.backpressureIndex.size : 0,
    };
}"""


@dataclass
class Shown:
    """What came of loading a trace."""

    parsed: dict[str, Any]
    last: int
    complaints: list[str] = field(default_factory=list)


def main() -> int:
    """Load, compare, print; the status is 0 if all is as the trace says."""
    options = _options()
    text = Path(options.trace).read_text()
    shown = show(options, text)
    for name, value in shown.parsed.items():
        print(f"{name}: {value}")
    wrong = [*shown.complaints, *differences(text, shown)]
    for line in wrong:
        print(f"WRONG: {line}")
    return 1 if wrong else 0


def show(options: argparse.Namespace, text: str) -> Shown:
    """Load the trace into the viewer, go to a cycle, take a picture."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=options.browser, args=list(ARGUMENTS), headless=True
        )
        page = browser.new_page(viewport=SIZE)
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(f"the page fails: {error}"))
        page.on("console", lambda message: _listen(message, complaints))
        page.route("**/*", lambda route: _serve(route, Path(options.viewer)))
        page.goto(ORIGIN)
        page.set_input_files("#traceFileInput", options.trace)
        page.wait_for_function(LOADED, timeout=options.timeout * 1000)
        parsed = page.evaluate(PARSE, text)
        last = int(page.eval_on_selector("#scrubBar", "bar => bar.max"))
        _go_to(page, options.cycle if options.cycle is not None else (last * 2) // 3)
        if options.screenshot:
            page.screenshot(path=options.screenshot)
        browser.close()
    return Shown(parsed, last, complaints)


def differences(text: str, shown: Shown) -> list[str]:
    """What the viewer should have found in the text, and has not."""
    cycles = [int(cycle) for cycle in re.findall(r"^@(\d+) ", text, re.MULTILINE)]
    dims = re.search(r"^@\d+ dimX=(\d+), dimY=(\d+)", text, re.MULTILINE)
    idents = set(re.findall(r"wavelet C\d+ ctrl=.* ident=([0-9A-F]{16}) ", text))
    hops = len(re.findall(r"\) wavelet C", text))
    expected = {
        "width": int(dims[1]) if dims else None,
        "height": int(dims[2]) if dims else None,
        "first": min(cycles),
        "last": max(cycles),
        "wavelets": len(idents),
        "hops": hops,
    }
    wrong = [
        f"{name} is {shown.parsed[name]}, the trace says {value}"
        for name, value in expected.items()
        if shown.parsed[name] != value
    ]
    if shown.last != max(cycles):
        wrong.append(f"the page ends at cycle {shown.last}, the trace at {max(cycles)}")
    if idents and not shown.parsed["born"]:
        wrong.append("no wavelet has a cycle in which it was written to its queue")
    if not shown.parsed["elements"]:
        wrong.append("no compute element does anything")
    return wrong


def _listen(message: ConsoleMessage, complaints: list[str]) -> None:
    # The page asks for a server's interface, which is not there.
    if message.type in ("error", "warning") and "/api/" not in message.location.get("url", ""):
        complaints.append(f"the page says: {message.text}")


def _serve(route: Route, directory: Path) -> None:
    """Answer a request of the page with a file of the directory."""
    name = route.request.url.removeprefix(ORIGIN).partition("?")[0] or "index.html"
    path = (directory / name).resolve()
    if not route.request.url.startswith(ORIGIN) or directory.resolve() not in path.parents:
        route.abort()
    elif path.is_file():
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        route.fulfill(body=path.read_bytes(), content_type=kind)
    else:
        route.fulfill(status=404, body="")


def _go_to(page: Page, cycle: int) -> None:
    page.eval_on_selector(
        "#scrubBar",
        """(bar, cycle) => {
            bar.value = cycle;
            bar.dispatchEvent(new Event('input', { bubbles: true }));
            bar.dispatchEvent(new Event('change', { bubbles: true }));
        }""",
        cycle,
    )
    page.wait_for_timeout(500)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Open a trace in the public viewer.")
    parser.add_argument("viewer", help="the viewer's directory")
    parser.add_argument("trace", help="a trace in the text form")
    parser.add_argument("--browser", help="a Chromium, if playwright has none of its own")
    parser.add_argument("--screenshot", metavar="FILE")
    parser.add_argument("--cycle", type=int, help="the cycle to show; two thirds in otherwise")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
