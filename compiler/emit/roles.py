"""The roles of a phase as rows of one struct: fields that some PE needs, and each role's values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from collc.plan import (
    BY_WAVELET,
    Advance,
    ColorUse,
    CopyVector,
    Direction,
    Phase,
    Role,
    Route,
    SendVector,
    Step,
    StoreVectors,
)

# On a path the sides that a router has to the places before and behind it differ from PE to PE.
SIDES_OF_PATH = {Direction.WEST: "back", Direction.EAST: "onward"}

# what the field `controls` says, by whether PEs open routers and whether they set some back
_CONTROLS = {
    (True, False): "the receiver's switch as well",
    (False, True): "sets the switches on its way back",
    (True, True): "moves the receiver's switch as well, or sets those on its way back",
    (False, False): "",
}


@dataclass(frozen=True)
class Field:
    """A field of the struct that tells a PE its part in a phase; `idle` is the value of a PE
    that takes no part."""

    name: str
    type: str
    about: str
    idle: str


@dataclass(frozen=True)
class RoleModel:
    """One role: what it does, and its row of field values."""

    index: int
    about: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class RoutesModel:
    """Color settings as (color, lines of the configuration), and the condition on the role that
    has them; roles that differ only in what their PE computes share theirs."""

    condition: str
    settings: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Shape:
    """What any role of a phase does, so that the text declares no more than is used.

    `rounds` says whether some PE's vectors take more than one operation to store.
    """

    stores: bool
    rounds: bool
    receives: bool
    sends: bool
    combines: bool
    advances: bool
    opens: bool
    resets: bool
    copies: bool
    any_color: str

    @property
    def controls(self) -> bool:
        """Whether some PE sends a control wavelet behind its vector."""
        return self.opens or self.resets


def shape_of(phase: Phase) -> Shape:
    """The union of what the phase's roles do."""
    steps = [step for role in phase.roles for step in role.steps]
    stores = [step for step in steps if isinstance(step, StoreVectors)]
    sends = [step for step in steps if isinstance(step, SendVector)]
    return Shape(
        stores=bool(stores),
        rounds=any(step.rounds > 1 for step in stores),
        receives=any(receive_color(role) for role in phase.roles),
        sends=bool(sends),
        combines=any(step.combines_from for step in sends),
        advances=any(step.advance is Advance.OWN_ROUTER for step in sends),
        opens=any(step.advance is Advance.CONTROL for step in sends),
        resets=any(step.advance is Advance.RESET for step in sends),
        copies=any(isinstance(step, CopyVector) for step in steps),
        any_color=min(use.color for role in phase.roles for use in role.colors),
    )


def fields_of(shape: Shape) -> tuple[Field, ...]:
    """The fields of the phase's struct, in the order of its slots."""
    rows = (
        (True, Field("takes_part", "bool", "", "false")),
        (shape.receives, Field("receives", "bool", "", "false")),
        (shape.receives, Field("color_in", "color", "", shape.any_color)),
        (shape.stores, Field("stored", "u16", "vectors combined in memory by one operation", "0")),
        (shape.rounds, Field("rounds", "u16", "operations it takes", "1")),
        (shape.sends, Field("sends", "bool", "", "false")),
        (shape.sends, Field("color_out", "color", "", shape.any_color)),
        (shape.combines, Field("combines", "bool", "with the last vector while it sends", "false")),
        (shape.advances, Field("advances", "bool", "its own switch behind its vector", "false")),
        (shape.controls, Field("controls", "bool", _CONTROLS[shape.opens, shape.resets], "false")),
        (shape.opens and shape.resets, Field("resets", "bool", "does the latter", "false")),
        (shape.copies, Field("copies", "bool", "what is broadcast", "false")),
    )
    return tuple(field for used, field in rows if used)


def role_model(index: int, role: Role, shape: Shape) -> RoleModel:
    """`role` as a row of the phase's struct."""
    values = {field.name: field.idle for field in fields_of(shape)}
    values["takes_part"] = "true"
    received = receive_color(role)
    if received:
        values |= {"receives": "true", "color_in": received}
    for step in role.steps:
        values |= _step_values(step)
    return RoleModel(
        index=index,
        about=role.about,
        values=tuple(f".{field.name} = {values[field.name]}," for field in fields_of(shape)),
    )


def _step_values(step: Step) -> dict[str, str]:
    if isinstance(step, StoreVectors):
        return {"stored": str(step.vectors // step.rounds), "rounds": str(step.rounds)}
    if isinstance(step, CopyVector):
        return {"copies": "true"}
    return {
        "sends": "true",
        "color_out": step.color,
        "combines": _bool(step.combines_from is not None),
        "advances": _bool(step.advance is Advance.OWN_ROUTER),
        "controls": _bool(step.advance in BY_WAVELET),
        "resets": _bool(step.advance is Advance.RESET),
    }


def routes_models(phase: Phase) -> tuple[RoutesModel, ...]:
    """The distinct color settings of a phase, in the order of the roles."""
    words = SIDES_OF_PATH if phase.path else {}
    indices: dict[tuple[ColorUse, ...], list[int]] = {}
    for index, role in enumerate(phase.roles):
        indices.setdefault(role.colors, []).append(index)
    return tuple(
        RoutesModel(
            _is_one_of("role", having), tuple((use.color, _setting(use, words)) for use in colors)
        )
        for colors, having in indices.items()
    )


def _is_one_of(name: str, values: list[int]) -> str:
    if len(values) == 1:
        return f"{name} == {values[0]}"
    return " or ".join(f"({name} == {value})" for value in values)


def receive_color(role: Role) -> str:
    """The color a PE of `role` receives on; empty if it receives nothing."""
    for step in role.steps:
        color = step.combines_from if isinstance(step, SendVector) else step.color
        if color is not None:
            return color
    return ""


def _bool(value: bool) -> str:
    return "true" if value else "false"


def _route(route: Route, words: Mapping[Direction, str]) -> str:
    send = ", ".join(_side(direction, words) for direction in route.send)
    return f".{{ .rx = .{{ {_side(route.receive, words)} }}, .tx = .{{ {send} }} }}"


def _side(direction: Direction, words: Mapping[Direction, str]) -> str:
    return words.get(direction, direction.value)


def _setting(use: ColorUse, words: Mapping[Direction, str]) -> tuple[str, ...]:
    """The color configuration of `use`, line by line: routes, then the switch positions."""
    lines = [f".routes = {_route(use.positions[0], words)},"]
    changes = [
        f".pos{i + 1} = .{{ {_change(before, route, words)} }}"
        for i, (before, route) in enumerate(zip(use.positions, use.positions[1:], strict=False))
    ]
    if changes:
        lines.append(f".switches = .{{ {', '.join(changes)} }},")
    return tuple(lines)


def _change(before: Route, route: Route, words: Mapping[Direction, str]) -> str:
    """The sides a switch position changes; a side that is not named keeps what it was."""
    sides = [f".rx = {_side(route.receive, words)}"] if before.receive is not route.receive else []
    sides += [f".tx = {_side(route.send[0], words)}"] if before.send != route.send else []
    return ", ".join(sides)
