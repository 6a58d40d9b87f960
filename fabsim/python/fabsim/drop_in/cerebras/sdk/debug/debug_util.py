"""`debug_util` on fabsim: the values of variables, and what `<debug>` has recorded.

It looks at the run of this process; in a process that has run nothing, at the core file that
`dump_core` has written to the working directory.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from fabsim import core_file, last_run
from fabsim.cslc import fabric_offsets

# Types whose value is in the high byte of the record's first word.
_SHORT = "?bB"
_WORD_BYTES = 2


class debug_util:  # noqa: N801 (the name that scripts import)
    """Reads the memory of the run of an output directory; PEs are named by fabric coordinates."""

    def __init__(self, name: str, cmaddr: str | None = None) -> None:
        if cmaddr:
            raise ValueError("fabsim is a simulator: it has no system to connect to (cmaddr)")
        self._simulator = last_run.of(name)
        self._core = {} if self._simulator else core_file.read(core_file.DEFAULT_NAME)
        self._offsets = fabric_offsets(name)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"fabsim's debug_util does not support {name} yet")

    def get_symbol(self, x: int, y: int, s: str, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """The elements of a variable of a PE; one of an imported module is `module.name`."""
        return np.frombuffer(self._read(s, x, y), dtype=dtype)

    def get_symbol_rect(
        self, rect: tuple[tuple[int, int], tuple[int, int]], s: str, dtype: npt.DTypeLike
    ) -> npt.NDArray[Any]:
        """The elements of a variable of all PEs of ((x, y), (w, h)), by column, row and element."""
        (x, y), (w, h) = rect
        columns = [[self.get_symbol(x + i, y + j, s, dtype) for j in range(h)] for i in range(w)]
        return np.array(columns)

    def read_trace(self, x: int, y: int, key: str) -> list[Any]:
        """The values recorded on a PE, in their order; a time stamp is one integer."""
        symbol = f"$$csl_debug.{key}.buffer"
        used = int.from_bytes(self._read(f"{symbol}_index", x, y), "little")
        return _values(self._read(symbol, x, y)[: _WORD_BYTES * used])

    def _read(self, symbol: str, x: int, y: int) -> bytes:
        px, py = x - self._offsets[0], y - self._offsets[1]
        if self._simulator:
            if px < 0 or py < 0:
                raise ValueError(f"the PE ({x}, {y}) of the fabric is not part of the program")
            return self._simulator.read_variable(symbol, px, py)
        try:
            return self._core[px, py][symbol]
        except KeyError:
            raise ValueError(f"PE ({x}, {y}) has no variable {symbol!r} in its memory") from None


def _values(data: bytes) -> list[Any]:
    values: list[Any] = []
    at = 0
    while at < len(data):
        kind, high = chr(data[at]), data[at + 1]
        at += _WORD_BYTES
        if kind in _SHORT:
            values += struct.unpack(f"<{kind}", bytes([high]))
        elif kind == "s":
            values.append(data[at : at + high].rstrip(b"\0").decode())
            at += high
        elif kind == "t":
            values.append(int.from_bytes(data[at : at + 6], "little"))
            at += 6
        else:
            values += struct.unpack_from(f"<{kind}", data, at)
            at += struct.calcsize(kind)
    return values
