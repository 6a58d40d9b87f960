"""One phase of a plan as the templates see it: slots, fields, roles.

A phase's PE code is a fixed sequence of slots: combine vectors in memory, send, and behind a send a
control wavelet; or copy a broadcast. Every PE of the phase runs the same text; the fields of its
parameters say which slots are its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from collc.emit.conditions import Cases, cases_of
from collc.emit.names import Combine
from collc.emit.roles import (
    Field,
    RoleModel,
    RoutesModel,
    Shape,
    fields_of,
    role_model,
    routes_models,
    shape_of,
)
from collc.plan import Phase, Plan


@dataclass
class Ids:
    """How many positions of each id list are handed out so far."""

    inputs: int = 0
    outputs: int = 0
    tasks: int = 0
    sources: int = 0
    dests: int = 0
    owns: int = 0

    def take(self, kind: str) -> int:
        """The next free position of `kind`."""
        position: int = getattr(self, kind)
        setattr(self, kind, position + 1)
        return position


@dataclass(frozen=True)
class StoreSlot:
    """The operation that combines received vectors with the own one in memory.

    `source` and `task` are positions of its DSR and its task, -1 where a call-back does the
    work; `goes_on` is the condition that this PE has something to do behind it, `next` that.
    """

    name: str
    rounds: bool
    source: int
    task: int
    goes_on: str
    next: str


@dataclass(frozen=True)
class SendSlot:
    """The sending operation: positions of its queue, DSRs and tasks (-1: none). `own` is the DSR
    of the own vector, loaded while vectors are stored, so that sending can start at once.

    `goes_on` is the condition that this PE has something to do behind it, `otherwise` the slot of a
    PE that does not send.
    """

    name: str
    combines: bool
    advances: bool
    controls: bool
    command: str
    output: int
    dest: int
    control_dest: int
    source: int
    own: int
    task: int
    control_task: int
    goes_on: str
    otherwise: str


@dataclass(frozen=True)
class CopySlot:
    """The operation that receives a broadcast. It shares the sending slot's task: a PE does one
    or the other.
    """

    name: str
    source: int


@dataclass(frozen=True)
class PhaseModel:
    """A phase: everything its text declares; positions point into the module's id lists.

    `input` is the position of its input queue (-1: none). `goes_on` is the condition that this PE
    takes part in a later phase; `end` is what follows the last slot, `after` what follows that.
    """

    name: str
    type_name: str
    about: str
    fields: tuple[Field, ...]
    roles: tuple[RoleModel, ...]
    routes: tuple[RoutesModel, ...]
    cases: Cases
    idle: bool  # whether some PEs take no part
    idle_values: tuple[str, ...]
    input: int
    store: StoreSlot | None
    send: SendSlot | None
    copy: CopySlot | None
    goes_on: str
    end: str
    after: str
    restores: bool


@dataclass(frozen=True)
class Surroundings:
    """What a phase has to know of the others: the entry of what follows, the later phases'
    names, and whether a result's sign is turned back at its end.
    """

    after: str
    later: tuple[str, ...]
    restores: bool


def phase_model(
    phase: Phase, plan: Plan, how: Combine, ids: Ids, around: Surroundings
) -> PhaseModel:
    """The model of `phase`; takes the positions it needs from `ids`."""
    grid = plan.collective.grid
    shape = shape_of(phase)
    fields = fields_of(shape)
    end = f"{phase.name}_restore" if around.restores else around.after
    slots = [*slot_names(phase.name, shape), end]
    covered = sum(len(region.x) * len(region.y) for region, _ in phase.regions)
    goes_on = [f"params.{name}.takes_part" for name in around.later]
    return PhaseModel(
        name=phase.name,
        type_name="".join(part.capitalize() for part in phase.name.split("_")),
        about=phase.about,
        fields=fields,
        roles=tuple(role_model(i, role, shape) for i, role in enumerate(phase.roles)),
        routes=routes_models(phase.roles),
        cases=cases_of(phase.regions, grid.width, grid.height, len(phase.roles)),
        idle=covered < grid.width * grid.height,
        idle_values=tuple(f".{field.name} = {field.idle}," for field in fields),
        input=ids.take("inputs") if shape.receives else -1,
        store=_store_slot(phase.name, shape, how, ids, slots) if shape.stores else None,
        send=_send_slot(phase.name, shape, how, ids, slots) if shape.sends else None,
        copy=CopySlot(f"{phase.name}_copy", ids.take("sources")) if shape.copies else None,
        goes_on=" or ".join(goes_on + ["params.restores"] * around.restores) or "false",
        end=end,
        after=around.after,
        restores=around.restores,
    )


def slot_names(name: str, shape: Shape) -> list[str]:
    """The functions of a phase's slots, in the order they run."""
    used = (("store", shape.stores), ("send", shape.sends), ("copy", shape.copies))
    return [f"{name}_{slot}" for slot, is_used in used if is_used]


def _store_slot(name: str, shape: Shape, how: Combine, ids: Ids, slots: list[str]) -> StoreSlot:
    goes_on = [f"({name}.rounds > 1)"] * shape.rounds + [f"{name}.sends"] * shape.sends
    return StoreSlot(
        name=slots[0],
        rounds=shape.rounds,
        source=-1 if how.callback else ids.take("sources"),
        task=-1 if how.callback else ids.take("tasks"),
        goes_on=" or ".join([*goes_on, f"{name}_goes_on"]),
        next=slots[1],
    )


def _command(name: str, shape: Shape) -> str:
    """The control wavelet that goes behind a vector, as an expression of the PE's parameters."""
    if shape.opens and shape.resets:
        return f"if ({name}.resets) reset else advance"
    return "advance" if shape.opens else "reset"


def _send_slot(name: str, shape: Shape, how: Combine, ids: Ids, slots: list[str]) -> SendSlot:
    combines = shape.combines and not how.callback
    return SendSlot(
        name=f"{name}_send",
        combines=shape.combines,
        advances=shape.advances,
        controls=shape.controls,
        command=_command(name, shape),
        output=ids.take("outputs"),
        dest=ids.take("dests"),
        control_dest=ids.take("dests") if shape.controls else -1,
        source=ids.take("sources") if combines else -1,
        own=ids.take("owns") if combines and shape.stores else -1,
        task=ids.take("tasks"),
        control_task=ids.take("tasks") if shape.controls else -1,
        goes_on=" or ".join([f"{name}.controls"] * shape.controls + [f"{name}_goes_on"]),
        otherwise=slots[slots.index(f"{name}_send") + 1],
    )
