"""The forms of streams: what each place of a line does, for any root and any lengths of slices.

A place whose slice is empty never sends, so its router lets words pass from the beginning. Beyond
the farthest place that has a slice nothing is set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

from collc.lowering.streams.line import Flow, Part, Range, Shape, flows, span
from collc.plan import Advance

Form = Callable[[Shape], tuple[Flow, ...]]


def gather(line: Shape) -> tuple[Flow, ...]:
    """Own, then farther: each router sends its PE's slice, then lets pass what comes from behind.
    So slices come to the root in the order of distance, without a gap."""
    return _each_way(line, partial(_one_sided, line=line, gathers=True))


def scatter(line: Shape) -> tuple[Flow, ...]:
    """One multicast of all slices, the farthest first; filters let every PE have its own."""
    return _each_way(line, partial(_one_sided, line=line, gathers=False))


def _one_sided(flow: Flow, line: Shape, *, gathers: bool) -> None:
    """Fill in the places on the side of the root that a flow serves: those whose slices it
    `gathers`, or to which it deals slices out."""
    root, sizes = line.root, line.sizes
    below = flow.forward == gathers
    side = range(root - 1, -1, -1) if below else range(root + 1, len(sizes))
    order = _reached([root, *side], sizes)
    if not order:
        return
    far, ends = order[-1], [place for place in order[1:] if sizes[place]]
    slices = span(order[1], far)
    if gathers:
        flow.parts[root] = Part((flow.into,), receives=slices)
    else:
        flow.parts[root] = Part((flow.out,), sends=slices)
    for place in order[1:]:
        own = span(place, place)
        if not sizes[place]:
            flow.parts[place] = Part((flow.past,))
        elif gathers:
            routes = (flow.out,) if place == far else (flow.out, flow.past)
            advance = _last(ends) if place == far else Advance.OWN_ROUTER
            flow.parts[place] = Part(routes, sends=own, advance=advance)
        else:
            before = (place + 1, far + 1) if far > root else (far, place)
            sieve = (slices, before, own) if len(ends) > 1 else None
            route = flow.into if place == far else flow.past_and_in
            flow.parts[place] = Part((route,), receives=own, filter=sieve)


def allgather(line: Shape) -> tuple[Flow, ...]:
    """Turns at multicasting: each router sends its PE's slice on and back to the PE, then passes on
    and delivers what comes from behind."""

    def turn(flow: Flow, own: Range, to_own: Range, _farther: Range) -> Part:
        routes, advance = (flow.out_and_back, flow.past_and_in), Advance.OWN_ROUTER
        return Part(routes, sends=own, receives=to_own, advance=advance, returns=True)

    return _each_way(line, lambda flow: _turns(flow, line.sizes, turn))


def chained_allgather(line: Shape) -> tuple[Flow, ...]:
    """Forward the slices that come from farther pass first, then a PE sends its own and hands its
    turn over to the next router, so that it does not come back: a filter keeps it from the PE, if a
    position cannot change both sides. Back it is as in `allgather`, once the PE has sent forward,
    with a filter. So each PE has one word a cycle to send or to receive."""
    forward, backward = flows(line.axis)
    forward = replace(forward, backward=False)
    one_side = not line.target.switch_both_sides

    def handed_over(flow: Flow, own: Range, to_own: Range, farther: Range) -> Part:
        return Part(
            (flow.past_and_in, flow.out_and_back if one_side else flow.out),
            ring=True,
            sends=own,
            receives=farther,
            advance=Advance.HAND_OVER,
            filter=(to_own, (to_own[0], to_own[0]), farther) if one_side else None,
        )

    def turn(flow: Flow, own: Range, to_own: Range, farther: Range) -> Part:
        return Part(
            (flow.out_and_back, flow.past_and_in),
            sends=own,
            receives=farther,
            advance=Advance.OWN_ROUTER,
            filter=(to_own, own, farther),
            after=forward.name,
        )

    _turns(forward, line.sizes, handed_over, Advance.HAND_OVER)
    _turns(backward, line.sizes, turn)
    return forward, backward


def _turns(
    flow: Flow,
    sizes: Sequence[int],
    turn: Callable[[Flow, Range, Range, Range], Part],
    last: Advance = Advance.RESET,
) -> None:
    """Fill in places that multicast one after the other. Those between the ends of the line do what
    `turn` says, of a flow, the own slice, all slices from the head of the flow to that, and those
    from farther away than that; the head moves switches as `last` says, if others send, too."""
    order = _reached(_towards_head(flow, sizes), sizes)
    for place in order:
        head, own = order[-1], span(place, place)
        farther = span(head, _next_to(place, head))
        if place == order[0]:
            part = Part((flow.into,), receives=farther)
        elif place == head:
            others = any(sizes[other] for other in order[1:-1])
            part = Part((flow.out,), sends=own, advance=last if others else Advance.NOTHING)
        elif sizes[place]:
            part = turn(flow, own, span(head, place), farther)
        else:
            part = Part((flow.past_and_in,), receives=farther)
        flow.parts[place] = part


def all_to_all(line: Shape) -> tuple[Flow, ...]:
    """Each PE multicasts all slices but those for places behind it, one PE after the other as in an
    allgather; filters let every PE have its own of each block."""
    served = range(len(line.sizes))
    return _each_way(line, lambda flow: _blocks(flow, _towards_head(flow, line.sizes), served))


# Where the groups of an all_to_all end that are below the middle, in parts of a line (`_GRAIN`);
# those above mirror them. The link at the end of a group carries the words of all ranks up to it
# for that group and for all behind it: as many at each end for thirds at 0.382, for fifths at 0.308
# and 0.445. Colors that share a link get a part of it each, the near ones more than they need by
# then, so these are the best of those measured (D355).
HALVES, THIRDS, FIFTHS, SEVENTHS = (32,), (26,), (16, 28), (14, 23, 29)
FAR_FIFTHS = (18, 28)  # where words that go far are sent early
_GRAIN = 64
BESIDE = 3  # groups to which a PE sends at the same time: by four queues, beside two that it has


def grouped_all_to_all(
    line: Shape, ends: Sequence[int] = HALVES, *, far_early: bool = False
) -> tuple[Flow, ...]:
    """The same where the ranks of each group are served by colors of their own, whose blocks have
    the slices of that group and travel no farther: half of the words for two groups, less for more.
    Of many groups a PE sends to those beyond its own one after the other, the nearest first, or in
    the group at an end of the line those far away earlier."""
    ranks = len(line.sizes)
    cuts = _cuts(ranks, [ranks * end // _GRAIN for end in ends])
    found = []
    for index, (first, end) in enumerate(pairwise(cuts)):
        served = range(first, end)
        for flow in flows(line.axis, f"_{index}"):
            forward = range(end - 1, -1, -1)  # from the last place that it comes to
            _blocks(flow, forward if flow.forward else range(first, ranks), served)
            found.append((flow, served))
    in_turn = len(cuts) - 1 > BESIDE
    for way in (True, False):
        towards = [one for one in found if one[0].forward is way][:: 1 if way else -1]
        _name_lanes(towards, ranks, in_turn=in_turn, far_early=in_turn and far_early)
    return tuple(flow for flow, _ in found)


def _cuts(ranks: int, below: Sequence[int]) -> list[int]:
    """Where groups begin and end, of two ranks at least: the last of one, and the first, do not
    hear themselves."""
    above = [ranks - cut for cut in below if 2 * cut < ranks - 1]
    cuts = [0]
    for cut in (*below, *reversed(above)):
        if cuts[-1] + 2 <= cut <= ranks - 2:
            cuts.append(cut)
    return [*cuts, ranks]


def _name_lanes(
    towards: Sequence[tuple[Flow, range]], ranks: int, *, in_turn: bool, far_early: bool
) -> None:
    """The lanes of flows one way, those that end first coming first: at each place that of the
    ranks that are served, and those on which it only sends, each after the one before if they are
    `in_turn`."""
    for place in range(ranks):
        beyond = []
        for flow, served in towards:
            if place not in flow.parts:
                continue
            if place in served:
                flow.parts[place] = replace(flow.parts[place], lane=_word(flow))
            else:
                beyond.append(flow)
        if far_early and len(beyond) == len(towards) - 1:
            beyond = _far_early(beyond, place if beyond[0].forward else ranks - 1 - place)
        after = ""
        for number, flow in enumerate(beyond, 1):
            lane = f"across_{_word(flow)}_{number}"
            flow.parts[place] = replace(flow.parts[place], lane=lane, after=after)
            after = lane if in_turn else ""


_LAST = 3  # places at an end of the line whose words come last everywhere


def _far_early(flows: Sequence[Flow], place: int) -> list[Flow]:
    """The order in which a place of the group at an end of the line, `place` from there, sends to
    the others. The words of the last group have the longest way behind the links that are in use
    all the time, so they are not the last to pass those: it comes before the one in front of it,
    and at the places whose words are the last of all before all beyond the middle (D380)."""
    keeps = len(flows) // 2 - 1 if place < _LAST else len(flows) - 2
    return [*flows[:keeps], *reversed(flows[keeps:])]


def _word(flow: Flow) -> str:
    return "forward" if flow.forward else "backward"


def _blocks(flow: Flow, order: Sequence[int], served: Sequence[int]) -> None:
    """Places from the last one that words come to; those that are not `served` let them pass."""
    root, head = order[0], order[-1]
    taken = [place for place in order if place in served and place != head]
    if root == head or not taken:
        return
    block = span(root, taken[-1])
    for place in order:
        own = span(place, place)
        before = span(root, _next_to(place, root)) if place != root else (0, 0)
        sieve = (block, before, own)
        if place == head:
            flow.parts[place] = Part((flow.out,), sends=block, advance=_last(order[1:]))
        elif place == root:
            got = span(head, _next_to(root, head))
            flow.parts[place] = Part((flow.into,), receives=got, filter=sieve, staged=True)
        elif place in served:
            flow.parts[place] = Part(
                (flow.out_and_back, flow.past_and_in),
                sends=block,
                receives=span(head, place),
                advance=Advance.OWN_ROUTER,
                filter=sieve,
                staged=True,
                returns=True,
            )
        else:
            both = (flow.out, flow.past)
            flow.parts[place] = Part(both, sends=block, advance=Advance.OWN_ROUTER)


def reduce_scatter(line: Shape) -> tuple[Flow, ...]:
    """Two chains that shrink: what is for places farther on is combined on its way, then comes what
    is for the place itself. What comes backward is staged, so that it is combined last."""
    return _each_way(line, lambda flow: _chain(flow, line.sizes, staged=not flow.forward))


def chained_reduce_scatter(line: Shape) -> tuple[Flow, ...]:
    """The same, one operation after the other: all that goes forward, then what comes backward, of
    which the PE's own slice comes first. So each PE combines one word a cycle."""
    forward, backward = flows(line.axis)
    backward = replace(backward, backward=True)
    _chain(forward, line.sizes)
    _chain(backward, line.sizes)
    for place, part in backward.parts.items():
        before = forward.parts.get(place)
        waits = part.receives is not None and before is not None and before.receives is not None
        first = waits or (part.through and part.receives is not None)
        after = forward.name if waits else ""
        backward.parts[place] = replace(part, kept_first=first, after=after)
    return forward, backward


def _chain(flow: Flow, sizes: Sequence[int], *, staged: bool = False) -> None:
    """A chain from its first place to the last one that has a slice."""
    order = _reached(_towards_head(flow, sizes)[::-1], sizes)
    for place in order:
        root = order[-1]
        first, last = place == order[0], place == root
        arrives, leaves = f"_{_parity(flow, place, upstream=True)}", f"_{_parity(flow, place)}"
        hops = [] if first else [(arrives, flow.into)]
        hops += [] if last else [(leaves, flow.out)]
        keeps = not first and bool(sizes[place])
        flow.parts[place] = Part(
            sends=None if last else span(_next_to(place, root), root),
            receives=span(place, place) if keeps else None,
            through=not first and not last,
            combines=keeps,
            staged=staged and keeps and place != 0,
            hops=tuple(hops),
        )


def _parity(flow: Flow, place: int, *, upstream: bool = False) -> str:
    """Of the hop that leaves a place, or comes to it."""
    behind = place - 1 if flow.forward else place + 1
    return "odd" if (behind if upstream else place) % 2 else "even"


def _each_way(line: Shape, fill: Callable[[Flow], None]) -> tuple[Flow, ...]:
    """A flow each way along the line, its parts filled in."""
    both = flows(line.axis)
    for flow in both:
        fill(flow)
    return both


def _reached(order: Sequence[int], sizes: Sequence[int]) -> Sequence[int]:
    """Places up to the last one that has a slice; none where that is the first."""
    ends = max((at for at, place in enumerate(order) if sizes[place]), default=0)
    return order[: ends + 1] if ends else ()


def _towards_head(flow: Flow, sizes: Sequence[int]) -> list[int]:
    """All places from the last one that a flow comes to."""
    places = range(len(sizes))
    return list(reversed(places)) if flow.forward else list(places)


def _next_to(place: int, other: int) -> int:
    """The neighbour of a place on the side of another."""
    return place + (1 if other > place else -1)


def _last(senders: Sequence[int]) -> Advance:
    """What follows the words of the farthest place: switches go back, where there are some."""
    return Advance.RESET if len(senders) > 1 else Advance.NOTHING
