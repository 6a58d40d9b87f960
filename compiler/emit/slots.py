"""What the text of a phase of whole vectors does in order: it stores, sends, copies."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StoreSlot:
    """The operation that combines received vectors with this PE's own in memory.

    `passes` says that it goes over the vector once for each that comes, by a DSD of several
    dimensions; otherwise there is an operation for each. `task` is the
    position of its task, -1 where a call-back does the work; `goes_on` is the condition that this
    PE has something to do behind it, `next` that.
    """

    name: str
    passes: bool
    rounds: bool
    task: int
    goes_on: str
    next: str


@dataclass(frozen=True)
class SendSlot:
    """The sending operation: positions of its queue and tasks (-1, or empty: none). `after_store`
    says that some PEs store vectors before: their own is loaded to its register meanwhile, so that
    sending can start at once.

    `goes_on` is the condition that this PE has something to do behind it, `otherwise` the slot of a
    PE that does not send. `commands` are the control wavelets that may follow.
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
    goes_on: str
    otherwise: str


@dataclass(frozen=True)
class CopySlot:
    """The operation that receives a broadcast. It shares the sending slot's task: a PE does one
    or the other.
    """

    name: str
