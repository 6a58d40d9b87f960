"""A phase made of steps as the templates see it: lanes, the programs of their roles, tables."""

from collections.abc import Iterable, Iterator, Mapping

from collc.base.values import dataclass
from collc.emit.roles import Field, RoleModel
from collc.emit.step_tables import (
    BITS,
    ProgramModel,
    in_groups,
    kinds_of,
    program_of,
    table_numbers,
    tables_of,
)
from collc.lowering.ids import Ids
from collc.lowering.memory import LOOP_HEADER, row_numbers
from collc.plan import AREA_BITS, Lane, Phase, Plan, RowKind
from collc.plan.form import form_of
from collc.plan.step_tables import always, extent_of, straight_entries

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
    "does_anything": RowKind.SENDS
    | RowKind.RELAYS
    | RowKind.RECEIVES
    | RowKind.APPLIES
    | RowKind.ENDS,
    "receives_or_applies": RowKind.RECEIVES | RowKind.APPLIES,
    "stages_or_applies": RowKind.STAGES | RowKind.APPLIES,
    "uses_fabric": RowKind.SENDS | RowKind.RELAYS | RowKind.RECEIVES,
}


@dataclass(frozen=True)
class TableModel:
    """A table that several numbers index."""

    name: str
    values: tuple[int, ...]


@dataclass(frozen=True)
class LaneModel:
    """A lane: `field` begins its parameters' names, `name` everything else; the positions of its
    queues, of the first of its DSRs (sources, pairs), and of its task. On some PEs it receives in
    every row (`always_receives`), or sends."""

    name: str
    field: str
    input: str
    output: str
    source: int
    pair: int
    task: int
    always_receives: bool
    always_sends: bool
    programs: tuple[ProgramModel, ...]

    @property
    def groups(self) -> tuple[tuple[ProgramModel, ...], ...]:
        """The programs, a few at a time."""
        return in_groups(self.programs)


@dataclass(frozen=True)
class ExchangeModel:
    """What the text of an exchange needs. `length` is that of what is cut into slices, the vector
    or, `in_blocks`, a line's block of it; `dynamic_length` says that slices have the dynamic
    lengths; `extent` is how many elements all rows send and receive, 0 if they differ; `grain`
    elements are cut as one; these three count words, of which an element has so many as `words`.
    `all_kinds` is the conjunction of the bits of the rows that are prepared; `bits` are sums of a
    row's bits as expressions, of those that are `present` in any. With `straight`, each of so many
    rows has code of its own, instead of one for all. The rest says what any row does.
    """

    slices: int
    length: int
    in_blocks: bool
    extent: int
    grain: int
    words: int
    areas: int
    header: int
    row_numbers: int
    backward: bool
    dynamic_length: bool
    lanes: tuple[LaneModel, ...]
    tables: tuple[TableModel, ...]
    all_kinds: str
    present: int
    bits: dict[str, str]
    area_bits: int
    relay: str
    relays: bool
    combines: bool
    copies: bool
    applies_combined: bool
    straight: int


def exchange_model(phase: Phase, plan: Plan, ids: Ids, by_color: bool) -> ExchangeModel:
    """The model of a phase made of steps; with `by_color` the queues are those of the colors."""
    slicing, words = phase.slicing, plan.element.words
    tables: dict[tuple[int, ...], str] = {}
    lanes = tuple(
        _lane_model(phase, index, ids, tables, by_color) for index in range(len(phase.lanes))
    )
    kinds = kinds_of(phase)
    present = _present(kinds, phase)
    return ExchangeModel(
        slices=slicing.count,
        length=slicing.length * words,
        in_blocks=phase.blocks is not None,
        extent=extent_of(phase) * words,
        grain=slicing.grain * words,
        words=words,
        areas=phase.areas,
        header=LOOP_HEADER,
        row_numbers=row_numbers(phase),
        backward=phase.backward,
        dynamic_length=phase.slicing.dynamic,
        lanes=lanes,
        tables=tuple(TableModel(name, values) for values, name in tables.items()),
        all_kinds=" & ".join(f"{lane.name}_kind" for lane in lanes),
        present=present,
        bits={name: _named(int(bits) & present) for name, bits in _TESTED.items()},
        area_bits=AREA_BITS,
        relay=f"@mov{8 * plan.element.word.bytes}",
        relays=any(kind & RowKind.RELAYS for kind in kinds),
        combines=any(kind & RowKind.RECEIVES and kind & RowKind.COMBINES for kind in kinds),
        copies=any(
            kind & RowKind.RECEIVES and not kind & (RowKind.COMBINES | RowKind.STAGES)
            for kind in kinds
        ),
        applies_combined=any(kind & RowKind.APPLIES and kind & RowKind.COMBINES for kind in kinds),
        straight=straight_entries(phase),
    )


def _present(kinds: set[int], phase: Phase) -> int:
    """The bits that rows have, and those that the text names anyhow."""
    found = int(_ALWAYS)
    found |= int(RowKind.STAGES | RowKind.APPLIES) if phase.areas else 0
    for kind in kinds:
        found |= kind & ((1 << AREA_BITS) - 1)
    return found


def _named(bits: int) -> str:
    """`entry_sends`, `(entry_sends | entry_relays)`."""
    names = [name for bit, (name, _) in BITS.items() if bits & bit]
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
    return tuple(BitModel(name, bit, about) for bit, (name, about) in BITS.items() if present & bit)


def _lane_model(
    phase: Phase,
    index: int,
    ids: Ids,
    tables: dict[tuple[int, ...], str],
    by_color: bool,
) -> LaneModel:
    name = phase.lanes[index]
    found = tables_of(phase, index)
    programs = tuple(program_of(phase, name, table, tables) for table in found)
    return LaneModel(
        name=f"{phase.name}_{name}",
        field=name,
        input=f"{phase.name}.{name}_queue_in" if by_color else str(ids.take("inputs")),
        output=f"{phase.name}.{name}_queue_out" if by_color else str(ids.take("outputs")),
        source=ids.take("sources", count=2),
        pair=ids.take("pairs", count=2),
        task=ids.take("tasks"),
        always_receives=_some_always(phase, (one.lane for one in found), RowKind.RECEIVES),
        always_sends=_some_always(phase, (one.lane for one in found), RowKind.SENDS),
        programs=programs,
    )


def _some_always(phase: Phase, lanes: Iterable[Lane], bit: RowKind) -> bool:
    """Whether all rows of some of these lanes have a bit."""
    return any(always(lane, phase.slicing) & bit for lane in lanes)


def exchange_fields(phase: Phase, any_color: str, by_color: bool) -> tuple[Field, ...]:
    """The fields of the phase's struct; with `by_color` the queues are those of the colors."""
    fields = [
        Field("takes_part", "bool", "", "false"),
        Field("place", "u16", "on the line", "0"),
        Field("streams", "u16", "that have a step table", "0"),
    ]
    if phase.blocks is not None:
        fields.append(Field("first", "u16", "element of its block", "0"))
    for lane in phase.lanes:
        fields += [
            Field(f"{lane}_table", "u16", "which step table, 0 if none", "0"),
            Field(f"{lane}_receives", "bool", "", "false"),
            Field(f"{lane}_in", "color", "", any_color),
            Field(f"{lane}_sends", "bool", "", "false"),
            Field(f"{lane}_out", "color", "", any_color),
        ]
        for bit, name in ((RowKind.RECEIVES, "receives"), (RowKind.SENDS, "sends")):
            if _some_always(phase, _lanes_named(phase, lane), bit):
                fields.append(Field(f"{lane}_always_{name}", "bool", "in every entry", "false"))
        if by_color:
            fields += [
                Field(f"{lane}_queue_in", "u16", "", "0"),
                Field(f"{lane}_queue_out", "u16", "", "0"),
                Field(f"{lane}_tears_down", "bool", "its route, at the end", "false"),
            ]
    return tuple(fields)


def _lanes_named(phase: Phase, name: str) -> Iterator[Lane]:
    """The lanes of all roles with a name."""
    return (lane for role in phase.roles for lane in role.lanes if lane.name == name)


def exchange_role(
    index: int,
    phase: Phase,
    fields: tuple[Field, ...],
    queues: Mapping[str, int] | None,
    at: tuple[str, str],
) -> RoleModel:
    """A role as a row of the phase's struct; `queues` has the positions of the colors' queues, `at`
    is what the emitted code calls a PE's place on its line, and where its line's block begins."""
    role = phase.roles[index]
    values = {field.name: field.idle for field in fields}
    place, first = at
    values |= {"place": place}
    if form_of(phase).is_cut and phase.blocks:
        values |= {"first": first}
    for number, lane in enumerate(role.lanes):
        values |= dict(_lane_values(lane, phase))
        values[f"{lane.name}_table"] = str(table_numbers(phase, number)[index])
        if queues is not None:
            values |= dict(_shared_values(lane, queues))
    used = sum(1 for lane in role.lanes if lane.table)
    values |= {"takes_part": "true" if used else "false", "streams": str(used)}
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
    bits = always(lane, phase.slicing)
    if lane.receives_on:
        yield f"{lane.name}_receives", "true"
        yield f"{lane.name}_in", lane.receives_on
    if lane.sends_on:
        yield f"{lane.name}_sends", "true"
        yield f"{lane.name}_out", lane.sends_on
    if bits & RowKind.RECEIVES:
        yield f"{lane.name}_always_receives", "true"
    if bits & RowKind.SENDS:
        yield f"{lane.name}_always_sends", "true"
