"""Arrays of the host: kinds of elements, their orders, and the words that are copied."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt


class MemcpyDataType(Enum):
    """Width of the elements of a copy."""

    MEMCPY_32BIT = 0
    MEMCPY_16BIT = 1


class MemcpyOrder(Enum):
    """Layout of the host's array: elements of a PE together, or rows fastest."""

    ROW_MAJOR = 0
    COL_MAJOR = 1


ORDERS: dict[MemcpyOrder, Literal["row_major", "col_major"]] = {
    MemcpyOrder.ROW_MAJOR: "row_major",
    MemcpyOrder.COL_MAJOR: "col_major",
}
# Column-major items run down the columns of PEs first, then along the rows.
NUMPY_ORDERS: dict[MemcpyOrder, Literal["C", "F"]] = {
    MemcpyOrder.ROW_MAJOR: "C",
    MemcpyOrder.COL_MAJOR: "F",
}
DTYPES = {MemcpyDataType.MEMCPY_32BIT: np.uint32, MemcpyDataType.MEMCPY_16BIT: np.uint16}


Kind = TypeVar("Kind", bound=Enum)
Meaning = TypeVar("Meaning")


def meaning(table: Mapping[Kind, Meaning], given: Kind) -> Meaning:
    """What an argument of a host script stands for. Raises TypeError for one of another kind."""
    kind = type(next(iter(table)))
    if not isinstance(given, kind):
        raise TypeError(f"a {kind.__name__} is wanted, not {given!r}")
    return table[given]


def words_of(src: npt.NDArray[Any]) -> npt.NDArray[np.uint32]:
    """The items of the host's array, 32 bits each."""
    if np.asarray(src).dtype.itemsize != 4:
        raise ValueError(f"host arrays have items of 32 bits, not {np.asarray(src).dtype}")
    return np.ascontiguousarray(src).reshape(-1).view(np.uint32)


def store(dest: npt.NDArray[Any], words: npt.NDArray[np.uint32]) -> None:
    """Write the items of the host's array."""
    if not isinstance(dest, np.ndarray):
        raise TypeError(f"results go to a NumPy array, not {type(dest).__name__}")
    if dest.dtype.itemsize != 4 or not dest.flags.c_contiguous:
        raise ValueError(f"results go to a contiguous array of 32-bit items, not {dest.dtype}")
    dest.reshape(-1).view(np.uint32)[:] = words


def blocks_of(
    src: npt.NDArray[Any], shape: tuple[int, int, int], order: MemcpyOrder
) -> npt.NDArray[np.uint32]:
    """The items by row, column and element of a PE."""
    words = words_of(src)
    if words.size != np.prod(shape):
        height, width, count = shape
        raise ValueError(f"{words.size} items for {width} x {height} PEs of {count} each")
    return words.reshape(shape, order=meaning(NUMPY_ORDERS, order))


def flat(blocks: npt.NDArray[np.uint32], order: MemcpyOrder) -> npt.NDArray[np.uint32]:
    """The host's array of such items."""
    return blocks.reshape(-1, order=meaning(NUMPY_ORDERS, order))
