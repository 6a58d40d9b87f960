"""Logical lines that are too long, or have comments within, become several."""

from collections.abc import Iterator, Sequence

from collc.format.lines import INDENT, WIDTH, Line
from collc.format.spacing import WIDE, is_binary, joined
from collc.format.tokens import Piece

_LOCALS_HANG = 6  # columns of `where `
# How much a line wants to be broken before a word, or after; less is sooner. Within brackets later.
_BEFORE = {"where": 0, "requires": 0, "slices": 1, "as": 1, "on": 1, ":": 3, "?": 4}
_BEFORE |= {"or": 5, "and": 6, "+": 7, "-": 7, "*": 8, "div": 8, "mod": 8}
_AFTER = {",": 2, "=": 5}
_EACH = frozenset(("each", "before", "after"))
_DEEPER, _NEVER = 10, 1_000_000


def broken(line: Line) -> Iterator[Line]:
    """The lines that a logical line becomes, all words in their order."""
    if _fits(line):
        yield line
        return
    for indent, part in _parts(line):
        yield from _filled(part, indent, line)


def _fits(line: Line) -> bool:
    inner = any(p.beside for p in line.pieces[:-1]) or any(p.above for p in line.pieces[1:])
    return not inner and line.indent + len(joined(line.pieces)) <= WIDTH


def _parts(line: Line) -> Iterator[tuple[int, tuple[Piece, ...]]]:
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
