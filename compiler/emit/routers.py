"""How routers are set, as CSL: colors of the layout with their switches and filters, what
`router.csl` sets while the program runs, and the routers of detours."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from types import MappingProxyType

from collc.base.grids import Grid
from collc.base.paths import Pe
from collc.base.values import dataclass
from collc.emit.place_numbers import Speller
from collc.plan import ColorUse, Detour, Direction, Filter, Phase, Route, Slices, filters_of

Setting = tuple[ColorUse, Filter | None]  # of a color at a router

# On a path the sides that a router has to the places before and behind it differ from PE to PE.
SIDES_OF_PATH = {Direction.WEST: "back", Direction.EAST: "onward"}
MOST_OUTPUTS = 4  # of a router, all sides but one
MOST_COLUMNS = 78  # of a line of a color's configuration, behind what begins the statement


@dataclass(frozen=True)
class RoutesModel:
    """Color settings as (color, lines of the configuration), and the condition on the role that
    has them; roles that differ only in what their PE computes share theirs."""

    condition: str
    settings: tuple[tuple[str, tuple[str, ...]], ...]


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
    phase: Phase, torn_down: Set[str], ids: Mapping[str, str]
) -> tuple[RoutersModel, ...]:
    """The distinct settings of the colors that are torn down, and last that of a PE without any;
    `ids` are the colors as expressions."""
    words = SIDES_OF_PATH if phase.path else {}
    rows = [*_by_setting(phase, lambda use: use.color in torn_down), ("", ())]
    found = []
    for condition, colors in rows:
        used = {use.color: use for use, _ in colors}
        settings = tuple(
            (name, _router(ids[name], used.get(name), words)) for name in sorted(torn_down)
        )
        found.append(RoutersModel(condition, settings))
    return tuple(found)


def _router(color: str, use: ColorUse | None, words: Mapping[Direction, str]) -> tuple[str, ...]:
    """The routes in the first position, and the side that changes in the second."""
    if use is None:
        return (
            f".used = false, .id = {color},",
            f".rx = RAMP, {_outputs(['RAMP'])},",
            ".pos1_changes_rx = false, .pos1_changes_tx = false, .pos1 = RAMP,",
        )
    first, last = use.positions[0], use.positions[-1]
    outputs = _outputs([_side(side, words) for side in first.send])
    side = last.receive if use.turns_input else last.send[0]
    return (
        f".used = true, .id = {color},",
        f".rx = {_side(first.receive, words)}, {outputs},",
        f".pos1_changes_rx = {_bool(use.turns_input)}, "
        f".pos1_changes_tx = {_bool(use.turns_output)}, .pos1 = {_side(side, words)},",
    )


def _outputs(sides: list[str]) -> str:
    """The outputs of a router, in an array that has room for any."""
    padded = [*sides, *["RAMP"] * (MOST_OUTPUTS - len(sides))]
    return f".outputs = {len(sides)}, .tx = [{MOST_OUTPUTS}]direction{{ {', '.join(padded)} }}"


def _is_one_of(name: str, values: list[int]) -> str:
    if len(values) == 1:
        return f"{name} == {values[0]}"
    return " or ".join(f"({name} == {value})" for value in values)


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
    """The color configuration of `use` in lines: routes, the switch positions, the filter."""
    parts = [f".routes = {_route(use.positions[0], words)}"]
    changes = [
        f".pos{i + 1} = .{{ {_change(before, route, words)} }}"
        for i, (before, route) in enumerate(zip(use.positions, use.positions[1:], strict=False))
    ]
    if use.ring:
        changes += [".ring_mode = true", ".pop_mode = .{ .pop_on_advance = true }"]
    if changes:
        parts.append(f".switches = .{{ {', '.join(changes)} }}")
    if counter is None:
        return tuple(_folded(parts))
    first, *others = _folded(_filter(counter, *of))
    return (*_folded([*parts, ""]), first, *(f"  {line}" for line in others))


def _folded(parts: Sequence[str]) -> Iterator[str]:
    """The parts, with commas between them, in as few lines as have room for them."""
    line = parts[0]
    for part in parts[1:]:
        if len(line) + len(part) < MOST_COLUMNS or not part:
            line = f"{line}, {part}".rstrip()
        else:
            yield f"{line},"
            line = part
    yield line


def _change(before: Route, route: Route, words: Mapping[Direction, str]) -> str:
    """The sides a switch position changes; a side that is not named keeps what it was."""
    sides = [f".rx = {_side(route.receive, words)}"] if before.receive is not route.receive else []
    sides += [f".tx = {_side(route.send[0], words)}"] if before.send != route.send else []
    return ", ".join(sides)


def _filter(filter: Filter, phase: str, place: str) -> tuple[str, ...]:
    """The filter of a color setting, in wavelets that the layout counts: where the counter begins,
    after how many it is 0 again, and how many of these the PE has."""
    speller = Speller(phase, place)

    def words(slices: Slices) -> str:
        given = (_bare(speller.spelled(number)) for number in (slices.first, slices.count))
        counted = f"{phase}_words({', '.join(given)})"
        return f"({counted} * {slices.blocks})" if slices.blocks > 1 else counted

    period, none = words(filter.period), not filter.before.count.varies
    begins = f"({period} - {words(filter.before)}) % {period}"
    return (
        ".filter = .{ .kind = .{ .counter = true }, .count_data = true, .count_control = false",
        f".init_counter = {'0' if none and not filter.before.count.offset else begins}",
        f".limit1 = {period} - 1",
        f".max_counter = {words(filter.passes)} - 1 }}",
    )


def _bare(text: str) -> str:
    """An argument without the parentheses around all of it; a `Speller` has them at both ends, or
    around a first term."""
    inner = text[1:-1]
    return inner if text.startswith("(") and not set("()") & set(inner) else text


@dataclass(frozen=True)
class DetoursModel:
    """For each PE, row by row, which of the settings it has, counted from 1, or 0; and these."""

    table: tuple[int, ...]
    settings: tuple[RoutesModel, ...]


def detours_model(detours: tuple[Detour, ...], grid: Grid) -> DetoursModel | None:
    """The settings of all routers on some detours; nothing if there are no detours."""
    if not detours:
        return None
    at: dict[Pe, list[ColorUse]] = {}
    for detour in detours:
        for pe, route in detour.routes:
            at.setdefault(pe, []).append(ColorUse(detour.color, (route,)))
    settings = {pe: tuple(sorted(uses, key=lambda use: use.color)) for pe, uses in at.items()}
    rows = ((x, y) for y in range(grid.height) for x in range(grid.width))
    numbers: dict[tuple[ColorUse, ...], int] = {(): 0}
    table = tuple(numbers.setdefault(settings.get(pe, ()), len(numbers)) for pe in rows)
    models = (
        routes_model(f"detour == {number}", [(use, None) for use in uses])
        for uses, number in numbers.items()
        if number
    )
    return DetoursModel(table, tuple(models))
