"""A network from its file: a few `key = value` lines of TOML, every mistake reported at its line.

In reading order: `read_network` (bytes to text), `parse_network` (text to values), then the kind,
the keys, and each value by the type of its field.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

from collc.base.diagnostics import CollcError, Diagnostic, Span, shown
from collc.language.problems import quoted, suggest
from collc_research.networks.network import KINDS, Network, Topology

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MAX_NETWORK_BYTES = 64 * 1024
MOST_OF_A_KIND = 1 << 16  # supernodes, nodes, cores, links, splits
_TOPOLOGIES = tuple(topology.value for topology in Topology)
_DIVISORS = ("bandwidth_gib_per_s", "memory_bytes_per_ns")
_LARGEST = 10**15
_MOST_RANKS = 1 << 24
_MOST_LINKS = 1 << 24  # counters that a two-tier network needs


def read_network(path: Path) -> Network:
    """The network that a file describes; raises `CollcError` with every problem found."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_NETWORK_BYTES + 1)
    except OSError as error:
        message = f"cannot read {shown(path)}: {error.strerror or error}"
        raise CollcError([Diagnostic("C601", message, None)]) from None
    if len(data) > MAX_NETWORK_BYTES:
        message = f"the file is larger than {MAX_NETWORK_BYTES} bytes"
        raise CollcError([Diagnostic("C601", message, _line(str(path), 1))])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        message = f"byte 0x{error.object[error.start]:02x} is not UTF-8 text"
        raise CollcError([Diagnostic("C601", message, _line(str(path), line))]) from None
    return parse_network(text, str(path))


def parse_network(text: str, file: str = "network.toml") -> Network:
    """The network that a text describes; `file` is its name in messages."""
    values = _values(text, file)
    spans = _spans(text, file)
    kind = values.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise CollcError([_wrong_kind(values, spans, file)])
    problems = list(_problems(KINDS[kind], kind, values, spans, file))
    if problems:
        raise CollcError(problems)
    given = {key: value for key, value in values.items() if key != "kind"}
    network = KINDS[kind](**{key: _converted(KINDS[kind], key, v) for key, v in given.items()})
    problems = list(_too_large(network, spans, file))
    if problems:
        raise CollcError(problems)
    return network


def _values(text: str, file: str) -> dict[str, Any]:
    """The text as TOML."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        found = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        line, column = map(int, found.groups()) if found else (text.count("\n") + 1, 1)
        what = re.sub(r" *\(at .*\)$", "", str(error)) or "nested too deep"
        at = Span(file, line, column, line, column + 1)
        help = 'every line is `key = value`; text stands in quotes: kind = "uniform"'
        problem = Diagnostic("C601", f"not TOML: {what}", at, help=help)
        raise CollcError([problem]) from None


def _spans(text: str, file: str) -> dict[str, Span]:
    """Where each key stands."""
    spans: dict[str, Span] = {}
    for number, line in enumerate(text.split("\n"), 1):
        found = re.match(r"\s*\[*\s*[\"']?([^\s=\"'.\]#]+)", line)
        if found:
            at = Span(file, number, found.start(1) + 1, number, found.end(1) + 1)
            spans.setdefault(found.group(1), at)
    return spans


def _line(file: str, line: int) -> Span:
    return Span(file, line, 1, line, 2)


def _wrong_kind(values: Mapping[str, Any], spans: Mapping[str, Span], file: str) -> Diagnostic:
    """C602: a file that does not say which network it describes."""
    kinds = ", ".join(f'"{kind}"' for kind in sorted(KINDS))
    if "kind" not in values:
        help = f"add a line `kind = ...` with one of {kinds}"
        return Diagnostic("C602", "the file does not say its kind", _line(file, 1), help=help)
    at, kind = spans.get("kind"), values["kind"]
    if not isinstance(kind, str):
        return Diagnostic("C602", "kind is not a text", at, help=f"write one of {kinds}")
    message = f"there is no kind of network called {quoted(kind)}"
    return Diagnostic("C602", message, at, help=suggest(kind, KINDS))


def _problems(
    network: type[Network],
    kind: str,
    values: Mapping[str, Any],
    spans: Mapping[str, Span],
    file: str,
) -> Iterator[Diagnostic]:
    """Keys that are unknown or missing, and values that cannot be."""
    known = {field.name: field for field in fields(network)}
    for key, value in values.items():
        at = spans.get(key, _line(file, 1))
        if key == "kind":
            continue
        if key not in known:
            message = f"a network of kind {kind} has no {quoted(key)}"
            help = suggest(key, known) or "it has no keys but kind"
            yield Diagnostic("C602", message, at, help=help)
        elif wrong := _wrong(known[key], value):
            yield Diagnostic("C603", f"{key} {wrong}", at)
    for name, field in known.items():
        if name not in values and field.default is MISSING:
            message = f"a network of kind {kind} needs `{name} = ...`"
            yield Diagnostic("C602", message, spans.get("kind", _line(file, 1)))


def _wrong(field: Field[Any], value: object) -> str:
    """What is wrong with the value of a field; nothing if it is fine."""
    if field.type == "Topology":
        return "" if value in _TOPOLOGIES else f"is none of {', '.join(_TOPOLOGIES)}"
    if field.type == "bool":
        return "" if isinstance(value, bool) else "is neither true nor false"
    return _wrong_number(field, value)


def _wrong_number(field: Field[Any], value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "is not a number"
    if field.type == "int":
        whole = isinstance(value, int) and 1 <= value <= MOST_OF_A_KIND
        return "" if whole else f"is not a whole number from 1 to {MOST_OF_A_KIND}"
    if not 0 <= value <= _LARGEST:  # neither for what is no number
        return f"is not a number from 0 to {_LARGEST}"
    return "must be more than 0" if value == 0 and field.name in _DIVISORS else ""


def _converted(network: type[Network], key: str, value: Any) -> Any:  # noqa: ANN401 - of any field
    kinds = {field.name: field.type for field in fields(network)}
    return Topology(value) if kinds[key] == "Topology" else value


def _too_large(network: Network, spans: Mapping[str, Span], file: str) -> Iterator[Diagnostic]:
    """C603: a two-tier network whose links are too many to count bytes on."""
    supernodes = getattr(network, "supernodes", 0)
    nodes = getattr(network, "nodes", 0)
    links = supernodes * (nodes * nodes + supernodes)
    if links > _MOST_LINKS or getattr(network, "ranks", 0) > _MOST_RANKS:
        at = spans.get("supernodes", _line(file, 1))
        message = f"the network is too large: {links} links, at most {_MOST_LINKS} are counted"
        yield Diagnostic("C603", message, at)
