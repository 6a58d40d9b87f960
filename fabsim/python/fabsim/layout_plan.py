"""From regions, connections and streams to the routes of every PE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from fabsim.layout_colors import Nets
from fabsim.layout_paths import End, Field, between, side_towards, to_the_rim
from fabsim.layout_region import CodeRegion, PortHandle
from fabsim.layout_values import Color, IntVector, Position, Route

#: The largest fabric.
MOST_COLUMNS, MOST_ROWS = 762, 1172


@dataclass(frozen=True)
class Connection:
    """An output port and the input port that receives from it."""

    sender: PortHandle
    receiver: PortHandle


@dataclass(frozen=True)
class PortStream:
    """A stream between the host and a port; the host's end is at `place`, or chosen."""

    name: str
    port: PortHandle
    place: IntVector | None


@dataclass(frozen=True)
class PaintedStream:
    """A stream between the host and a PE that has routes for the color already."""

    name: str
    is_input: bool
    color: Color
    place: IntVector


Stream = PortStream | PaintedStream

# What has been given by the user: the color and its routes, by PE and net.
_Given = dict[tuple[IntVector, str], tuple[str, tuple[Position, ...]]]


@dataclass(frozen=True)
class HostPort:
    """Where a stream meets the fabric."""

    name: str
    is_input: bool
    place: IntVector
    net: str


@dataclass
class Plan:
    """What every PE of the layout does with the colors."""

    width: int
    height: int
    nets: Nets
    owners: dict[IntVector, CodeRegion]
    routes: dict[IntVector, dict[str, tuple[Position, ...]]] = field(default_factory=dict)
    used: dict[str, set[IntVector]] = field(default_factory=dict)
    host_ports: list[HostPort] = field(default_factory=list)

    def users(self) -> dict[IntVector, set[str]]:
        """The nets that a PE has routes for or parameters of, or that a neighbour sends to it."""
        users: dict[IntVector, set[str]] = {}
        for net, places in self.used.items():
            for place in places:
                users.setdefault(place, set()).add(net)
        return users

    def switched(self) -> set[str]:
        """The nets with a switch anywhere."""
        everywhere = (item for routes in self.routes.values() for item in routes.items())
        return {net for net, given in everywhere if len(given) > 1}

    def set_routes(self, place: IntVector, net: str, given: tuple[Position, ...]) -> None:
        """Set the routes of a net on a PE, and note who is concerned."""
        self.routes.setdefault(place, {})[net] = given
        used = self.used.setdefault(net, set())
        used.add(place)
        for position in given:
            for side in position.outputs:
                dx, dy = side.step
                used.add(IntVector(place.x + dx, place.y + dy))


def make_plan(
    regions: Sequence[CodeRegion], connections: Sequence[Connection], streams: Sequence[Stream]
) -> Plan:
    """Routes for everything, or ValueError."""
    _refuse_loose_ports(regions, connections, streams)
    nets = Nets(_colors(regions, streams))
    for connection in connections:
        sender, receiver = connection.sender.color, connection.receiver.color
        nets.join(sender.get_global_name(), receiver.get_global_name())
    owners = _owners(regions)
    width, height = _size(owners, connections, streams)
    plan = Plan(width, height, nets, owners)
    given = _painted(plan, regions)
    _apply_ports(plan, given, [*_ends(connections, streams)])
    for stream in streams:
        if isinstance(stream, PaintedStream):
            _open_painted(plan, given, stream)
    for (place, net), (_, routes) in given.items():
        plan.set_routes(place, net, routes)
    _note_params(plan, regions)
    for connection in connections:
        _connect(plan, connection)
    for stream in streams:
        if isinstance(stream, PortStream):
            _connect_to_host(plan, stream)
    return plan


def _colors(regions: Sequence[CodeRegion], streams: Sequence[Stream]) -> Iterator[Color]:
    for region in regions:
        yield from region.colors.values()
    for stream in streams:
        yield stream.port.color if isinstance(stream, PortStream) else stream.color


def _ends(connections: Sequence[Connection], streams: Sequence[Stream]) -> Iterator[PortHandle]:
    """The ports in use."""
    for connection in connections:
        yield from (connection.sender, connection.receiver)
    yield from (stream.port for stream in streams if isinstance(stream, PortStream))


def _refuse_loose_ports(
    regions: Sequence[CodeRegion], connections: Sequence[Connection], streams: Sequence[Stream]
) -> None:
    used = set(_ends(connections, streams))
    loose = [port.name for region in regions for port in region.ports if port not in used]
    if loose:
        raise ValueError(f"port {loose[0]!r} is connected to nothing")


def _owners(regions: Sequence[CodeRegion]) -> dict[IntVector, CodeRegion]:
    owners: dict[IntVector, CodeRegion] = {}
    for region in regions:
        right, bottom = region.origin.x + region.width, region.origin.y + region.height
        if right > MOST_COLUMNS or bottom > MOST_ROWS:
            raise ValueError(
                f"code region {region.name!r} does not fit a fabric of at most {MOST_COLUMNS} x "
                f"{MOST_ROWS} PEs"
            )
        for place in region.places():
            other = owners.setdefault(place, region)
            if other is not region:
                raise ValueError(
                    f"the code regions {other.name!r} and {region.name!r} overlap at "
                    f"({place.x}, {place.y}): place one of them elsewhere"
                )
    return owners


def _size(
    owners: dict[IntVector, CodeRegion],
    connections: Sequence[Connection],
    streams: Sequence[Stream],
) -> tuple[int, int]:
    """The smallest rectangle, with a column and a row for ways around the regions."""
    if not owners:
        raise ValueError("the layout has no code region")
    places = [*owners, *(stream.place for stream in streams if stream.place)]
    width, height = 1 + max(p.x for p in places), 1 + max(p.y for p in places)
    ways = bool(connections) or any(isinstance(stream, PortStream) for stream in streams)
    if ways:
        width, height = min(width + 1, MOST_COLUMNS), min(height + 1, MOST_ROWS)
    if width > MOST_COLUMNS or height > MOST_ROWS:
        raise ValueError(f"a fabric has at most {MOST_COLUMNS} x {MOST_ROWS} PEs")
    return width, height


def _painted(plan: Plan, regions: Sequence[CodeRegion]) -> _Given:
    given: _Given = {}
    for region in regions:
        for local, painted in region.paints.items():
            place = region.place_of(local)
            for name, routes in painted.items():
                other, _ = given.setdefault((place, plan.nets.of(name)), (name, routes))
                if other != name:
                    raise ValueError(
                        f"PE ({place.x}, {place.y}) has routes for the colors {other!r} and "
                        f"{name!r}, which connections between ports make one color"
                    )
    return given


def _apply_ports(plan: Plan, given: _Given, ports: Sequence[PortHandle]) -> None:
    """Routes of ports, as far as they are given, replace painted ones."""
    seen: dict[tuple[IntVector, str], PortHandle] = {}
    for port in ports:
        name = port.color.get_global_name()
        for place in port.places():
            key = (place, plan.nets.of(name))
            other = seen.setdefault(key, port)
            if other is not port:
                raise ValueError(
                    f"the ports {other.name!r} and {port.name!r} share PE ({place.x}, {place.y}) "
                    f"and a color"
                )
            given[key] = (name, port.positions)


def _open_painted(plan: Plan, given: _Given, stream: PaintedStream) -> None:
    """The host takes the place of the inputs of painted routes, or that of their outputs."""
    place, name = stream.place, stream.color.get_global_name()
    key = (place, plan.nets.of(name))
    if key not in given:
        raise ValueError(
            f"stream {stream.name!r}: PE ({place.x}, {place.y}) has no routes for {stream.color}"
        )
    side: dict[str, tuple[Route, ...]] = {"inputs" if stream.is_input else "outputs": ()}
    routes = tuple(replace(position, **side) for position in given[key][1])
    given[key] = (name, routes)
    if not all(position.inputs or position.outputs for position in routes):
        raise ValueError(f"stream {stream.name!r}: the routes of its color have one end only")
    plan.host_ports.append(HostPort(stream.name, stream.is_input, place, key[1]))


def _note_params(plan: Plan, regions: Sequence[CodeRegion]) -> None:
    """A PE is concerned by the colors that its parameters name."""
    for region in regions:
        for local, params in region.params.items():
            for value in params.values():
                if isinstance(value, Color):
                    net = plan.nets.of(value.get_global_name())
                    plan.used.setdefault(net, set()).add(region.place_of(local))


def _end(port: PortHandle, place: IntVector) -> End:
    """A port as the end of a way: the sides that its own routes use are no way in or out."""
    sides = {side for p in port.positions for side in (*p.inputs, *p.outputs)}
    return End(place, frozenset(sides), port.edge.outwards)


def _field(plan: Plan, net: str) -> Field:
    return Field(plan.width, plan.height, plan.owners, plan.used.get(net, set()))


def _connect(plan: Plan, connection: Connection) -> None:
    """A way for every PE of the two ports, which follow each other in the same order."""
    sender, receiver = connection.sender, connection.receiver
    net = plan.nets.of(sender.color.get_global_name())
    for here, there in zip(sender.places(), receiver.places(), strict=True):
        way = between(_field(plan, net), _end(sender, here), _end(receiver, there))
        if way is None:
            raise ValueError(
                f"there is no way from port {sender.name!r} at ({here.x}, {here.y}) to port "
                f"{receiver.name!r} at ({there.x}, {there.y}) that does not meet its own color: "
                f"leave free PEs between the code regions"
            )
        _lay(plan, net, way, sender.positions, receiver.positions)


def _connect_to_host(plan: Plan, stream: PortStream) -> None:
    """A way between a port and the host's end of its stream."""
    port = stream.port
    (place,) = port.places()
    net = plan.nets.of(port.color.get_global_name())
    way = _way_to_host(plan, net, stream, place)
    if way is None:
        wished = stream.place
        where = f"({wished.x}, {wished.y})" if wished else "an edge of the fabric"
        raise ValueError(f"stream {stream.name!r}: there is no way between its port and {where}")
    plan.host_ports.append(HostPort(stream.name, port.is_input, way[-1], net))
    host = (Position((), ()),)
    if len(way) == 1:
        plan.set_routes(place, net, port.positions)
    elif port.is_input:
        _lay(plan, net, way[::-1], host, port.positions)
    else:
        _lay(plan, net, way, port.positions, host)


def _way_to_host(
    plan: Plan, net: str, stream: PortStream, place: IntVector
) -> list[IntVector] | None:
    field, end = _field(plan, net), _end(stream.port, place)
    if stream.place is None:
        taken = {host_port.place for host_port in plan.host_ports}
        return to_the_rim(field, end, taken)
    if stream.place == place:
        return [place]
    if stream.place in field.closed:
        return None
    return between(field, end, End(stream.place, frozenset(), None))


def _lay(
    plan: Plan,
    net: str,
    way: Sequence[IntVector],
    first: tuple[Position, ...],
    last: tuple[Position, ...],
) -> None:
    """Routes along a way, which determines the outputs of `first` and the inputs of `last`."""
    sides = [side_towards(here, there) for here, there in pairwise(way)]
    plan.set_routes(way[0], net, tuple(replace(p, outputs=(sides[0],)) for p in first))
    for place, came, goes in zip(way[1:], sides, sides[1:], strict=False):
        plan.set_routes(place, net, (Position((came.facing,), (goes,)),))
    arrival: Route = sides[-1].facing
    plan.set_routes(way[-1], net, tuple(replace(p, inputs=(arrival,)) for p in last))
