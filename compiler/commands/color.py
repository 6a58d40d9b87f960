"""Color of messages: on terminals, unless `NO_COLOR` is set; in pipes where `FORCE_COLOR` is."""

import os
import re
import sys
from typing import TextIO

import click

_STYLES = {"error": "red", "warning": "yellow", "note": "cyan", "help": "green"}
# Lines of a message begin with its place, which has no space at its front; quoted text has four.
_HEADLINE = re.compile(r"^(?=\S)(.*?)\b(error|warning)(\[[A-Za-z0-9]+\]:)", re.M)
_PART = re.compile(r"^(?=\S)(.*?: )?(note|help)(?=: )", re.M)
_CARETS = re.compile(r"^(    \s*)(\^+)$", re.M)


def wanted(stream: TextIO) -> bool:
    """Whether what goes to a stream is to have color."""
    if os.environ.get("FORCE_COLOR"):
        return True
    dumb = os.environ.get("TERM") == "dumb"
    return not (os.environ.get("NO_COLOR") or dumb) and stream.isatty()


def echo_painted(text: str) -> None:
    """Print messages on standard error, without a line end of its own."""
    painted = wanted(sys.stderr)
    click.echo(_painted(text) if painted else text, err=True, nl=False, color=painted)


def _painted(text: str) -> str:
    """A rendered message with its words in color: what is wrong, where, what to do."""
    text = _HEADLINE.sub(lambda m: m[1] + _styled(m[2] + m[3], m[2]), text)
    text = _PART.sub(lambda m: (m[1] or "") + _styled(m[2], m[2]), text)
    return _CARETS.sub(lambda m: m[1] + _styled(m[2], "error"), text)


def _styled(text: str, word: str) -> str:
    return click.style(text, fg=_STYLES[word], bold=True)
