"""How the language stage finds all problems of a file and not only the first.

A function that cannot go on raises `ProblemError`; `Problems.attempt` calls it, keeps the
diagnostic, and lets the rest of the file be looked at. What rests on something already reported
raises `KnownProblemError`, which adds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import ParamSpec, TypeVar

from collc.base.diagnostics import CollcError, Diagnostic, Edit, Span
from collc.language.syntax import Word

P = ParamSpec("P")
T = TypeVar("T")

MOST_DIAGNOSTICS = 100  # a file with more is broken as a whole


class ProblemError(Exception):
    """One problem that keeps a construct from having a meaning."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic

    def seen_from(self, span: Span, note: str) -> ProblemError:
        """Tell of a problem in another file (the prelude) from a place in the user's own; a fix of
        the other file is none of the user's."""
        found = self.diagnostic
        if found.at is None or found.at.file == span.file:
            return self
        also = ((found.at, note), *(place for place in found.also if place[0] != span))
        told = note.startswith("in ") and note.removeprefix("in ") not in found.message
        message = f"{note}: {found.message}" if told else found.message
        return ProblemError(replace(found, message=message, at=span, also=also, fix=()))

    def with_note(self, span: Span, note: str) -> ProblemError:
        """Add one more place to the problem."""
        found = self.diagnostic
        return ProblemError(replace(found, also=(*found.also, (span, note))))


class KnownProblemError(Exception):
    """What is wanted here rests on something whose problem has been reported."""


def problem(
    code: str,
    message: str,
    at: Span | None,
    *also: tuple[Span, str],
    help: str = "",
    fix: str | tuple[Edit, ...] | None = None,
) -> ProblemError:
    """`ProblemError` to raise. A `fix` that is a text replaces what is at `at`."""
    edits = (Edit(at, fix),) if isinstance(fix, str) and at is not None else fix or ()
    assert not isinstance(edits, str)
    return ProblemError(Diagnostic(code, message, at, also, help, edits))


def unknown(code: str, message: str, word: Word, known: Iterable[str]) -> ProblemError:
    """`ProblemError` about a word that is none of those known here; proposes the nearest."""
    choices = sorted(known)
    close = nearest(word.text, choices)
    return problem(code, message, word.span, help=suggest(word.text, choices), fix=close)


def refuse(error: ProblemError) -> CollcError:
    """Error that leaves the stage when one problem ends everything."""
    return CollcError([error.diagnostic])


class Problems:
    """The diagnostics found so far."""

    def __init__(self) -> None:
        self._found: list[Diagnostic] = []

    def add(self, error: ProblemError) -> None:
        """Keep a problem, once; the last one of `MOST_DIAGNOSTICS` ends the stage."""
        if error.diagnostic not in self._found:
            self._found.append(error.diagnostic)
        if len(self._found) >= MOST_DIAGNOSTICS:
            raise CollcError(self._found)

    def attempt(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T | None:
        """Function's result, or None after keeping its problem."""
        try:
            return function(*args, **kwargs)
        except ProblemError as error:
            self.add(error)
        except KnownProblemError:
            pass
        return None

    def raise_if_any(self) -> None:
        """Raise `CollcError` with everything found, if anything was."""
        if self._found:
            raise CollcError(self._found)


# What other languages call the operations and element types of this one.
ELSEWHERE = {
    "sum": "add",
    "plus": "add",
    "prod": "mul",
    "product": "mul",
    "times": "mul",
    "maximum": "max",
    "minimum": "min",
    "band": "and",
    "land": "and",
    "bor": "or",
    "lor": "or",
    "bxor": "xor",
    "maxloc": "argmax",
    "minloc": "argmin",
    "float": "f32",
    "double": "f32",
    "f64": "f32",
    "float32": "f32",
    "bf16": "f32",  # which has all its values
    "half": "f16",
    "float16": "f16",
    "int32": "i32",
    "uint32": "u32",
    "int16": "i16",
    "uint16": "u16",
    "int": "i32",
    "long": "i32",
    "i64": "i32",
    "unsigned": "u32",
    "u64": "u32",
    "short": "i16",
    "i8": "i16",
    "char": "i16",
    "u8": "u16",
    "bool": "u16",
}


def meaning(word: Word, known: Mapping[str, T], message: str, code: str = "C111") -> T:
    """What a word stands for, of what is known; else raises a problem with this message."""
    if word.text not in known:
        raise unknown(code, message, word, known)
    return known[word.text]


def suggest(word: str, known: Iterable[str]) -> str:
    """Help text that names the nearest known word, then all of them."""
    choices = sorted(known)
    if not choices:
        return ""
    close = nearest(word, choices)
    shown = ", ".join(choices[:24]) + (", ..." if len(choices) > 24 else "")
    return f"did you mean `{close}`? Known here: {shown}" if close else f"known here: {shown}"


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """The known word that is meant: what other languages call so, else one spelled much alike."""
    by_lower = {choice.lower(): choice for choice in reversed(sorted(choices))}
    elsewhere = ELSEWHERE.get(word.lower().removeprefix("mpi_").removeprefix("nccl"))
    if elsewhere in by_lower:
        return elsewhere
    near = get_close_matches(word[:80].lower(), by_lower, n=1)
    return by_lower[near[0]] if near else None


def quoted(text: str) -> str:
    """Piece of source for a message: cut short, and nothing a terminal would obey."""
    shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text[:40])
    return f"`{shown}...`" if len(text) > 40 else f"`{shown}`"
