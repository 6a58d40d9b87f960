"""From a recognised stream to the plan's phase: places of one form become a role."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from collc.base.paths import Path
from collc.lowering.regions import compress
from collc.lowering.roles import where
from collc.lowering.steps.numbers import number_of
from collc.lowering.streams.line import Flow, Part, Range, both_ways
from collc.lowering.streams.recognition import recognised
from collc.plan import (
    Advance,
    ColorUse,
    Exchange,
    Filter,
    Lane,
    Phase,
    Region,
    Role,
    SliceRange,
    Stream,
    Strided,
)
from collc.spec import ContractKind
from collc.spec.exchange import StepsPhase
from collc.target import Target

Places = list[int]

# what a PE does behind its words
_BEHIND = {
    Advance.RESET: ", then sets the switches back",
    Advance.OWN_ROUTER: ", then lets pass",
}


def stream_phase(
    pattern: StepsPhase,
    target: Target,
    *,
    path: Path | None = None,
    paired: bool = False,
    own_only: bool = False,
) -> Phase | None:
    """The plan's phase of `pattern` as a stream; None where it is none, or takes what the target is
    not known to do. With a `path`, which is a row when unfolded, it goes along that. `own_only`
    says that nothing but its own slice is asked of a rank afterwards."""
    found = recognised(pattern, own_only=own_only)
    if found is None or (path is not None and path.leaps):
        return None
    sizes = np.diff(pattern.slicing.bounds).tolist()
    both = both_ways(pattern.axis)
    for flow, root in zip(both, found.roots, strict=True):
        found.form(flow, sizes, root)
    flows = tuple(flow for flow in both if flow.parts)
    filtered = any(part.filter for flow in flows for part in flow.parts.values())
    if not flows or (filtered and not target.counter_filters):
        return None
    groups = _groups(flows, pattern.ranks)
    names = tuple(flow.name for flow in flows)
    return Phase(
        name=pattern.name,
        kind=ContractKind.ALLREDUCE if found.combines else ContractKind.BROADCAST,
        axis=pattern.axis,
        order=None,
        about=f"{pattern.algorithm} along {where(pattern.axis, path)}, streamed",
        roles=tuple(
            _role(f"part_{index}", places, flows, pattern) for index, places in enumerate(groups)
        ),
        regions=_regions(pattern, groups),
        exchange=Exchange(pattern.slicing, 0, names, blocks=pattern.blocks, streams=True),
        path=path,
        paired=paired,
    )


def _groups(flows: Sequence[Flow], ranks: int) -> list[Places]:
    """The places that do the same, but with other slices, and have some part in it."""
    alike: dict[tuple[object, ...], Places] = {}
    for place in range(ranks):
        form = tuple(_form(flow.parts.get(place)) for flow in flows)
        if any(form):
            alike.setdefault(form, []).append(place)
    return list(alike.values())


def _form(part: Part | None) -> tuple[object, ...]:
    """A part without the slices that it is about."""
    if part is None:
        return ()
    does = (part.sends is not None, part.receives is not None, part.filter is not None)
    takes = (part.through, part.combines, part.staged)
    return (part.positions, part.hops, part.advance, part.returns, *does, *takes)


def _role(name: str, places: Places, flows: Sequence[Flow], pattern: StepsPhase) -> Role:
    lanes, colors = [], []
    for flow in flows:
        parts = [flow.parts[place] for place in places if place in flow.parts]
        color = f"{pattern.name}_{flow.name}"
        if not parts:
            lanes.append(Lane(flow.name, None, None, ()))
            continue
        if parts[0].hops:
            colors += [ColorUse(color + hop, (route,)) for hop, route in parts[0].hops]
        else:
            colors.append(_color(color, places, parts, pattern))
        lanes.append(_lane(flow, color, places, parts, pattern))
    return Role(name, _about(lanes), (), tuple(colors), tuple(lanes))


def _color(color: str, places: Places, parts: Sequence[Part], pattern: StepsPhase) -> ColorUse:
    """The routers of a role; they are of one form."""
    first = parts[0]
    if first.filter is None:
        return ColorUse(color, first.positions)
    columns = zip(*(part.filter for part in parts if part.filter), strict=True)
    period, before, passes = (_slices(places, column, pattern) for column in columns)
    return ColorUse(color, first.positions, Filter(period, before, passes))


def _lane(
    flow: Flow, color: str, places: Places, parts: Sequence[Part], pattern: StepsPhase
) -> Lane:
    first = parts[0]
    sends = [part.sends for part in parts if part.sends]
    receives = [part.receives for part in parts if part.receives]
    if not sends and not receives:
        return Lane(flow.name, None, None, ())
    stream = Stream(
        _slices(places, sends, pattern) if sends else None,
        _slices(places, receives, pattern) if receives else None,
        flow.backward,
        first.advance,
        first.returns,
        first.through,
        first.combines,
        first.staged,
    )
    arrives, leaves = color, color
    if first.hops:
        arrives, leaves = color + first.hops[0][0], color + first.hops[-1][0]
    return Lane(
        flow.name, arrives if receives else None, leaves if sends else None, (), stream=stream
    )


def _slices(places: Places, ranges: Sequence[Range], pattern: StepsPhase) -> SliceRange:
    """SliceRange of several places as formulas of the place."""
    at = np.array(places, dtype=np.int64)
    first, end = np.array(ranges, dtype=np.int64).T
    most = pattern.slicing.count
    return SliceRange(number_of(at, first, most), number_of(at, end, most))


def _about(lanes: Sequence[Lane]) -> str:
    """What the lanes of a role do, in words."""
    return ", ".join(_about_lane(lane) for lane in lanes if lane.stream) or "lets slices pass"


def _about_lane(lane: Lane) -> str:
    assert lane.stream is not None, "only streams are described"
    return " and ".join(_words(lane.stream)) + f" on lane `{lane.name}`"


def _words(stream: Stream) -> Iterator[str]:
    if stream.sends is not None:
        yield "sends" + _BEHIND.get(stream.advance, "")
    if stream.through:
        yield "combines on the way"
    if stream.receives is not None:
        yield "receives" + (" to combine" if stream.combines or stream.staged else "")


def _regions(pattern: StepsPhase, groups: Sequence[Places]) -> tuple[tuple[Region, int], ...]:
    """The roles' places in grid coordinates, on all lines."""
    across = Strided(*pattern.lines)
    found = []
    for role, places in enumerate(groups):
        for along in compress(places):
            region = Region(along, across) if pattern.axis == "x" else Region(across, along)
            found.append((region, role))
    return tuple(sorted(found))
