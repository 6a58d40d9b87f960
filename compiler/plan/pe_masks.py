"""On which PEs of a program's grid phases set routers, receive and send, color by color.

Masks have the shape of the whole grid, one boolean for each PE, row by row. A collective on each
line of a part is on all of its lines.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from collc.base.columns import Bools
from collc.plan import Phase, Role, filters_of
from collc.plan.placement import received_colors, sent_colors
from collc.spec import Collective

K = TypeVar("K")


def union_by_key(masks: Iterable[tuple[K, Bools]]) -> dict[K, Bools]:
    """For each key the union of its masks."""
    found: dict[K, Bools] = {}
    for key, mask in masks:
        found[key] = found[key] | mask if key in found else mask
    return found


def receiving(collective: Collective, phase: Phase) -> dict[str, Bools]:
    """The PEs that receive on each color."""
    return masks_of(collective, phase, received_colors)


def sending(collective: Collective, phase: Phase) -> dict[str, Bools]:
    """The PEs that send on each color."""
    return masks_of(collective, phase, sent_colors)


def routing(collective: Collective, phase: Phase) -> dict[str, Bools]:
    """The PEs whose routers a phase sets on each color, those on the way of a gap included."""
    found = [*masks_of(collective, phase, lambda role: (use.color for use in role.colors)).items()]
    for detour in phase.detours:
        passed = np.zeros((collective.grid.height, collective.grid.width), dtype=np.bool_)
        for x, y in detour.pes:
            passed[y, x] = True
        found.append((detour.color, _on_whole(collective, passed)))
    return union_by_key(found)


def filtering(collective: Collective, phase: Phase) -> dict[str, Bools]:
    """The PEs whose routers have a filter on each color."""
    return masks_of(collective, phase, filters_of)


def turning(collective: Collective, phase: Phase) -> dict[tuple[str, str], Bools]:
    """The PEs whose routers change a side when their switches move, by color and side, `input` or
    `output`."""
    inputs = masks_of(collective, phase, lambda of: (c.color for c in of.colors if c.turns_input))
    outputs = masks_of(collective, phase, lambda of: (c.color for c in of.colors if c.turns_output))
    return {(color, "input"): mask for color, mask in inputs.items()} | {
        (color, "output"): mask for color, mask in outputs.items()
    }


def touched_by(collective: Collective, phase: Phase) -> Bools:
    """The PEs whose routers a phase sets, on whatever color."""
    whole = collective.grid.whole
    found = np.zeros((whole.height, whole.width), dtype=np.bool_)
    for mask in routing(collective, phase).values():
        found |= mask
    return found


def masks_of(
    collective: Collective, phase: Phase, had_by: Callable[[Role], Iterable[K]]
) -> dict[K, Bools]:
    """The PEs of the roles that have something, for each that a role has, such as a color."""
    having: dict[K, set[int]] = {}
    for index, role in enumerate(phase.roles):
        for one in had_by(role):
            having.setdefault(one, set()).add(index + 1)
    numbers = _roles(collective, phase)
    found = {}
    for one, roles in having.items():
        table = np.zeros(len(phase.roles) + 1, dtype=np.bool_)
        table[list(roles)] = True
        found[one] = _on_whole(collective, table[numbers])
    return found


def _roles(collective: Collective, phase: Phase) -> npt.NDArray[np.int32]:
    """The number of each PE's role on the collective's own grid, from 1, 0 for none. Regions of
    a wrong plan may reach off the grid."""
    lined = collective.lined if phase.path else collective.grid
    numbers = np.zeros((lined.height, lined.width), dtype=np.int32)
    for region, index in phase.regions:
        rows = [y for y in region.y if 0 <= y < lined.height]
        numbers[np.ix_(rows, [x for x in region.x if 0 <= x < lined.width])] = index + 1
    if phase.path is None:
        return numbers
    folded = np.zeros((collective.grid.height, collective.grid.width), dtype=np.int32)
    folded[phase.path.y, phase.path.x] = numbers[0]
    return folded


def _on_whole(collective: Collective, mask: Bools) -> Bools:
    """What is said of a collective's own grid, said of the whole one that it lies on."""
    site = collective.grid.site
    if site is None:
        return mask
    area = site.area or collective.grid
    found = np.zeros((site.whole.height, site.whole.width), dtype=np.bool_)
    found[site.y : site.y + area.height, site.x : site.x + area.width] = mask
    return found
