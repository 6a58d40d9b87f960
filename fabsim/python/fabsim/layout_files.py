"""What a compiled layout leaves beside the program: streams, and initial values of variables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fabsim._native import Simulator
from fabsim.layout_plan import Plan

_INDEX = "sdk_layout.json"


@dataclass(frozen=True)
class StreamPort:
    """Where the host meets a color of a PE."""

    name: str
    is_input: bool
    x: int
    y: int
    color: int


@dataclass(frozen=True)
class LayoutFiles:
    """What `SdkRuntime` needs of a layout: streams, whose ids are their numbers, and variables."""

    streams: list[StreamPort]
    symbols: list[dict[str, Any]]
    directory: Path

    def fill(self, simulator: Simulator) -> None:
        """Give variables their initial values."""
        for symbol in self.symbols:
            blocks = np.load(self.directory / symbol["file"])
            for row, column in np.ndindex(blocks.shape[:2]):
                x, y = symbol["x"] + column, symbol["y"] + row
                simulator.write_variable(symbol["name"], x, y, blocks[row, column].tobytes())


def write(directory: Path, plan: Plan, values: Mapping[str, int]) -> None:
    """Write the files of a layout; colors.json is for the user's eyes."""
    colors = {name: values[net] for net in plan.nets.all() for name in plan.nets.members(net)}
    (directory / "colors.json").write_text(json.dumps(colors, indent=2, sort_keys=True) + "\n")
    streams = [
        StreamPort(port.name, port.is_input, port.place.x, port.place.y, values[port.net])
        for port in plan.host_ports
    ]
    index = {
        "streams": [asdict(stream) for stream in streams],
        "symbols": list(_symbols(directory, plan)),
    }
    (directory / _INDEX).write_text(json.dumps(index, indent=2) + "\n")


def _symbols(directory: Path, plan: Plan) -> Iterator[dict[str, Any]]:
    regions = {id(region): region for region in plan.owners.values()}
    for region in regions.values():
        for number, data in enumerate(region.symbols):
            file = f"{region.name}_{number}.npy"
            np.save(directory / file, data.blocks, allow_pickle=False)
            yield {"name": data.symbol, "x": region.origin.x, "y": region.origin.y, "file": file}


def read(directory: str) -> LayoutFiles | None:
    """The files of a layout, or None if the directory's program has a layout of its own."""
    path = Path(directory)
    try:
        index = json.loads((path / _INDEX).read_text())
    except FileNotFoundError:
        return None
    streams = [StreamPort(**stream) for stream in index["streams"]]
    return LayoutFiles(streams, index["symbols"], path)
