"""From a recognised stream to the plan's phase: places of one form become a role."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

import numpy as np

from collc.base.paths import Path
from collc.lowering.regions import regions_of
from collc.lowering.roles import where
from collc.lowering.steps.numbers import number_of
from collc.lowering.streams.line import Flow, Part, Range, Shape
from collc.lowering.streams.recognition import blocks_of, recognised
from collc.plan import (
    Advance,
    ColorUse,
    Entry,
    Filter,
    Lane,
    Phase,
    Role,
    Slices,
    Stream,
    lane_of,
    stream_of,
)
from collc.spec import ContractKind
from collc.spec.exchange import StepsPhase
from collc.target import Target

Places = list[int]

# what a PE does behind its words
_BEHIND = {
    Advance.RESET: ", then sets the switches back",
    Advance.OWN_ROUTER: ", then lets other slices pass",
    Advance.TURN: ", then lets other slices pass",
    Advance.HAND_OVER: ", then hands its turn over",
}


def stream_phases(
    pattern: StepsPhase,
    target: Target,
    *,
    path: Path | None = None,
    paired: bool = False,
    own_only: bool = False,
) -> Iterator[Phase]:
    """The plan's phases of `pattern` as a stream, one for each form that differs from those before;
    none where it is none. With a `path`, which is a row when unfolded, it goes along that.
    `own_only` says that nothing but its own slice is asked of a rank afterwards."""
    found = recognised(pattern, own_only=own_only)
    if found is None or (path is not None and path.gaps):
        return
    whole = pattern.slicing.count == 1
    of_any_length = pattern.slicing.dynamic and not whole
    if of_any_length:
        sizes = [1] * pattern.ranks  # as if each slice had elements
    else:
        sizes = _all_at(found.root, pattern) if whole else _sizes(pattern)
    if found.side and not whole:
        sizes = [size * moved for size, moved in zip(sizes, found.side, strict=True)]
    kind = ContractKind.ALLREDUCE if found.combines else ContractKind.BROADCAST
    line = Shape(sizes, found.root, pattern.axis, target)
    before: list[tuple[Flow, ...]] = []
    for form in found.forms:
        flows = tuple(flow for flow in form(line) if flow.parts)
        if whole and found.side:
            flows = tuple(one for one in flows if any(found.side[place] for place in one.parts))
        if whole:
            flows = tuple(
                replace(flow, parts=_of_one_slice(flow), backward=False) for flow in flows
            )
        elif of_any_length:
            flows = tuple(replace(flow, parts=_of_any_length(flow)) for flow in flows)
        if not flows or flows in before:
            continue
        before.append(flows)
        groups = _groups(flows, pattern.ranks)
        names = _lanes(flows)
        phase = Phase(
            name=pattern.name,
            kind=kind,
            axis=pattern.axis,
            order=None,
            about=f"{pattern.algorithm} along {where(pattern.axis, path)}, streamed",
            roles=tuple(
                _role(f"part_{index}", places, flows, pattern, names)
                for index, places in enumerate(groups)
            ),
            regions=regions_of(pattern, groups),
            span=pattern.span,
            slicing=pattern.slicing,
            lanes=names,
            blocks=pattern.blocks,
            path=path,
            paired=paired,
        )
        if phase.in_blocks and target.filters < 2 * FILTERS_OF_AXIS:
            yield _filtered_in_memory(phase)
        yield phase


FILTERS_OF_AXIS = 2  # one for each way along a line


def _filtered_in_memory(phase: Phase) -> Phase:
    """The same where a PE has too few filters for both axes of a grid. Slices in several blocks are
    put in their order by a local operation, which can leave out what is not for the PE."""

    def of_entry(entry: Entry) -> Entry:
        ops = (
            replace(op, filter=op.filter and replace(op.filter, in_memory=True)) for op in entry.ops
        )
        return replace(entry, ops=tuple(ops))

    def of_lane(lane: Lane) -> Lane:
        loops = (replace(one, entries=tuple(map(of_entry, one.entries))) for one in lane.loops)
        return replace(lane, loops=tuple(loops))

    roles = (replace(role, lanes=tuple(map(of_lane, role.lanes))) for role in phase.roles)
    return replace(phase, roles=tuple(roles))


def _sizes(pattern: StepsPhase) -> list[int]:
    """The elements of each rank's slice, in all blocks."""
    sizes: list[int] = np.diff(pattern.slicing.bounds).reshape(-1, pattern.ranks).sum(0).tolist()
    return sizes


def _all_at(root: int, pattern: StepsPhase) -> list[int]:
    """Slices of a vector that is not cut, all of which is the root's."""
    return [pattern.slicing.length if place == root else 0 for place in range(pattern.ranks)]


def _of_one_slice(flow: Flow) -> dict[int, Part]:
    """The parts, of which any slices are the one that there is."""
    one = (0, 1)
    return {
        place: replace(part, sends=part.sends and one, receives=part.receives and one)
        for place, part in flow.parts.items()
    }


def _of_any_length(flow: Flow) -> dict[int, Part]:
    """The parts, whose own slice may have no element: the turn of a place passes all the same, and
    that of its words are back says nothing then."""
    return {
        place: replace(part, advance=Advance.TURN, returns=False)
        if part.advance is Advance.OWN_ROUTER
        else part
        for place, part in flow.parts.items()
    }


def _lanes(flows: Sequence[Flow]) -> tuple[str, ...]:
    """The lanes of all places, those on which some receive first."""
    names = [part.lane or flow.name for flow in flows for part in flow.parts.values()]
    return tuple(sorted(dict.fromkeys(names), key=_order))


def _order(name: str) -> tuple[int, bool]:
    """Lanes on which a PE only sends come last, as they follow each other."""
    number = name.rpartition("_")[2]
    return int(number) if number.isdecimal() else 0, "backward" in name


def _groups(flows: Sequence[Flow], ranks: int) -> list[Places]:
    """The places that do the same, but with other slices; some may have no part in it."""
    alike: dict[tuple[object, ...], Places] = {}
    for place in range(ranks):
        form = tuple(_form(flow.parts.get(place)) for flow in flows)
        alike.setdefault(form, []).append(place)
    return list(alike.values())


def _form(part: Part | None) -> tuple[object, ...]:
    """A part without the slices that it is about."""
    if part is None:
        return ()
    does = (part.sends is not None, part.receives is not None, part.filter is not None)
    takes = (part.through, part.combines, part.staged, part.kept_first, part.after, part.returns)
    return (part.positions, part.ring, part.hops, part.advance, part.lane, *does, *takes)


def _role(
    name: str,
    places: Places,
    flows: Sequence[Flow],
    pattern: StepsPhase,
    names: Sequence[str],
) -> Role:
    lanes, colors = {lane: Lane(lane, ()) for lane in names}, []
    for flow in flows:
        parts = [flow.parts[place] for place in places if place in flow.parts]
        color = f"{pattern.name}_{flow.name}"
        if not parts:
            continue
        first = parts[0]
        if first.hops:
            colors += [ColorUse(color + hop, (route,)) for hop, route in first.hops]
        else:
            colors.append(ColorUse(color, first.positions, first.ring))
        lane = first.lane or flow.name
        lanes[lane] = lane_of(lane, _stream(flow, color, places, parts, pattern))
    return Role(name, _about(tuple(lanes.values())), tuple(lanes.values()), tuple(colors))


def _stream(
    flow: Flow, color: str, places: Places, parts: Sequence[Part], pattern: StepsPhase
) -> Stream:
    """What the places of a role do on a lane; they are of one form."""
    first = parts[0]

    def slices(ranges: Sequence[Range | None]) -> Slices | None:
        """Formulas of the place."""
        given = [one for one in ranges if one]
        return _slices(places, given, pattern, backward=flow.backward) if given else None

    sends, receives = slices([p.sends for p in parts]), slices([p.receives for p in parts])
    filters = [
        _slices(places, column, pattern, backward=False)
        for column in zip(*(part.filter for part in parts if part.filter), strict=True)
    ]
    counter = None
    if filters:
        period, before, passes = filters
        counter = Filter(period, before, passes)
    arrives, leaves = color, color
    if first.hops:
        arrives, leaves = color + first.hops[0][0], color + first.hops[-1][0]
    return Stream(
        arrives if receives or first.through else None,
        leaves if sends else None,
        sends,
        receives,
        first.advance,
        counter,
        first.through,
        first.combines,
        first.staged,
        first.kept_first,
        first.after,
        first.returns,
    )


def _slices(
    places: Places, ranges: Sequence[Range], pattern: StepsPhase, *, backward: bool
) -> Slices:
    """Slices of several places as formulas of the place."""
    at = np.array(places, dtype=np.int64)
    first, end = np.array(ranges, dtype=np.int64).T
    most, blocks = pattern.slicing.count, blocks_of(pattern)
    several = (blocks, most // blocks) if blocks > 1 else (1, 0)
    return Slices(number_of(at, first, most), number_of(at, end - first, most), backward, *several)


def _about(lanes: Sequence[Lane]) -> str:
    """What the lanes of a role do, in words."""
    streams = ((lane.name, stream_of(lane)) for lane in lanes)
    found = [(" and ".join(_words(one)), f"`{name}`") for name, one in streams if one]
    parts = []
    for words, alike in groupby(found, key=itemgetter(0)):
        names = [name for _, name in alike]
        parts.append(f"{words} on lane{'s' * (len(names) > 1)} {', '.join(names)}")
    return "; ".join(parts) or "lets slices pass"


def _words(stream: Stream) -> Iterator[str]:
    if stream.sends is not None:
        yield "sends" + _BEHIND.get(stream.advance, "")
    if stream.through:
        yield "combines on the way"
    if stream.receives is not None:
        how = " to combine" if stream.combines else " into the stage" if stream.staged else ""
        yield f"receives{how}"
