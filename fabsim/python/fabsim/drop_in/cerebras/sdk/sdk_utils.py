"""Helpers that host scripts use around copies: widths of elements, time stamps."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

MASK_32 = 0xFFFF_FFFF


def calculate_cycles(timestamp_buf: npt.NDArray[Any]) -> int:
    """End minus start of two 48-bit time stamps, packed as six 16-bit words into three f32."""
    halves = np.ascontiguousarray(timestamp_buf, dtype=np.float32).reshape(-1).view(np.uint16)
    return make_u48(halves[3:6]) - make_u48(halves[0:3])


def sub_ts(words: Sequence[int] | npt.NDArray[Any]) -> int:
    """End minus start of two time stamps, given as six 16-bit words, start first."""
    return make_u48(words[3:6]) - make_u48(words[0:3])


def make_u48(words: Sequence[int] | npt.NDArray[Any]) -> int:
    """The number in three 16-bit words, low word first."""
    return int(words[0]) + (int(words[1]) << 16) + (int(words[2]) << 32)


def input_array_to_u32(
    np_arr: npt.NDArray[Any], sentinel: int | None, fast_dim_sz: int
) -> npt.NDArray[np.uint32]:
    """An array of 32-bit items to be sent.

    16-bit elements are the low halves; with a sentinel the high halves count along the fast
    dimension.
    """
    flat = np.ascontiguousarray(np_arr).reshape(-1)
    if flat.itemsize == 4:
        return flat.view(np.uint32)
    if flat.itemsize != 2:
        raise ValueError(f"elements of 16 or 32 bits are sent, not {flat.dtype}")
    words = flat.view(np.uint16).astype(np.uint32)
    if sentinel is not None:
        words |= (np.arange(words.size, dtype=np.uint32) % fast_dim_sz) << 16
    return words


def memcpy_view(arr: npt.NDArray[Any], datatype: npt.DTypeLike) -> npt.NDArray[Any]:
    """A view of the low bytes of each 32-bit item, as elements of another type."""
    dtype = np.dtype(datatype)
    if arr.itemsize != 4 or dtype.itemsize not in (1, 2, 4):
        raise ValueError(f"an array of 32-bit items cannot be viewed as {dtype}")
    return np.ndarray(arr.shape, dtype=dtype, buffer=arr.data, strides=arr.strides)


def cast_uint32(x: Any) -> int:
    """The 32 bits that stand for a scalar: 16-bit ones zero-extended, floats as they are stored."""
    if isinstance(x, np.generic):
        if x.dtype.itemsize not in (2, 4):
            raise ValueError(f"scalars of 16 or 32 bits are cast, not {x.dtype}")
        return int(x.view(np.uint16 if x.dtype.itemsize == 2 else np.uint32))
    if isinstance(x, float):
        return int.from_bytes(struct.pack("<f", x), "little")
    return int(x) & MASK_32
