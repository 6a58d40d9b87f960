"""Core files: what all PEs of a run hold, by the names of variables.

The format is fabsim's own: JSON with one table of variables for each PE, values in hexadecimal.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fabsim import Simulator

#: Where a script's other tools look for it.
DEFAULT_NAME = "corefile.cs1"
_FORMAT = "fabsim core 1"


def write(path: str | Path, simulator: Simulator, size: tuple[int, int]) -> None:
    """Write a core file of all PEs of a rectangle of this size."""
    width, height = size
    places = [(x, y) for y in range(height) for x in range(width)]
    values = {f"{x},{y}": _variables(simulator, x, y) for x, y in places}
    Path(path).write_text(json.dumps({"format": _FORMAT, "values": values}) + "\n")


def read(path: str | Path) -> dict[tuple[int, int], dict[str, bytes]]:
    """Variables by PE. Raises ValueError if it is no core file of fabsim."""
    try:
        content: Any = json.loads(Path(path).read_text())
        if content["format"] != _FORMAT:
            raise ValueError
        return {
            (int(place.split(",")[0]), int(place.split(",")[1])): {
                name: bytes.fromhex(value) for name, value in variables.items()
            }
            for place, variables in content["values"].items()
        }
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise ValueError(f"{path} is no core file of fabsim") from None


def _variables(simulator: Simulator, x: int, y: int) -> dict[str, str]:
    names = [name for name, _, _ in simulator.variables(x, y)]
    return {name: simulator.read_variable(name, x, y).hex() for name in names}
