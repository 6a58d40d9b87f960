"""The forms of streams: what each place of a line does, for any root and any lengths of slices.

A place whose slice is empty never sends, so its router lets words pass from the beginning. Advance
the farthest place that has a slice nothing is set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from collc.lowering.streams.line import Flow, Part, span
from collc.plan import Advance

Form = Callable[[Flow, Sequence[int], int], None]


def gather(flow: Flow, sizes: Sequence[int], root: int) -> None:
    """Own, then farther: each router sends its PE's slice, then lets pass what comes from behind.
    So slices come to the root in the order of distance, without a gap."""
    senders = [place for place in _away(flow, sizes, root, upstream=True) if sizes[place]]
    if not senders:
        return
    far = senders[-1]
    for place in _away(flow, sizes, root, upstream=True):
        if place == far:
            flow.parts[place] = Part((flow.out,), span(place, place), advance=_last(senders))
            break
        if sizes[place]:
            both = (flow.out, flow.past)
            flow.parts[place] = Part(both, span(place, place), advance=Advance.OWN_ROUTER)
        else:
            flow.parts[place] = Part((flow.past,))
    flow.parts[root] = Part((flow.into,), receives=span(far, _next_to(root, far)))


def scatter(flow: Flow, sizes: Sequence[int], root: int) -> None:
    """One multicast of all slices, the farthest first; filters let every PE have its own."""
    takers = [place for place in _away(flow, sizes, root, upstream=False) if sizes[place]]
    if not takers:
        return
    far = takers[-1]
    all_slices = span(_next_to(root, far), far)
    flow.parts[root] = Part((flow.out,), all_slices)
    for place in _away(flow, sizes, root, upstream=False):
        own = span(place, place)
        before = (place + 1, far + 1) if far > root else (far, place)
        sieve = (all_slices, before, own) if len(takers) > 1 else None
        if place == far:
            flow.parts[place] = Part((flow.into,), receives=own, filter=sieve)
            break
        if sizes[place]:
            flow.parts[place] = Part((flow.past_and_in,), receives=own, filter=sieve)
        else:
            flow.parts[place] = Part((flow.past,))


def allgather(flow: Flow, sizes: Sequence[int], root: int) -> None:
    """Turns at multicasting: each router sends its PE's slice on and back to the PE, then passes on
    and delivers what comes from behind. `root` is the last place of the flow."""
    order = [root, *_away(flow, sizes, root, upstream=True)]
    senders = [place for place in order[1:] if sizes[place]]
    if not senders:
        return
    head = senders[-1]
    flow.parts[root] = Part((flow.into,), receives=span(head, _next_to(root, head)))
    for place in order[1:]:
        own = span(place, place)
        if place == head:
            flow.parts[place] = Part((flow.out,), own, advance=_last(senders))
            break
        if sizes[place]:
            both = (flow.out_and_back, flow.past_and_in)
            got = span(head, place)
            flow.parts[place] = Part(both, own, got, Advance.OWN_ROUTER)
        else:
            got = span(head, _next_to(place, head))
            flow.parts[place] = Part((flow.past_and_in,), receives=got)


def all_to_all(flow: Flow, sizes: Sequence[int], root: int) -> None:
    """Each PE multicasts all slices but those for places behind it, one PE after the other as in an
    allgather; filters let every PE have its own of each block. `root` is the last place of the
    flow."""
    order = [root, *_away(flow, sizes, root, upstream=True)]
    head = order[-1]
    block = span(root, _next_to(head, root))
    for place in order:
        own = span(place, place)
        before = span(root, _next_to(place, root)) if place != root else (0, 0)
        sieve = (block, before, own)
        if place == head:
            flow.parts[place] = Part((flow.out,), block, advance=_last(order[1:]))
        elif place == root:
            got = span(head, _next_to(root, head))
            flow.parts[place] = Part((flow.into,), receives=got, filter=sieve, staged=True)
        else:
            both, got = (flow.out_and_back, flow.past_and_in), span(head, place)
            flow.parts[place] = Part(
                both, block, got, Advance.OWN_ROUTER, filter=sieve, staged=True
            )


def reduce_scatter(flow: Flow, sizes: Sequence[int], root: int) -> None:
    """A chain that shrinks: what is for places farther on is combined on its way, then comes what
    is for the place itself. What comes backward is staged, so that it is combined last; `root` is
    the last place of the flow."""
    order = [root, *_away(flow, sizes, root, upstream=True)]
    for place in order:
        own = span(place, place)
        later = span(_next_to(place, root), root) if place != root else None
        arrives, leaves = f"_{_parity(flow, place, upstream=True)}", f"_{_parity(flow, place)}"
        hops = [] if place == order[-1] else [(arrives, flow.into)]
        hops += [] if place == root else [(leaves, flow.out)]
        first = place == order[-1]
        staged = flow.name == "backward" and not first and place != root
        flow.parts[place] = Part(
            sends=later,
            receives=None if first else own,
            through=not first and place != root,
            combines=not first,
            staged=staged,
            hops=tuple(hops),
        )


def _parity(flow: Flow, place: int, *, upstream: bool = False) -> str:
    """Of the hop that leaves a place, or comes to it."""
    behind = place - 1 if flow.name == "forward" else place + 1
    return "odd" if (behind if upstream else place) % 2 else "even"


def _away(flow: Flow, sizes: Sequence[int], root: int, *, upstream: bool) -> Iterator[int]:
    """The places on one side of the root, the nearest first: those the flow comes from, or those
    that it goes to."""
    lower = flow.name == "forward"  # comes from lower places
    return iter(range(root - 1, -1, -1) if lower == upstream else range(root + 1, len(sizes)))


def _next_to(place: int, other: int) -> int:
    """The neighbour of a place on the side of another."""
    return place + (1 if other > place else -1)


def _last(senders: Sequence[int]) -> Advance:
    """What follows the words of the farthest place: switches go back, where there are some."""
    return Advance.RESET if len(senders) > 1 else Advance.NOTHING
