"""One phase of a plan as the templates see it: slots, fields, roles.

A phase's PE code is a fixed sequence of slots: receive vectors into memory (as many slots as the
busiest role has), then send, then (behind a send) a control wavelet; or copy a broadcast. Every PE
of the phase runs the same text; the fields of its parameters say which slots are its own.
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

    def take(self, kind: str) -> int:
        """The next free position of `kind`."""
        position: int = getattr(self, kind)
        setattr(self, kind, position + 1)
        return position


@dataclass(frozen=True)
class ReceiveModel:
    """A queue the phase receives on: its name, position, and the field with its color; in use at
    a PE whose field `receives` is at least `needed`."""

    name: str
    position: int
    color: str
    needed: int


@dataclass(frozen=True)
class StoreSlot:
    """An operation that adds received vectors into memory; `next` is the slot behind it, and
    `goes_on` the condition that this PE has something to do there."""

    name: str
    vectors: str
    rounds: str
    counter: str
    queue: str
    source: int
    task: int
    goes_on: str
    next: str


@dataclass(frozen=True)
class SendSlot:
    """The sending operation: positions of its queue, DSRs and tasks; texts about its last
    received vector. `rounds`-like options are empty or -1 where no PE of the phase needs them."""

    name: str
    adds: bool
    advances: bool
    controls: bool
    output: int
    out_dsr: int
    last_dsr: int
    last_queue: str
    sent_task: int
    controlled_task: int
    goes_on: str
    otherwise: str  # the slot of a PE that does not send


@dataclass(frozen=True)
class CopySlot:
    """The operation that receives a broadcast. It shares the sending slot's task: a PE does one
    or the other."""

    name: str
    queue: str
    source: int


@dataclass(frozen=True)
class PhaseModel:
    """A phase: everything its text declares; positions point into the module's id lists."""

    name: str
    type_name: str
    about: str
    fields: tuple[Field, ...]
    roles: tuple[RoleModel, ...]
    routes: tuple[RoutesModel, ...]
    cases: Cases
    idle: bool  # whether some PEs take no part
    idle_values: tuple[str, ...]
    receives: tuple[ReceiveModel, ...]
    stores: tuple[StoreSlot, ...]
    send: SendSlot | None
    copy: CopySlot | None
    goes_on: str  # condition: this PE has something to do in a later phase
    end: str  # what follows the phase's last slot
    after: str  # the entry of the next phase, or `finish`
    restores: bool


def phase_model(  # noqa: PLR0913 - the pieces of one table row
    phase: Phase, plan: Plan, how: Combine, ids: Ids, *, after: str, later: tuple[str, ...],
    restores: bool,
) -> PhaseModel:
    """The model of `phase`; `after` is the entry of what follows, `later` the phases behind it."""
    grid = plan.collective.grid
    shape = shape_of(phase)
    fields = fields_of(shape)
    receives = tuple(
        ReceiveModel(f"{phase.name}_in{i}", ids.take("inputs"), f"color_in{i}", i + 1)
        for i in range(shape.receives)
    )
    end = f"{phase.name}_restore" if restores else after
    names = slot_names(phase.name, shape)
    stores = _store_slots(phase.name, shape, how, ids, receives, [*names, end])
    send = _send_slot(phase.name, shape, how, ids, receives, [*names, end])
    copy = _copy_slot(phase.name, shape, ids, receives)
    covered = sum(len(region.x) * len(region.y) for region, _ in phase.regions)
    goes_on = [f"params.{name}.takes_part" for name in later]
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
        receives=receives,
        stores=stores,
        send=send,
        copy=copy,
        goes_on=" or ".join(goes_on + ["params.restores"] * restores) or "false",
        end=end,
        after=after,
        restores=restores,
    )


def slot_names(name: str, shape: Shape) -> list[str]:
    """The functions of a phase's slots, in the order they run."""
    stores = [f"{name}_store{i}" for i in range(len(shape.rounds))]
    return stores + [f"{name}_send"] * shape.sends + [f"{name}_copy"] * shape.copies


def _queue(receives: tuple[ReceiveModel, ...], chosen_by: str) -> str:
    """The queue a slot reads: the only one, or the one its field picks."""
    if len(receives) == 1:
        return receives[0].name
    return f"@get_input_queue(input_queues[{receives[0].position} + {chosen_by}])"


def _send_slot(  # noqa: PLR0913 - the pieces of one table row
    name: str, shape: Shape, how: Combine, ids: Ids, receives: tuple[ReceiveModel, ...],
    names: list[str],
) -> SendSlot | None:
    if not shape.sends:
        return None
    by_map = bool(how.callback) and shape.adds
    return SendSlot(
        name=f"{name}_send",
        adds=shape.adds,
        advances=shape.advances,
        controls=shape.controls,
        output=ids.take("outputs"),
        out_dsr=ids.take("dests"),
        last_dsr=ids.take("sources") if shape.adds and not by_map else -1,
        last_queue=_queue(receives, f"{name}.last_from") if shape.adds else "",
        sent_task=ids.take("tasks"),
        controlled_task=ids.take("tasks") if shape.controls else -1,
        goes_on=" or ".join([f"{name}.controls"] * shape.controls + [f"{name}_goes_on"]),
        otherwise=names[len(shape.rounds) + 1],
    )


def _copy_slot(
    name: str, shape: Shape, ids: Ids, receives: tuple[ReceiveModel, ...]
) -> CopySlot | None:
    if not shape.copies:
        return None
    return CopySlot(f"{name}_copy", receives[0].name, ids.take("sources"))


def _store_slots(  # noqa: PLR0913 - the pieces of one table row
    name: str, shape: Shape, how: Combine, ids: Ids, receives: tuple[ReceiveModel, ...],
    names: list[str],
) -> tuple[StoreSlot, ...]:
    by_map = bool(how.callback)
    return tuple(
        StoreSlot(
            name=names[i],
            vectors=f"{name}.stored{i}",
            rounds=f"{name}.rounds{i}" if has_rounds else "",
            counter=f"{names[i]}_round",
            queue=_queue(receives, f"{name}.stored{i}_from"),
            source=-1 if by_map else ids.take("sources"),
            task=-1 if by_map else ids.take("tasks"),
            goes_on=_store_goes_on(name, i, shape),
            next=names[i + 1],
        )
        for i, has_rounds in enumerate(shape.rounds)
    )


def _store_goes_on(name: str, index: int, shape: Shape) -> str:
    """The condition that a PE has anything to do behind one operation of store `index`."""
    later = [f"({name}.stored{i} > 0)" for i in range(index + 1, len(shape.rounds))]
    rounds = [f"({name}.rounds{index} > 1)"] * shape.rounds[index]
    return " or ".join(rounds + later + [f"{name}.sends"] * shape.sends + [f"{name}_goes_on"])
