"""From a file's bytes to text, within limits, with a located message for what is no text."""

from pathlib import Path

from collc.base.diagnostics import Span, shown
from collc.language.problems import problem, refuse

MAX_SOURCE_BYTES = 128 * 1024  # a tree of 1000 ranks written by hand takes 10 KB


def read_source(path: Path) -> str:
    """Text of a `.coll` file; raises `CollcError` if it cannot be read as one."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_SOURCE_BYTES + 1)
    except OSError as error:
        message = f"cannot read {shown(path)}: {error.strerror or error}"
        raise refuse(problem("C101", message, None)) from None
    return decode_source(str(path), data)


def quotable(path: Path) -> str:
    """The text for messages to quote, also where it is too long or no UTF-8; empty where it cannot
    be read."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_SOURCE_BYTES).decode("utf-8-sig", "replace")
    except OSError:
        return ""


def decode_source(file: str, data: bytes) -> str:
    """Text of a file's bytes; raises `CollcError` if they are too many or not UTF-8."""
    check_size(file, len(data))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # `start` counts from behind a byte order mark, if there is one
        before = data.removeprefix(b"\xef\xbb\xbf")[: error.start]
        line = before.count(b"\n") + 1
        column = len(before.rpartition(b"\n")[2].decode("utf-8", "replace")) + 1
        message = f"byte 0x{error.object[error.start]:02x} is not UTF-8 text"
        at = Span(file, line, column, line, column + 1)
        help = "save the file as UTF-8; outside comments, .coll files need only ASCII"
        raise refuse(problem("C101", message, at, help=help)) from None


def check_size(file: str, size: int) -> None:
    """Refuse a source text beyond `MAX_SOURCE_BYTES`."""
    if size > MAX_SOURCE_BYTES:
        at = Span(file, 1, 1, 1, 1)
        message = f"the file is larger than {MAX_SOURCE_BYTES} bytes"
        help = "describe large trees by recursion instead of writing them out"
        raise refuse(problem("C102", message, at, help=help))
