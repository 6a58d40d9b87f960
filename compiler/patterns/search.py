"""Patterns and orders found by a word: a name, another name, or a word of what is said about them.

Case does not matter, and `-`, `_` and blanks are the same. A word stands for what begins with it:
"scatter" is in "scatters".
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches

from collc.base.values import dataclass
from collc.patterns.orders import RankOrder
from collc.patterns.sources import Pattern

Entry = Pattern | RankOrder
_NEAR = 3  # names that are shown where there is none


@dataclass(frozen=True)
class Found:
    """What a word stands for; `more` are the names of what has the word besides, `note` what is to
    be told of the word."""

    entries: tuple[Entry, ...]
    more: tuple[str, ...]
    note: str = ""


def search(word: str, among: Iterable[Entry]) -> Found:
    """The pattern of a name, with the order of that name; else what is also called so; else what
    has the word in its names or its first sentence. Nothing if nothing has it."""
    wanted, known = _plain(word), tuple(among)
    called = tuple(entry for entry in known if wanted in _names(entry))
    if any(isinstance(entry, Pattern) and _plain(entry.name) == wanted for entry in called):
        called = tuple(entry for entry in called if _plain(entry.name) == wanted)
    having = tuple(entry for entry in known if wanted and f" {wanted}" in _text(entry))
    if not called:
        return Found(having, ())
    more = dict.fromkeys(entry.name for entry in having if entry not in called)
    return Found(called, tuple(more))


def near(word: str, among: Iterable[Entry]) -> tuple[str, ...]:
    """The names most like a word, the likest first."""
    spelled = {_plain(name): name for entry in among for name in (*entry.other_names, entry.name)}
    return tuple(spelled[name] for name in get_close_matches(_plain(word[:80]), spelled, _NEAR))


def _plain(text: str) -> str:
    return " ".join(re.split(r"[\s_-]+", text.lower())).strip()


def _names(entry: Entry) -> tuple[str, ...]:
    return tuple(map(_plain, (entry.name, *entry.other_names)))


def _text(entry: Entry) -> str:
    """All that is searched, a blank before every word."""
    return f" {' '.join((*_names(entry), _plain(entry.about)))}"
