"""The viewer's page with data in it: one HTML file that needs nothing else.

Both packages have this module (it is linked into them), beside `viewer.html`, which
`viewer/build.mjs` makes. Data are compressed and in letters and digits, so that nothing of what
they say can be taken for markup.
"""

import base64
import gzip
import html
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

_MARK = "<!-- data -->"
_TITLE = "<title>viewer</title>"


def page(programs: Sequence[Mapping[str, Any]], traces: Sequence[bytes], title: str) -> str:
    """The page of some programs, whose data docs/viewer.md describes; `traces` are their binary
    traces, empty where there is none."""
    blocks = [_block("data-programs", json.dumps(list(programs)).encode())]
    blocks += [_block(f"data-trace-{n}", trace) for n, trace in enumerate(traces) if trace]
    empty = files(__package__).joinpath("viewer.html").read_text(encoding="utf-8")
    before, mark, behind = empty.partition(_MARK)
    assert mark and _TITLE in before, "viewer.html is not what viewer/build.mjs makes"
    before = before.replace(_TITLE, f"<title>{html.escape(title)}</title>", 1)
    return before + "\n".join(blocks) + behind


def page_of_traces(traces: Sequence[tuple[str, bytes]]) -> str:
    """The page of runs of which there are traces only, each with its name."""
    programs = [{"version": 1, "name": name, "run": {}} for name, _ in traces]
    return page(programs, [trace for _, trace in traces], ", ".join(name for name, _ in traces))


def _block(name: str, data: bytes) -> str:
    packed = base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()
    return f'<script type="text/plain" id="{name}">{packed}</script>'
