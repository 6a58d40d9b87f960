"""The kinds of changes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

Changed = TypeVar("Changed")


class Kind(Enum):
    """What a change does to a plan; the value is said in tables."""

    DROPPED = "transfer dropped"
    DOUBLED = "transfer doubled"
    REORDERED = "transfers reordered"
    OTHER_WORK = "a transfer does something else"
    PLACE = "a part at the wrong PEs"
    COLOR = "color swapped"
    NO_ADVANCE = "switch advance or teardown dropped"
    MORE_ADVANCE = "switch advance doubled, or another one"
    EARLY_ADVANCE = "switch advance or teardown too early"
    ROUTE = "route side flipped"
    FILTER = "filter off by one, dropped or another one"
    LENGTH = "length, count or slice off by one"
    QUEUE_DEPTH = "queue depth assumption broken"
    NUMBERS = "queue, task, register or color number wrong"


@dataclass(frozen=True)
class Mutant(Generic[Changed]):
    """A changed thing: a plan or a part of one."""

    kind: Kind
    what: str
    changed: Changed
