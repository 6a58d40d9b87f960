"""The language: from the text of a `.coll` file to a `Spec`.

Reading order: `source` (bytes to text), `kinds` (the table of declarations), `parser` (text to the
classes of `syntax`), `imports` (other files), `names` (who is called what), `expressions`
(numbers), `trees`, `algorithms`, `operations`, `contracts` (what is declared), `grids`, `steps`,
`limits` (the parts of a collective), `elaborate` (all of it). Beside them: `problems` (how many
diagnostics are gathered) and `render` (how they are printed); `clauses` (syntax that the compiler
makes), `printer` (syntax as text) and `show` (a Spec as syntax).
"""

from collections.abc import Mapping
from dataclasses import replace
from operator import index
from pathlib import Path
from typing import SupportsIndex

from collc.language.deprecated import modernized
from collc.language.elaborate import elaborate
from collc.language.imports import with_imports
from collc.language.parser import parse_text
from collc.language.source import hidden_characters, read_source
from collc.language.syntax import CollectiveDecl
from collc.language.undecided import opened
from collc.spec import Spec

__all__ = ["parse_file", "parse_source", "read_source"]


def parse_file(
    path: Path, text: str, definitions: Mapping[str, SupportsIndex], target: str | None = None
) -> Spec:
    """Spec of a file's text (see `read_source`) under `-D` definitions and `--target`.

    Raises `CollcError` with every problem found.
    """
    return parse_source(text, definitions, target, file=str(path))


def parse_source(
    text: str,
    definitions: Mapping[str, SupportsIndex] | None = None,
    target: str | None = None,
    file: str = "input.coll",
    *,
    leave_open: bool = False,
) -> Spec:
    """Spec of a text that need not be a file; with `leave_open` as if all steps were `auto`.

    Definitions are integers of any kind, NumPy's too; TypeError for others.
    """
    given = {name: _integer(name, value) for name, value in (definitions or {}).items()}
    declarations, imports = with_imports(file, parse_text(file, text))
    declarations, old = modernized(declarations)
    texts = (file, text), *imports.items()
    notices = *old, *(one for of in texts for one in hidden_characters(*of))
    if leave_open:
        declarations = tuple(
            opened(one) if isinstance(one, CollectiveDecl) else one for one in declarations
        )
    spec = elaborate(file, declarations, given, target)
    return replace(spec, imports=tuple(imports), notices=notices)


def _integer(name: str, value: SupportsIndex) -> int:
    try:
        if not isinstance(value, bool):
            return index(value)
    except TypeError:
        pass
    kind = type(value).__name__
    raise TypeError(f"parameter {name} is an integer, not {str(value)[:40]!r} of type {kind}")
