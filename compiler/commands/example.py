"""`collc example`: the programs that come with the compiler."""

from __future__ import annotations

from difflib import get_close_matches
from importlib.resources import files
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from importlib.abc import Traversable

_GALLERY = "gallery/"


@click.command()
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """Print the example called NAME, or list all of them with their first sentences.

    `collc example two_phase > two_phase.coll`, then `collc run two_phase.coll`. Those of the
    gallery, programs for common needs, may be named without `gallery/`.
    """
    texts = _examples()
    if name is None:
        width = max(map(len, texts))
        for one, text in texts.items():
            click.echo(f"{one:<{width}}  {_first_sentence(text)}")
        return
    wanted = name.removesuffix(".coll")
    if wanted not in texts and _GALLERY + wanted in texts:
        wanted = _GALLERY + wanted
    if wanted not in texts:
        near = get_close_matches(wanted, texts, n=1)
        hint = f"did you mean {near[0]}?" if near else "`collc example` lists them"
        raise click.UsageError(f"there is no example {name}; {hint}")
    click.echo(texts[wanted], nl=False)


def _examples() -> dict[str, str]:
    """The texts of all examples that are a file each, by name."""
    folder = files("collc.examples")
    return _texts(folder, "") | _texts(folder / "gallery", _GALLERY)


def _texts(folder: Traversable, prefix: str) -> dict[str, str]:
    found = (path for path in folder.iterdir() if path.name.endswith(".coll"))
    return {
        prefix + path.name.removesuffix(".coll"): path.read_text(encoding="utf-8")
        for path in sorted(found, key=lambda path: path.name)
    }


def _first_sentence(text: str) -> str:
    """What the comment at the beginning of a program says first."""
    words: list[str] = []
    for line in text.splitlines():
        if not line.startswith("// "):
            break
        for word in line.removeprefix("// ").split():
            words.append(word)
            if word.endswith((".", ":", ";")) and len(word) > 2:
                return " ".join(words).rstrip(".:;")
    return " ".join(words)
