"""What the text of a phase of whole vectors does in order: it stores, sends, copies."""

from collc.base.values import dataclass
from collc.emit.names import Combine
from collc.emit.phase_context import PhaseContext
from collc.emit.roles import Shape, command_of
from collc.lowering.ids import Ids


@dataclass(frozen=True)
class StoreSlot:
    """The operation that combines received vectors with this PE's own in memory.

    `passes` says that it goes over the vector once for each that comes, by a DSD of several
    dimensions; otherwise there is an operation for each. `task` is the
    position of its task, -1 where a call-back does the work; `end` is the task that it activates,
    its own, if it `has_task`, or, on PEs that have nothing to do behind it, that of the end; `next`
    is what follows.
    """

    name: str
    passes: bool
    rounds: bool
    task: int
    end: str
    has_task: bool
    next: str


@dataclass(frozen=True)
class SendSlot:
    """The sending operation: positions of its queue and tasks (-1, or empty: none). `after_store`
    says that some PEs store vectors before: their own is loaded to its register meanwhile, so that
    sending can start at once.

    `end` is the task that it activates, its own, if it `has_task`, or that of the end;
    `control_end` is that of the control wavelet behind it, its own if `control_has_task`. Vectors
    that are combined `by_code` go on without a task. `otherwise` is the slot of a PE that does not
    send, `command` the control wavelet that may follow.
    """

    name: str
    combines: bool
    after_store: bool
    advances: bool
    controls: bool
    command: str
    output: str
    task: int
    control_task: int
    end: str
    control_end: str
    has_task: bool
    control_has_task: bool
    by_code: bool
    otherwise: str


@dataclass(frozen=True)
class CopySlot:
    """The operation that receives a broadcast. It shares the sending slot's task: a PE does one
    or the other.
    """

    name: str


def queue_of(field_name: str, kind: str, ids: Ids, context: PhaseContext) -> str:
    """The position of a queue: one of the phase's own, or that of the PE's color."""
    return str(ids.take(kind)) if context.alone else field_name


def store_slot(  # noqa: PLR0913, PLR0917 - what a slot is made of
    name: str,
    shape: Shape,
    how: Combine,
    passes: bool,
    ids: Ids,
    slots: list[str],
    follows: list[str],
    context: PhaseContext,
) -> StoreSlot:
    """The slot of a phase that stores; takes the positions it needs from `ids`."""
    goes_on = [f"({name}.rounds > 1)"] * shape.rounds + [f"{name}.sends"] * shape.stores_first
    goes_on += follows
    has_task = not how.callback and (bool(goes_on) or not context.alone)
    task = ids.take("tasks") if has_task or context.one_word else -1
    return StoreSlot(
        name=slots[0],
        passes=passes,
        rounds=shape.rounds,
        task=task,
        end=end_of(goes_on, task, context.done),
        has_task=has_task,
        next=slots[1],
    )


def any_of(conditions: list[str]) -> str:
    """Whether one of them holds; empty if there is none."""
    return " or ".join(conditions)


def end_of(goes_on: list[str], task: int, done: str) -> str:
    """What an operation activates: a task where one of some conditions holds, else `done`."""
    return f"if ({any_of(goes_on)}) task_ids[{task}] else {done}" if goes_on else done


def send_slot(  # noqa: PLR0913, PLR0917 - what a slot is made of
    name: str,
    shape: Shape,
    how: Combine,
    ids: Ids,
    slots: list[str],
    context: PhaseContext,
    quick: bool,
    follows: list[str],
) -> SendSlot:
    """The slot of a phase that sends; takes the positions it needs from `ids`."""
    goes_on = [f"{name}.controls"] * shape.controls + follows
    is_last = not follows and context.alone
    has_task = bool(goes_on) or not is_last
    task = ids.take("tasks") if has_task or context.one_word else -1
    waits = shape.controls and not (quick or context.given.ends_torn_down)
    control_task = ids.take("tasks") if waits and not is_last else -1
    return SendSlot(
        name=f"{name}_send",
        combines=shape.combines,
        after_store=shape.combines and shape.stores and not how.callback,
        advances=shape.advances,
        controls=shape.controls,
        command=command_of(name, shape),
        output=queue_of(f"{name}.queue_out", "outputs", ids, context),
        task=task,
        control_task=control_task,
        end=end_of(goes_on, task, context.done),
        control_end=end_of(follows, control_task, context.done),
        has_task=has_task,
        control_has_task=control_task >= 0,
        by_code=shape.combines and bool(how.callback),
        otherwise=slots[slots.index(f"{name}_send") + 1],
    )
