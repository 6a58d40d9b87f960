"""From text to declarations, with one message for each declaration that cannot be read.

The tokens are cut where a declaration begins, and every piece is parsed by itself; so a mistake
in one declaration hides none in the next.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from difflib import get_close_matches
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from lark import Lark, Token, Transformer_NonRecursive, Tree, UnexpectedToken, v_args
from lark import __version__ as lark_version
from lark.grammar import Rule
from lark.lexer import TerminalDef
from lark.parsers.lalr_interactive_parser import InteractiveParser
from lark.tree import Meta

from collc.base.cache import cache_folder, is_sealed, read_kept, sealed
from collc.base.diagnostics import CollcError, Edit, Span, behind
from collc.base.version import __version__
from collc.language import syntax
from collc.language.kinds import FIXED, KINDS, listed
from collc.language.problems import ProblemError, Problems, problem, quoted
from collc.language.source import check_size
from collc.language.syntax import (
    Clause,
    Declaration,
    Expression,
    NeedsDecl,
    Word,
    expressions_of,
    walk,
)

MAX_TOKENS = 32_768  # of one declaration; a tree of 1000 ranks by hand has some 4000
_REQUIREMENT = 4  # tokens: requires collc >= 0.2
MAX_DEPTH = 100  # of an expression; trees written by hand may be deeper

BEGINNINGS = frozenset(kind.token for kind in KINDS)
_ALWAYS_BEGIN = BEGINNINGS - {"ORDER"}  # an order is declared where `:` or `=` follows its name

# Words of the language to come: refused by name instead of as a mistake of spelling.
LATER = {
    "when": "choosing a collective by length",
    "chunks": "splitting a vector into chunks",
}
LATER_INSTEAD = {
    "when": "write `select by n { n <= 8: ...  else: ... }`",
    "chunks": "an algorithm cuts vectors into slices: `run pipelined_allreduce(c = 4)`",
}
WHOLE_ROUNDS = (
    "each round has vectors of its own for all calls, so repeat all of them together; in a round a "
    "collective may be called several times, as in `repeat 3 { one two two }`"
)
_INSTEAD: dict[str, tuple[str, str | None]] = {  # what is wrong with a token, what replaces it
    "%": ("the remainder is written `mod`", "mod"),
    "/": ("whole-number division is written `div`; comments begin with `//`", "div"),
    "&": ("write `and`", "and"),
    "|": ("write `or`", "or"),
    "!": ("write `not`", "not"),
    "#": ("comments begin with `//`", "//"),
    ";": ("nothing stands between clauses or declarations; leave it out", ""),
    "=": ("equality is written `==`", "=="),
    "<-": ("`<-` draws a tree; for `less than a negative number` put a space: `< -1`", "< -"),
}
_SPELLED = {
    "NAME": "a name",
    "INTEGER": "a whole number",
    "VERSION": "a version",
    "FRACTION": "a number",
    "FILE": 'a file\'s name, such as "trees.coll"',
    "RELATION": "a comparison",
    "$END": "the next declaration",
}


@lru_cache(maxsize=64)
def parse_text(file: str, text: str) -> tuple[Declaration, ...]:
    """Read the declarations of a text, or raise `CollcError` with the first mistake of each."""
    return declarations_of(file, text)


def declarations_of(file: str, text: str) -> tuple[Declaration, ...]:
    """The same; of the text only its declarations are kept for the next time."""
    check_size(file, len(text))
    problems = Problems()
    text = text.replace("\ufeff", " ", 1) if text[:1] == "\ufeff" else text
    declarations = []
    for piece, following in pieces(lexed(text)):
        written = text[piece[0].start_pos : piece[-1].end_pos]
        key = (file, piece[0].line, piece[0].column, written)
        declaration = problems.attempt(_parse_piece, _Piece(key, piece, following))
        if isinstance(declaration, NeedsDecl):
            _check_version(declaration)  # the rest may be written in a language that is yet to come
        if declaration is not None:
            declarations.append(declaration)
    problems.raise_if_any()
    return tuple(declarations)


@lru_cache(maxsize=1)
def _lark() -> Lark:
    return make_parser()


def parser_state() -> InteractiveParser:
    """A parser of one declaration that is fed tokens and says which may come next."""
    return _lark().parse_interactive(start="start")


@lru_cache(maxsize=1)
def keywords() -> frozenset[str]:
    """The words of the language, which cannot be names."""
    spelled = (str(terminal.pattern.value) for terminal in _lark().terminals)
    return frozenset(word for word in spelled if word.isalpha())


@cache
def words_beginning(rule: str) -> frozenset[str]:
    """The words of the language that what a rule of the grammar makes may begin with."""
    rules, found, pending = _lark().rules, set[str](), [rule]
    for name in pending:  # which grows
        firsts = [one.expansion[0].name for one in rules if one.origin.name == name]
        found.update(firsts)
        pending += [one for one in dict.fromkeys(firsts) if one not in pending]
    return frozenset(word for word in keywords() if word.upper() in found)


@lru_cache(maxsize=4)
def lexed(text: str) -> tuple[Token, ...]:
    """All tokens of a text, without comments."""
    state = _lark().parse_interactive(text, start="start")  # it has the lexer of all texts
    return tuple(state.lexer_thread.lex(None))  # type: ignore[no-untyped-call]


def pieces(tokens: Sequence[Token]) -> Iterator[tuple[list[Token], Token | None]]:
    """Tokens of each declaration, with the token behind them."""
    starts = [
        i
        for i, token in enumerate(tokens)
        if token.type in _ALWAYS_BEGIN or (token.type == "ORDER" and _declares(tokens, i))
    ]
    if tokens and tokens[0].type == "REQUIRES" and min([*starts, len(tokens)]) > _REQUIREMENT:
        starts.insert(0, _REQUIREMENT)  # what follows need not be in this version's language
    bounds = ([0] if tokens and 0 not in starts[:1] else []) + starts + [len(tokens)]
    for first, last in pairwise(bounds):
        yield list(tokens[first:last]), tokens[last] if last < len(tokens) else None


def _declares(tokens: Sequence[Token], at: int) -> bool:
    """Whether the `order` at an index begins a declaration: its name, and what stands in
    parentheses behind that, is followed by `:` or `=`."""
    behind, deep = at + 2, 0
    while behind < len(tokens) and (deep or tokens[behind].type == "LPAR"):
        if tokens[behind].type in BEGINNINGS:
            return False
        deep += {"LPAR": 1, "RPAR": -1}.get(tokens[behind].type, 0)
        behind += 1
    return behind < len(tokens) and tokens[behind].type in ("COLON", "EQUAL")


class _Piece:
    """A declaration's tokens, and the one behind them; equal to another one that has the same text
    at the same place of the same file."""

    __slots__ = ("_key", "following", "tokens")

    def __init__(
        self, key: tuple[object, ...], tokens: list[Token], following: Token | None
    ) -> None:
        self._key, self.tokens, self.following = key, tokens, following

    @property
    def file(self) -> str:
        return str(self._key[0])

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Piece) and self._key == other._key


@lru_cache(maxsize=4096)  # an editor has a text read after each keystroke, most of it unchanged
def _parse_piece(given: _Piece) -> Declaration:
    file, piece, following = given.file, given.tokens, given.following
    _check_length(file, piece)
    _check_size_words(file, piece)
    state = parser_state()
    try:
        for token in piece:
            state.feed_token(token)
        tree = state.feed_eof(piece[-1])  # type: ignore[no-untyped-call]
    except UnexpectedToken as error:
        _check_program_words(file, piece)
        raise _unexpected(file, error, state, piece, following) from None
    assert isinstance(tree, Tree)
    declaration = build(file, tree)
    if len(piece) > MAX_DEPTH:  # an expression has as many tokens as it is deep, at least
        _check_depth(declaration)
    return declaration


def _check_length(file: str, piece: list[Token]) -> None:
    if len(piece) > MAX_TOKENS:
        message = f"this declaration has more than {MAX_TOKENS} tokens"
        help = "describe large trees by recursion instead of writing them out"
        raise problem("C102", message, span_of_token(file, piece[0]), help=help)


def _check_size_words(file: str, piece: list[Token]) -> None:
    """`grid g = 32x24` reads as 32 and the name x24: tell that the spaces are missing."""
    for before, token in pairwise(piece if piece[0].type == "GRID" else []):
        if before.type == "INTEGER" and token.type == "NAME" and token[1:].isdigit():
            size = f"{before[:20]} x {token[1:21]}"
            message, help = f"a size is written with spaces: `{size}`", f"write `{size}`"
            at = span_of_token(file, token)
            raise problem("C105", message, at, help=help, fix=f" x {token[1:]}")


def _check_program_words(file: str, piece: list[Token]) -> None:
    """Blame a `program { repeat 3 { ... } }` on its first word and not on what follows it."""
    _check_within_repeat(file, piece)
    for token in piece if piece[0].type == "PROGRAM" else []:
        if token.type == "SELECT":
            message = "`select` chooses between alternatives of one collective"
            help = "write it into one: `collective total = ... { select by n { ... } }`"
            raise problem("C105", message, span_of_token(file, token), help=help)
        if token in LATER:
            at = span_of_token(file, token)
            raise not_supported(LATER[token], at, help=LATER_INSTEAD[token])


def _check_within_repeat(file: str, piece: list[Token]) -> None:
    """Blame what a `repeat` cannot have within it: another one, or what is said of a program."""
    repeat, depth = None, 0
    for token in piece if piece[0].type == "PROGRAM" else []:
        depth += {"LBRACE": 1, "RBRACE": -1}.get(token.type, 0)
        if token.type == "REPEAT" and depth == 1:
            repeat = token
        if repeat is None or depth != 2:  # only within the braces of `repeat`
            continue
        also = (span_of_token(file, repeat), "it is within this one")
        if token.type == "REPEAT":
            message = "a `repeat` within another one"
            raise problem("C105", message, span_of_token(file, token), also, help=WHOLE_ROUNDS)
        if token.type in ("WITHIN", "RESERVE", "RECONFIGURE"):
            message = f"`{token}` is said of a whole program, and is inside its `repeat`"
            help = "write it behind the closing brace of `repeat`"
            raise problem("C105", message, span_of_token(file, token), also, help=help)


def _check_depth(declaration: Declaration) -> None:
    for outermost in expressions_of(declaration):
        for expression, depth in walk(outermost):
            if depth > MAX_DEPTH:
                message = f"this expression is nested more than {MAX_DEPTH} deep"
                help = "give parts of it names with `param` or `where`"
                raise problem("C103", message, expression.span, help=help)


def _unexpected(
    file: str,
    error: UnexpectedToken,
    state: InteractiveParser,
    piece: list[Token],
    following: Token | None,
) -> ProblemError:
    token = error.token
    accepted: set[str] = state.accepts()  # type: ignore[no-untyped-call]
    opened = _left_open(piece) if token.type == "$END" else []
    if token.type == "$END" and following is None:
        end = span_of_token(file, piece[-1])
        at = Span(file, end.end_line, end.end_column, end.end_line, end.end_column + 1)
        message = f"the file ends here, expected {_spelled(accepted)}"
        places = ((span_of_token(file, brace), "this is not closed") for brace in opened)
        help, closed = _closing(opened, accepted, end)
        return problem("C105", message, at, *places, help=help, fix=closed)
    if token.type == "$END" and following is not None:
        token = following
    at = span_of_token(file, token)
    if token in LATER:
        return not_supported(LATER[token], at, help=LATER_INSTEAD[token])
    if token.type == "ORDER" and "$END" in accepted:
        help = "an order is declared by `order NAME(W, H) : i -> (x, y)`, used in a collective"
        return problem("C105", f"unexpected {quoted(token)} between declarations", at, help=help)
    if token.type == "STRAY":
        help, written = _instead_of_stray(piece, token)
        return problem("C104", f"{quoted(token)} means nothing here", at, help=help, fix=written)
    if piece[0].type != "TREE" and len(accepted) > 1:
        accepted = accepted - {"_ARROW"}  # a tree by hand may stand where any expression may
    message = f"unexpected {quoted(token)}, expected {_spelled(accepted)}"
    help, fix = _remedy(piece, token, accepted)
    if not help and opened:
        help, closed = _closing(opened, accepted, span_of_token(file, piece[-1]))
        fix = closed if token is following else None
    places = ((span_of_token(file, brace), "this is not closed") for brace in opened)
    return problem("C105", message, at, *places, help=help, fix=fix)


_CLOSED_BY = {"LBRACE": "RBRACE", "LPAR": "RPAR", "LSQB": "RSQB"}


def _closing(opened: list[Token], accepted: set[str], last: Span) -> tuple[str, tuple[Edit, ...]]:
    """What closes the innermost brace that is open, behind the last word of its declaration."""
    if not opened or (closing := _CLOSED_BY[opened[0].type]) not in accepted:
        return "", ()
    written = _spelling(closing)
    return f"close it with {written}", (Edit(behind(last), f" {written.strip('`')}"),)


def _left_open(piece: list[Token]) -> list[Token]:
    """The innermost brace or parenthesis of a declaration that nothing closes, if there is one."""
    opened: list[Token] = []
    for token in piece:
        if token.type in _CLOSED_BY:
            opened.append(token)
        elif opened and token.type == _CLOSED_BY[opened[-1].type]:
            opened.pop()
    return opened[-1:]


def _instead_of_stray(piece: list[Token], token: Token) -> tuple[str, str | None]:
    """What is written instead of a character that no rule has."""
    if token == "/" and piece[0].type == "OPERATION":
        help = "an operation has no division: multiply a float by a fraction, `0.5 * a`, or "
        return f"{help}shift a whole number, `shift_right(a, 1)`", None
    if token.isalpha():
        return "names are made of ASCII letters, digits and `_`", None
    return _INSTEAD.get(token, ("", None))


def _remedy(
    piece: list[Token], token: Token, accepted: set[str]
) -> tuple[str, str | tuple[Edit, ...] | None]:
    """What is meant by a token that is not expected, and what to write for it."""
    before = next((a for a, b in pairwise(piece) if b is token), piece[0])
    if piece[0].type == "GRID" and before.type == "INTEGER" and accepted == {"NAME"}:
        return f"a size is written `{before[:20]} x ...`", "x"
    if token.type == "FOR" and ("$END" in accepted or piece[0].type == "PROGRAM"):
        return _NO_LOOP, None
    help, written = _help_for(token, accepted)
    return (help, written) if help else _help_after(piece, token)


def _help_after(piece: list[Token], token: Token) -> tuple[str, str | None]:
    """What is meant by a token that cannot follow the one before it, and what to write for it."""
    before = next((a.type for a, b in pairwise(piece) if b is token), "")
    if token.type == "NAME" and before == "IMPORT":
        return f'write `import "{token[:40]}.coll"`', f'"{token}.coll"'
    if token.type == "LPAR" and before in ("REDUCE", "RUN"):
        return "leave the parentheses out: `reduce chain to 0`, `run ring_allreduce`", None
    if piece[0].type == "OPERATION" and token.type == "LPAR" and before == "COLON":
        return f"a user-defined operation combines numbers, not pairs; {_OF_PAIRS}", None
    if piece[0].type == "OPERATION" and token.type == "COLON":
        return _ONE_TYPE, None
    return "", None


_OF_PAIRS = "`argmax` and `argmin` combine pairs"
_ONE_TYPE = (
    "both operands are of the type of the elements, which is written once: "
    "`operation mine(a, b: f32) = a + b`"
)


def _help_for(token: Token, accepted: set[str]) -> tuple[str, str | None]:
    if token.type in ("EQUAL", "_ARROW") and "RELATION" in accepted:
        return _INSTEAD[token]
    if token == "==" and "EQUAL" in accepted:
        return "write `=`", "="
    if token.type == "NAME":
        near = get_close_matches(token[:80].lower(), _keywords(accepted), n=1, cutoff=0.7)
        return (f"did you mean `{near[0]}`?", near[0]) if near else ("", None)
    if "NAME" in accepted and token.isidentifier():
        help = f"`{token}` is a word of the language and cannot be a name: write `{token}_`"
        return help, f"{token}_"
    return "", None


_NO_LOOP = (
    "`for` counts the steps of an algorithm; calls are repeated by `program { repeat 4 { total } }`"
)


def _keywords(accepted: set[str]) -> list[str]:
    """The words of the language among tokens; where a declaration may end, those that begin one."""
    names = accepted | (BEGINNINGS if "$END" in accepted else set())
    spelled = (_spelling(name).strip("`") for name in sorted(names - {"$END", *_SPELLED}))
    return [word for word in spelled if word.isidentifier()]


def not_supported(
    what: str, at: Span | None, *, help: str, fix: str | tuple[Edit, ...] | None = None
) -> ProblemError:
    """Refusal of what the language is to have but this version has not, with what it has."""
    return problem("C106", f"{what}: not supported yet", at, help=help, fix=fix)


def _spelled(accepted: set[str]) -> str:
    """Tokens the parser would have taken, as a user writes them."""
    names = accepted - {"STRAY"}
    if names >= {"PLUS", "TIMES"}:
        names -= {"PLUS", "MINUS", "TIMES", "DIV", "MOD", "RELATION", "LESS_EQUAL", "AND", "OR"}
        names -= {"QMARK", "NOT"}
    if names >= {"LPAR", "NAME", "INTEGER", "MINUS"}:
        return "an expression"
    if names >= BEGINNINGS:  # beside `requires`, which only the beginning of a file may have
        return f"a declaration: {listed(kind.word for kind in KINDS)}"
    return listed(sorted(map(_spelling, names))) if names else "nothing more"


def _spelling(name: str) -> str:
    if name in _SPELLED:
        return _SPELLED[name]
    terminal = _lark().get_terminal(name)
    return f"`{terminal.pattern.value}`"


def _check_version(needs: NeedsDecl) -> None:
    """Refuse a file for a later compiler than this one; raises CollcError with that alone, since
    whatever else would be found there may be right by then."""
    if needs.tool.text != "collc" or needs.relation != ">=":
        message = "a file says which compiler it needs by `requires collc >= VERSION`"
        help = "write `requires collc >= 0.2`, first of all"
        raise CollcError([problem("C105", message, needs.span, help=help).diagnostic])
    if numbers_of(needs.version.text) > numbers_of(__version__):
        message = f"this file needs collc {needs.version.text}, and this is {__version__}"
        help = "install that version, or ask for less if the file does without"
        raise CollcError([problem("C119", message, needs.version.span, help=help).diagnostic])


def numbers_of(version: str) -> tuple[int, ...]:
    """`0.10` as (0, 10, 0): versions are compared number by number. What is longer than a version
    is later than any."""
    parts = [
        int(part) if len(part) < 10 and part.isdigit() else 10**9 for part in version.split(".")
    ]
    return tuple((*parts, 0, 0)[: max(3, len(parts))])


# The parser of the language, its tables read from the user's cache folder where they are there.
#
# Making the tables takes a quarter of a second. They are cached as JSON under the seal of
# `collc.base.cache`, so that nothing in the folder can be run, and a file that is damaged, of
# somebody else's making, or of another version of Lark, is made anew.

_STARTS = ["start", "stray"]
_MOST_BYTES = 1 << 24  # of the tables; ours are 384 KB


def make_parser() -> Lark:
    """The parser, from the tables in the cache folder, else from the grammar."""
    grammar = files("collc.grammar").joinpath("coll.lark").read_text(encoding="utf-8")
    file = _file_for(grammar)
    parser = _read(file)
    if parser is None:
        parser = _from_grammar(grammar)
        _write(file, parser)
    return parser


def _from_grammar(grammar: str) -> Lark:
    return Lark(
        grammar,
        parser="lalr",
        lexer="basic",
        start=_STARTS,
        propagate_positions=True,
        maybe_placeholders=True,
    )


def _file_for(grammar: str) -> Path:
    """Where the tables of a grammar are, if they are anywhere, as this version of Lark has them."""
    digest = hashlib.sha256(f"{lark_version}\n{grammar}".encode()).hexdigest()[:32]
    return cache_folder() / f"{digest}.tables.json"


def _read(file: Path) -> Lark | None:
    """The parser with the tables in a file; None where it is not there, or damaged."""
    seal, _, text = read_kept(file, _MOST_BYTES).partition("\n")
    if not is_sealed(file.parent, file.name, text, seal):
        return None
    tables = json.loads(text)
    tables["memo"] = _numbered(tables["memo"])
    of_parser = tables["data"]["parser"]["parser"]
    of_parser["tokens"] = _numbered(of_parser["tokens"])
    of_parser["states"] = {
        int(state): _numbered(actions) for state, actions in of_parser["states"].items()
    }
    # what Lark's own generated parsers call; its public `load` reads a pickle
    parser = Lark._load_from_dict(tables["data"], tables["memo"])  # type: ignore[no-untyped-call]
    assert isinstance(parser, Lark)
    return parser


def _write(file: Path, parser: Lark) -> None:
    """Keep the tables, if the folder can be written; whoever reads meanwhile finds all or none."""
    from collc.base.files import put  # noqa: PLC0415 - only the first time

    data, memo = parser.memo_serialize([TerminalDef, Rule])
    text = json.dumps({"data": data, "memo": memo})
    try:
        put(file, f"{sealed(file.parent, file.name, text)}\n{text}")
    except OSError:
        return


def _numbered(table: dict[str, Any]) -> dict[int, Any]:
    """A table whose keys are numbers: JSON has only texts."""
    return {int(key): value for key, value in table.items()}


# From lark's parse tree of one declaration to the classes of `syntax`.
#
# What a rule puts together is what its class has as fields, in this order, so most rules are a line
# of `_CLASSES`; the others are methods.

_LONGEST_INTEGER = 19  # digits; longer ones overflow 64 bits anyway
_TOO_LARGE = 10**19

_CLASSES: dict[str, Any] = {
    "needs": syntax.NeedsDecl,
    "target": syntax.TargetDecl,
    "param": syntax.ParamDecl,
    "grid": syntax.GridDecl,
    "part": syntax.PartDecl,
    "extent": syntax.ExtentDecl,
    "order_decl": syntax.OrderDecl,
    "formula": syntax.FormulaDecl,
    "tree": syntax.TreeDecl,
    "local": syntax.LocalDecl,
    "algorithm": syntax.AlgorithmDecl,
    "step": syntax.StepDecl,
    "loop": syntax.LoopDecl,
    "include": syntax.IncludeDecl,
    "range": syntax.RangeDecl,
    "each": syntax.EachDecl,
    "one_slice": syntax.SlicesDecl,
    "slice_range": syntax.SlicesDecl,
    "operation": syntax.OperationDecl,
    "contract_decl": syntax.OwnContractDecl,
    "held": syntax.HeldDecl,
    "into": syntax.IntoDecl,
    "place_on": syntax.PlaceDecl,
    "given": syntax.Argument,
    "reduce": syntax.ReduceClause,
    "broadcast": syntax.BroadcastClause,
    "run": syntax.RunClause,
    "use": syntax.TreeUse,
    "pe": syntax.PeDecl,
    "within": syntax.WithinClause,
    "reserve": syntax.ReserveClause,
    "reservation": syntax.ReservationDecl,
    "expect": syntax.ExpectClause,
    "select": syntax.SelectClause,
    "reconfigure": syntax.ReconfigureClause,
    "conditional": syntax.Conditional,
    "either": syntax.Logic,
    "both": syntax.Logic,
    "sum": syntax.Arithmetic,
    "product": syntax.Arithmetic,
    "name": syntax.Name,
    "call": syntax.Call,
    "argument": syntax.Argument,
}


def build(file: str, tree: Tree[Token]) -> Declaration:
    """Make the declaration that a parse tree stands for."""
    return cast(Declaration, _Builder(file).transform(tree))


def span_of_token(file: str, token: Token) -> Span:
    """Where a token stands."""
    line, column = token.line or 1, token.column or 1
    return Span(file, line, column, token.end_line or line, token.end_column or column)


def _integer(token: Token) -> int:
    digits = token.lstrip("0") or "0"
    return int(digits) if len(digits) <= _LONGEST_INTEGER else _TOO_LARGE


@cache
def _types(made: type) -> dict[str, str]:
    """The fields of a class that a rule puts together, each with its type."""
    return {f.name: str(f.type) for f in fields(made) if f.name not in ("span", "then")}


def _listed(rest: list[Any]) -> Any:  # noqa: ANN401 - a tuple, or None
    """What a rule repeats at its end, or the list that a rule of its own has made of it."""
    one_rule = len(rest) == 1 and (rest[0] is None or isinstance(rest[0], tuple))
    return rest[0] if one_rule else tuple(rest)


@v_args(meta=True)
class _Builder(Transformer_NonRecursive[Token, Any]):
    """A method for each rule of coll.lark that is not of one class, in its order."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self._file = file

    def _span(self, meta: Meta) -> Span:
        return Span(self._file, meta.line, meta.column, meta.end_line, meta.end_column)

    def _word(self, token: Token) -> Word:
        return Word(str(token), span_of_token(self._file, token))

    def __default__(self, data: str, children: list[Any], meta: Meta) -> object:
        """The class of a rule, made of what the rule puts together."""
        made = _CLASSES[data]
        types = _types(made)
        last, of = len(types) - 1, [*types.values()][-1]
        if of.startswith("tuple"):
            children = [*children[:last], _listed(children[last:])]
        children += [None] * (len(types) - len(children))  # what a shorter rule has no place for
        given = zip(types.items(), children, strict=True)
        return made(**{name: self._field(of, c) for (name, of), c in given}, span=self._span(meta))

    def _field(self, of: str, given: Any) -> object:  # noqa: ANN401 - a token, or what was made
        """What a field of such a type is, if a rule has this in its place."""
        if of == "bool":
            return given is not None
        if isinstance(given, Token):
            return str(given) if of == "str" else self._word(given)
        return () if given is None and of.startswith("tuple") and "None" not in of else given

    def import_decl(self, meta: Meta, c: list[Any]) -> syntax.ImportDecl:
        word = self._word(c[0])
        return syntax.ImportDecl(replace(word, text=word.text[1:-1]), span=self._span(meta))

    def pes(self, meta: Meta, c: list[Any]) -> tuple[syntax.PeDecl, ...]:
        return tuple(pe for pe in c if pe is not None)

    def parameters(self, meta: Meta, c: list[Any]) -> tuple[Word, ...]:
        return tuple(self._word(token) for token in c if token is not None)

    def locals(self, meta: Meta, c: list[Any]) -> tuple[syntax.LocalDecl, ...]:
        return tuple(c)

    def requires(self, meta: Meta, c: list[Any]) -> Expression:
        return cast(Expression, c[0])

    def assumed(self, meta: Meta, c: list[Any]) -> Word:
        return self._word(c[0])

    def collective(self, meta: Meta, c: list[Any]) -> syntax.CollectiveDecl:
        contract = replace(c[1], into=c[2])
        clauses = tuple(c[4:])
        return syntax.CollectiveDecl(
            self._word(c[0]), contract, c[3], clauses, span=self._span(meta)
        )

    def contract(self, meta: Meta, c: list[Any]) -> syntax.ContractDecl:
        buffer = None
        if c[1] is not None:
            buffer = replace(c[1], operation=None if c[2] is None else self._word(c[2]))
        arguments = tuple(given for given in c[3:] if given is not None)
        return syntax.ContractDecl(c[0], buffer, arguments, span=self._span(meta))

    def vector(self, meta: Meta, c: list[Any]) -> syntax.BufferDecl:
        return syntax.BufferDecl(self._word(c[0]), c[1], c[2], c[3], None, span=self._span(meta))

    def element(self, meta: Meta, c: list[Any]) -> Word:
        text = f"({c[0]}, {c[1]})" if len(c) > 1 else str(c[0])
        return Word(text, self._span(meta))

    def kind(self, meta: Meta, c: list[Any]) -> Word:
        return self._word(c[0])

    def order(self, meta: Meta, c: list[Any]) -> Clause:
        uses, span = tuple(c), self._span(meta)
        if [(use.name.text, use.arguments) for use in uses] == [(FIXED, ())]:
            return syntax.FixedClause(span=span)
        return syntax.OrderClause(uses, span=span)

    def then(self, meta: Meta, c: list[Any]) -> Clause:
        return cast(Clause, replace(c[0], then=True))

    def alternative(self, meta: Meta, c: list[Any]) -> syntax.AlternativeDecl:
        span = self._span(meta)
        if c and isinstance(c[0], Token):
            name, _, most, *steps = c
            return syntax.AlternativeDecl(self._word(name), most, tuple(steps), span=span)
        return syntax.AlternativeDecl(None, None, tuple(c), span=span)

    def program(self, meta: Meta, c: list[Any]) -> syntax.ProgramDecl:
        return syntax.ProgramDecl(self._items(c), span=self._span(meta))

    def together(self, meta: Meta, c: list[Any]) -> syntax.TogetherDecl:
        return syntax.TogetherDecl(tuple(map(self._word, c[::2])), span=self._span(meta))

    def repeat(self, meta: Meta, c: list[Any]) -> syntax.RepeatDecl:
        return syntax.RepeatDecl(c[0], self._items(c[1:]), span=self._span(meta))

    def _items(self, c: list[Any]) -> tuple[Any, ...]:
        """What stands between braces, names as words; None stands for a comma left out."""
        found = (self._word(item) if isinstance(item, Token) else item for item in c)
        return tuple(item for item in found if item is not None)

    def comparison(self, meta: Meta, c: list[Any]) -> Expression:
        relations = tuple(str(relation) for relation in c[1::2])
        return syntax.Comparison(tuple(c[::2]), relations, span=self._span(meta))

    def negation(self, meta: Meta, c: list[Any]) -> Expression:
        return syntax.Not(c[1], span=self._span(meta))

    def negative(self, meta: Meta, c: list[Any]) -> Expression:
        return syntax.Negative(c[1], span=self._span(meta))

    def number(self, meta: Meta, c: list[Any]) -> Expression:
        return syntax.Number(_integer(c[0]), span=self._span(meta))

    def fraction(self, meta: Meta, c: list[Any]) -> Expression:
        return syntax.Fraction(float(c[0]), span=self._span(meta))

    def arguments(self, meta: Meta, c: list[Any]) -> tuple[syntax.Argument, ...]:
        return tuple(argument for argument in c if argument is not None)

    def literal(self, meta: Meta, c: list[Any]) -> Expression:
        return syntax.Literal(self._node(c), span=self._span(meta))

    def node(self, meta: Meta, c: list[Any]) -> syntax.Node:
        return self._node(c)

    def _node(self, c: list[Any]) -> syntax.Node:
        children = tuple(child for child in c[1:] if child is not None)
        # The place of a rank is its number, not all that hangs from it.
        return syntax.Node(_integer(c[0]), children, span=span_of_token(self._file, c[0]))
