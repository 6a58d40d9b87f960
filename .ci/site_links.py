"""A hook of the site: pages link to files of the repository, which the site does not have. Such a
link becomes the file's name, and one to a file that is not there ends the build."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./([^)#\s]+)(?:#[^)]*)?\)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:  # noqa: ANN401 - as mkdocs calls
    """The page with names of files in place of links to them."""
    folder = (DOCS / page.file.src_path).parent

    def named(link: re.Match[str]) -> str:
        text, path = link.groups()
        there = (folder / ".." / path).resolve()
        if there.is_relative_to(DOCS):
            return link[0]  # a page, which mkdocs looks for itself
        if not there.exists():
            raise SystemExit(f"{page.file.src_path}: there is no {path}")
        plain, shown = text.strip("`"), there.relative_to(ROOT).as_posix()
        return f"`{shown}`" if plain in (shown, there.name) else f"{text} (`{shown}`)"

    return _OUTSIDE.sub(named, markdown)
