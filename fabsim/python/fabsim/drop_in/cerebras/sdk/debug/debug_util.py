"""`debug_util` on fabsim: the part that reads what `<debug>` has recorded."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fabsim import last_run

# Types whose value is in the high byte of the record's first word.
_SHORT = "?bB"
_WORD_BYTES = 2


class debug_util:  # noqa: N801 (the name that scripts import)
    """Reads the memory of the run of an output directory; PEs are named by fabric coordinates."""

    def __init__(self, name: str, cmaddr: str | None = None) -> None:
        if cmaddr:
            raise ValueError("fabsim is a simulator: it has no system to connect to (cmaddr)")
        self._simulator = last_run.of(name)
        recipe = json.loads((Path(name) / "fabsim.json").read_text())
        self._offsets: tuple[int, int] = tuple(recipe["fabric_offsets"])

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"fabsim's debug_util does not support {name} yet")

    def read_trace(self, x: int, y: int, key: str) -> list[Any]:
        """The values recorded on a PE, in their order; a time stamp is one integer."""
        symbol = f"$$csl_debug.{key}.buffer"
        used = int(self._read(f"{symbol}_index", x, y, 1)[0])
        return _values(self._read(symbol, x, y, used).tobytes())

    def _read(self, symbol: str, x: int, y: int, count: int) -> npt.NDArray[Any]:
        px, py = x - self._offsets[0], y - self._offsets[1]
        return self._simulator.memcpy_d2h(symbol, np.uint16, px, py, 1, 1, count)


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
