"""A probe as it is written: a program of fabsim's conformance suite, its header, its parts.

How the files look is said in fabsim/tests/conformance/README.md. Here they are read for tools that
know nothing of fabsim: a line that must be refused is a program of its own, beside the same program
without that line, which must be accepted.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files

from collc.base.values import dataclass

ARCHS = ("wse2", "wse3")
NEWEST = "2.10"

_FOLDER = files("collc.probe").joinpath("programs")
_PART = "//--- "
_MESSAGE = re.compile(r"//~ (?:(wse[23]) )?(error|warning|note): ?")


# What a line declares, and the line of a function with its statements.
_DECLARED = re.compile(r"\b(?:fn|task|const|var|param) +(\w+)")
_BODY = re.compile(r"(fn \w+\(.*?\) *\w+ *\{)(.*)(\})")


@dataclass(frozen=True)
class Entry:
    """A line of a header: for one architecture or both, a key, a value."""

    arch: str | None
    key: str
    value: str


@dataclass(frozen=True)
class Program:
    """One probe, with the rules it is about."""

    name: str
    rules: tuple[str, ...]
    title: str
    entries: tuple[Entry, ...]
    text: str

    def values(self, key: str, arch: str) -> list[str]:
        """The values of a key for an architecture."""
        return [e.value for e in self.entries if e.key == key and e.arch in (None, arch)]

    def value(self, key: str, arch: str, default: str) -> str:
        """The first value of a key."""
        return next(iter(self.values(key, arch)), default)

    @property
    def archs(self) -> tuple[str, ...]:
        """The architectures it is for."""
        said = next((e.value.split() for e in self.entries if e.key == "arch"), ARCHS)
        return tuple(arch for arch in ARCHS if arch in said)

    def refused_lines(self, arch: str) -> tuple[int, ...]:
        """Numbers, from 1, of the lines that the compiler must refuse."""
        lines = enumerate(self.text.splitlines(), 1)
        return tuple(number for number, line in lines if _refused(line, arch))

    def is_refused(self, arch: str) -> bool:
        """Whether the compiler must refuse the program."""
        return bool(self.refused_lines(arch) or self.values("error", arch))

    def sources(self, arch: str, only: int | None = None) -> dict[str, str]:
        """The files to compile.

        Of the lines that must be refused `only` this one is left, or with 0 none: neither are
        statements that use what such a line would have declared.
        """
        lines = self.text.splitlines()
        if only is not None:
            lines = without(lines, set(self.refused_lines(arch)) - {only}, only)
        found: dict[str, list[str]] = {}
        name = "pe.csl"
        for number, line in enumerate(lines):
            if line.startswith(_PART):
                name = line.removeprefix(_PART).strip()
            else:
                found.setdefault(name, [""] * number).append(line)
        texts = {part: "\n".join(part_lines) + "\n" for part, part_lines in found.items()}
        return texts if "layout.csl" in texts else self._with_common_parts(texts)

    def _with_common_parts(self, texts: Mapping[str, str]) -> dict[str, str]:
        """The program of a PE under the common layout, with what is appended to all of them."""
        pe = texts.get("pe.csl", "") + common("pe.csl")
        exported = [name for name in ("run", "again") if f"fn {name}(" in pe]
        pe += "".join(f"comptime {{ @export_symbol({name}); }}\n" for name in exported)
        layout = common("layout.csl")
        for name in {"run", "again"} - set(exported):
            layout = re.sub(rf'\n *@export_name\("{name}".*', "\n", layout)
        return {**texts, "pe.csl": pe, "layout.csl": layout}


def without(lines: list[str], dropped: set[int], kept: int) -> list[str]:
    """The lines without those numbered in `dropped`, and without what uses names they declare."""
    out = ["" if number in dropped else line for number, line in enumerate(lines, 1)]
    names = {name for number in dropped for name in _DECLARED.findall(_code(lines[number - 1]))}
    names -= {name for line in out for name in _DECLARED.findall(_code(line))}
    while names:
        used = re.compile(rf"\b({'|'.join(sorted(names))})\b")
        names = set()
        for at, line in enumerate(out):
            if at + 1 == kept or not used.search(_code(line)):
                continue
            body = _BODY.fullmatch(_code(line))
            if body:
                statements = [part for part in body[2].split(";") if not used.search(part)]
                out[at] = f"{body[1]}{';'.join(statements)}{body[3]}"
            else:
                out[at] = ""
                names |= set(_DECLARED.findall(_code(line)))
    return out


def _code(line: str) -> str:
    return line.partition("//")[0].rstrip()


def _refused(line: str, arch: str) -> bool:
    found = _MESSAGE.finditer(line)
    return any(m[2] == "error" and m[1] in (None, arch) for m in found)


@lru_cache
def common(name: str) -> str:
    """What the programs without a layout share."""
    return _FOLDER.joinpath("common", name).read_text()


def read(name: str, text: str) -> Program:
    """A program from its text. Raises ValueError for a header that is none."""
    header: list[str] = []
    for line in text.splitlines():
        if not line.startswith("// "):
            break
        header.append(line.removeprefix("// "))
    rules, colon, title = header[0].partition(": ") if header else ("", "", "")
    if not colon:
        raise ValueError(f"{name}: the header names no rule")
    entries: list[Entry] = []
    for line in header[1:]:
        if line.startswith("| ") and entries:
            last = entries[-1]
            entries[-1] = Entry(last.arch, last.key, f"{last.value}\n{line[2:]}")
        else:
            entries.append(_entry(name, line))
    return Program(name, tuple(rules.split(", ")), title, tuple(entries), text)


def _entry(name: str, line: str) -> Entry:
    first, _, rest = line.partition(" ")
    arch, line = (first, rest) if first in ARCHS else (None, line)
    key, colon, value = line.partition(": ")
    if not colon:
        raise ValueError(f'{name}: not "key: value": {line}')
    return Entry(arch, key, value)


def programs() -> Iterator[Program]:
    """All programs, by name."""
    areas = (area for area in _FOLDER.iterdir() if area.is_dir() and area.name != "common")
    for area in sorted(areas, key=lambda area: area.name):
        for path in sorted(area.iterdir(), key=lambda path: path.name):
            if path.name.endswith(".csl"):
                yield read(f"{area.name}/{path.name.removesuffix('.csl')}", path.read_text())
