"""A hook of the site: pages link to files of the repository, which the site does not have. Such a
link becomes the file's name, and one to a file that is not there ends the build."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./([^)#\s]+)(?:#[^)]*)?\)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:  # noqa: ANN401 - as mkdocs calls
    """The page with names of files in place of links to them."""

    def named(link: re.Match[str]) -> str:
        text, path = link.groups()
        if not (ROOT / path).exists():
            raise SystemExit(f"{page.file.src_path}: there is no {path}")
        plain = text.strip("`")
        return f"`{path}`" if plain in (path, Path(path).name) else f"{text} (`{path}`)"

    return _OUTSIDE.sub(named, markdown)
