"""A plan's text read back: `read_plan(show_plan(plan), plan.schedule, plan.target) == plan`.

The text has one thing a line, deeper lines belong to the one above. What is not understood is a
ValueError that names the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from collc.base.paths import Path
from collc.plan.model import Detour, Phase, Plan, Registers
from collc.plan.numbers import ONE, ZERO, Number
from collc.plan.ops import (
    WHOLE,
    Action,
    Buffer,
    Entry,
    Filter,
    Lane,
    Loop,
    Memory,
    Once,
    Op,
    Place,
    Role,
    Slices,
)
from collc.plan.regions import Region, Strided
from collc.plan.routers import Advance, ColorUse, Direction, Route
from collc.plan.show import NONE
from collc.schedule import Phase as Pattern
from collc.schedule import Schedule
from collc.spec import ContractKind, Order
from collc.spec.exchange import Blocks, Slicing
from collc.target import Target

_NUMBER = re.compile(
    r"(?P<open>\()?(?P<offset>-?\d+)(?: \+ (?P<slope>-?\d+) \* (?:p|\(p / (?P<divisor>\d+)\)))?"
    r"(?(open)\) mod (?P<modulus>\d+))"
    r"(?: \+ \[(?P<table>[-\d ]*)\]\[(?:p|\(p / (?P<every>\d+)\))\])?"
)
_STRIDED = re.compile(r"(-?\d+)(?:\.\.(-?\d+)(?: step (\d+))?(?: repeated (\d+) at (-?\d+))?)?")
_ADVANCES = {advance.value: advance for advance in Advance}


@dataclass(frozen=True)
class Line:
    """A line of the text, and those below it that are deeper."""

    text: str
    below: tuple[Line, ...]

    def after(self, word: str) -> str:
        """What follows the word that the line begins with."""
        if not self.text.startswith(word):
            raise ValueError(f"`{word}` is expected in place of: {self.text}")
        return self.text[len(word) :]


def read_plan(text: str, schedule: Schedule, target: Target) -> Plan:
    """The plan that carries a schedule out on a target."""
    (top,) = _lines(text.splitlines())
    fields = {line.text.partition(":")[0]: line for line in top.below}
    tasks, dsrs = fields["task ids"].after("task ids: ").split("; DSR ids: ")
    colors = fields["colors"].after("colors: ")
    memory = re.findall(r"\d+", fields["memory"].text)
    phases = [line for line in top.below if line.text.startswith("phase ")]
    return Plan(
        target=target,
        collective=schedule.collective,
        phases=tuple(
            _phase(line, pattern, schedule.collective.path)
            for line, pattern in zip(phases, schedule.phases, strict=True)
        ),
        colors=tuple(_colors(colors)),
        input_queues=_integers(fields["input queues"].after("input queues: ")),
        output_queues=_integers(fields["output queues"].after("output queues: ")),
        task_ids=_integers(tasks),
        dsr_ids=_integers(dsrs),
        code_bytes=int(memory[0]),
        data_bytes=int(memory[1]),
        registers=_registers(fields["registers"]) if "registers" in fields else None,
    )


def _lines(texts: list[str]) -> tuple[Line, ...]:
    """Lines of one depth, each with the deeper ones behind it."""
    found = []
    depths = [len(text) - len(text.lstrip()) for text in texts]
    starts = [at for at, depth in enumerate(depths) if depth == min(depths)]
    for at, end in zip(starts, [*starts[1:], len(texts)], strict=True):
        below = texts[at + 1 : end]
        found.append(Line(texts[at].strip(), _lines(below) if below else ()))
    return tuple(found)


def _integers(text: str) -> tuple[int, ...]:
    return () if text == "none" else tuple(map(int, text.split(", ")))


def _colors(text: str) -> Iterator[tuple[str, int]]:
    for part in text.split(", ") if text != "none" else ():
        name, number = part.split(" = ")
        yield name, int(number)


def _registers(line: Line) -> Registers:
    pairs, sources = line.after("registers: pairs ").split("; sources ")
    return Registers(_integers(pairs), _integers(sources))


def _phase(line: Line, pattern: Pattern, path: Path | None) -> Phase:
    name, about = line.after("phase ").split(": ", 1)
    first, *others = line.below
    kind, axis, *words = first.text.split(", ")
    orders = [word.removeprefix("order ") for word in words if word.startswith("order ")]
    exchanges = [one for one in others if re.match(r"\d+ slices", one.text)]
    detours = [one for one in others if one.text.startswith("detour ")]
    played = [_role(one) for one in others if one.text.startswith("role ")]
    regions = [(region, at) for at, (_, own) in enumerate(played) for region in own]
    return Phase(
        name=name,
        kind=ContractKind(kind),
        axis=axis.removeprefix("axis "),
        order=Order(orders[0]) if orders else None,
        about=about,
        roles=tuple(role for role, _ in played),
        regions=tuple(sorted(regions)),
        pattern=pattern,
        **_cut(exchanges[0].text),
        path=path if "along the path" in words else None,
        detours=tuple(map(_detour, detours)),
        paired="in pairs" in words,
        wide="two wide" in words,
    )


def _cut(text: str) -> dict[str, Any]:
    slices, grain, lanes, *words = text.split(", ")
    count, length = map(int, re.findall(r"\d+", slices))
    blocks = [word for word in words if word.startswith("blocks of ")]
    return {
        "slicing": Slicing(count, length, int(grain.removeprefix("grain ")), "by length" in words),
        "lanes": tuple(lanes.removeprefix("lanes ").split()),
        "blocks": _blocks(blocks[0]) if blocks else None,
    }


def _blocks(text: str) -> Blocks:
    length, *lines = map(int, re.findall(r"\d+", text))
    return Blocks(length, tuple(lines))


def _detour(line: Line) -> Detour:
    color, pes = line.after("detour ").split(": ")
    found = (pe.split() for pe in re.findall(r"\((.*?)\)", pes))
    return Detour(color, tuple((int(x), int(y)) for x, y in found))


def _role(line: Line) -> tuple[Role, list[Region]]:
    name, about = line.after("role ").split(": ", 1)
    at, *others = line.below
    colors = [_color(one.after("color ")) for one in others if one.text.startswith("color ")]
    lanes = [_lane(one) for one in others if one.text.startswith("lane ")]
    return Role(name, about, tuple(lanes), tuple(colors)), _regions(at.after("at "))


def _regions(text: str) -> list[Region]:
    parts = re.findall(r"\(x (.*?), y (.*?)\)", text)
    return [Region(_strided(x), _strided(y)) for x, y in parts]


def _strided(text: str) -> Strided:
    found = _STRIDED.fullmatch(text)
    if found is None:
        raise ValueError(f"no coordinates: {text}")
    first, last, step, repeats, period = found.groups()
    run = Strided(int(first), int(last or first), int(step or 1))
    return Strided(run.first, run.last, run.step, int(period or 0), int(repeats or 1))


def _color(text: str) -> ColorUse:
    color, routes = text.split(": ")
    positions = []
    in_order = routes.removesuffix(", in a ring")
    for route in in_order.split(", then "):
        receive, send = route.split(" -> ")
        positions.append(Route(Direction(receive), tuple(map(Direction, send.split("+")))))
    return ColorUse(color, tuple(positions), ring=routes != in_order)


def _lane(line: Line) -> Lane:
    return Lane(line.after("lane "), tuple(map(_loop, line.below)))


def _loop(line: Line) -> Loop | Once:
    if line.text == "once":
        return Once(tuple(read_entry(one.text) for one in line.below))
    turns, shift = line.text.removesuffix(" slices on").split(" times, ")
    entries = (read_entry(one.text) for one in line.below)
    return Loop(read_number(turns), read_number(shift), tuple(entries))


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
    head, *words = text.split(", ")
    action, _, places = head.partition(" ")
    receive, send = places.split(" -> ")
    given = {_key(word): word for word in words}
    if len(given) != len(words) or not given.keys() <= _KEYS:
        raise ValueError(f"no operation: {text}")
    elements = given.get("elements")
    return Op(
        receive=_place(receive),
        action=Action(action),
        send=_place(send),
        slices=_slices(given["slices"]) if "slices" in given else WHOLE,
        advance=_ADVANCES[given.get("advance", "advance nothing").split()[1]],
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


def _place(text: str) -> Place:
    word, _, area = text.partition(" ")
    buffers = {"memory": Buffer.VECTOR, "stage": Buffer.STAGE}
    if word in buffers:
        return Memory(buffers[word], int(area or 0))
    return "" if text == NONE else text


def _slices(text: str) -> Slices:
    text = text.removeprefix("slices ")
    first, count = text.removesuffix(" backward").split(" .. ")
    return Slices(read_number(first), read_number(count), text.endswith(" backward"))


def _filter(text: str) -> Filter:
    parts = re.split(r" behind | of ", text.removeprefix("filter "))
    passes, before, period = map(_slices, parts)
    return Filter(period, before, passes)


def read_number(text: str) -> Number:
    """What `show_number` has printed."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise ValueError(f"no number: {text}")
    part = found.groupdict()
    return Number(
        offset=int(part["offset"]),
        slope=int(part["slope"] or 0),
        divisor=int(part["divisor"] or 1),
        modulus=int(part["modulus"] or 0),
        every=int(part["every"] or 1),
        table=tuple(map(int, (part["table"] or "").split())),
    )
