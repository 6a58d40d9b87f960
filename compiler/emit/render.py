"""From a plan to the text of its bundle's files, sorted by name, the same bytes every time."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from collc.base.files import MANIFEST
from collc.emit.clock import HOP, ClockModel, clock_model
from collc.emit.host import host_model
from collc.emit.kernel import kernel_of
from collc.emit.library import libraries_of
from collc.emit.manifest import manifest_of, with_hashes
from collc.emit.model import LibraryModel
from collc.emit.spelling import spelled, spellings_of
from collc.machine.prediction import Prediction
from collc.plan.plan import ProgramPlan
from collc.schedule import Schedule
from collc.spec import Spec
from collc.target import TARGETS
from collc.target.fabric import Wanted, fabric_of

if TYPE_CHECKING:
    from jinja2 import Environment

WIDTH = 120  # characters of a line of emitted CSL
_BRACKET = re.compile(r"[][(){}]")
_BREAK = re.compile(r"(?<=,) | (?=(?:else|and|or|\+|-) )")


def render(
    spec: Spec,
    plan: ProgramPlan,
    schedules: Sequence[Schedule],
    prediction: Prediction,
    architectures: tuple[str, ...],
) -> dict[str, str]:
    """The files of the bundle: {name: text}.

    `schedules` are what the collectives carry out. `architectures` are the targets whose limits the
    plan keeps; each gets a commands file. Raises CollcError for what is not printed yet.
    """
    calls, plan = spellings_of(plan).calls, spelled(plan)
    due = {calls.get(one.collective.name, one.collective.name): one for one in schedules}
    libraries = libraries_of(plan, source_name(spec.file), spec.library)
    first = libraries[0]
    host = host_model(plan, due, first.source, first.version)
    clock = clock_model(spec, (first.width, first.height))
    kernel = kernel_of(plan, host.buffers, libraries)
    texts: dict[str, str] = {}
    for library in libraries:
        texts |= _texts_of_library(library)
    names = {"layout.csl": "layout.csl", "kernel.csl": "pe_program.csl"}
    names |= {"run.py": "run.py"} | {name: name for name in _clock_files(clock)}
    given = {"m": first, "libraries": libraries, "k": kernel, "p": host, "clock": clock}
    texts |= {name: _filled(template, **given) for template, name in names.items()}
    for arch in architectures:
        commands = commands_file(arch, (first.width, first.height), timed=clock is not None)
        texts[commands_name(arch)] = commands
    texts[MANIFEST] = manifest_of(spec, plan, prediction, libraries, texts)
    return dict(sorted(texts.items()))


def _clock_files(clock: ClockModel | None) -> tuple[str, ...]:
    """The modules that take time stamps, where a program has some; one PE needs no signal."""
    if clock is None:
        return ()
    return ("clock_pe.csl",) if clock.alone else ("clock_layout.csl", "clock_pe.csl")


def _texts_of_library(library: LibraryModel) -> dict[str, str]:
    """A library: what does not depend on a program, and what does."""
    names = {"ops.csl": "ops.csl", "queues.csl": "queues.csl"}
    names |= {"join.csl": "join.csl"} if library.joins else {}
    names |= {name: name for name in ("router.csl", "routers.csl") if library.torn_down}
    names |= {
        "library_layout.csl": f"{library.name}_layout.csl",
        "pe.csl": f"{library.name}_pe.csl",
    }
    texts = {name: _filled(f"{template}", m=library) for template, name in names.items()}
    for one in library.collectives:
        of: dict[str, Any] = {"element": one.element}
        of |= {"combine": one.combine.builtin, "move": one.combine.move}
        of |= {"callback": one.combine.callback, "state": one.combine.state}
        for phase in one.phases:
            files = {"op": phase.op, "loop": phase.has_turns and phase.loop}
            files |= {"table": phase.has_tables and phase.table}
            of["simd"] = phase.simd
            texts |= {f"{to}.csl": _filled(f"{it}.csl", **of) for it, to in files.items() if to}
    return texts


def _filled(template: str, **given: object) -> str:
    """A template, filled in; lines of CSL are folded."""
    text = _environment().get_template(f"{template}.j2").render(**given)
    if not template.endswith(".csl"):
        return text
    return "".join(f"{part}\n" for line in text.splitlines() for part in folded(line))


def folded(line: str) -> list[str]:
    """A line of CSL as lines of at most `WIDTH` characters, where there are places to break it.

    Names have any length, so templates cannot know how long their lines become. A comment after
    code goes in front of it. Comments are broken between words, code where it is nested least,
    after a comma or before an operator.
    """
    if len(line) <= WIDTH:
        return [line]
    indent = re.match(" *", line)[0]  # type: ignore[index]  # matches any line
    code, mark, comment = line.partition("//")
    if not mark:
        further = indent if code.startswith(f"{indent}.") else f"{indent}  "
        return _broken(code, further, _nested_least)
    if code.strip():
        return [*folded(f"{indent}//{comment}"), *folded(code.rstrip())]
    label = re.match(r" *(\d+( to \d+)?: )?", comment)[0]  # type: ignore[index]  # matches any
    first = len(indent) + 2 + len(label)
    return _broken(
        line, f"{indent}//{' ' * len(label)}", lambda it: it.rfind(" ", first, WIDTH + 1)
    )


def _broken(line: str, further: str, place: Callable[[str], int]) -> list[str]:
    """A line broken at the places that are found, -1 for none; all lines but the first begin with
    `further`."""
    found = []
    while len(line) > WIDTH and (cut := place(line)) >= 0:
        found.append(line[:cut].rstrip())
        line = further + line[cut:].lstrip()
    return [*found, line]


def _nested_least(code: str) -> int:
    """The last of the places to break a line that are inside of the fewest brackets, or -1."""
    start = code[: WIDTH + 1]
    comma = start.rfind(", ") + 1
    if comma and not _BRACKET.search(start):  # the fields of a struct, thousands of lines of them
        return comma
    depth, places = 0, []
    for at, sign in enumerate(start):
        depth += (sign in "([{") - (sign in ")]}")
        if _BREAK.match(code, at) and code[:at].strip():
            places.append((-depth, at))
    return max(places, default=(0, -1))[1]


def source_name(file: str) -> str:
    """The name of a source file without its folders, fit to stand in a comment or a string.

    The text must not depend on where the file lies or on the locale, and a name may hold line
    breaks and quotes, and bytes that are no text. Backslashes would be escapes of Python's.
    """
    name = os.fsencode(PurePath(file).name).decode("utf-8", "replace")
    return re.sub(r"[^\w. +-]", "_", name)


def commands_name(arch: str) -> str:
    """What the commands file for a target is called."""
    return f"commands_{arch}.sh"


def commands_file(
    arch: str, size: tuple[int, int], wanted: Wanted | None = None, *, timed: bool
) -> str:
    """The commands that compile and run a program of so many columns and rows for a target; one
    that is `timed` is told of the target's hop. Raises CollcError where it has no place on the
    fabric that is wanted."""
    fabric = fabric_of(size, TARGETS[arch], wanted)
    told = f" --hop {HOP[arch]}" if timed else ""
    commands = _environment().get_template("commands.sh.j2")
    return commands.render(arch=arch, fabric=fabric, told=told)


def with_commands(
    texts: Mapping[str, str], target: str, size: tuple[int, int], wanted: Wanted
) -> dict[str, str]:
    """A bundle's files for another fabric; on a machine only the one target has commands. Raises
    CollcError where the program has no place there."""
    present = [arch for arch in TARGETS if commands_name(arch) in texts]
    archs = [target] if wanted.target else present
    kept = {name: text for name, text in texts.items() if name not in map(commands_name, present)}
    timed = "clock_pe.csl" in texts
    made = {commands_name(arch): commands_file(arch, size, wanted, timed=timed) for arch in archs}
    found = kept | made
    return dict(sorted((found | {MANIFEST: with_hashes(texts[MANIFEST], found)}).items()))


@cache
def _environment() -> Environment:
    """One for all bundles: loading the templates takes longer than filling them in."""
    from collc.emit.templates import environment  # noqa: PLC0415 - only what emits needs Jinja

    return environment(Path(str(files("collc.templates"))))
