"""The CSL text of a layout."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

from fabsim.layout_plan import Plan
from fabsim.layout_values import Color, IntVector, Position, Route


def layout_text(plan: Plan, values: Mapping[str, int], arch: str) -> str:
    """A file with the layout block; PEs outside of regions have no code."""
    body = [f"@set_rectangle({plan.width}, {plan.height});"]
    names = {net: plan.nets.members(net)[0] for net in plan.nets.all()}
    for y in range(plan.height):
        for x in range(plan.width):
            place = IntVector(x, y)
            body += _code(plan, values, place)
            body += _routes(plan, values, names, place, arch)
    return "layout {\n" + "".join(f"  {line}\n" for line in body) + "}\n"


def _code(plan: Plan, values: Mapping[str, int], place: IntVector) -> Iterator[str]:
    at = f"{place.x}, {place.y}"
    region = plan.owners.get(place)
    if region is None:
        yield f"@set_tile_code({at});"
    else:
        local = IntVector(place.x - region.origin.x, place.y - region.origin.y)
        params = {
            name: values[plan.nets.of(value.get_global_name())]
            if isinstance(value, Color)
            else value
            for name, value in region.params.get(local, {}).items()
        }
        source = json.dumps(str(Path(region.source).resolve()), ensure_ascii=False)
        fields = ", ".join(f".{name} = {params[name]}" for name in sorted(params))
        yield f"@set_tile_code({at}, {source}, .{{ {fields} }});"


def _routes(
    plan: Plan,
    values: Mapping[str, int],
    names: Mapping[str, str],
    place: IntVector,
    arch: str,
) -> Iterator[str]:
    at = f"{place.x}, {place.y}"
    routes = plan.routes.get(place, {})
    for net in sorted(routes, key=values.__getitem__):
        config = _config(routes[net], arch, f"PE ({at}), color {names[net]!r}")
        yield f"@set_color_config({at}, @get_color({values[net]}), {config});"


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
