"""What a tool is given, and what was seen: a job is a program with what the host does to it."""

import re
from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from typing import Protocol

from collc.base.values import dataclass
from collc.probe.program import NEWEST, Program

_EXPORTED = re.compile(r'@export_name\("(\w+)", *\[\*\](?:const )?(\w+)')
_RECTANGLE = re.compile(r"@set_rectangle\(([^,()]+),([^,()]+)\)")
_WIDE = {"i32", "u32", "f32", "i16", "u16", "f16"}
ELEMENTS = 16  # of each array; those of the common part have as many


@dataclass(frozen=True)
class Job:
    """A program and what the host does: launches, then copies of the beginnings of arrays.

    `reads` are the names of exported arrays, their element types and how many elements are asked
    for. `strict` and `lenient` are fabsim's own words; other tools take no notice. `width` and
    `height` are 0 where the text does not tell.
    """

    name: str
    arch: str
    files: Mapping[str, str]
    params: Mapping[str, int]
    width: int
    height: int
    fp16: str = "f16"
    sdk: str = NEWEST
    strict: bool = False
    lenient: bool = False
    launches: tuple[tuple[str, tuple[int, ...]], ...] = ()
    reads: tuple[tuple[str, str, int], ...] = ()


class Status(Enum):
    """How far a job got."""

    REFUSED = "refused by the compiler"
    RAN = "ran to its end"
    FAILED = "ended with an error"
    STOOD = "did not end"
    UNABLE = "not tried"


@dataclass(frozen=True)
class Seen:
    """What was seen: how far it got, what the tool said, the raw words that were read, by array,
    y, x. `kind` is fabsim's word for an error, empty with other tools."""

    status: Status
    said: str = ""
    kind: str = ""
    words: Mapping[str, list[list[list[int]]]] = field(default_factory=dict)


class Tool(Protocol):
    """Who does jobs."""

    @property
    def told(self) -> str:
        """Names and versions, as the tools print them."""

    @property
    def release(self) -> str | None:
        """The SDK it is; None is every release."""

    def do(self, job: Job) -> Seen:
        """Compile it, and run it if it has launches or reads."""


def job_of(program: Program, arch: str, only: int | None = None) -> Job:
    """The job of a program; with `only` to be compiled alone, as `Program.sources` has it."""
    files = program.sources(arch, only)
    params = {}
    for line in program.values("param", arch):
        name, _, value = line.partition(" = ")
        params[name] = int(value)
    if "//--- layout.csl" not in program.text:
        width, height = map(int, program.value("size", arch, "1 1").split())
        params |= {"width": width, "height": height}
    width, height = _rectangle(files["layout.csl"], params)
    runs = only is None
    return Job(
        name=program.name,
        arch=arch,
        files=files,
        params=params,
        width=width,
        height=height,
        fp16=program.value("fp16", arch, "f16"),
        sdk=program.value("sdk", arch, NEWEST),
        strict=bool(program.values("strict", arch)),
        lenient=bool(program.values("lenient", arch)),
        launches=_launches(program, arch) if runs else (),
        reads=_reads(program, arch, files["layout.csl"]) if runs else (),
    )


def _rectangle(layout: str, params: Mapping[str, int]) -> tuple[int, int]:
    found = _RECTANGLE.search(layout)
    sides = [side.strip() for side in found.groups()] if found else []
    known = [int(s) if s.isdigit() else params.get(s, 0) for s in sides]
    return (known[0], known[1]) if all(known) and known else (0, 0)


def _launches(program: Program, arch: str) -> tuple[tuple[str, tuple[int, ...]], ...]:
    lines = program.values("launch", arch)
    if not lines and "fn run(" in program.text:
        lines = ["run"]
    words = [line.split() for line in lines]
    return tuple((name, tuple(map(int, args))) for name, *args in words)


def _reads(program: Program, arch: str, layout: str) -> tuple[tuple[str, str, int], ...]:
    """The arrays that the header speaks of."""
    types = {name: ty for name, ty in _EXPORTED.findall(layout) if ty in _WIDE}
    counts: dict[str, int] = {}
    for entry in program.entries:
        name = entry.key.partition(" (")[0]
        if name in types and entry.arch in (None, arch):
            counts[name] = max(counts.get(name, 0), len(entry.value.split()))
    for key in ("relation", "reading"):
        for text in program.values(key, arch):
            for name, index in re.findall(r"(\w+)\[(\d+)\]", text):
                if name in types:
                    counts[name] = max(counts.get(name, 0), int(index) + 1)
    return tuple((name, types[name], count) for name, count in sorted(counts.items()))
