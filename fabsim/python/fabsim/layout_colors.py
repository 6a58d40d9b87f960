"""Values for the colors of a layout.

Connected ports share one color, so their colors become one net. Two nets that meet on a PE need
different values; the others may share one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from fabsim.layout_values import HIGHEST_COLOR, Color, IntVector

#: Colors whose routers have switches, by architecture.
SWITCHED = {
    "wse2": frozenset(range(HIGHEST_COLOR + 1)),
    "wse3": frozenset([*range(10), 12, 13, 16, 17, 20, 21]),
}


class Nets:
    """Colors by their global names, and which of them are one."""

    def __init__(self, colors: Iterable[Color]) -> None:
        self._parent: dict[str, str] = {}
        self._value: dict[str, int | None] = {}
        for color in colors:
            name, value = color.get_global_name(), color.get_value()
            if name not in self._parent:
                self._parent[name], self._value[name] = name, value
            elif self._value[name] != value:
                raise ValueError(f"{color} has two values: {self._value[name]} and {value}")

    def of(self, name: str) -> str:
        """The net that a color belongs to."""
        while self._parent[name] != name:
            name = self._parent[name]
        return name

    def value(self, net: str) -> int | None:
        """The value that the user has given one of the net's colors."""
        return self._value[net]

    def join(self, first: str, second: str) -> None:
        """Make one net of those of two colors."""
        kept, other = self.of(first), self.of(second)
        if kept == other:
            return
        values = {self._value[kept], self._value[other]} - {None}
        if len(values) > 1:
            low, high = sorted(str(value) for value in values)
            raise ValueError(
                f"ports of the colors {first!r} and {second!r} are connected, which makes them one "
                f"color, but they have the values {low} and {high}"
            )
        self._parent[other] = kept
        self._value[kept] = next(iter(values), None)

    def members(self, net: str) -> list[str]:
        """The names of a net's colors."""
        return [name for name in self._parent if self.of(name) == net]

    def all(self) -> list[str]:
        """All nets."""
        return [name for name, parent in self._parent.items() if name == parent]


def allocate(
    nets: Nets, users: Mapping[IntVector, Collection[str]], switched: Collection[str], arch: str
) -> dict[str, int]:
    """A value for every net; `users` are the nets of each PE, `switched` those with a switch.

    Given values stay. The other nets take the lowest value that is free wherever they are used:
    those with a switch first, which not all values have, then those that meet most others.
    """
    meets = _meets(nets.all(), users)
    values = {net: value for net in nets.all() if (value := nets.value(net)) is not None}
    _refuse_conflicts(nets, values, users, switched, arch)
    open_nets = [net for net in nets.all() if net not in values]
    open_nets.sort(key=lambda net: (net not in switched, -len(meets[net])))
    for net in open_nets:
        allowed = SWITCHED[arch] if net in switched else range(HIGHEST_COLOR + 1)
        taken = {values[other] for other in meets[net] if other in values}
        free = sorted(set(allowed) - taken)
        if not free:
            raise ValueError(
                f"no value is left for color {net!r}: it meets {len(meets[net])} others, and "
                f"{arch} has {len(allowed)} {'with switches' if net in switched else 'in all'}"
            )
        values[net] = free[0]
    return values


def _meets(nets: Iterable[str], users: Mapping[IntVector, Collection[str]]) -> dict[str, set[str]]:
    meets: dict[str, set[str]] = {net: set() for net in nets}
    for together in {frozenset(found) for found in users.values()}:
        for net in together:
            meets[net] |= together - {net}
    return meets


def _refuse_conflicts(
    nets: Nets,
    values: Mapping[str, int],
    users: Mapping[IntVector, Collection[str]],
    switched: Collection[str],
    arch: str,
) -> None:
    for net, value in values.items():
        if net in switched and value not in SWITCHED[arch]:
            raise ValueError(f"color {net!r}: the value {value} has no switches on {arch}")
    for place, found in users.items():
        first: dict[int, str] = {}
        for net in sorted(found):
            if net not in values:
                continue
            other = first.setdefault(values[net], net)
            if other != net:
                raise ValueError(
                    f"PE ({place.x}, {place.y}) uses the colors {nets.members(other)[0]!r} and "
                    f"{nets.members(net)[0]!r}, which both have the value {values[net]}"
                )
