"""One style for `.coll` files: `format_text` takes a text that parses, and keeps its declarations.

The stages, in order: words with the comments beside them, one logical line for each clause, what is
between two words, lines of at most 100 columns, what is aligned. The style is described in
docs/format.md.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from lark import Token

from collc.base.values import dataclass
from collc.language.parser import lexed, parse_text, pieces, words_beginning
from collc.language.source import with_escapes

__all__ = ["format_text"]


# Words, each with the comments beside it.


@dataclass(frozen=True)
class Comment:
    """A comment on a line of its own."""

    text: str
    after_blank: bool


@dataclass(frozen=True)
class Piece:
    """A word or sign; `kind` is its name in the grammar, empty for the end of the text."""

    kind: str
    text: str
    above: tuple[Comment, ...]  # on lines of their own before it
    starts_line: bool
    after_blank: bool
    beside: str  # a comment behind it on the same line
    gap: str = ""  # what the one style has between it and the word before


def pieces_of(text: str) -> tuple[tuple[Piece, ...], ...]:
    """The words of each declaration; the last group is the end of the text, with what is above
    it."""
    text = text.removeprefix("\ufeff") + "\n"
    tokens = lexed(text)
    read = iter(_commented(text, tokens))
    groups = [tuple(next(read) for _ in piece) for piece, _ in pieces(tokens)]
    return (*groups, tuple(read))


def _commented(text: str, tokens: Sequence[Token]) -> Iterator[Piece]:
    """All words, and the end of the text."""
    bounds = [0]
    for token in tokens:
        assert token.start_pos is not None and token.end_pos is not None
        bounds += [token.start_pos, token.end_pos]
    gaps = [text[a:b] for a, b in zip(bounds[::2], [*bounds[1::2], len(text)], strict=True)]
    read = [_between(gap, first=i == 0) for i, gap in enumerate(gaps)]
    besides = [beside for beside, _, _, _ in read[1:]]
    for token, (_, above, starts, blank), beside in zip(tokens, read[:-1], besides, strict=True):
        yield Piece(token.type, str(token), above, starts, blank, beside)
    _, above, starts, blank = read[-1]
    yield Piece("", "", above, starts, blank, "")


def _between(gap: str, *, first: bool) -> tuple[str, tuple[Comment, ...], bool, bool]:
    """What is between two words: the comment behind the one, those above the other, whether that
    begins a line, and whether a blank line is right before it."""
    rows = [with_escapes(row.strip()) for row in gap.split("\n")]
    beside = "" if first else rows.pop(0)
    above, blank = [], False
    for row in rows[:-1]:  # the last one is what is before the word on its line
        if row:
            above.append(Comment(row, blank))
        blank = not row
    return beside, tuple(above), first or bool(rows), blank


# What is between two words on a line.


WIDE = "  "  # between a slice and the ranks that it goes between

_OPERANDS = frozenset(("NAME", "INTEGER", "FRACTION", "RPAR", "RSQB"))
_ARROWS = frozenset(("=>", "->", "->*"))


def joined(pieces: Sequence[Piece]) -> str:
    """Words that have their gaps as one line, or a part of one."""
    return "".join((piece.gap if at else "") + piece.text for at, piece in enumerate(pieces))


def spaced(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """The words of a logical line with the gap before each."""
    return tuple(replace(piece, gap=gap) for piece, gap in zip(pieces, _gaps(pieces), strict=True))


def _gaps(pieces: Sequence[Piece]) -> Iterator[str]:
    within = [""]  # innermost last: brackets, and conditionals whose `:` is to come
    for at, piece in enumerate(pieces):
        if piece.text in (")", "]"):
            within.pop()
        yield _gap(pieces, at, within[-1]) if at else ""
        if piece.text in ("(", "[", "?"):
            within.append(piece.text)
        elif piece.text == ":" and within[-1] == "?":
            within.pop()


def _gap(pieces: Sequence[Piece], at: int, within: str) -> str:
    before, piece = pieces[at - 1], pieces[at]
    if before.text in ("(", "[") or piece.text in (")", "]", ","):
        return ""
    if piece.text == "}" and before.text == "{":
        return ""
    if before.text == "-" and not is_binary(pieces, at - 1):
        return ""
    if piece.text in ("(", "["):
        return "" if _is_call(pieces, at) else " "
    if piece.text == ":" and within != "?" and (within == "(" or _is_alternative(pieces)):
        return ""
    return WIDE if is_source(pieces, at) else " "


def _is_alternative(pieces: Sequence[Piece]) -> bool:
    """Whether a line begins `n <= 16:` or `else:`."""
    return pieces[0].text == "else" or [p.text for p in pieces[1:2]] == ["<="]


def is_binary(pieces: Sequence[Piece], at: int) -> bool:
    """Whether a minus is between two operands."""
    return at > 0 and pieces[at - 1].kind in _OPERANDS


def is_source(pieces: Sequence[Piece], at: int) -> bool:
    """Whether a word is the rank that sends what is said before it."""
    arrow = at + 1 < len(pieces) and pieces[at + 1].text in _ARROWS
    return arrow and pieces[at - 1].text != ":"


def _is_call(pieces: Sequence[Piece], at: int) -> bool:
    """Whether a bracket belongs to the name before it, or to the pair of an element type:
    `(f32, u32)[B]`. A name behind an operand is called by nobody: `grid g = P x (Q)`, `r has (q)`.
    """
    before = pieces[at - 1]
    if before.text in ("reduce", "broadcast") or (before.text, pieces[at].text) == (")", "["):
        return True
    if before.kind != "NAME":
        return False
    listed = pieces[0].text == "reserve" and pieces[at - 2].text in ("reserve", ",")
    return not listed and (at < 2 or pieces[at - 2].kind not in _OPERANDS)


# From the words of a declaration to logical lines: a clause each, whatever the author's breaks.
#
# A block is on one line if its author began it so and it fits; otherwise every item has its own.


WIDTH, INDENT = 100, 4  # columns

_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")


@dataclass(frozen=True)
class Line:
    """A line, logical or of the output: its words; `kind` is what it is aligned with."""

    indent: int
    pieces: tuple[Piece, ...]
    kind: str


def lines_of(pieces: tuple[Piece, ...]) -> Iterator[Line]:
    """The logical lines of a declaration, or of the end of the text."""
    return _item(pieces, 0, pieces[0].text)


def closing(pieces: Sequence[Piece], opening: int) -> int:
    """Where the bracket closes that is opened at an index."""
    depth = 0
    for at in range(opening, len(pieces)):
        depth += (pieces[at].text in _OPEN) - (pieces[at].text in _CLOSE)
        if not depth:
            return at
    raise AssertionError("the text has been parsed")


def _item(pieces: tuple[Piece, ...], indent: int, kind: str) -> Iterator[Line]:
    """A declaration, clause or action: one line, or a head, what is in its braces, and `}`."""
    pieces = spaced(pieces)
    opening = next((i for i, piece in enumerate(pieces) if piece.text == "{"), None)
    if opening is None or _fits(pieces, opening, indent):
        yield Line(indent, pieces, kind)
        return
    end = closing(pieces, opening)
    yield Line(indent, pieces[: opening + 1], "{")
    body = pieces[opening + 1 : end]
    head = kind if kind in ("collective", "contract", "program", "select") else "steps"
    for item in _items(body, "program" if kind == "repeat" else head):
        yield from _item(item, indent + INDENT, _kind(item, head))
    yield Line(indent, pieces[end:], "}")


def _kind(item: tuple[Piece, ...], head: str) -> str:
    return "held" if head == "contract" else "alternative" if head == "select" else item[0].text


def _fits(pieces: tuple[Piece, ...], opening: int, indent: int) -> bool:
    """Whether a block may be on one line: begun so by its author, no comment within, no block of
    several items within, and not too long."""
    inner = pieces[opening + 1 : -1]
    begun = not (inner and pieces[opening + 1].starts_line)
    comments = any(piece.beside for piece in pieces[:-1]) or any(p.above for p in pieces[1:])
    return begun and not comments and indent + len(joined(pieces)) <= WIDTH and _is_flat(inner)


def _is_flat(inner: Sequence[Piece]) -> bool:
    return not any(piece.text == "{" and inner[i + 1].starts_line for i, piece in enumerate(inner))


def _items(body: tuple[Piece, ...], head: str) -> Iterator[tuple[Piece, ...]]:
    """What is in a block, item by item."""
    starts, depth = [], 0
    for at, piece in enumerate(body):
        if depth == 0 and (at == 0 or _begins(body, at, head)):
            starts.append(at)
        depth += (piece.text in _OPEN) - (piece.text in _CLOSE)
    for first, last in pairwise([*starts, len(body)]):
        yield body[first:last]


def _begins(body: Sequence[Piece], at: int, head: str) -> bool:
    """Whether an item begins at a word that is in no bracket."""
    before, piece = body[at - 1], body[at]
    following = body[at + 1].text if at + 1 < len(body) else ""
    if head == "collective":
        return piece.text in words_beginning("_clause") and before.text != "then"
    if head == "contract":
        return following == "each"
    if head == "select":
        return piece.text == "else" or (piece.kind == "NAME" and following == "<=")
    if head == "program":
        apart = piece.starts_line and "and" not in (before.text, piece.text) and piece.text != ","
        return piece.text in words_beginning("_item") or before.text == "}" or apart
    return piece.text == "each" or piece.text in words_beginning("_action")


# Logical lines that are too long, or have comments within, become several.


_LOCALS_HANG = 6  # columns of `where `
# How much a line wants to be broken before a word, or after; less is sooner. Within brackets later.
_BEFORE = {"where": 0, "requires": 0, "slices": 1, "as": 1, "on": 1, ":": 3, "?": 4}
_BEFORE |= {"or": 5, "and": 6, "+": 7, "-": 7, "*": 8, "div": 8, "mod": 8}
_AFTER = {",": 2, "=": 5}
_EACH = frozenset(("each", "before", "after"))
_DEEPER, _NEVER = 10, 1_000_000


def broken(line: Line) -> Iterator[Line]:
    """The lines that a logical line becomes, all words in their order."""
    if _is_short(line):
        yield line
        return
    for indent, part in _clauses(line):
        yield from _filled(part, indent, line)


def _is_short(line: Line) -> bool:
    inner = any(p.beside for p in line.pieces[:-1]) or any(p.above for p in line.pieces[1:])
    return not inner and line.indent + len(joined(line.pieces)) <= WIDTH


def _clauses(line: Line) -> Iterator[tuple[int, tuple[Piece, ...]]]:
    """A declaration by its clauses, and names behind `where` a line each, with what each is
    indented by; other lines as they are."""
    cuts = _cuts(line.pieces)
    if line.pieces[0].text == "each" or not cuts:
        yield line.indent, line.pieces
        return
    for first, last in zip([0, *cuts], [*cuts, len(line.pieces)], strict=True):
        part = line.pieces[first:last]
        deeper = 0 if first == 0 or part[0].text == "{" else INDENT
        if part[0].text == "where":
            yield from _locals(line.indent + deeper, part)
        else:
            yield line.indent + deeper, part


def _cuts(pieces: Sequence[Piece]) -> list[int]:
    """Where the clauses of a head begin, and its brace, if there are any."""
    depth, cuts = 0, []
    for at, piece in enumerate(pieces):
        if depth == 0 and piece.text in ("where", "requires") and pieces[0].text != "param":
            cuts.append(at)
        if piece.text == "{" and cuts:
            cuts.append(at)
        depth += (piece.text in ("(", "[")) - (piece.text in (")", "]"))
    return cuts


def _locals(indent: int, part: tuple[Piece, ...]) -> Iterator[tuple[int, tuple[Piece, ...]]]:
    """`where a = 1, b = 2` on one line if it fits, else each name on its own."""
    if indent + len(joined(part)) <= WIDTH:
        yield indent, part
        return
    depth, first = 0, 0
    for at, piece in enumerate(part):
        depth += (piece.text in ("(", "[")) - (piece.text in (")", "]"))
        if depth == 0 and piece.text == ",":
            yield indent + (_LOCALS_HANG if first else 0), part[first : at + 1]
            first = at + 1
    yield indent + (_LOCALS_HANG if first else 0), part[first:]


def _filled(part: tuple[Piece, ...], indent: int, line: Line) -> Iterator[Line]:
    """Lines as long as there is room, each broken where it hurts least; those that follow the first
    are indented. Only a line that is whole is aligned with others."""
    levels, widths = _levels(part), [len(piece.gap + piece.text) for piece in part]
    first = 0
    while first < len(part):
        last = _end(part, levels, widths, first, WIDTH - indent)
        yield Line(indent, part[first:last], "" if len(part) < len(line.pieces) else "part")
        indent += INDENT if first == 0 else 0
        first = last


def _end(
    part: Sequence[Piece], levels: Sequence[int], widths: Sequence[int], first: int, room: int
) -> int:
    """Where the line ends that begins at a word: behind a comment, or at the best place of those
    that leave it in its room, or else at the first."""
    best, used = 0, 0
    for at in range(first, len(part)):
        if at > first and (part[at - 1].beside or part[at].above):
            return at
        if at > first and levels[at] < _NEVER and (not best or levels[at] <= levels[best]):
            best = at
        used += widths[at]
        if used > room and best:
            return best
    return len(part)


def _levels(part: Sequence[Piece]) -> list[int]:
    """How unwelcome a break is before each word."""
    depth, found = 0, []
    for at, piece in enumerate(part):
        depth -= piece.text in (")", "]")
        found.append(_level(part, at) + _DEEPER * depth)
        depth += piece.text in ("(", "[")
    return found


def _level(part: Sequence[Piece], at: int) -> int:
    piece, before = part[at].text, part[at - 1].text if at else ""
    if before == ":" and part[0].text in _EACH and ":" not in [p.text for p in part[: at - 1]]:
        return -1
    if part[at].gap == WIDE:
        return 0
    if part[at].gap == "" or (piece == "-" and not is_binary(part, at)):
        return _NEVER
    return min(_BEFORE.get(piece, _NEVER), _AFTER.get(before, _NEVER))


# Lines of the output as text: comments above and beside, neighbours of one kind aligned.


_ALIGNED = frozenset(("param", "each", "held", "alternative"))


@dataclass(frozen=True)
class _Row:
    """A line of text in cells, with the gap before each; `block` tells its neighbours."""

    indent: int
    cells: tuple[str, ...]
    gaps: tuple[str, ...]
    comment: str
    kind: str
    block: int

    def text(self, widths: Sequence[int]) -> str:
        """The line without its comment, cells as wide as is said."""
        wide = (c.ljust(w) for c, w in zip(self.cells, widths, strict=True))
        parts = (gap + cell for gap, cell in zip(self.gaps, wide, strict=True))
        return (" " * self.indent + "".join(parts)).rstrip()

    @property
    def widths(self) -> tuple[int, ...]:
        """How wide its cells are by themselves."""
        return tuple(map(len, self.cells))


def aligned(lines: Iterable[Line]) -> str:
    """The whole text. Blank lines are as the author has them, one at a time, none at the edge of a
    block."""
    rows = list(_rows(lines))
    while rows and rows[-1].cells == ("",):
        rows.pop()
    texts: list[tuple[_Row, str]] = []
    for _, group in groupby(rows, key=lambda row: (row.block, row.kind, row.gaps, row.indent)):
        texts += _group(tuple(group))
    printed: list[str] = []
    for _, beside in groupby(texts, key=lambda one: (one[0].block, bool(one[0].comment))):
        printed += _with_comments(tuple(beside))
    return "".join(f"{text}\n" for text in printed)


def _group(rows: tuple[_Row, ...]) -> list[tuple[_Row, str]]:
    widths = [max(column) for column in zip(*(row.widths for row in rows), strict=True)]
    together = rows[0].kind in _ALIGNED and all(len(row.text(widths)) <= WIDTH for row in rows)
    return [(row, row.text(widths if together else row.widths)) for row in rows]


def _with_comments(rows: tuple[tuple[_Row, str], ...]) -> Iterator[str]:
    if not rows[0][0].comment:
        return (text for _, text in rows)
    width = max(len(text) for _, text in rows)
    return (f"{text:<{width}}{WIDE}{row.comment}" for row, text in rows)


def _rows(lines: Iterable[Line]) -> Iterator[_Row]:
    """Lines and the comments above them; what is apart by a blank line or by such a comment is
    another block."""
    block, opened = 0, True
    for line in lines:
        first, last = line.pieces[0], line.pieces[-1]
        closes = first.text == "}"
        for comment in first.above:
            if comment.after_blank and not opened:
                yield _alone("", 0, block)
            block += 1
            yield _alone(comment.text, line.indent + INDENT * closes, block)
            opened = False
        if first.after_blank and not (opened or closes):
            yield _alone("", 0, block)
        block += bool(first.above or first.after_blank)
        if first.kind:
            yield _row(line, block)
        opened = last.text == "{"


def _alone(text: str, indent: int, block: int) -> _Row:
    """A comment on a line of its own, or a blank line."""
    return _Row(indent if text else 0, (text,), ("",), "", "", block)


def _row(line: Line, block: int) -> _Row:
    """A line of words: cut into cells where its kind is aligned."""
    cells, before = [""], [""]
    for at, piece in enumerate(line.pieces):
        if line.kind in _ALIGNED and at and _begins_cell(line, at):
            before.append(piece.gap)
            cells.append(piece.text)
        else:
            cells[-1] += (piece.gap if at else "") + piece.text
    beside = line.pieces[-1].beside
    return _Row(line.indent, tuple(cells), tuple(before), beside, line.kind, block)


def _begins_cell(line: Line, at: int) -> bool:
    """`param P = 4 | where ...`, `each r | : slice s | r -> q`, `n <= 4: | reduce ...`."""
    piece, before = line.pieces[at].text, line.pieces[at - 1].text
    if line.kind == "param":
        return piece == "where"
    if line.kind == "alternative":
        return before == ":" and ":" not in (p.text for p in line.pieces[: at - 1])
    return line.pieces[at].gap == WIDE or (
        piece == ":" and ":" not in (p.text for p in line.pieces[:at])
    )


# The whole text.


def format_text(file: str, text: str) -> str:
    """The text in the one style: same words, same comments, in which characters that are not
    visible are escapes; raises CollcError if it does not parse.

    Formatting what is formatted changes nothing.
    """
    parse_text(file, text)
    return aligned(_physical(pieces_of(text)))


def _physical(declarations: tuple[tuple[Piece, ...], ...]) -> Iterator[Line]:
    for words in declarations:
        for logical in lines_of(words):
            yield from broken(logical)
