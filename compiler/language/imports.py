"""Declarations of other files: `import "trees.coll"`.

A file that is imported declares orders, trees, algorithms, operations and contracts, and may import
others. It is in the importing file's folder or below it, links followed, so that a program from
somewhere else reads nothing but what came with it. Where the program's file is itself a link, as
in the sandboxes of build systems, the folder that it leads to counts as well. A file that several
import is read once.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from collc.base.diagnostics import Span
from collc.base.reading import resolved
from collc.language import syntax
from collc.language.kinds import KINDS, classes_of, listed
from collc.language.parser import parse_text
from collc.language.problems import ProblemError, problem, refuse
from collc.language.source import read_source

MOST_FILES = 64

_IMPORTED = classes_of(lambda kind: kind.imported)


def with_imports(
    file: str, declarations: tuple[syntax.Declaration, ...]
) -> tuple[tuple[syntax.Declaration, ...], Mapping[str, str]]:
    """A file's declarations behind those of the files that it imports, directly or not, and the
    texts of these files by name, sorted. Raises CollcError with the problems of the first file that
    has any.
    """
    folder, real = Path(file).parent, resolved(Path(file))
    read: dict[Path, tuple[str, str]] = {real: (file, "")}
    tops = resolved(folder), real.parent
    imported = tuple(_imported(tops, folder, declarations, read))
    own = tuple(one for one in declarations if not isinstance(one, syntax.ImportDecl))
    return imported + own, dict(sorted([*read.values()][1:]))


def _imported(
    tops: tuple[Path, ...],
    folder: Path,
    declarations: tuple[syntax.Declaration, ...],
    read: dict[Path, tuple[str, str]],
) -> Iterator[syntax.Declaration]:
    for one in declarations:
        if isinstance(one, syntax.ImportDecl):
            yield from _of_file(tops, folder, one.file, read)


def _of_file(
    tops: tuple[Path, ...], folder: Path, word: syntax.Word, read: dict[Path, tuple[str, str]]
) -> Iterator[syntax.Declaration]:
    path = folder / word.text
    place = _within(tops, path, word)
    if place in read:
        return
    if len(read) > MOST_FILES:
        raise refuse(problem("C118", f"more than {MOST_FILES} files are imported", word.span))
    text = read_source(path)
    read[place] = str(path), text
    declarations = parse_text(str(path), text)
    yield from _imported(tops, path.parent, declarations, read)
    for declaration in declarations:
        if isinstance(declaration, _IMPORTED):
            yield declaration
        elif not isinstance(declaration, syntax.ImportDecl | syntax.NeedsDecl):
            raise refuse(_not_for_import(declaration.span, word.span))


def _within(tops: tuple[Path, ...], path: Path, word: syntax.Word) -> Path:
    """Where a file is, links followed; raises CollcError if it is not there, or in none of the
    folders that count."""
    try:
        place, is_file = resolved(path), path.is_file()
    except (OSError, ValueError):  # too long, or nothing that the system could call a file
        place, is_file = path, False
    if not any(map(place.is_relative_to, tops)):
        message = f'"{word.text}" is outside of the folder that this file is in'
        help = "copy the file into the folder, or below it"
        raise refuse(problem("C118", message, word.span, help=help))
    if not is_file:
        raise refuse(problem("C118", f'there is no file "{word.text}" here', word.span))
    return place


def _not_for_import(declared: Span, imported_from: Span) -> ProblemError:
    kinds = listed(f"{kind.word}s" for kind in KINDS if kind.imported)
    message = f"a file that is imported declares {kinds}"
    help = "move this to the file that imports it, or compile this file by itself"
    return problem("C118", message, declared, (imported_from, "imported here"), help=help)
