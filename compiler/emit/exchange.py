"""A phase made of steps as the templates see it: lanes, the programs of their roles, tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from collc.emit.blocks import first_of_block
from collc.emit.ids import Ids
from collc.emit.roles import Field, RoleModel
from collc.lowering.memory import lane_numbers, loop_header, row_numbers
from collc.plan import AREA_BITS, Exchange, Lane, Number, Phase, Plan, RowKind

WALKS = 1 << AREA_BITS  # only in the rows of PEs, where there is no stage
# what a row does: the name of the bit in the text, and what is said of it there
_BITS = {
    int(RowKind.ENDS): ("row_ends", "the lane's last one of a step"),
    int(RowKind.SENDS): ("row_sends", ""),
    int(RowKind.RELAYS): ("row_relays", "lets elements pass"),
    int(RowKind.RECEIVES): ("row_receives", ""),
    int(RowKind.COMBINES): ("row_combines", "with what is there, instead of overwriting it"),
    int(RowKind.STAGES): ("row_stages", "what it receives"),
    int(RowKind.APPLIES): ("row_applies", "what is staged"),
    int(RowKind.OVER): ("row_over", "there are no more rows"),
    WALKS: ("row_walks", "goes on by itself"),
}
_ALWAYS = RowKind.ENDS | RowKind.SENDS | RowKind.RECEIVES | RowKind.OVER  # the text names them
# what the text tests; bits that no row has are left out
_TESTED = {
    "ends": RowKind.ENDS,
    "sends": RowKind.SENDS,
    "relays": RowKind.RELAYS,
    "sends_or_relays": RowKind.SENDS | RowKind.RELAYS,
    "receives": RowKind.RECEIVES,
    "combines": RowKind.COMBINES,
    "stages": RowKind.STAGES,
    "applies": RowKind.APPLIES,
    "over": RowKind.OVER,
    "over_and_ends": RowKind.OVER | RowKind.ENDS,
    "walks": WALKS,
    "does_anything": RowKind.SENDS
    | RowKind.RELAYS
    | RowKind.RECEIVES
    | RowKind.APPLIES
    | RowKind.ENDS,
    "receives_or_applies": RowKind.RECEIVES | RowKind.APPLIES,
    "stages_or_applies": RowKind.STAGES | RowKind.APPLIES,
    "uses_fabric": RowKind.SENDS | RowKind.RELAYS | RowKind.RECEIVES,
    "waits_or_ends": RowKind.SENDS | RowKind.RELAYS | RowKind.RECEIVES | RowKind.ENDS,
}


_ALTERNATIVES = 64  # of one `if`


@dataclass(frozen=True)
class TableModel:
    """A table that several numbers index."""

    name: str
    values: tuple[int, ...]


@dataclass(frozen=True)
class ProgramModel:
    """The rows of a lane for the roles that have this number: a function of the place `p`."""

    name: str
    number: int
    size: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class LaneModel:
    """A lane: `field` begins its parameters' names, `name` everything else; the positions of its
    queues, of the first of its DSRs (sources, pairs), and of its task."""

    name: str
    field: str
    input: str
    output: str
    source: int
    pair: int
    task: int
    programs: tuple[ProgramModel, ...]

    @property
    def groups(self) -> tuple[tuple[ProgramModel, ...], ...]:
        """The programs in groups, since no compiler follows an `else` behind an `else` for ever."""
        return tuple(
            self.programs[first : first + _ALTERNATIVES]
            for first in range(0, len(self.programs), _ALTERNATIVES)
        )


@dataclass(frozen=True)
class ExchangeModel:
    """What the text of an exchange needs. `length` is that of what is cut into slices, the vector
    or, `in_blocks`, a line's block of it; `slice_length` is -1 where slices differ in length;
    `by_length` says that they have the lengths of the run;
    `grain` elements are cut as one; `all_kinds` is the conjunction of the bits of the rows that are
    prepared; `bits` are sums of a row's bits as expressions, of those that are `present` in any.
    The rest says what any row does."""

    slices: int
    length: int
    in_blocks: bool
    slice_length: int
    grain: int
    areas: int
    header: int
    row_numbers: int
    walks: bool
    backward: bool
    by_length: bool
    lanes: tuple[LaneModel, ...]
    tables: tuple[TableModel, ...]
    all_kinds: str
    present: int
    bits: dict[str, str]
    area_bits: int
    relay: str
    sends: bool
    relays: bool
    receives: bool
    combines: bool
    copies: bool
    applies_combined: bool


def exchange_model(
    phase: Phase, exchange: Exchange, plan: Plan, ids: Ids, by_color: bool
) -> ExchangeModel:
    """The model of a phase made of steps; with `by_color` the queues are those of the colors."""
    slicing = exchange.slicing
    tables: dict[tuple[int, ...], str] = {}
    lanes = tuple(
        _lane_model(phase, exchange, index, ids, tables, by_color)
        for index in range(len(exchange.lanes))
    )
    kinds = _kinds(phase)
    present = _present(kinds, exchange)
    return ExchangeModel(
        slices=slicing.count,
        length=slicing.length,
        in_blocks=exchange.blocks is not None,
        slice_length=slicing.length // slicing.count if slicing.even else -1,
        grain=slicing.grain,
        areas=exchange.areas,
        header=loop_header(exchange),
        row_numbers=row_numbers(phase),
        walks=exchange.walks,
        backward=exchange.backward,
        by_length=exchange.by_length,
        lanes=lanes,
        tables=tuple(TableModel(name, values) for values, name in tables.items()),
        all_kinds=" & ".join(f"{lane.name}_kind" for lane in lanes),
        present=present,
        bits={name: _named(int(bits) & present) for name, bits in _TESTED.items()},
        area_bits=AREA_BITS,
        relay=f"@mov{8 * plan.element.bytes}",
        sends=any(kind & RowKind.SENDS for kind in kinds),
        relays=any(kind & RowKind.RELAYS for kind in kinds),
        receives=any(kind & RowKind.RECEIVES for kind in kinds),
        combines=any(kind & RowKind.RECEIVES and kind & RowKind.COMBINES for kind in kinds),
        copies=any(
            kind & RowKind.RECEIVES and not kind & (RowKind.COMBINES | RowKind.STAGES)
            for kind in kinds
        ),
        applies_combined=any(kind & RowKind.APPLIES and kind & RowKind.COMBINES for kind in kinds),
    )


def _present(kinds: set[int], exchange: Exchange) -> int:
    """The bits that rows have, and those that the text names anyhow."""
    found = int(_ALWAYS) | (WALKS if exchange.walks else 0)
    found |= int(RowKind.STAGES | RowKind.APPLIES) if exchange.areas else 0
    for kind in kinds:
        found |= kind & (WALKS - 1)
    return found


def _named(bits: int) -> str:
    """`row_sends`, `(row_sends | row_relays)`."""
    names = [name for bit, (name, _) in _BITS.items() if bits & bit]
    return names[0] if len(names) == 1 else f"({' | '.join(names)})"


@dataclass(frozen=True)
class BitModel:
    """What a row does: a bit, its name, and a comment."""

    name: str
    value: int
    about: str


def row_bits(exchanges: Iterable[ExchangeModel]) -> tuple[BitModel, ...]:
    """The bits that these name."""
    present = 0
    for exchange in exchanges:
        present |= exchange.present
    return tuple(
        BitModel(name, bit, about) for bit, (name, about) in _BITS.items() if present & bit
    )


def _lane_model(  # noqa: PLR0913, PLR0917 - what a lane is made of
    phase: Phase,
    exchange: Exchange,
    index: int,
    ids: Ids,
    tables: dict[tuple[int, ...], str],
    by_color: bool,
) -> LaneModel:
    name = exchange.lanes[index]
    lanes = {id(role.lanes[index].loops): role.lanes[index] for role in phase.roles}
    programs = tuple(
        _program(phase, number, name, lanes[loops], tables)
        for loops, number in _program_numbers(phase, index).items()
    )
    return LaneModel(
        name=f"{phase.name}_{name}",
        field=name,
        input=f"{phase.name}.{name}_queue_in" if by_color else str(ids.take("inputs")),
        output=f"{phase.name}.{name}_queue_out" if by_color else str(ids.take("outputs")),
        source=ids.take("sources", count=3 if exchange.walks else 1),
        pair=ids.take("pairs", count=2 if exchange.walks else 1),
        task=ids.take("tasks"),
        programs=programs,
    )


def _program_numbers(phase: Phase, index: int) -> dict[int, int]:
    """The programs of a lane, by the identity of their loops, numbered from 1: roles share them."""
    loops = (role.lanes[index].loops for role in phase.roles)
    used = dict.fromkeys(id(one) for one in loops if one)
    return {one: number for number, one in enumerate(used, 1)}


def _program(
    phase: Phase, number: int, name: str, lane: Lane, tables: dict[tuple[int, ...], str]
) -> ProgramModel:
    lines = []
    for loop in lane.loops:
        head = (loop.turns, loop.shift, Number(len(loop.rows)), loop.walks)
        for numbers in (head, *(row.numbers for row in loop.rows)):
            spelled = (_spelled(n, phase.name, tables) for n in numbers if n is not None)
            lines.append(", ".join(spelled) + ",")
    lines.append("0,")  # no more turns
    size = lane_numbers(lane) + 1
    return ProgramModel(f"{phase.name}_{name}_loops_{number}", number, size, tuple(lines))


def _spelled(number: Number, phase: str, tables: dict[tuple[int, ...], str]) -> str:
    """A number as an expression of the place `p`."""
    if not (number.slope or number.modulus or number.table):
        return str(number.offset)
    index = _divided(number.divisor)
    text = str(number.offset)
    if number.slope:
        slope = abs(number.slope)
        term = index if slope == 1 else f"({index} * {slope})"
        if number.slope < 0:
            text = f"({number.offset} - {term})"
        else:
            text = f"({term} + {number.offset})" if number.offset else term
    if number.modulus:
        text = f"({text} % {number.modulus})"
    if not number.table:
        return text
    table = tables.setdefault(number.table, f"{phase}_table_{len(tables)}")
    entry = f"{table}[{_divided(number.every)} % {len(number.table)}]"
    return entry if text == "0" else f"({text} + {entry})"


def _divided(divisor: int) -> str:
    return "p" if divisor == 1 else f"(p / {divisor})"


def _kinds(phase: Phase) -> set[int]:
    """The kinds of all rows."""
    found = set()
    for index, role in enumerate(phase.roles):
        places = _places(phase, index)
        kinds = {row.kind for lane in role.lanes for loop in lane.loops for row in loop.rows}
        for kind in kinds:
            found |= {kind.at(place) for place in (places if _varies(kind) else places[:1])}
    return found


def _places(phase: Phase, index: int) -> list[int]:
    """The places of a role."""
    runs = (
        region.x if phase.axis == "x" else region.y for region, i in phase.regions if i == index
    )
    return [place for run in runs for place in run]


def _varies(number: Number) -> bool:
    return bool(number.slope or number.table)


def exchange_fields(exchange: Exchange, any_color: str, by_color: bool) -> tuple[Field, ...]:
    """The fields of the phase's struct; with `by_color` the queues are those of the colors."""
    fields = [
        Field("takes_part", "bool", "", "false"),
        Field("place", "u16", "on the line", "0"),
        Field("lanes", "u16", "with rows", "0"),
    ]
    if exchange.blocks is not None:
        fields.append(Field("first", "u16", "element of its block", "0"))
    for lane in exchange.lanes:
        fields += [
            Field(f"{lane}_rows", "u16", "which, 0 if there are none", "0"),
            Field(f"{lane}_receives", "bool", "", "false"),
            Field(f"{lane}_in", "color", "", any_color),
            Field(f"{lane}_sends", "bool", "", "false"),
            Field(f"{lane}_out", "color", "", any_color),
        ]
        if exchange.walks:
            fields.append(Field(f"{lane}_both", "bool", "sends and receives in every row", "false"))
        if by_color:
            fields += [
                Field(f"{lane}_queue_in", "u16", "", "0"),
                Field(f"{lane}_queue_out", "u16", "", "0"),
                Field(f"{lane}_tears_down", "bool", "its way, at the end", "false"),
            ]
    return tuple(fields)


def exchange_role(
    index: int,
    phase: Phase,
    fields: tuple[Field, ...],
    queues: Mapping[str, int] | None,
    at: tuple[str, str],
) -> RoleModel:
    """A role as a row of the phase's struct; `queues` has the positions of the colors' queues, `at`
    is what the emitted code calls a PE's place on its line, and the line's coordinate."""
    role = phase.roles[index]
    values = {field.name: field.idle for field in fields}
    place, line = at
    values |= {"place": place}
    if phase.exchange and phase.exchange.blocks:
        values |= {"first": first_of_block(phase.exchange.blocks, line)}
    for number, lane in enumerate(role.lanes):
        values |= dict(_lane_values(lane, phase))
        programs = _program_numbers(phase, number)
        values[f"{lane.name}_rows"] = str(programs.get(id(lane.loops), 0))
        if queues is not None:
            values |= dict(_shared_values(lane, queues))
    used = sum(1 for lane in role.lanes if lane.loops)
    values |= {"takes_part": "true" if used else "false", "lanes": str(used)}
    rows = tuple(f".{field.name} = {values[field.name]}," for field in fields)
    return RoleModel(index, role.about, rows)


def _shared_values(lane: Lane, queues: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    if lane.receives_on:
        yield f"{lane.name}_queue_in", str(queues[lane.receives_on])
    if lane.sends_on:
        yield f"{lane.name}_queue_out", str(queues[lane.sends_on])
    if lane.tears_down:
        yield f"{lane.name}_tears_down", "true"


def _lane_values(lane: Lane, phase: Phase) -> Iterator[tuple[str, str]]:
    assert phase.exchange, "lanes are of an exchange"
    slicing = phase.exchange.slicing
    both = int(RowKind.SENDS | RowKind.RECEIVES)
    rows = [row for loop in lane.loops for row in loop.rows]
    kinds = [row.kind for row in rows]
    if (
        phase.exchange.walks
        and rows
        and slicing.length >= slicing.count * slicing.grain  # no slice is empty
        and all(kind.offset & both == both and not _varies(kind) for kind in kinds)
    ):
        yield f"{lane.name}_both", "true"
    if lane.receives_on:
        yield f"{lane.name}_receives", "true"
        yield f"{lane.name}_in", lane.receives_on
    if lane.sends_on:
        yield f"{lane.name}_sends", "true"
        yield f"{lane.name}_out", lane.sends_on
