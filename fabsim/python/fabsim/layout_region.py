"""Code regions: rectangles of PEs with one source, their parameters, routes and ports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from fabsim.layout_values import (
    Color,
    Edge,
    EdgeRouteInfo,
    IntRectangle,
    IntVector,
    Position,
    RoutingPosition,
    positions,
)

_SYMBOL_DTYPES = ("int32", "uint32", "float32", "int16", "uint16")


@dataclass(frozen=True, eq=False)
class PortHandle:
    """A row of PEs at the edge of a region through which a color comes in or goes out."""

    name: str
    region: CodeRegion
    color: Color
    edge: Edge
    positions: tuple[Position, ...]
    size: int
    is_input: bool

    def places(self) -> list[IntVector]:
        """The PEs of the port in the layout, from west or north on."""
        local = self.edge.places(self.region.width, self.region.height)
        return [self.region.place_of(place) for place in local]


@dataclass(frozen=True, eq=False)
class SymbolData:
    """What a variable holds when the program is loaded: a block for each row and column."""

    symbol: str
    blocks: npt.NDArray[Any]


@dataclass(eq=False)
class CodeRegion:
    """A rectangle of PEs that run the same source. Made by `SdkLayout.create_code_region`."""

    source: str
    name: str
    width: int
    height: int
    origin: IntVector = field(default_factory=lambda: IntVector(0, 0))
    params: dict[IntVector, dict[str, int | Color]] = field(default_factory=dict)
    paints: dict[IntVector, dict[str, tuple[Position, ...]]] = field(default_factory=dict)
    colors: dict[str, Color] = field(default_factory=dict)
    ports: list[PortHandle] = field(default_factory=list)
    symbols: list[SymbolData] = field(default_factory=list)

    def color(self, name: str, value: int | None = None) -> Color:
        """A color that belongs to this region."""
        return Color(name, value, region=self.name)

    def place(self, x: int, y: int) -> None:
        """Put the north-west PE of the region here."""
        if x < 0 or y < 0:
            raise ValueError(f"code region {self.name!r} cannot be placed at ({x}, {y})")
        self.origin = IntVector(x, y)

    def place_of(self, local: IntVector) -> IntVector:
        """A place of the region as one of the layout."""
        return IntVector(self.origin.x + local.x, self.origin.y + local.y)

    def places(self) -> Iterable[IntVector]:
        """All PEs of the region in the layout."""
        return (self.place_of(local) for local in self._all())

    def set_param(
        self, coord: IntVector, name: str | Color, value: int | Color | None = None
    ) -> None:
        """Give a parameter of one PE a number or a color; a color alone is one by its own name."""
        self._set_param([coord], name, value)

    def set_param_range(
        self, rect: IntRectangle, name: str | Color, value: int | Color | None = None
    ) -> None:
        """Like `set_param`, for a rectangle."""
        self._set_param(rect.places(), name, value)

    def set_param_all(self, name: str | Color, value: int | Color | None = None) -> None:
        """Like `set_param`, for the whole region."""
        self._set_param(self._all(), name, value)

    def _set_param(
        self, places: Iterable[IntVector], name: str | Color, value: int | Color | None
    ) -> None:
        if isinstance(name, Color):
            if value is not None:
                raise TypeError("a color alone, or a name and a value are expected")
            value, name = name, name.get_local_param_name()
        if not (name.isascii() and name.isidentifier()):
            raise ValueError(f"{name!r} is no name of a parameter")
        if isinstance(value, Color):
            self._note(value)
        elif isinstance(value, (int, np.integer)) and not isinstance(value, bool):
            value = int(value)
        else:
            raise TypeError(f"parameter {name!r}: an integer or a Color is expected, not {value!r}")
        for place in self._inside(places):
            self.params.setdefault(place, {})[name] = value

    def paint(self, coord: IntVector, color: Color, routes: Sequence[RoutingPosition]) -> None:
        """Set the routes of a color on one PE: one position, or several of its switch."""
        self._paint([coord], color, positions(routes))

    def paint_range(
        self, rect: IntRectangle, color: Color, routes: Sequence[RoutingPosition]
    ) -> None:
        """Like `paint`, for a rectangle."""
        self._paint(rect.places(), color, positions(routes))

    def paint_all(
        self,
        color: Color,
        routes: Sequence[RoutingPosition],
        edge_routes: Sequence[EdgeRouteInfo] = (),
    ) -> None:
        """Like `paint`, for the whole region, but for the places at these edges."""
        self._paint(self._all(), color, positions(routes))
        for info in edge_routes:
            self._paint(info.edge.places(self.width, self.height), color, info.positions)

    def _paint(
        self, places: Iterable[IntVector], color: Color, painted: tuple[Position, ...]
    ) -> None:
        self._note(color)
        for place in self._inside(places):
            self.paints.setdefault(place, {})[color.get_global_name()] = painted

    def create_input_port(
        self,
        color: Color,
        edge: Edge,
        routes: Sequence[RoutingPosition],
        data_size: int,
        prefix: str = "",
    ) -> PortHandle:
        """A port where the color comes in; the routing positions say where it goes."""
        return self._port(color, edge, routes, data_size, prefix, is_input=True)

    def create_output_port(
        self,
        color: Color,
        edge: Edge,
        routes: Sequence[RoutingPosition],
        data_size: int,
        prefix: str = "",
    ) -> PortHandle:
        """A port where the color goes out; the routing positions say where it comes from."""
        return self._port(color, edge, routes, data_size, prefix, is_input=False)

    def _port(  # noqa: PLR0913 (what the two functions above are given)
        self,
        color: Color,
        edge: Edge,
        routes: Sequence[RoutingPosition],
        size: int,
        prefix: str,
        *,
        is_input: bool,
    ) -> PortHandle:
        name = f"{prefix}{self.name}_{color.get_local_param_name()}"
        if any(port.name == name for port in self.ports):
            raise ValueError(f"there is a port {name!r} already; a prefix makes it another one")
        given = positions(routes)
        for position in given:
            if is_input and (position.inputs or not position.outputs):
                raise ValueError(f"input port {name!r}: routing positions have outputs only")
            if not is_input and (position.outputs or not position.inputs):
                raise ValueError(f"output port {name!r}: routing positions have inputs only")
        self._note(color)
        port = PortHandle(name, self, color, edge, given, size, is_input)
        self.ports.append(port)
        return port

    def set_symbol_all(self, symbol: str, data: npt.NDArray[Any], width: int, height: int) -> None:
        """Spread data of so many columns and rows over the region: a block a PE, row by row."""
        if data.dtype.name not in _SYMBOL_DTYPES:
            raise TypeError(f"symbol {symbol!r}: data of {_SYMBOL_DTYPES}, not {data.dtype}")
        if data.size != width * height or width % self.width or height % self.height:
            raise ValueError(
                f"symbol {symbol!r}: {data.size} elements as {width} x {height} do not go evenly "
                f"onto the {self.width} x {self.height} PEs of {self.name!r}"
            )
        columns, rows = width // self.width, height // self.height
        blocks = data.reshape(self.height, rows, self.width, columns).swapaxes(1, 2)
        self.symbols.append(SymbolData(symbol, blocks.copy()))

    def _note(self, color: Color) -> None:
        if not isinstance(color, Color):
            raise TypeError(f"a Color is expected, not {color!r}")
        known = self.colors.setdefault(color.get_global_name(), color)
        if known.get_value() != color.get_value():
            raise ValueError(f"{color} has two values: {known.get_value()}, {color.get_value()}")

    def _all(self) -> Iterable[IntVector]:
        return IntRectangle(IntVector(0, 0), IntVector(self.width, self.height)).places()

    def _inside(self, places: Iterable[IntVector]) -> Iterable[IntVector]:
        for place in places:
            if not (0 <= place.x < self.width and 0 <= place.y < self.height):
                raise ValueError(
                    f"code region {self.name!r} of {self.width} x {self.height} has no PE "
                    f"({place.x}, {place.y})"
                )
            yield place
