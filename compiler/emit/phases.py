"""One phase of a plan as the templates see it: slots, fields, roles.

A phase's PE code is a fixed sequence of slots: combine vectors in memory, send, and behind a send a
control wavelet; or copy a broadcast. Every PE of the phase runs the same text; the fields of its
parameters say which slots are its own. What is made of steps is `collc.emit.exchange`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from collc.base.grids import Grid
from collc.base.values import dataclass
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
from collc.emit.phase_context import PhaseContext
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
from collc.lowering.ids import Ids
from collc.lowering.shared_phases import SharedPhase, skips_controls
from collc.plan import Phase, Plan
from collc.plan.form import Form, form_of
from collc.spec import Contract
from collc.spec.simd import has_pairs_of_wavelets

# An instruction takes two wavelets: both at once, or one where only one has come.
BOTH, EITHER = "simd_64", "simd_32_or_64"


@dataclass(frozen=True)
class PhaseModel:
    """A phase: everything its text declares; positions point into the module's id lists.

    `input` is the position of its input queue (empty: none). `goes_on` is the condition that this
    PE takes part in a later phase (empty: there is none); `first` is the first slot, `end` what
    follows the last, `behind` what follows that. `quick` says that a function is called at the end
    of a PE that sends a control wavelet last, by the register that its color has for that.
    `multiplexed` are its colors that are torn down behind it, `routers` how they are set before it.
    `simd` is the mode of its fabric operands. Where it `stores_first`, some PE stores vectors and
    sends then.
    """

    name: str
    type_name: str
    about: str
    fields: tuple[Field, ...]
    roles: tuple[RoleModel, ...]
    routes: tuple[RoutesModel, ...]
    routers: tuple[RoutersModel, ...]
    multiplexed: tuple[MultiplexedColor, ...]
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
    first: str
    quick: bool
    simd: str
    behind: str
    registers: tuple[RegisterModel, ...]
    stores_first: bool
    context: PhaseContext

    @property
    def given(self) -> SharedPhase:
        """What it shares with others in a program of several collectives."""
        return self.context.given

    @property
    def what_roles_do(self) -> Iterator[tuple[str, str]]:
        """Numbers of roles, `3` or `0 to 7`, and what these do; for a comment."""
        for about, alike in groupby(self.roles, key=lambda role: role.about):
            first, *others = [role.index for role in alike]
            yield f"{first} to {others[-1]}" if others else f"{first}", about

    @property
    def sets_routers(self) -> bool:
        """Whether it has code that sets them."""
        return bool(self.routers) and self.given.sets_routers

    @property
    def sends_high(self) -> bool:
        """Whether what it sends goes before code, to which a wide operation leaves every other
        cycle."""
        return self.simd in {BOTH, EITHER} and self.exchange is None

    @property
    def control_early(self) -> bool:
        """Whether the register of its control wavelet is loaded while the vector is on its way."""
        send = self.send
        return self.given.own_control and send is not None and send.controls and not send.by_code

    @property
    def leaf(self) -> str:
        """The condition that a PE sends its own vector, in the first phase that it has a part in,
        and combines it with nothing."""
        assert self.send, "a phase of a tree has leaves"
        combines = [f"!{self.name}.combines"] * self.send.combines
        stores = [f"{self.name}.stored == 0"] * self.stores_first
        before = [f"!params.{name}.takes_part" for name in self.context.earlier]
        return " and ".join([f"{self.name}.sends", *combines, *stores, *before])

    @property
    def late_control(self) -> bool:
        """Whether some PE of a one-word collective sends a control wavelet behind what it combines,
        in a task: the result is received behind that."""
        return self.context.one_word and any(
            {".combines = true,", ".controls = true,"} <= set(role.values) for role in self.roles
        )

    @property
    def loads(self) -> bool:
        """Whether a phase of a tree loads its registers when it begins: they are other phases',
        too, or as long as the vectors of the call."""
        return not (self.exchange or self.stream) and (self.given.late or self.given.dynamic_length)

    @property
    def copy_end(self) -> str:
        """The task that the end of a copy activates."""
        task = self.send.task if self.send else -1
        return end_of([f"{self.name}_goes_on"] * bool(self.goes_on), task, self.context.done)

    @property
    def stored_last(self) -> str:
        """The condition that a PE of the phase has nothing to do behind what it stores."""
        goes_on = [f"{self.name}.sends"] * bool(self.send)
        return any_of(goes_on + [f"{self.name}_goes_on"] * bool(self.goes_on))

    @property
    def in_dsd(self) -> str:
        """What it receives, as long as a vector."""
        return _of_length(f"{self.name}_in_dsd", self.given.dynamic_length)

    @property
    def out_dsd(self) -> str:
        """What it sends."""
        return _of_length(f"{self.name}_out_dsd", self.given.dynamic_length)

    @property
    def calls_end(self) -> bool:
        """Whether PEs that end with a control wavelet call what follows; else a task is told."""
        in_lanes = self.exchange is not None and not self.context.restores
        return self.quick and (self.send is not None or in_lanes)


def phase_model(
    phase: Phase, plan: Plan, how: Combine, ids: Ids, context: PhaseContext
) -> PhaseModel:
    """The model of `phase`; takes the positions it needs from `ids`."""
    given, shares = context.given, not context.alone
    grid = plan.collective.grid if phase.path is None else plan.collective.lined
    shape = None if form_of(phase).is_cut else shape_of(phase)
    fields, roles = _struct(phase, shape, context.queues, plan.collective.grid, plan.element.words)
    behind = f"{phase.name}_restore" if context.restores else context.after
    closes = form_of(phase).is_cut and bool(given.torn_down)
    end = f"{phase.name}_close" if closes else behind
    slots = [*entries_of(phase), end]
    covered = sum(len(region.x) * len(region.y) for region, _ in phase.regions)
    goes_on = [f"params.{name}.takes_part" for name in context.later]
    goes_on += ["params.restores"] * context.restores
    follows = [f"{phase.name}_goes_on"] * bool(goes_on)
    copies = shape is not None and shape.copies
    quick = _is_quick(phase, shape, plan, given)
    exchange, stream = None, None
    at_once = phase.passes
    registers: tuple[RegisterModel, ...] = ()
    if shape is not None:
        dest, source = (
            _control_register(plan, phase, type, "queue_out", given)
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
            context=context,
        )
        registers = tuple(found)
    elif form_of(phase) is Form.STREAM:
        stream = stream_model(phase, ids, plan, by_color=shares)
        registers = tuple(registers_of_stream(stream))
    elif form_of(phase).is_cut:
        exchange = exchange_model(phase, plan, ids, shares)
        controls = {
            lane.name: _control_register(plan, phase, "dsr_dest", f"{lane.field}_queue_out", given)
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
            given.torn_down | given.set_elsewhere,
            places_at(phase, plan.collective.grid)[0],
        ),
        routers=routers_models(phase, given.torn_down, given.outputs) if given.torn_down else (),
        multiplexed=tuple(_multiplexed(given)),
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
        input=queue_of(f"{phase.name}.queue_in", "inputs", ids, context)
        if shape and shape.receives
        else "",
        store=store_slot(phase.name, shape, how, at_once, ids, slots, follows, context)
        if shape and shape.stores
        else None,
        send=send_slot(phase.name, shape, how, ids, slots, context, quick, follows)
        if shape and shape.sends
        else None,
        copy=CopySlot(f"{phase.name}_copy") if copies else None,
        exchange=exchange,
        stream=stream,
        goes_on=any_of(goes_on),
        end=end,
        first=slots[0],
        quick=quick,
        simd=_simd_mode(phase, plan.collective.contract),
        behind=behind,
        registers=registers,
        stores_first=shape is not None and shape.stores_first,
        context=context,
    )


def _multiplexed(given: SharedPhase) -> Iterator[MultiplexedColor]:
    """The colors of a phase that are torn down."""
    for name in sorted(given.torn_down):
        switched = "true" if name in given.switched else "false"
        yield MultiplexedColor(name, color_mask(given.positions[name]), switched)


def _of_length(dsd: str, dynamic_length: bool) -> str:
    """A DSD that is as long as a vector at most, as long as those of a call."""
    return f"@set_dsd_length({dsd}, elements)" if dynamic_length else dsd


def _control_register(plan: Plan, phase: Phase, type: str, queue: str, given: SharedPhase) -> str:
    """The register of the color on which a PE sends control wavelets in a phase."""
    field = f"params.{plan.collective.name}.{phase.name}.{queue}"
    return of_color(type, field, (given.positions or {"": 0}).values())


def _simd_mode(phase: Phase, contract: Contract) -> str:
    """What an instruction takes of the fabric, in CSL; empty for an element. Slices of a wide
    exchange are made of pairs of wavelets, a vector may have one more."""
    if phase.wide:
        return BOTH if form_of(phase).is_cut or has_pairs_of_wavelets(contract) else EITHER
    return "simd_32" if phase.paired else ""


def _is_quick(phase: Phase, shape: Shape | None, plan: Plan, given: SharedPhase) -> bool:
    """Whether PEs that send control wavelets go on without waiting for them."""
    controls = form_of(phase).is_cut or (shape is not None and shape.controls)
    return controls and skips_controls(phase, plan.collective.contract, given)


def _struct(
    phase: Phase, shape: Shape | None, queues: Mapping[str, int] | None, grid: Grid, words: int
) -> tuple[tuple[Field, ...], tuple[RoleModel, ...]]:
    """The fields of the phase's struct, and the roles as rows of it."""
    if shape is None:
        any_color = min(use.color for role in phase.roles for use in role.colors)
        place, line = places_at(phase, grid)
        blocks = phase.blocks
        at = (place, first_of_block(blocks, line, words) if blocks else "")
        if form_of(phase) is Form.STREAM:
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
    return (
        [f"{phase.name}_begin"]
        if form_of(phase).is_cut
        else slot_names(phase.name, shape_of(phase))
    )


def slot_names(name: str, shape: Shape) -> list[str]:
    """The functions of a phase's slots, in the order they run."""
    used = (("store", shape.stores), ("send", shape.sends), ("copy", shape.copies))
    return [f"{name}_{slot}" for slot, is_used in used if is_used]
