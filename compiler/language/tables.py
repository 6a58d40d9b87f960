"""The parser of the language, its tables read from the user's cache folder where they are there.

Making the tables takes a second. They are cached as JSON under the seal of `collc.base.cache`, so
that nothing in the folder can be run, and a file that is damaged, of somebody else's making, or of
another version of Lark, is made anew.
"""

import hashlib
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from lark import Lark, __version__
from lark.grammar import Rule
from lark.lexer import TerminalDef

from collc.base.cache import cache_folder, is_sealed, read_kept, sealed

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
    digest = hashlib.sha256(f"{__version__}\n{grammar}".encode()).hexdigest()[:32]
    return cache_folder() / f"{digest}.tables.json"


def _read(file: Path) -> Lark | None:
    """The parser with the tables in a file; None where it is not there, or damaged."""
    seal, _, text = read_kept(file, _MOST_BYTES).partition("\n")
    if not is_sealed(file.parent, file.name, text, seal):
        return None
    tables = json.loads(text, object_hook=_with_numbers)
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


def _with_numbers(table: dict[str, Any]) -> dict[str | int, Any]:
    """Keys of tables are numbers or names; JSON has only texts."""
    return {int(key) if key.isdigit() else key: value for key, value in table.items()}
