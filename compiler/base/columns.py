"""Structures of arrays of equal length: row i of a record is entry i of each of its arrays."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from collc.base.values import dataclass

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]  # sets of up to 64 members in each
C = TypeVar("C", bound="Columns")


@dataclass(frozen=True, eq=False)
class Columns:
    """Base of such records, all of whose fields are arrays with one entry a row."""

    def __len__(self) -> int:
        return len(getattr(self, fields(self)[0].name))

    def chosen(self: C, which: npt.NDArray[Any]) -> C:
        """The rows selected by an array of indices, [chosen], or a mask, [rows]."""
        return replace(self, **{one.name: getattr(self, one.name)[which] for one in fields(self)})


def joined(parts: Sequence[C]) -> C:
    """The rows of several records of one class, of which there is one at least, concatenated."""
    columns = {
        one.name: np.concatenate([getattr(part, one.name) for part in parts])
        for one in fields(parts[0])
    }
    return replace(parts[0], **columns)


def repeated_rows(counts: npt.NDArray[Any]) -> tuple[Ints, Ints]:
    """Each row repeated `counts[row]` times: for every repetition its row, and its number among the
    repetitions of that row, from 0 on; both [sum of counts]."""
    row: Ints = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    return row, np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
