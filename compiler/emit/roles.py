"""The roles of a phase as rows of one struct: fields that some PE needs, and each role's values."""

from __future__ import annotations

from dataclasses import dataclass

from collc.plan import (
    Advance,
    ColorUse,
    CopyVector,
    Phase,
    Role,
    Route,
    SendVector,
    StoreVectors,
)


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

    `rounds[i]` says whether some PE's store i takes more than one round.
    """

    rounds: tuple[bool, ...]
    receives: int
    sends: bool
    adds: bool
    advances: bool
    controls: bool
    copies: bool
    any_color: str


def shape_of(phase: Phase) -> Shape:
    """The union of what the phase's roles do."""
    steps = [step for role in phase.roles for step in role.steps]
    sends = [step for step in steps if isinstance(step, SendVector)]
    stores = [_stores(role) for role in phase.roles]
    slots = max((len(row) for row in stores), default=0)
    return Shape(
        rounds=tuple(any(row[i].rounds > 1 for row in stores if i < len(row)) for i in range(slots)),
        receives=max((len(_received(role)) for role in phase.roles), default=0),
        sends=bool(sends),
        adds=any(step.adds_from for step in sends),
        advances=any(step.advance is Advance.OWN_ROUTER for step in sends),
        controls=any(step.advance is Advance.CONTROL for step in sends),
        copies=any(isinstance(step, CopyVector) for step in steps),
        any_color=min(use.color for role in phase.roles for use in role.colors),
    )


def fields_of(shape: Shape) -> tuple[Field, ...]:
    """The fields of the phase's struct, in the order of its slots."""
    fields = [Field("takes_part", "bool", "", "false")]
    for i, has_rounds in enumerate(shape.rounds):
        fields.append(Field(f"stored{i}", "u16", "vectors added into memory", "0"))
        if has_rounds:
            fields.append(Field(f"rounds{i}", "u16", "in so many operations", "1"))
        if shape.receives > 1:
            fields.append(Field(f"stored{i}_from", "u16", "on which of the colors below", "0"))
    if shape.sends:
        fields.append(Field("sends", "bool", "", "false"))
    if shape.adds:
        fields.append(Field("adds", "bool", "adds the last vector while it sends", "false"))
        if shape.receives > 1:
            fields.append(Field("last_from", "u16", "on which of the colors below", "0"))
    if shape.advances:
        fields.append(Field("advances", "bool", "moves its own switch behind its vector", "false"))
    if shape.controls:
        about = "sends a control wavelet behind its vector"
        fields.append(Field("controls", "bool", about, "false"))
    if shape.copies:
        fields.append(Field("copies", "bool", "receives the broadcast", "false"))
    if shape.receives:
        fields.append(Field("receives", "u16", "colors it receives on", "0"))
    for i in range(shape.receives):
        fields.append(Field(f"color_in{i}", "color", "", shape.any_color))
    if shape.sends:
        fields.append(Field("color_out", "color", "", shape.any_color))
    return tuple(fields)


def role_model(index: int, role: Role, shape: Shape) -> RoleModel:
    """`role` as a row of the phase's struct."""
    values = {field.name: field.idle for field in fields_of(shape)}
    values["takes_part"] = "true"
    received = _received(role)
    for i, store in enumerate(_stores(role)):
        values[f"stored{i}"] = str(store.vectors // store.rounds)
        values[f"rounds{i}"] = str(store.rounds)
        values[f"stored{i}_from"] = str(received.index(store.color))
    for step in role.steps:
        if isinstance(step, SendVector):
            values |= _send_values(step, received)
    values["copies"] = _bool(any(isinstance(step, CopyVector) for step in role.steps))
    values["receives"] = str(len(received))
    values |= {f"color_in{i}": color for i, color in enumerate(received)}
    return RoleModel(
        index=index,
        about=role.about,
        values=tuple(f".{field.name} = {values[field.name]}," for field in fields_of(shape)),
    )


def routes_models(roles: tuple[Role, ...]) -> tuple[RoutesModel, ...]:
    """The distinct color settings of a phase, in the order of the roles."""
    indices: dict[tuple[ColorUse, ...], list[int]] = {}
    for index, role in enumerate(roles):
        indices.setdefault(role.colors, []).append(index)
    return tuple(
        RoutesModel(_is_one_of("role", having), tuple((use.color, _setting(use)) for use in colors))
        for colors, having in indices.items()
    )


def _is_one_of(name: str, values: list[int]) -> str:
    if len(values) == 1:
        return f"{name} == {values[0]}"
    return " or ".join(f"({name} == {value})" for value in values)


def _send_values(step: SendVector, received: list[str]) -> dict[str, str]:
    return {
        "sends": "true",
        "adds": _bool(step.adds_from is not None),
        "last_from": str(received.index(step.adds_from)) if step.adds_from else "0",
        "advances": _bool(step.advance is Advance.OWN_ROUTER),
        "controls": _bool(step.advance is Advance.CONTROL),
        "color_out": step.color,
    }


def _stores(role: Role) -> list[StoreVectors]:
    return [step for step in role.steps if isinstance(step, StoreVectors)]


def _received(role: Role) -> list[str]:
    """The colors a PE of `role` receives on, in the order of first use."""
    colors: dict[str, None] = {}
    for step in role.steps:
        if isinstance(step, SendVector):
            if step.adds_from is not None:
                colors[step.adds_from] = None
        else:
            colors[step.color] = None
    return list(colors)


def _bool(value: bool) -> str:
    return "true" if value else "false"


def _route(route: Route) -> str:
    send = ", ".join(direction.value for direction in route.send)
    return f".{{ .rx = .{{ {route.receive.value} }}, .tx = .{{ {send} }} }}"


def _setting(use: ColorUse) -> tuple[str, ...]:
    """The color configuration of `use`, line by line: routes, then the switch positions."""
    lines = [f".routes = {_route(use.positions[0])},"]
    changes = [
        f".pos{i + 1} = .{{ {_change(before, route)} }}"
        for i, (before, route) in enumerate(zip(use.positions, use.positions[1:], strict=False))
    ]
    if changes:
        lines.append(f".switches = .{{ {', '.join(changes)} }},")
    return tuple(lines)


def _change(before: Route, route: Route) -> str:
    """The side a switch position changes; the other one keeps what it was."""
    if before.receive is not route.receive:
        return f".rx = {route.receive.value}"
    return f".tx = {route.send[0].value}"
