"""Orders, trees and algorithms that every program knows, from grammar/prelude.coll.

The file is cut at its declarations, and each is parsed when somebody asks for it: a program uses
one or two of the forty.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Generic, TypeVar, cast

from collc.language.kinds import BY_WORD, KINDS
from collc.language.parser import declarations_of
from collc.language.syntax import AlgorithmDecl, OrderDecl, TreeDecl

PRELUDE_FILE = "prelude.coll"

PreludeDecl = OrderDecl | TreeDecl | AlgorithmDecl
_K = TypeVar("_K", bound=PreludeDecl)

Kinds = Mapping[str, type[PreludeDecl]]

_KINDS = tuple(kind for kind in KINDS if kind.in_prelude)
_BEGINNING = re.compile(rf"^({'|'.join(kind.word for kind in _KINDS)}) (\w+)", re.MULTILINE)


class Declared(Mapping[str, _K], Generic[_K]):
    """The prelude's declarations of one kind and a file's own, by name: the prelude's come first,
    in its order, and are parsed when they are looked up. Those that are the compiler's own
    (`is_listed`) are found by name and not gone through."""

    def __init__(self, kind: type[_K], own: Mapping[str, _K] | None = None) -> None:
        self._kind = kind
        self.own: Mapping[str, _K] = own or {}

    def __getitem__(self, name: str) -> _K:
        if name in self.own:
            return self.own[name]
        if prelude_kinds().get(name) is not self._kind:
            raise KeyError(name)
        return cast(_K, prelude_declaration(name))

    def __contains__(self, name: object) -> bool:
        return name in self.own or prelude_kinds().get(str(name)) is self._kind

    def __iter__(self) -> Iterator[str]:
        for name, kind in prelude_kinds().items():
            if kind is self._kind and is_listed(name):
                yield name
        yield from self.own

    def __len__(self) -> int:
        return sum(1 for _ in self)


def is_listed(name: str) -> bool:
    """Whether a name of the prelude is one that a program may choose: others are parts of what
    `run auto` writes."""
    return not name.startswith("_")


@cache
def prelude_text() -> str:
    """The prelude as it is written."""
    return files("collc.grammar").joinpath(PRELUDE_FILE).read_text(encoding="utf-8")


@cache
def prelude_kinds() -> Kinds:
    """What each name of the prelude is, in the order of the file."""
    found = _BEGINNING.finditer(prelude_text())
    return {one[2]: BY_WORD[one[1]].classes[0] for one in found}


@cache
def prelude_declaration(name: str) -> PreludeDecl:
    """The declaration of a name of the prelude. Raises KeyError for other names."""
    begin, end = _places()[name]
    above = "\n" * prelude_text().count("\n", 0, begin)  # so that lines are counted as in the file
    (declared,) = declarations_of(PRELUDE_FILE, above + prelude_text()[begin:end])
    assert isinstance(declared, PreludeDecl)
    return declared


@cache
def _places() -> Mapping[str, tuple[int, int]]:
    """Where the declaration of each name begins and ends in the text."""
    found = list(_BEGINNING.finditer(prelude_text()))
    ends = [*(one.start() for one in found[1:]), len(prelude_text())]
    return {one[2]: (one.start(), end) for one, end in zip(found, ends, strict=True)}
