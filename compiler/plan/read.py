"""A plan's text read back: `same(read_plan(show_plan(plan)), plan)`.

The text has one thing a line, deeper lines belong to the one above. What is not understood is a
ValueError that names the line. Places of the source, how the plan was found and what was expected
of it are in no text, so plans are the `same` without them.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from collc.base.diagnostics import CollcError, Span
from collc.base.rewrite import rewritten
from collc.base.values import dataclass
from collc.language import parse_source
from collc.plan.one_call import of_one_call
from collc.plan.plan import (
    ONE,
    WHOLE,
    ZERO,
    Action,
    Advance,
    Buffer,
    ColorUse,
    Detour,
    Direction,
    Entry,
    Filter,
    Lane,
    Loop,
    Memory,
    Number,
    Once,
    Op,
    Phase,
    Place,
    Plan,
    ProgramPlan,
    Region,
    Role,
    Route,
    SharedColor,
    Slices,
    Strided,
    Use,
    closing,
)
from collc.plan.show import KINDS, NONE, TEAR_DOWN
from collc.schedule.barrier_tokens import collective_with_tokens
from collc.spec import Collective, Order, Program, ReduceStep, Spec, Step, Tree
from collc.spec.exchange import Blocks, Slicing
from collc.spec.program import program_of_one
from collc.target import TARGETS, Target

R = TypeVar("R")
NOWHERE = Span("plan.coll", 1, 1, 1, 1)

_PLACE = r"(?:p|\(p / (\d+)\))"
_NUMBER = re.compile(rf"(\()?(.+?)(?(1)\) mod (\d+))(?: \+ \[([-\d ]*)\]\[{_PLACE}\])?")
_LINEAR = re.compile(rf"(?:(-?\d+) ([-+]) )?(?:(\d+) \* )?{_PLACE}")
_STRIDED = re.compile(r"(-?\d+)(?:\.\.(-?\d+)(?: step (\d+))?(?: repeated (\d+) at (-?\d+))?)?")
_OP = re.compile(
    r"(?:receive (?P<receive>\w+)|take (?P<take>the vector|(?:the vector|stage) \d+)) and "
    r"(?:(?P<sends>combine and send|send|pass on) on (?P<send>\w+)"
    r"|(?P<stores>combine with|store in|pass on to) (?P<into>the vector|(?:the vector|stage) \d+))"
)
_ACTIONS = {
    "combine and send": Action.COMBINE,
    "send": Action.COPY,
    "pass on": Action.RELAY,
    "combine with": Action.COMBINE,
    "store in": Action.COPY,
    "pass on to": Action.RELAY,
}
_IN_BRACKETS = re.compile(r" \(color \d+\)")
_KINDS = {word: kind for kind, word in KINDS.items()}
_ADVANCES = {advance.value: advance for advance in Advance}


@dataclass(frozen=True)
class Line:
    """A line of the text with its number, from 1 on, and those below it that are deeper."""

    number: int
    text: str
    below: tuple[Line, ...]

    def after(self, word: str) -> str:
        """What follows the word that the line begins with."""
        if not self.text.startswith(word):
            raise self.refused(f"`{word.strip()}` is expected")
        return self.text[len(word) :]

    def read(self, how: Callable[[str], R], text: str) -> R:
        """What a part of the line says."""
        try:
            return how(text)
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise self.refused("not understood") from error

    def refused(self, why: str) -> ValueError:
        """The error that names the line."""
        return ValueError(f"line {self.number}: {why}: {self.text}")


def read_plan(text: str) -> Plan:
    """The plan that `show_plan` has printed."""
    (top,) = lines_of(text)
    first, *others = top.below
    if first.text != "collective":
        raise first.refused("`collective` is expected")
    (collective,), target = read_spec(text, first)
    if top.after("plan ") != collective.name:
        raise top.refused("not the name of its collective")
    return plan_of(tuple(others), collective, target)


def lines_of(text: str) -> tuple[Line, ...]:
    """The lines that are read, each with the deeper ones behind it."""
    numbered = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    return _nested([(n, line) for n, line in numbered if not line.lstrip().startswith("#")])


def _nested(texts: Sequence[tuple[int, str]]) -> tuple[Line, ...]:
    found = []
    depths = [len(text) - len(text.lstrip()) for _, text in texts]
    starts = [at for at, depth in enumerate(depths) if depth == min(depths)]
    for at, end in zip(starts, [*starts[1:], len(texts)], strict=True):
        below = texts[at + 1 : end]
        number, line = texts[at]
        found.append(Line(number, line.strip(), _nested(below) if below else ()))
    return tuple(found)


def read_spec(text: str, line: Line) -> tuple[tuple[Collective, ...], Target]:
    """The collectives that stand below a line as the language writes them, and their target."""
    spec = spec_below(text, line)
    return tuple(map(planned_as, spec.collectives)), TARGETS[spec.target]


def spec_below(text: str, line: Line) -> Spec:
    """What stands below a line as the language writes it."""
    own = text.splitlines()[line.number : _last(line)]
    try:
        return parse_source("\n".join(own), file="plan.coll")
    except CollcError as error:
        at = error.diagnostics[0].at
        wrong = line.number + (at.line if at else 0)
        raise ValueError(f"line {wrong}: {error.diagnostics[0].message}") from error


def _last(line: Line) -> int:
    return _last(line.below[-1]) if line.below else line.number


def planned_as(collective: Collective) -> Collective:
    """The collective as plans have it: of a barrier with its tokens."""
    return collective_with_tokens(collective)


def plan_of(lines: Sequence[Line], collective: Collective, target: Target) -> Plan:
    """What the lines below say of a plan, that of a collective."""
    known = {"colors", "input queues", "output queues", "memory"}
    heads: dict[str, Line] = {}
    phases = []
    for line in lines:
        head = line.text.partition(":")[0]
        if head.startswith("phase "):
            phases.append(_phase(line, collective))
        elif head.startswith("target "):
            target = line.read(partial(_with_field, target), line.after("target "))
        elif head.startswith("length ") or head == "root":
            collective = _of_the_call(line, collective)
        elif head in known and head not in heads:
            heads[head] = line
        else:
            raise line.refused("not understood")
    if missing := known - heads.keys():
        raise ValueError(f"the text lacks {', '.join(sorted(missing))}")
    code, data = heads["memory"].read(_memory_of, heads["memory"].text)
    return Plan(
        target=target,
        collective=collective,
        phases=tuple(phases),
        colors=tuple(heads["colors"].read(_colors, heads["colors"].after("colors: "))),
        input_queues=_numbers(heads["input queues"], "input queues: "),
        output_queues=_numbers(heads["output queues"], "output queues: "),
        code_bytes=code,
        data_bytes=data,
    )


def _with_field(target: Target, text: str) -> Target:
    name, shown = text.split(": ", 1)
    value = literal_eval(shown)
    own = getattr(target, name)
    given: dict[str, Any] = {name: frozenset(value) if isinstance(own, frozenset) else value}
    return replace(target, **given)


_LENGTH = re.compile(r"length \w+: (\d+) to (\d+), (\d+) of (\d+)")


def _of_the_call(line: Line, collective: Collective) -> Collective:
    """The collective with what `of_the_call` has printed."""
    if line.text == "root: of the call":
        return replace(collective, root_of_call=True)
    if line.text == "root: of the call, the lower side first":
        steps = tuple(map(_lower_first, collective.steps))
        return replace(collective, steps=steps, root_of_call=True)
    found = _LENGTH.fullmatch(line.text)
    given = collective.contract.run_length
    if found is None or given is None:
        raise line.refused("not understood")
    least, longest, length, most = map(int, found.groups())
    run_length = replace(given, least=least, longest=longest, most=most)
    contract = replace(collective.contract, run_length=run_length, length=length)
    return replace(collective, contract=contract)


def _lower_first(step: Step) -> Step:
    """A step whose root is within its line, with the chain of the lower ranks for that of its own
    side, as all roots of a call have it."""
    if not isinstance(step, ReduceStep) or step.far is None:
        return step
    ranks = len(step.tree.children) + len(step.far.children)
    own, far = _chain(step.tree, step.root + 1), _chain(step.far, ranks - step.root - 1)
    return replace(step, tree=own, far=far)


def _chain(like: Tree, ranks: int) -> Tree:
    children = (*((rank + 1,) for rank in range(ranks - 1)), ())
    return replace(like, children=children)


def _memory_of(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"memory: (\d+) bytes of code, (\d+) bytes of data", text)
    if found is None:
        raise ValueError(text)
    return int(found[1]), int(found[2])


def _numbers(line: Line, word: str) -> tuple[int, ...]:
    return line.read(integers, line.after(word))


def integers(text: str) -> tuple[int, ...]:
    """What `integers` of `show` has printed."""
    return () if text == "none" else tuple(map(int, text.split(", ")))


def _colors(text: str) -> list[tuple[str, int]]:
    parts = (part.split(" = ") for part in text.split(", ")) if text != "none" else ()
    return [(name, int(number)) for name, number in parts]


_FLAGS = ("along the path", "in pairs", "two wide")


def _phase(line: Line, collective: Collective) -> Phase:
    name, about = line.read(lambda text: text.split(": ", 1), line.after("phase "))
    first, cut, *others = line.below or (line, line)
    kind, axis, *words = first.text.split(", ")
    orders = [word.removeprefix("order ") for word in words if word.startswith("order ")]
    if unknown := [word for word in words if word not in _FLAGS and not word.startswith("order ")]:
        raise first.refused(f"`{unknown[0]}` is not understood")
    detours = [one for one in others if one.text.startswith("detour ")]
    played = [_role(one) for one in others[len(detours) :]]
    regions = [(region, at) for at, (_, own) in enumerate(played) for region in own]
    return Phase(
        name=name,
        kind=first.read(_KINDS.__getitem__, kind),
        axis=first.read(_axis, axis),
        order=first.read(Order, orders[0]) if orders else None,
        about=about,
        roles=tuple(role for role, _ in played),
        regions=tuple(sorted(regions)),
        span=NOWHERE,
        **cut.read(_cut, cut.text),
        path=collective.path if "along the path" in words else None,
        detours=tuple(one.read(_detour, one.after("detour ")) for one in detours),
        paired="in pairs" in words,
        wide="two wide" in words,
    )


def _axis(text: str) -> str:
    axis = text.removeprefix("axis ")
    if axis not in ("x", "y", "xy"):
        raise ValueError(text)
    return axis


def _cut(text: str) -> dict[str, Any]:
    found = re.fullmatch(
        r"(\d+) elements in (?:(\d+) slices|one slice)(?:, grain (\d+))?(, by length)?"
        r"(?:, blocks of (\d+) elements on lines ([\d ]+))?, lanes (.*)",
        text,
    )
    if found is None:
        raise ValueError(text)
    length, count, grain, dynamic, of, lines, lanes = found.groups()
    return {
        "slicing": Slicing(int(count or 1), int(length), int(grain or 1), dynamic is not None),
        "blocks": Blocks(int(of), tuple(map(int, lines.split()))) if of else None,
        "lanes": tuple(lanes.split()),
    }


def _detour(text: str) -> Detour:
    color, pes = text.split(": ")
    found = (pe.split() for pe in re.findall(r"\((.*?)\)", pes))
    return Detour(color, tuple((int(x), int(y)) for x, y in found))


def _role(line: Line) -> tuple[Role, list[Region]]:
    name, about = line.read(lambda text: text.split(": ", 1), line.after("role "))
    at, *others = line.below or (line,)
    colors = [one for one in others if one.text.startswith("color ")]
    lanes = tuple(_lane(one) for one in others[len(colors) :])
    uses = tuple(one.read(_color, one.after("color ")) for one in colors)
    return Role(name, about, lanes, uses), at.read(_regions, at.after("at "))


def _regions(text: str) -> list[Region]:
    parts = re.findall(r"\(x (.*?), y (.*?)\)", text)
    shown = ", ".join(f"(x {x}, y {y})" for x, y in parts) or "no PE"
    if shown != text:
        raise ValueError(text)
    return [Region(_strided(x), _strided(y)) for x, y in parts]


def _strided(text: str) -> Strided:
    found = _STRIDED.fullmatch(text)
    if found is None:
        raise ValueError(f"no coordinates: {text}")
    first, last, step, repeats, period = found.groups()
    run = Strided(int(first), int(last or first), int(step or 1))
    return Strided(run.first, run.last, run.step, int(period or 0), int(repeats or 1))


def _color(text: str) -> ColorUse:
    color, routes = _IN_BRACKETS.sub("", text).split(": ", 1)
    in_order = routes.removesuffix(", in a ring")
    positions = []
    for at, shown in enumerate(in_order.split(", ")):
        number, route = shown.split(". ")
        receive, send = route.split(" -> ")
        if int(number) != at:
            raise ValueError(text)
        positions.append(Route(Direction(receive), tuple(map(Direction, send.split("+")))))
    return ColorUse(color, tuple(positions), ring=routes != in_order)


def _lane(line: Line) -> Lane:
    return Lane(line.after("lane "), tuple(map(_loop, line.below)))


def _loop(line: Line) -> Loop | Once:
    entries = tuple(one.read(read_entry, one.text) for one in line.below)
    return line.read(lambda text: _loop_of(text, entries), line.text)


def _loop_of(text: str, entries: tuple[Entry, ...]) -> Loop | Once:
    if text == "once":
        return Once(entries)
    turns, shift = text.split(" times, ")
    if not shift.endswith(" slices on"):
        raise ValueError(text)
    return Loop(read_number(turns), read_number(shift.removesuffix(" slices on")), entries)


def read_entry(text: str) -> Entry:
    """What `show_entry` has printed."""
    *ops, last = text.split("; ")
    ends = ZERO
    if last.startswith("ends the step"):
        where = last.removeprefix("ends the step").removeprefix(" where ")
        ends = read_number(where) if where else ONE
    else:
        ops.append(last)
    return Entry(tuple(read_op(op) for op in ops if op != "nothing"), ends)


def read_op(text: str) -> Op:
    """What `show_op` has printed."""
    if text.startswith(TEAR_DOWN):
        return closing(_IN_BRACKETS.sub("", text.removeprefix(TEAR_DOWN)))
    head, *words = _IN_BRACKETS.sub("", text).split(", ")
    found = _OP.fullmatch(head)
    given = {_key(word): word for word in words}
    if found is None or len(given) != len(words) or not given.keys() <= _KEYS:
        raise ValueError(f"no operation: {text}")
    part = found.groupdict()
    elements = given.get("elements")
    return Op(
        receive=_place(part["receive"], part["take"]),
        action=_ACTIONS[part["sends"] or part["stores"]],
        send=_place(part["send"], part["into"]),
        slices=_slices(given["slices"].removeprefix("slices ")) if "slices" in given else WHOLE,
        advance=_ADVANCES[given.get("advance", "advance nothing").removeprefix("advance ")],
        filter=_filter(given["filter"]) if "filter" in given else None,
        returns="back" in given,
        after=given.get("after", "").removeprefix("after "),
        vectors=int(given.get("vectors", "1 vectors").split()[0]),
        elements=read_number(elements.removesuffix(" elements")) if elements else None,
        where=read_number(given["where"].removeprefix("where ")) if "where" in given else ONE,
    )


_KEYS = {"vectors", "slices", "elements", "advance", "back", "filter", "after", "where"}


def _key(word: str) -> str:
    """Which part of an operation a word is about: it begins, or ends, with its name."""
    first, *_, last = word.split()
    return first if first in _KEYS else last


def _place(color: str | None, memory: str | None) -> Place:
    if memory is None:
        return "" if color == NONE else color or ""
    buffer = Buffer.STAGE if memory.startswith("stage") else Buffer.VECTOR
    return Memory(buffer, int("".join(re.findall(r"\d+", memory)) or 0))


def _slices(text: str) -> Slices:
    text, _, blocks = text.partition(" in ")
    count, first = text.removesuffix(" backward").split(" from ")
    several = map(int, blocks.split(" blocks of ")) if blocks else (1, 0)
    return Slices(read_number(first), read_number(count), text.endswith(" backward"), *several)


def _filter(text: str) -> Filter:
    text = text.removeprefix("filter ")
    parts = re.split(r" behind |(?<!blocks) of ", text.removeprefix("in memory "))
    passes, before, period = map(_slices, parts)
    return Filter(period, before, passes, text.startswith("in memory "))


def read_number(text: str) -> Number:
    """What `show_number` has printed."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise ValueError(f"no number: {text}")
    _, linear, modulus, table, every = found.groups()
    term = _LINEAR.fullmatch(linear)
    offset, sign, times, divisor = term.groups() if term else (linear, None, "0", None)
    slope = int(times or 1)
    return Number(
        offset=int(offset or 0),
        slope=-slope if sign == "-" else slope,
        divisor=int(divisor or 1),
        modulus=int(modulus or 0),
        every=int(every or 1),
        table=tuple(map(int, (table or "").split())),
    )


def same(one: object, other: object) -> bool:
    """Whether two plans, or parts of plans, are the same but for where they come from."""
    return without_source(one) == without_source(other)


_OF_SOURCE = frozenset(("span", "origin", "decision", "expectations", "file", "candidates"))


def without_source(value: object) -> object:
    """A value as plain tuples, without places of a source, how it was found and what was expected
    of it."""
    if isinstance(value, Span):
        return None
    if isinstance(value, np.ndarray):
        return value.shape, value.tolist()
    if isinstance(value, Collective) and value.grid.is_line:
        value = replace(value, counts_along="x")  # ranks of a line follow its order alone
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value) if not _is_of_source(field.name)]
        names = [name for name in names if name != "text" or not isinstance(value, Tree)]
        return type(value).__name__, *(without_source(getattr(value, name)) for name in names)
    if isinstance(value, tuple):
        return tuple(map(without_source, value))
    return value


def _is_of_source(name: str) -> bool:
    return name in _OF_SOURCE or name.endswith("_span")


def read_program(text: str) -> ProgramPlan:
    """The plan that `show_program` has printed."""
    (top,) = lines_of(text)
    return of_one_call(read_plan(text)) if top.text.startswith("plan ") else _program(text, top)


_HEAD = re.compile(r"program on \w+: [\w ]*, \d+ rounds")


def _program(text: str, top: Line) -> ProgramPlan:
    head = _HEAD.fullmatch(top.text)
    if head is None or not top.below or top.below[0].text != "collectives":
        raise top.refused("not understood")
    spec = spec_below(text, top.below[0])
    target, collectives = TARGETS[spec.target], list(spec.collectives)
    called: dict[object, str] = {}  # alternatives have other names where some were left out
    planned = [one.after("plan ") for one in top.below if one.text.startswith("plan ")]
    by_name = sorted(planned) == sorted(one.name for one in collectives)
    plans, uses, streams, heads = list[Plan](), list[Line](), list[ProgramPlan](), dict[str, Line]()
    for line in top.below[1:]:
        word = line.text.split(":")[0]
        if line.text.startswith("plan "):
            if not collectives:
                raise line.refused("no collective is left for it")
            name = line.after("plan ")
            names = [each.name for each in collectives]
            one = collectives.pop(names.index(name) if by_name else 0)
            called[one.name] = name
            own = planned_as(replace(one, name=name))
            plans.append(plan_of(line.below, own, TARGETS[spec.target]))
        elif line.text == "call stream" and len(line.below) == 1:
            streams.append(_program(text, line.below[0]))
        elif line.text.startswith("use "):
            uses.append(line)
        elif word.startswith("target "):
            target = line.read(partial(_with_field, target), line.after("target "))
        elif word in {"colors", "memory"} and word not in heads:
            heads[word] = line
        else:
            raise line.refused("not understood")
    if missing := {"colors", "memory"} - heads.keys():
        raise top.refused(f"it lacks {', '.join(sorted(missing))}")
    code, data = heads["memory"].read(_memory_of, heads["memory"].text)
    said = spec.program or program_of_one(spec.collectives[0])
    program: Program = rewritten(
        said, lambda node: called.get(node) if isinstance(node, str) else None
    )
    return ProgramPlan(
        target=target,
        program=program,
        plans=tuple(plans),
        uses=tuple(one.read(lambda text: _use(text, plans), one.after("use ")) for one in uses),
        colors=heads["colors"].read(_shared_colors, heads["colors"].after("colors: ")),
        code_bytes=code,
        data_bytes=data,
        call_streams=tuple(streams),
    )


def _use(text: str, plans: Sequence[Plan]) -> Use:
    """`largest.columns: columns_even = 0`."""
    of, positions = text.split(": ")
    collective, phase = of.split(".")
    at = next(n for n, plan in enumerate(plans) if plan.collective.name == collective)
    names = [one.name for one in plans[at].phases]
    return Use(at, names.index(phase), tuple(_colors(positions)))


_COLOR = re.compile(r"(\d+)( through queues (-?\d+) and (-?\d+))?(, torn down)?")


def _shared_colors(text: str) -> tuple[SharedColor, ...]:
    found = [_COLOR.fullmatch(one) for one in text.split("; ")] if text != "none" else []
    if not all(found):
        raise ValueError(text)
    parts = (one.groups() for one in found if one)
    return tuple(
        SharedColor(int(number), (int(into), int(out)) if through else None, torn is not None)
        for number, through, into, out, torn in parts
    )
