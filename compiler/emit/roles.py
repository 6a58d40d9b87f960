"""The roles of a phase as rows of one struct: fields that some PE needs, and each role's values."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from types import MappingProxyType

from collc.base.values import dataclass
from collc.emit.filters import filter_lines
from collc.plan import (
    BY_WAVELET,
    Advance,
    ColorUse,
    Direction,
    Filter,
    Op,
    Phase,
    Role,
    Route,
    filters_of,
)
from collc.plan.placement import received_colors

Setting = tuple[ColorUse, Filter | None]  # of a color at a router

# On a path the sides that a router has to the places before and behind it differ from PE to PE.
SIDES_OF_PATH = {Direction.WEST: "back", Direction.EAST: "onward"}

# what PEs send behind their vectors
_COMMANDS = {
    Advance.CONTROL: "SWITCH_ADV, which moves the receiver's switch as well",
    Advance.RESET: "SWITCH_RST",
    Advance.TEARDOWN: "TEARDOWN",
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

    `rounds` says whether some PE's vectors take more than one operation to store, `stores_first`
    whether some PE stores vectors and sends then.
    """

    stores: bool
    stores_first: bool
    rounds: bool
    receives: bool
    sends: bool
    combines: bool
    advances: bool
    opens: bool
    resets: bool
    tears_down: bool
    copies: bool
    any_color: str
    colors: int

    @property
    def controls(self) -> bool:
        """Whether some PE sends a control wavelet behind its vector."""
        return self.opens or self.resets or self.tears_down


def shape_of(phase: Phase) -> Shape:
    """The union of what the phase's roles do."""
    runs = [run for role in phase.roles for run in role.repeated]
    stores = [turns for op, turns in runs if op.stores]
    sends = [op for op, _ in runs if op.sends]
    colors = {use.color for role in phase.roles for use in role.colors}
    return Shape(
        stores=bool(stores),
        stores_first=any(
            any(op.stores for op in role.ops) and any(op.sends for op in role.ops)
            for role in phase.roles
        ),
        rounds=any(turns > 1 for turns in stores),
        receives=any(receive_color(role) for role in phase.roles),
        sends=bool(sends),
        combines=any(op.combines_from for op in sends),
        advances=any(op.advance is Advance.OWN_ROUTER for op in sends),
        opens=any(op.advance is Advance.CONTROL for op in sends),
        resets=any(op.advance is Advance.RESET for op in sends),
        tears_down=any(op.advance is Advance.TEARDOWN for op in sends),
        copies=any(op.copies for op, _ in runs),
        any_color=min(colors),
        colors=len(colors),
    )


def command_of(name: str, shape: Shape) -> str:
    """The control wavelet that goes behind a vector, as an expression of the PE's parameters."""
    used = (shape.tears_down, shape.resets, shape.opens)
    words = ("teardown", "reset", "advance")
    fields = ("tears_down", "resets", "")
    choices = [(w, f) for has, w, f in zip(used, words, fields, strict=True) if has]
    *conditional, (otherwise, _) = choices or [("advance", "")]
    chosen = [f"if ({name}.{field}) {word} else " for word, field in conditional]
    return "".join(chosen) + otherwise


def fields_of(shape: Shape, by_color: bool) -> tuple[Field, ...]:
    """The fields of the phase's struct, in the order of its slots; with `by_color` the queues are
    those of the colors."""
    used = (shape.opens, shape.resets, shape.tears_down)
    commands = [what for is_used, what in zip(used, _COMMANDS.values(), strict=True) if is_used]
    about = f"sends a control wavelet behind its vector: {', or '.join(commands)}"
    rows = (
        (True, Field("takes_part", "bool", "", "false")),
        (shape.receives, Field("receives", "bool", "", "false")),
        (shape.receives, Field("color_in", "color", "", shape.any_color)),
        (shape.receives and by_color, Field("queue_in", "u16", "", "0")),
        (shape.stores, Field("stored", "u16", "vectors combined in memory by one operation", "0")),
        (shape.rounds, Field("rounds", "u16", "operations it takes", "1")),
        (shape.sends, Field("sends", "bool", "", "false")),
        (shape.sends, Field("color_out", "color", "", shape.any_color)),
        (shape.sends and by_color, Field("queue_out", "u16", "", "0")),
        (shape.combines, Field("combines", "bool", "with the last vector while it sends", "false")),
        (shape.advances, Field("advances", "bool", "its own switch behind its vector", "false")),
        (shape.controls, Field("controls", "bool", about, "false")),
        (shape.opens and shape.resets, Field("resets", "bool", "SWITCH_RST", "false")),
        (
            shape.tears_down and (shape.opens or shape.resets),
            Field("tears_down", "bool", "TEARDOWN", "false"),
        ),
        (shape.copies, Field("copies", "bool", "what is broadcast", "false")),
    )
    return tuple(field for used, field in rows if used)


def role_model(
    index: int, role: Role, shape: Shape, queues: Mapping[str, int] | None = None
) -> RoleModel:
    """`role` as a row of the phase's struct; `queues` has the positions of the colors' queues."""
    fields = fields_of(shape, queues is not None)
    values = {field.name: field.idle for field in fields}
    values["takes_part"] = "true"
    received = receive_color(role)
    if received:
        values |= {"receives": "true", "color_in": received}
    for op, turns in role.repeated:
        values |= _op_values(op, turns)
    if queues is not None:
        ways = (("queue_in", "color_in"), ("queue_out", "color_out"))
        values |= {field: str(queues[values[of]]) for field, of in ways if field in values}
    return RoleModel(
        index=index,
        about=_about(role, several=shape.colors > 1),
        values=tuple(f".{field.name} = {values[field.name]}," for field in fields),
    )


def _about(role: Role, *, several: bool) -> str:
    """What a role does, on which colors where its phase has several, and the control wavelet that
    it sends."""
    sending = [op for op in role.ops if op.sends]
    commands = [_COMMANDS[op.advance] for op in sending if op.advance in _COMMANDS]
    command = f"; sends a {commands[-1].partition(',')[0]} behind its vector" if commands else ""
    if not several:
        return role.about + command
    ends = (("from", receive_color(role)), ("to", sending[0].sends_on if sending else None))
    between = " ".join(f"{side} {color}" for side, color in ends if color)
    passed = next((use.color for use in role.colors if len(use.positions) > 1), None)
    passing = f" on {passed}" if passed and role.about.endswith("vectors pass") else ""
    return f"{between}: {role.about}{passing}{command}"


def _op_values(op: Op, turns: int) -> dict[str, str]:
    if op.stores:
        return {"stored": str(op.vectors), "rounds": str(turns)}
    if op.copies:
        return {"copies": "true"}
    return {
        "sends": "true",
        "color_out": op.sends_on or "",
        "combines": _bool(op.combines_from is not None),
        "advances": _bool(op.advance is Advance.OWN_ROUTER),
        "controls": _bool(op.advance in BY_WAVELET),
        "resets": _bool(op.advance is Advance.RESET),
        "tears_down": _bool(op.advance is Advance.TEARDOWN),
    }


def routes_models(
    phase: Phase, torn_down: Set[str] = frozenset(), place: str = "p"
) -> tuple[RoutesModel, ...]:
    """The distinct color settings of a phase, in the order of the roles, but for the colors that
    are set while the program runs; `place` is what the layout calls a PE's place on its line."""
    words = SIDES_OF_PATH if phase.path else {}
    set_elsewhere = torn_down | {detour.color for detour in phase.detours}
    found = _by_setting(phase, lambda use: use.color not in set_elsewhere)
    of = (phase.name, place)
    return tuple(routes_model(condition, colors, words, of) for condition, colors in found)


def routes_model(
    condition: str,
    colors: Iterable[Setting],
    words: Mapping[Direction, str] = MappingProxyType({}),
    of: tuple[str, str] = ("", ""),
) -> RoutesModel:
    """The settings of some colors where a condition holds; `words` are those of a path's sides,
    `of` the phase and what a PE's place is called."""
    return RoutesModel(
        condition, tuple((use.color, _setting(use, counter, words, of)) for use, counter in colors)
    )


def _by_setting(
    phase: Phase, asked: Callable[[ColorUse], bool]
) -> Iterator[tuple[str, tuple[Setting, ...]]]:
    """The distinct settings of the colors asked for, with the condition on the role."""
    indices: dict[tuple[Setting, ...], list[int]] = {}
    for index, role in enumerate(phase.roles):
        filters = filters_of(role)
        colors = tuple((use, filters.get(use.color)) for use in role.colors if asked(use))
        if colors:
            indices.setdefault(colors, []).append(index)
    return ((_is_one_of("role", having), colors) for colors, having in indices.items())


@dataclass(frozen=True)
class RoutersModel:
    """How a PE's routers are set when a phase begins: what `router.csl` takes as `config`, for each
    color of the phase that is torn down."""

    condition: str
    settings: tuple[tuple[str, tuple[str, ...]], ...]


def routers_models(
    phase: Phase,
    torn_down: Set[str],
    most: int,
    ids: Mapping[str, str] = MappingProxyType({}),
) -> tuple[RoutersModel, ...]:
    """The distinct settings of the colors that are torn down, and last that of a PE without any.
    `most` are the outputs that a router of the program has at most on such a color; `ids` are the
    colors as expressions, where those are not their names."""
    words = SIDES_OF_PATH if phase.path else {}
    rows = [*_by_setting(phase, lambda use: use.color in torn_down), ("", ())]
    found = []
    for condition, colors in rows:
        used = {use.color: use for use, _ in colors}
        settings = tuple(
            (name, _router(ids.get(name, name), used.get(name), words, most))
            for name in sorted(torn_down)
        )
        found.append(RoutersModel(condition, settings))
    return tuple(found)


def _router(
    color: str, use: ColorUse | None, words: Mapping[Direction, str], most: int
) -> tuple[str, ...]:
    """The routes in the first position, and the side that changes in the second."""
    if use is None:
        return (
            f".used = false, .id = {color},",
            f".rx = RAMP, {_outputs(['RAMP'], most)},",
            ".pos1_changes_rx = false, .pos1_changes_tx = false, .pos1 = RAMP,",
        )
    first, last = use.positions[0], use.positions[-1]
    outputs = _outputs([_side(side, words) for side in first.send], most)
    side = last.receive if use.turns_input else last.send[0]
    return (
        f".used = true, .id = {color},",
        f".rx = {_side(first.receive, words)}, {outputs},",
        f".pos1_changes_rx = {_bool(use.turns_input)}, "
        f".pos1_changes_tx = {_bool(use.turns_output)}, .pos1 = {_side(side, words)},",
    )


def _outputs(sides: list[str], most: int) -> str:
    """The outputs of a router, in an array that is as long as any of the program needs it."""
    if most == 1:
        return f".tx = {sides[0]}"
    padded = [*sides, *["RAMP"] * (most - len(sides))]
    return f".outputs = {len(sides)}, .tx = [{most}]direction{{ {', '.join(padded)} }}"


def _is_one_of(name: str, values: list[int]) -> str:
    if len(values) == 1:
        return f"{name} == {values[0]}"
    return " or ".join(f"({name} == {value})" for value in values)


def receive_color(role: Role) -> str:
    """The color a PE of `role` receives on; empty if it receives nothing."""
    return next(received_colors(role), "")


def _bool(value: bool) -> str:
    return "true" if value else "false"


def _route(route: Route, words: Mapping[Direction, str]) -> str:
    send = ", ".join(_side(direction, words) for direction in route.send)
    return f".{{ .rx = .{{ {_side(route.receive, words)} }}, .tx = .{{ {send} }} }}"


def _side(direction: Direction, words: Mapping[Direction, str]) -> str:
    return words.get(direction, direction.value)


def _setting(
    use: ColorUse, counter: Filter | None, words: Mapping[Direction, str], of: tuple[str, str]
) -> tuple[str, ...]:
    """The color configuration of `use`, line by line: routes, the switch positions, the filter."""
    lines = [f".routes = {_route(use.positions[0], words)},"]
    changes = [
        f".pos{i + 1} = .{{ {_change(before, route, words)} }}"
        for i, (before, route) in enumerate(zip(use.positions, use.positions[1:], strict=False))
    ]
    if use.ring:
        changes += [".ring_mode = true", ".pop_mode = .{ .pop_on_advance = true }"]
    if changes:
        lines.append(f".switches = .{{ {', '.join(changes)} }},")
    if counter is not None:
        lines += filter_lines(counter, *of)
    return tuple(lines)


def _change(before: Route, route: Route, words: Mapping[Direction, str]) -> str:
    """The sides a switch position changes; a side that is not named keeps what it was."""
    sides = [f".rx = {_side(route.receive, words)}"] if before.receive is not route.receive else []
    sides += [f".tx = {_side(route.send[0], words)}"] if before.send != route.send else []
    return ", ".join(sides)
