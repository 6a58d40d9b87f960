"""How the user's names are spelled in emitted text: as they are, but with a prefix where they meet
a word of CSL or a name that the templates declare beside them.

What the templates declare is read from their texts, so that it cannot go stale: `{{ ... }}` in a
name stands for anything, as in `begin_{{ n }}`.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files

from collc.base.memoize import by_identity
from collc.base.values import dataclass
from collc.emit.reserved import IN_PROGRAM, KEYWORDS
from collc.plan.plan import ProgramPlan
from collc.spec import Collective, Program, RootChoice, Selection

PREFIX = "my_"

# Templates of CSL in which buffers are named, and those in which collectives are.
_KERNEL = ("layout", "kernel")
_CALLING = ("pe", *_KERNEL)

_ANY = "\0"  # what is substituted
_SUBSTITUTED = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_LEFT_OUT = re.compile(r"\{#.*?#\}|\{%.*?%\}|//[^\n]*", re.DOTALL)
_DECLARED = (
    re.compile(r"\b(?:const|var|param|fn|task)\s+([\w\0]+)"),
    re.compile(r"[(,]\s*(?:comptime )?([\w\0]+):"),
    re.compile(r"\|([\w\0]+)(?:,\s*[\w\0]+)?\|"),
)


@dataclass(frozen=True)
class Taken:
    """Names that are taken, beginnings of such, and endings of those made of another name."""

    names: frozenset[str]
    beginnings: tuple[str, ...]
    endings: tuple[str, ...]

    def meets(self, name: str, others: Iterable[str]) -> bool:
        """Whether a name is taken, given the user's other names of its kind."""
        if name in self.names or name.startswith(self.beginnings):
            return True
        made = {f"{other}{end}" for other in others for end in self.endings}
        return name in made


@dataclass(frozen=True)
class Spellings:
    """How names that emitted text cannot carry are spelled in it: `calls` those of collectives and
    choices, `symbols` those of buffers and of what is given to calls."""

    calls: Mapping[str, str]
    symbols: Mapping[str, str]


@by_identity(2)
def spellings_of(program: ProgramPlan) -> Spellings:
    """The spellings of a program; of a name that is not among them its own."""
    collectives, said = [plan.collective for plan in program.plans], program.program
    calls = (*(one.name for one in collectives), *(one.name for one in said.choices))
    held = (buffer.buffer for one in collectives for buffer in one.contract.in_memory)
    given = (name for name, _, _ in said.given)
    return Spellings(_renamer(calls, True), _renamer((*held, *given), False))


def spelled(program: ProgramPlan) -> ProgramPlan:
    """A program with the names that emitted text can carry. All that is told of it has the names of
    the file, so only what emits asks for this one."""
    of = spellings_of(program)
    return _spelled(program, of) if of.calls or of.symbols else program


def _spelled(program: ProgramPlan, of: Spellings) -> ProgramPlan:
    def renamed(one: Collective) -> Collective:
        return _collective(one, of.calls, of.symbols)

    return replace(
        program,
        plans=tuple(replace(one, collective=renamed(one.collective)) for one in program.plans),
        program=_program(program.program, of.calls, of.symbols, renamed),
        call_streams=tuple(_spelled(one, of) for one in program.call_streams),
    )


def _renamer(names: Iterable[str], collective: bool) -> dict[str, str]:
    """New names for those that need one."""
    given = list(dict.fromkeys(names))
    taken = _taken(collective)
    found = {}
    for name in given:
        spelling, others = name, [other for other in given if other != name]
        while taken.meets(spelling, others) or (spelling != name and spelling in given):
            spelling = PREFIX + spelling
        if spelling != name:
            found[name] = spelling
    return found


def _collective(
    one: Collective, names: Mapping[str, str], buffers: Mapping[str, str]
) -> Collective:
    contract, length, result = one.contract, one.contract.run_length, one.contract.result
    contract = replace(
        contract,
        buffer=buffers.get(contract.buffer, contract.buffer),
        result=result and replace(result, name=buffers.get(result.name, result.name)),
        run_length=length and replace(length, name=buffers.get(length.name, length.name)),
    )
    return replace(one, name=names.get(one.name, one.name), contract=contract)


def _program(
    program: Program,
    names: Mapping[str, str],
    buffers: Mapping[str, str],
    renamed: Callable[[Collective], Collective],
) -> Program:
    def selection(one: Selection) -> Selection:
        return replace(
            one,
            name=names.get(one.name, one.name),
            length=replace(one.length, name=buffers.get(one.length.name, one.length.name)),
            names=tuple(names.get(name, name) for name in one.names),
        )

    def spelling(given: str) -> str:
        return buffers.get(given, given)

    def choice(one: RootChoice) -> RootChoice:
        behind, root, before = (names.get(name, name) for name in one.names)
        return replace(
            one,
            name=names.get(one.name, one.name),
            root=buffers.get(one.root, one.root),
            length=one.length and replace(one.length, name=spelling(one.length.name)),
            names=(behind, root, before),
            by_root=tuple(map(renamed, one.by_root)),
        )

    return replace(
        program,
        calls=tuple(names.get(name, name) for name in program.calls),
        selections=tuple(map(selection, program.selections)),
        rooted=tuple(map(choice, program.rooted)),
    )


@cache
def _taken(collective: bool) -> Taken:
    """What a collective cannot be called, or a buffer or a length."""
    templates = files("collc.templates")
    declared = _declared_in_templates(_CALLING if collective else _KERNEL)
    words = KEYWORDS | IN_PROGRAM
    python = "\n".join(
        path.read_text() for path in templates.iterdir() if path.name.endswith(".py.j2")
    )
    if collective:
        words |= _before_endings(_declared_in_python(python))
    else:
        words |= {"name", "cmaddr", "seed", "help"}  # lengths are options of the host script
    return Taken(
        frozenset(words | {name for name in declared if _ANY not in name}),
        tuple(sorted(one[:-1] for one in declared if one.endswith(_ANY) and one != _ANY)),
        tuple(sorted(end for one in declared if one[:1] == _ANY for end in _ends(one[1:]))),
    )


@cache
def taken_in_kernel() -> frozenset[str]:
    """What a library cannot be called, whose name is that of a file."""
    declared = _declared_in_templates(_KERNEL)
    return KEYWORDS | IN_PROGRAM | {name for name in declared if _ANY not in name}


def _declared_in_templates(names: Iterable[str]) -> set[str]:
    templates = files("collc.templates")
    texts = (templates.joinpath(f"{name}.csl.j2").read_text() for name in names)
    return {name for text in texts for name in _declared_in_csl(text)}


def _ends(rest: str) -> tuple[str, ...]:
    return (rest, f"_{rest}") if rest and _ANY not in rest else ()


def _before_endings(declared: set[str]) -> set[str]:
    """What a collective cannot be called, as the host script declares a name of that beginning. All
    that is named after a collective has an ending there, so no word of Python is met."""
    endings = {one[1:] for one in declared if one[:1] == _ANY and len(one) > 1}
    plain = {one for one in declared if _ANY not in one}
    return {one.removesuffix(end) for one in plain for end in endings if one.endswith(end)} - {""}


def _declared_in_csl(text: str) -> set[str]:
    plain = _LEFT_OUT.sub(" ", _SUBSTITUTED.sub(_ANY, text))
    return {name for pattern in _DECLARED for name in pattern.findall(plain)}


def _declared_in_python(text: str) -> set[str]:
    """Names of functions, constants and imports, and those within the function that calls others
    by the user's names."""
    plain = _LEFT_OUT.sub(" ", _SUBSTITUTED.sub(_ANY, text))
    names = set(re.findall(r"^def ([\w\0]+)", plain, re.MULTILINE))
    for line in re.findall(r"^([\w\0]+(?:, [\w\0]+)*) =", plain, re.MULTILINE):
        names |= set(line.split(", "))
    names |= set(re.findall(r"\bimport (?:\w+ as )?(\w+)$", plain, re.MULTILINE))
    names |= set(re.findall(r"^    (\w+),$", plain, re.MULTILINE))
    # The function that calls those of the user's names.
    for body in re.findall(r"^def check\(.*?(?=^def |\Z)", plain, re.DOTALL | re.MULTILINE):
        names |= _locals_of(body)
    return names


def _locals_of(function: str) -> set[str]:
    """Parameters and assigned names of a function of Python."""
    found = set(re.findall(r"\b(\w+): ", function)) | set(re.findall(r"\bfor (\w+)", function))
    for line in re.findall(r"^ +(\w+(?:, \w+)*) [+]?= ", function, re.MULTILINE):
        found |= set(line.split(", "))
    return found
