"""What an editor asks about a text: what is wrong, what a name means, what may come next.

Places are characters from the beginning of the text; texts need not be saved, nor parse.
"""

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path

from lark import UnexpectedInput

from collc.base.diagnostics import CollcError, Diagnostic
from collc.base.values import dataclass
from collc.language import parse_source
from collc.language.expressions import FUNCTIONS, RESERVED
from collc.language.kinds import FIXED, KINDS, ORDER_WORDS
from collc.language.parser import BEGINNINGS, keywords, lexed, parse_text, parser_state, pieces
from collc.language.prelude import PRELUDE_FILE, prelude_text
from collc.language.source import read_source
from collc.lsp.names import Declared, Name, Names, names_of

_ORDERS = {*ORDER_WORDS, FIXED}


@dataclass(frozen=True)
class Place:
    """A declaration, in this text or in another file's."""

    file: Path
    text: str
    declared: Declared

    @property
    def written(self) -> str:
        """What is written there, with the comment above it."""
        head = "\n".join(self._comment)
        body = self.text[self.declared.start : self.declared.end]
        return f"{head}\n{body}" if head else body

    @property
    def about(self) -> str:
        """The first line of it, which is the comment's if there is one."""
        first = next(iter(self._comment), None)
        if first is None:
            first = self.text[self.declared.start : self.declared.end].partition("\n")[0]
        return first.removeprefix("// ")

    @property
    def _comment(self) -> list[str]:
        """The lines of the comment above the declaration. What is above them is not looked at: in
        a long text of many declarations each would take as long as the whole."""
        found: list[str] = []
        end = self.text.rfind("\n", 0, self.declared.start)
        while end > 0:
            start = self.text.rfind("\n", 0, end) + 1
            if not self.text.startswith("//", start):
                break
            found.append(self.text[start:end])
            end = start - 1
        return found[::-1]


@dataclass(frozen=True)
class Document:
    """A text that is open in an editor, and the file it is to be in."""

    file: Path
    text: str

    @cached_property
    def names(self) -> Names:
        """The names of the text."""
        return names_of(self.text)

    @cached_property
    def problems(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the text by itself, before anything is proved. A file without a
        program is one that others import."""
        try:
            if any(one.kind in ("target", "program", "collective") for one in self.names.declared):
                parse_source(self.text, file=str(self.file))
            else:
                parse_text(str(self.file), self.text)
        except CollcError as error:
            return error.diagnostics
        return ()

    @property
    def unused(self) -> Iterator[tuple[str, Name]]:
        """What the program does without: a line on each, and where its name stands. What a file
        declares that others import is for them."""
        if any(one.kind == "program" for one in self.names.declared):
            for one, name in self.names.unused:
                yield f"{one.kind} {one.name} is not used", name

    @property
    def symbols(self) -> Iterator[tuple[str, str, Declared, tuple[int, int]]]:
        """What an outline of the text shows: what each declaration is called, what it is, and where
        its name stands, or its first word."""
        for one in self.names.declared:
            name = one.name or one.kind
            behind = one.start + (len(one.kind) if one.name else 0)
            if name:
                start = self.text.index(name, behind)
                yield name, one.kind, one, (start, start + len(name))

    def definition(self, offset: int) -> tuple[Path, str, int, int] | None:
        """The file and text in which the name at a place is declared, and from where to where."""
        name = self.names.at(offset)
        if name is None:
            return None
        own = next((one for one in self.names.same(name) if one.declares), None)
        if own is not None:
            return self.file, self.text, own.start, own.end
        found = self._declared_elsewhere(name.text)
        if found is None:
            return None
        start = found.text.index(name.text, found.declared.start + len(found.declared.kind))
        return found.file, found.text, start, start + len(name.text)

    def hover(self, offset: int) -> tuple[str, Name] | None:
        """What the name at a place means, as Markdown."""
        name = self.names.at(offset)
        if name is None:
            return None
        declared = self.names.declaration(name.text)
        if name.scope >= 0:
            declared = self.names.declared[name.scope]
        place = Place(self.file, self.text, declared) if declared else None
        place = place or self._declared_elsewhere(name.text)
        if place is None:
            return None
        return f"```coll\n{place.written.strip()}\n```", name

    def renamed(self, offset: int, new: str) -> tuple[Name, ...]:
        """The names to replace when that at a place is to be called otherwise; raises ValueError
        where it cannot be."""
        name = self.names.at(offset)
        if name is None:
            raise ValueError("there is no name here")
        if not re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", new):
            raise ValueError(f"{new!r} is not a name")
        if new in keywords() | RESERVED:
            raise ValueError(f"`{new}` is a word of the language")
        same = self.names.same(name)
        if not any(one.declares for one in same):
            raise ValueError(f"{name.text} is not declared in this file")
        if any(one.text == new for one in self.names.names):
            raise ValueError(f"{new} is a name here already")
        return same

    def completions(self, offset: int) -> tuple[tuple[str, str, str], ...]:
        """What may come at a place: words, each with its kind and a line on it."""
        begun = re.search(r"[A-Za-z_0-9]*$", self.text[:offset])
        assert begun is not None
        begun_before = [one for one in self.names.declared if one.start < begun.start()]
        start = begun_before[-1].start if begun_before else 0
        # what is before this declaration has no say, and may be long
        words, names, kinds = _expected(self.text[start : begun.start()])
        found = [(word, "keyword", "") for word in sorted(words)]
        if names:
            found += [(word, "order", "") for word in sorted(_ORDERS) if "order" in kinds]
            found += [
                one
                for one in self._names_for(len(begun_before) - 1)
                if not kinds or one[1] in kinds
            ]
        prefix = begun[0].lower()
        return tuple(one for one in found if one[0].lower().startswith(prefix))

    def _names_for(self, declaration: int) -> Iterator[tuple[str, str, str]]:
        """The names that a declaration may use."""
        own = {n.text for n in self.names.names if n.scope == declaration >= 0}
        yield from ((name, "local", "") for name in sorted(own))
        places = [Place(self.file, self.text, one) for one in self.names.declared]
        for place in (*places, *self._others):
            if place.declared.name:
                yield place.declared.name, place.declared.kind, place.about
        yield from ((name, "function", "") for name in sorted(FUNCTIONS))

    def _declared_elsewhere(self, name: str) -> Place | None:
        return next((place for place in self._others if place.declared.name == name), None)

    @cached_property
    def _others(self) -> tuple[Place, ...]:
        """What imported files and the prelude declare."""
        return (*_imported(self.file, self.text, {self.file}), *_prelude())


def _imported(file: Path, text: str, seen: set[Path]) -> Iterator[Place]:
    for imported in re.findall(r'^\s*import\s*"([^"\n]+)"', text, re.MULTILINE):
        path = file.parent / imported
        if path in seen:
            continue
        seen.add(path)
        try:
            other = read_source(path)
        except CollcError:
            continue  # its problem is told where it is imported
        yield from (Place(path, other, one) for one in names_of(other).declared)
        yield from _imported(path, other, seen)


@lru_cache(maxsize=1)
def _prelude() -> tuple[Place, ...]:
    source = files("collc.grammar").joinpath(PRELUDE_FILE)
    text = prelude_text()
    return tuple(Place(Path(str(source)), text, one) for one in names_of(text).declared)


def _expected(before: str) -> tuple[frozenset[str], bool, tuple[str, ...]]:
    """Which words of the language may come behind a text, whether names may, and of which
    kinds."""
    parts = [piece for piece, _ in pieces(lexed(before))]
    piece = parts[-1] if parts else []
    state = parser_state()
    try:
        for token in piece:
            state.feed_token(token)
    except UnexpectedInput:
        return keywords(), True, ()
    accepted: set[str] = state.accepts()  # type: ignore[no-untyped-call]
    begun = BEGINNINGS if not piece or "$END" in accepted else frozenset()
    words = frozenset(word for word in keywords() if word.upper() in accepted | begun)
    last = piece[-1].type if piece else ""  # where the grammar alone does not say which names
    kinds = tuple(kind.word for kind in KINDS if last in kind.behind)
    return words, "NAME" in accepted, kinds
