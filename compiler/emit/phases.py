"""One phase of a plan as the templates see it: slots, fields, roles.

A phase's PE code is a fixed sequence of slots: combine vectors in memory, send, and behind a send a
control wavelet; or copy a broadcast. Every PE of the phase runs the same text; the fields of its
parameters say which slots are its own. What is made of steps is `collc.emit.exchange`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from collc.base.grids import Grid
from collc.emit.blocks import first_of_block
from collc.emit.conditions import Cases, cases_of
from collc.emit.detours import DetoursModel, detours_model
from collc.emit.exchange import (
    ExchangeModel,
    exchange_fields,
    exchange_model,
    exchange_role,
)
from collc.emit.grid_places import coordinates, places_at
from collc.emit.multiplexed import MultiplexedColor, color_mask
from collc.emit.names import Combine
from collc.emit.registers import (
    RegisterModel,
    of_color,
    registers_of_lanes,
    registers_of_stream,
    registers_of_tree,
)
from collc.emit.roles import (
    Field,
    RoleModel,
    RoutersModel,
    RoutesModel,
    Shape,
    fields_of,
    role_model,
    routers_models,
    routes_models,
    shape_of,
)
from collc.emit.slots import (
    CopySlot,
    SendSlot,
    StoreSlot,
    any_of,
    end_of,
    queue_of,
    send_slot,
    store_slot,
)
from collc.emit.stream_roles import stream_fields, stream_role
from collc.emit.streams import StreamModel, stream_model
from collc.emit.surroundings import Surroundings
from collc.lowering.ids import Ids
from collc.plan import Phase, Plan

WIDE_MODE = "simd_64"  # an instruction takes two wavelets


@dataclass(frozen=True)
class PhaseModel:
    """A phase: everything its text declares; positions point into the module's id lists.

    `input` is the position of its input queue (empty: none). `goes_on` is the condition that this
    PE takes part in a later phase (empty: there is none); `first` is the first slot, `end` what
    follows the last, `behind` what follows that, `after` the next phase. `done` is the task that is
    activated at the end, and `late` says that its registers are those of other phases, too,
    `dynamic_length` that the length is the call's, `quick` that a function is called at the end of
    a PE that sends a control wavelet last, by the register that its color has for that.
    `multiplexed` are its colors that are torn down behind it, `routers` how they are set before it,
    which the phase has code for if it `sets_routers`. `simd` is the mode of its fabric operands.
    `short` says that it is one of a short collective (`collc.plan.short`), behind the `earlier`
    ones; where it `stores_first`, some PE stores vectors and sends then. A phase that
    `ends_torn_down` waits for that instead of its control wavelet, which is sent by an
    `own_control` register or by the vector's.
    """

    name: str
    type_name: str
    about: str
    fields: tuple[Field, ...]
    roles: tuple[RoleModel, ...]
    routes: tuple[RoutesModel, ...]
    routers: tuple[RoutersModel, ...]
    multiplexed: tuple[MultiplexedColor, ...]
    sets_routers: bool
    cases: Cases
    on_path: bool  # whether a PE's part depends on its place on the path, not on x and y
    detours: DetoursModel | None
    idle: bool  # whether some PEs take no part
    idle_values: tuple[str, ...]
    input: str
    store: StoreSlot | None
    send: SendSlot | None
    copy: CopySlot | None
    exchange: ExchangeModel | None
    stream: StreamModel | None
    goes_on: str
    end: str
    after: str
    restores: bool
    done: str
    first: str
    late: bool
    dynamic_length: bool
    quick: bool
    simd: str
    behind: str
    registers: tuple[RegisterModel, ...]
    short: bool
    earlier: tuple[str, ...]
    stores_first: bool
    ends_torn_down: bool
    own_control: bool

    @property
    def sends_high(self) -> bool:
        """Whether what it sends goes before code, to which a wide operation leaves every other
        cycle."""
        return self.simd == WIDE_MODE and self.exchange is None

    @property
    def control_early(self) -> bool:
        """Whether the register of its control wavelet is loaded while the vector is on its way."""
        send = self.send
        return self.own_control and send is not None and send.controls and not send.by_code

    @property
    def leaf(self) -> str:
        """The condition that a PE sends its own vector, in the first phase that it has a part in,
        and combines it with nothing."""
        assert self.send, "a phase of a tree has leaves"
        combines = [f"!{self.name}.combines"] * self.send.combines
        stores = [f"{self.name}.stored == 0"] * self.stores_first
        before = [f"!params.{name}.takes_part" for name in self.earlier]
        return " and ".join([f"{self.name}.sends", *combines, *stores, *before])

    @property
    def late_control(self) -> bool:
        """Whether some PE of a short collective sends a control wavelet behind what it combines, in
        a task: the result is received behind that."""
        return self.short and any(
            {".combines = true,", ".controls = true,"} <= set(role.values) for role in self.roles
        )

    @property
    def loads(self) -> bool:
        """Whether a phase of a tree loads its registers when it begins: they are other phases',
        too, or as long as the vectors of the call."""
        return not (self.exchange or self.stream) and (self.late or self.dynamic_length)

    @property
    def copy_end(self) -> str:
        """The task that the end of a copy activates."""
        task = self.send.task if self.send else -1
        return end_of([f"{self.name}_goes_on"] * bool(self.goes_on), task, self.done)

    @property
    def stored_last(self) -> str:
        """The condition that a PE of the phase has nothing to do behind what it stores."""
        goes_on = [f"{self.name}.sends"] * bool(self.send)
        return any_of(goes_on + [f"{self.name}_goes_on"] * bool(self.goes_on))

    @property
    def in_dsd(self) -> str:
        """What it receives, as long as a vector."""
        return _of_length(f"{self.name}_in_dsd", self.dynamic_length)

    @property
    def out_dsd(self) -> str:
        """What it sends."""
        return _of_length(f"{self.name}_out_dsd", self.dynamic_length)

    @property
    def calls_end(self) -> bool:
        """Whether PEs that end with a control wavelet call what follows; else a task is told."""
        in_lanes = self.exchange is not None and not self.restores
        return self.quick and (self.send is not None or in_lanes)


def phase_model(
    phase: Phase, plan: Plan, how: Combine, ids: Ids, around: Surroundings
) -> PhaseModel:
    """The model of `phase`; takes the positions it needs from `ids`."""
    grid = plan.collective.grid if phase.path is None else plan.collective.lined
    shape = None if phase.exchange else shape_of(phase)
    fields, roles = _struct(phase, shape, around.shared, plan.collective.grid, plan.element.words)
    behind = f"{phase.name}_restore" if around.restores else around.after
    closes = phase.exchange is not None and bool(around.torn_down)
    end = f"{phase.name}_close" if closes else behind
    slots = [*entries_of(phase), end]
    covered = sum(len(region.x) * len(region.y) for region, _ in phase.regions)
    goes_on = [f"params.{name}.takes_part" for name in around.later]
    goes_on += ["params.restores"] * around.restores
    follows = [f"{phase.name}_goes_on"] * bool(goes_on)
    copies = shape is not None and shape.copies
    quick = _is_quick(phase, shape, around)
    exchange, stream = None, None
    at_once = phase.passes
    registers: tuple[RegisterModel, ...] = ()
    if shape is not None:
        dest, source = (
            _control_register(plan, phase, type, "queue_out", around)
            for type in ("dsr_dest", "dsr_src1")
        )
        by_color = (dest, source) if quick else None
        found = registers_of_tree(
            phase.name,
            shape,
            by_call_back=bool(how.callback),
            stored_by_numbers=not at_once,
            ids=ids,
            control=by_color,
            in_turn=around.late,
            ends_torn_down=around.ends_torn_down,
            own_control=around.own_control,
            short=around.short,
        )
        registers = tuple(found)
    elif phase.streams:
        stream = stream_model(phase, ids, plan, by_color=around.shared is not None)
        registers = tuple(registers_of_stream(stream))
    elif phase.exchange is not None:
        exchange = exchange_model(phase, phase.exchange, plan, ids, around.shared is not None)
        controls = {
            lane.name: _control_register(plan, phase, "dsr_dest", f"{lane.field}_queue_out", around)
            for lane in (exchange.lanes if quick else ())
        }
        registers = tuple(registers_of_lanes(exchange, controls))
    return PhaseModel(
        name=phase.name,
        type_name="".join(part.capitalize() for part in phase.name.split("_")),
        about=phase.about,
        fields=fields,
        roles=roles,
        routes=routes_models(
            phase,
            around.torn_down | around.set_elsewhere,
            places_at(phase, plan.collective.grid)[0],
        ),
        routers=routers_models(phase, around.torn_down, around.outputs) if around.torn_down else (),
        multiplexed=tuple(_multiplexed(around)),
        sets_routers=around.sets_routers and bool(around.torn_down),
        cases=cases_of(
            phase.regions,
            (grid.width, grid.height),
            len(phase.roles),
            f"{phase.name}_roles",
            coordinates(phase),
        ),
        on_path=phase.path is not None,
        detours=detours_model(phase.detours, plan.collective.grid),
        idle=covered < grid.width * grid.height,
        idle_values=tuple(f".{field.name} = {field.idle}," for field in fields),
        input=queue_of(f"{phase.name}.queue_in", "inputs", ids, around)
        if shape and shape.receives
        else "",
        store=store_slot(phase.name, shape, how, at_once, ids, slots, follows, around)
        if shape and shape.stores
        else None,
        send=send_slot(phase.name, shape, how, ids, slots, around, quick, follows)
        if shape and shape.sends
        else None,
        copy=CopySlot(f"{phase.name}_copy") if copies else None,
        exchange=exchange,
        stream=stream,
        goes_on=any_of(goes_on),
        end=end,
        after=around.after,
        restores=around.restores,
        done=around.done,
        first=slots[0],
        late=around.late,
        dynamic_length=around.dynamic_length,
        quick=quick,
        simd=_simd_mode(phase),
        behind=behind,
        registers=registers,
        short=around.short,
        earlier=around.earlier,
        stores_first=shape is not None and shape.stores_first,
        ends_torn_down=around.ends_torn_down,
        own_control=around.own_control,
    )


def _multiplexed(around: Surroundings) -> Iterator[MultiplexedColor]:
    """The colors of a phase that are torn down."""
    for name in sorted(around.torn_down):
        assert around.shared is not None, "only programs of several collectives tear colors down"
        switched = "true" if name in around.switched else "false"
        yield MultiplexedColor(name, color_mask(around.shared[name]), switched)


def _of_length(dsd: str, dynamic_length: bool) -> str:
    """A DSD that is as long as a vector at most, as long as those of a call."""
    return f"@set_dsd_length({dsd}, elements)" if dynamic_length else dsd


def _control_register(plan: Plan, phase: Phase, type: str, queue: str, around: Surroundings) -> str:
    """The register of the color on which a PE sends control wavelets in a phase."""
    field = f"params.{plan.collective.name}.{phase.name}.{queue}"
    return of_color(type, field, (around.shared or {"": 0}).values())


def _simd_mode(phase: Phase) -> str:
    """What an instruction takes of the fabric, in CSL; empty for an element."""
    if phase.wide:
        return WIDE_MODE
    return "simd_32" if phase.paired else ""


def _is_quick(phase: Phase, shape: Shape | None, around: Surroundings) -> bool:
    """Whether PEs go on without waiting for their control wavelets: the next phase on the color
    does so anyway. A call-back sends its vector within a call of the phase, which must end first.
    """
    colors = {use.color for role in phase.roles for use in role.colors}
    controls = phase.exchange is not None or (shape is not None and shape.controls)
    sends_by_itself = phase.exchange is not None or not around.by_call_back
    ready = around.controls_ready and colors <= around.torn_down
    return controls and ready and sends_by_itself


def _struct(
    phase: Phase, shape: Shape | None, queues: Mapping[str, int] | None, grid: Grid, words: int
) -> tuple[tuple[Field, ...], tuple[RoleModel, ...]]:
    """The fields of the phase's struct, and the roles as rows of it."""
    if shape is None:
        assert phase.exchange, "only an exchange has no shape"
        any_color = min(use.color for role in phase.roles for use in role.colors)
        place, line = places_at(phase, grid)
        blocks = phase.exchange.blocks
        at = (place, first_of_block(blocks, line, words) if blocks else "")
        if phase.streams:
            fields = stream_fields(phase, any_color, by_color=queues is not None)
            row_of = stream_role
        else:
            fields = exchange_fields(phase, any_color, queues is not None)
            row_of = exchange_role
        rows = (row_of(i, phase, fields, queues, at) for i in range(len(phase.roles)))
        return fields, tuple(rows)
    rows = (role_model(i, role, shape, queues) for i, role in enumerate(phase.roles))
    return fields_of(shape, queues is not None), tuple(rows)


def entries_of(phase: Phase) -> list[str]:
    """The functions of a phase, in the order they run."""
    return [f"{phase.name}_begin"] if phase.exchange else slot_names(phase.name, shape_of(phase))


def slot_names(name: str, shape: Shape) -> list[str]:
    """The functions of a phase's slots, in the order they run."""
    used = (("store", shape.stores), ("send", shape.sends), ("copy", shape.copies))
    return [f"{name}_{slot}" for slot, is_used in used if is_used]
