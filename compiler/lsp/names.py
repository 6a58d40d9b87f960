"""Which names of a text stand for the same thing, also while the text does not parse.

A name belongs to its declaration if that makes it there: as a parameter, behind `where`, `each` or
`in`, as a buffer or a length. Otherwise it belongs to the file. The name of an argument belongs to
the declaration that is called. Nothing is looked up twice: what a scope holds is a set of words.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from lark import Token

from collc.base.values import dataclass
from collc.language.kinds import KINDS
from collc.language.parser import BEGINNINGS, lexed, pieces

_GLOBAL = -1  # the scope of the file, beside the indices of its declarations
_ELSEWHERE = -2  # of an argument of what another file declares
_NAMED = frozenset(kind.token for kind in KINDS if kind.space)
_CALLABLE = frozenset(kind.token for kind in KINDS if kind.callable)


@dataclass(frozen=True)
class Name:
    """A name in a text: where it is, in characters from the text's beginning, and whose it is."""

    text: str
    start: int
    end: int
    scope: int
    declares: bool


@dataclass(frozen=True)
class Declared:
    """A declaration of a text: its kind (`tree`), its name if it has one, and where it is."""

    kind: str
    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Names:
    """All names and declarations of a text, in its order."""

    names: tuple[Name, ...]
    declared: tuple[Declared, ...]

    def at(self, offset: int) -> Name | None:
        """The name at a place, or right before it."""
        found = (name for name in self.names if name.start <= offset <= name.end)
        return next(found, None)

    def same(self, one: Name) -> tuple[Name, ...]:
        """All that stand for the same thing."""
        if one.scope == _ELSEWHERE:
            return (one,)
        return tuple(n for n in self.names if (n.text, n.scope) == (one.text, one.scope))

    @property
    def unused(self) -> tuple[tuple[Declared, Name], ...]:
        """The declarations that nothing in the text names, each with its name."""
        times = Counter(one.text for one in self.names if one.scope == _GLOBAL)
        places = {one.text: one for one in self.names if one.scope == _GLOBAL}
        once = ((one, places[one.name]) for one in self.declared if times[one.name] == 1)
        return tuple(once)

    def declaration(self, name: str) -> Declared | None:
        """What the file declares by a name."""
        return next((one for one in self.declared if one.name == name), None)


@lru_cache(maxsize=16)  # between two keystrokes an editor asks several times
def names_of(text: str) -> Names:
    """The names of a text, whatever is wrong with it."""
    parts = [piece for piece, _ in pieces(lexed(text))]
    declared = tuple(map(_declared, parts))
    owners = {d.name: i for i, d in enumerate(declared) if parts[i][0].type in _CALLABLE}
    found: list[Name] = []
    for index, piece in enumerate(parts):
        found += _of_piece(piece, index, owners)
    return Names(tuple(found), declared)


def _declared(piece: Sequence[Token]) -> Declared:
    kind = str(piece[0]) if piece[0].type in BEGINNINGS else ""
    has_name = piece[0].type in _NAMED and len(piece) > 1 and piece[1].type == "NAME"
    return Declared(kind, str(piece[1]) if has_name else "", _start(piece[0]), _end(piece[-1]))


def _of_piece(piece: Sequence[Token], index: int, owners: dict[str, int]) -> Iterator[Name]:
    own = _own(piece)
    firsts: dict[str, int] = {}
    callees: list[str] = []  # innermost last: whose brackets are open
    for at, token in enumerate(piece):
        firsts.setdefault(str(token), at)
        if token.type in ("LPAR", "LSQB"):
            callees.append(str(piece[at - 1]) if at and piece[at - 1].type == "NAME" else "")
        elif token.type in ("RPAR", "RSQB"):
            callees = callees[:-1]
        if token.type != "NAME":
            continue
        declares = at == 1 and piece[0].type in _NAMED
        if callees and at + 1 < len(piece) and piece[at + 1].type == "EQUAL":
            scope = owners.get(callees[-1], _ELSEWHERE)
        elif declares or str(token) not in own:
            scope = _GLOBAL
        else:
            scope = index
        first = scope == index and at == firsts[str(token)]
        yield Name(str(token), _start(token), _end(token), scope, declares or first)


def _own(piece: Sequence[Token]) -> frozenset[str]:
    """The names that a declaration makes for itself."""
    found: set[str] = set()
    depth, in_where, in_head = 0, False, True
    for at, token in enumerate(piece):
        before = piece[at - 1].type if at else ""
        following = piece[at + 1].type if at + 1 < len(piece) else ""
        depth += (token.type in ("LPAR", "LSQB")) - (token.type in ("RPAR", "RSQB"))
        if depth == 0 and token.type == "WHERE":
            in_where = piece[0].type != "PARAM"
        if token.type in ("LBRACE", "COLON", "EQUAL") and depth == 0:
            in_head = in_head and token.type == "EQUAL" and in_where
        if token.type != "NAME" or at == 1:
            continue
        listed = before in ("LPAR", "COMMA") and following in ("RPAR", "COMMA", "COLON")
        parameter = piece[0].type in _CALLABLE and listed and depth == 1 and in_head
        local = in_where and depth == 0 and before in ("WHERE", "COMMA")
        local = local and following in ("EQUAL", "LPAR")
        ranged = following in ("IN", "ARROW") and before in ("COLON", "STEP", "FOR")
        drawn = before == "EACH" or ranged
        second = before == "COMMA" and at > 2 and piece[at - 3].type == "EACH"
        held = (
            piece[0].type == "COLLECTIVE"
            and depth > 0
            and (
                (before == "LPAR" and following == "COLON")
                or (before == "LSQB" and following == "LESS_EQUAL")
            )
        )
        if parameter or local or drawn or second or held or _of_local(piece, at, in_where, depth):
            found.add(str(token))
    return frozenset(found)


def _of_local(piece: Sequence[Token], at: int, in_where: bool, depth: int) -> bool:
    """Whether a name is a parameter of a function behind `where`: `f(r, m) = ...`."""
    if not in_where or depth != 1 or piece[at - 1].type not in ("LPAR", "COMMA"):
        return False
    opening = max(i for i in range(at) if piece[i].type == "LPAR")
    closing = next((i for i in range(at, len(piece)) if piece[i].type == "RPAR"), len(piece))
    named = opening > 1 and piece[opening - 2].type in ("WHERE", "COMMA")
    return named and closing + 1 < len(piece) and piece[closing + 1].type == "EQUAL"


def _start(token: Token) -> int:
    assert token.start_pos is not None
    return token.start_pos


def _end(token: Token) -> int:
    assert token.end_pos is not None
    return token.end_pos
