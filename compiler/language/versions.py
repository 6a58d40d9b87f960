"""Which version of the compiler a file asks for: `requires collc >= 0.2`."""

from collc.base.diagnostics import CollcError
from collc.base.version import __version__
from collc.language.problems import problem
from collc.language.syntax import NeedsDecl


def check_version(needs: NeedsDecl) -> None:
    """Refuse a file for a later compiler than this one; raises CollcError with that alone, since
    whatever else would be found there may be right by then."""
    if needs.tool.text != "collc" or needs.relation != ">=":
        message = "a file says which compiler it needs by `requires collc >= VERSION`"
        help = "write `requires collc >= 0.2`, first of all"
        raise CollcError([problem("C105", message, needs.span, help=help).diagnostic])
    if numbers(needs.version.text) > numbers(__version__):
        message = f"this file needs collc {needs.version.text}, and this is {__version__}"
        help = "install that version, or ask for less if the file does without"
        raise CollcError([problem("C119", message, needs.version.span, help=help).diagnostic])


def numbers(version: str) -> tuple[int, ...]:
    """`0.10` as (0, 10, 0): versions are compared number by number. What is longer than a version
    is later than any."""
    parts = [
        int(part) if len(part) < 10 and part.isdigit() else 10**9 for part in version.split(".")
    ]
    return tuple((*parts, 0, 0)[: max(3, len(parts))])
