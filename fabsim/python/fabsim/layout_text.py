"""The CSL text of a layout."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise

from fabsim.layout_plan import Plan
from fabsim.layout_values import Color, IntVector, Position, Route

#: Columns from the first to the one behind the last, and what is said of each of their PEs.
_Run = tuple[int, int, str]


def layout_text(plan: Plan, values: Mapping[str, int], arch: str) -> str:
    """A file with the layout block; PEs outside of regions have no code."""
    names = {net: plan.nets.members(net)[0] for net in plan.nets.all()}
    writer = _Writer(plan, values, names, arch)
    body = [f"@set_rectangle({plan.width}, {plan.height});"]
    rows = [tuple(_runs(writer, y)) for y in range(plan.height)]
    for runs, numbers in groupby(range(plan.height), key=rows.__getitem__):
        same = list(numbers)
        body.append(f"for (@range(u16, {same[0]}, {same[-1] + 1}, 1)) |y| {{")
        for first, end, said in runs:
            body.append(f"  for (@range(u16, {first}, {end}, 1)) |x| {{ {said} }}")
        body.append("}")
    return "layout {\n" + "".join(f"  {line}\n" for line in body) + "}\n"


def _runs(writer: _Writer, y: int) -> Iterator[_Run]:
    """The PEs of a row, those of which the same is said together."""
    said = [writer.said_of(IntVector(x, y)) for x in range(writer.plan.width)]
    for text, numbers in groupby(range(len(said)), key=said.__getitem__):
        same = list(numbers)
        yield same[0], same[-1] + 1, text


@dataclass(frozen=True)
class _Writer:
    """What is said of a PE, with its coordinates as x and y."""

    plan: Plan
    values: Mapping[str, int]
    names: Mapping[str, str]
    arch: str

    def said_of(self, place: IntVector) -> str:
        routes = self.plan.routes.get(place, {})
        configs = (self._routes(net, routes[net], place) for net in sorted(routes))
        return " ".join([self._code(place), *configs])

    def _code(self, place: IntVector) -> str:
        region = self.plan.owners.get(place)
        if region is None:
            return "@set_tile_code(x, y);"
        local = IntVector(place.x - region.origin.x, place.y - region.origin.y)
        params = region.params.get(local, {})
        fields = ", ".join(f".{name} = {self._value(params[name])}" for name in sorted(params))
        source = json.dumps(region.source, ensure_ascii=False)
        return f"@set_tile_code(x, y, {source}, .{{ {fields} }});"

    def _value(self, value: int | Color) -> int:
        if isinstance(value, Color):
            return self.values[self.plan.nets.of(value.get_global_name())]
        return value

    def _routes(self, net: str, given: tuple[Position, ...], place: IntVector) -> str:
        who = f"PE ({place.x}, {place.y}), color {self.names[net]!r}"
        config = _config(given, self.arch, who)
        return f"@set_color_config(x, y, @get_color({self.values[net]}), {config});"


def _config(given: tuple[Position, ...], arch: str, who: str) -> str:
    """The routes of the first position; a switch position says what it changes."""
    first = given[0]
    config = f".routes = .{{ .rx = {_list(first.inputs)}, .tx = {_list(first.outputs)} }}"
    switches = []
    for number, (before, now) in enumerate(pairwise(given), start=1):
        fields = _changes(before, now)
        if len(fields) > 1 and arch == "wse2":
            raise ValueError(
                f"{who}: position {number + 1} changes inputs and outputs; a switch of wse2 "
                f"changes one of both"
            )
        switches.append(f".pos{number} = .{{ {', '.join(fields)} }}")
    if switches:
        config += f", .switches = .{{ {', '.join(switches)} }}"
    return f".{{ {config} }}"


def _changes(before: Position, now: Position) -> list[str]:
    """The fields of a switch position; one that changes nothing still names its outputs."""
    inputs, outputs = f".rx = {_list(now.inputs)}", f".tx = {_list(now.outputs)}"
    changed = []
    if set(before.inputs) != set(now.inputs):
        changed.append(inputs)
    if set(before.outputs) != set(now.outputs):
        changed.append(outputs)
    return changed or [outputs]


def _list(routes: tuple[Route, ...]) -> str:
    return f".{{ {', '.join(route.name for route in routes)} }}" if routes else ".{}"
