"""Records of arrays of equal length: row i of a record is entry i of each of its arrays."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]  # sets of up to 64 members in each
C = TypeVar("C", bound="Columns")


@dataclass(frozen=True, eq=False)
class Columns:
    """Such a record; what is in it its fields say."""

    def __len__(self) -> int:
        return len(getattr(self, fields(self)[0].name))

    def chosen(self: C, which: npt.NDArray[Any]) -> C:
        """The rows that indices or a mask select."""
        return replace(self, **{one.name: getattr(self, one.name)[which] for one in fields(self)})


def joined(parts: Sequence[C]) -> C:
    """The rows of several records, of which there is one at least."""
    columns = {
        one.name: np.concatenate([getattr(part, one.name) for part in parts])
        for one in fields(parts[0])
    }
    return replace(parts[0], **columns)


def spread(counts: npt.NDArray[Any]) -> tuple[Ints, Ints]:
    """As many entries for each row as `counts` says: the row of each, and how many of that row come
    before it."""
    row: Ints = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    return row, np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
