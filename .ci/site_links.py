"""A hook of the site. Pages link to files of the repository, which the site does not have: such a
link becomes the file's name, and one to a file that is not there ends the build. The site carries
what `make playground` and `make teaching` have built, and a page that names such a file in code
links to it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
# where on the site: what was built, if it was
CARRIED = {"playground/app": ROOT / "build/playground", "teaching": ROOT / "build/teaching"}
_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./([^)#\s]+)(?:#[^)]*)?\)")
_PAGE = re.compile(r"(?<!\[)`([\w/]+\.html)`")


def on_files(files: Any, *, config: Any) -> Any:  # noqa: ANN401 - as mkdocs calls
    """The files of the site with what was built."""
    from mkdocs.structure.files import File, InclusionLevel  # noqa: PLC0415 - pages do without

    for place, folder in CARRIED.items():
        for path in sorted(one for one in folder.rglob("*") if one.is_file()):
            name = f"{place}/{path.relative_to(folder).as_posix()}"
            # also of the kinds that pages alone have no use for
            made = File.generated(config, name, abs_src_path=str(path))
            made.inclusion = InclusionLevel.INCLUDED
            files.append(made)
    return files


def on_page_markdown(markdown: str, *, page: Any, files: Any, **_: Any) -> str:  # noqa: ANN401
    """The page with names of files in place of links to them, and links to what was built."""
    folder = Path(page.file.src_path).parent

    def named(link: re.Match[str]) -> str:
        text, path = link.groups()
        there = (DOCS / folder / ".." / path).resolve()
        if there.is_relative_to(DOCS):
            return link[0]  # a page, which mkdocs looks for itself
        if not there.exists():
            raise SystemExit(f"{page.file.src_path}: there is no {path}")
        plain, shown = text.strip("`"), there.relative_to(ROOT).as_posix()
        return f"`{shown}`" if plain in (shown, there.name) else f"{text} (`{shown}`)"

    def carried(name: re.Match[str]) -> str:
        there = files.get_file_from_path((folder / name[1]).as_posix())
        return name[0] if there is None else f"[{name[0]}]({name[1]})"

    return _PAGE.sub(carried, _OUTSIDE.sub(named, markdown))
