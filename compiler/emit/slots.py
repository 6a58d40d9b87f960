"""What the text of a phase of whole vectors does in order: it stores, sends, copies."""

from dataclasses import dataclass


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
