"""Phases whose colors are torn down behind them, for the next use of the color.

The last vector through a router is the last through all routers of its route (`rank_programs`), so
a teardown behind each of those comes to every router once, when nothing of the phase follows; so it
is in a stream. In an exchange by steps every lane has its own route, and its sender ends it by an
operation of its own.
"""

from collections.abc import Set
from dataclasses import replace

from collc.plan import (
    OF_OWN_ROUTER,
    Advance,
    Entry,
    Lane,
    Loop,
    Once,
    Phase,
    closing,
    filters_of,
    once,
)
from collc.plan.placement import switched_colors

LAST = frozenset((Advance.NOTHING, Advance.RESET))  # no vector follows on the color
# how what a stream sends may end
_ENDED = LAST | OF_OWN_ROUTER | {Advance.TEARDOWN}


def can_be_torn_down(phase: Phase) -> bool:
    """Whether every router of a phase is passed by a last vector, behind which it can be torn down,
    and has nothing that is set in the layout alone.

    In a stream a router of a ring hands its turn over to the next one, where more is sent, and a
    filter is that of a color, whose words of other phases it would count. Slices that are always
    empty are not sent, and neither is what would follow them.
    """
    if phase.whole or phase.has_loops:
        return True
    slicing, ops = phase.slicing, [op for role in phase.roles for op in role.ops]
    return (
        (slicing.dynamic or all(slicing.size(slice, 1) for slice in range(slicing.count)))
        and all(op.advance in _ENDED for op in ops)
        and not any(filters_of(role) for role in phase.roles)
        and not any(color.ring for role in phase.roles for color in role.colors)
    )


def with_teardown(phase: Phase, colors: Set[str]) -> Phase:
    """The phase with a teardown behind the last vectors on `colors`."""
    if not colors:
        return phase
    torn_down = _with_closing if phase.has_loops else _with_last
    roles = (
        replace(role, lanes=tuple(torn_down(lane, colors) for lane in role.lanes))
        for role in phase.roles
    )
    return replace(phase, roles=tuple(roles))


def _with_closing(lane: Lane, colors: Set[str]) -> Lane:
    """The lane with a teardown behind its table."""
    closed = [once(closing(color)) for color in lane.sends if color in colors]
    return replace(lane, loops=(*lane.loops, *closed))


def _with_last(lane: Lane, colors: Set[str]) -> Lane:
    """The lane with a teardown behind its vectors that none follows."""
    return replace(lane, loops=tuple(_loop(loop, colors) for loop in lane.loops))


def _loop(loop: Loop | Once, colors: Set[str]) -> Loop | Once:
    return replace(loop, entries=tuple(_entry(entry, colors) for entry in loop.entries))


def _entry(entry: Entry, colors: Set[str]) -> Entry:
    ops = (
        replace(op, advance=Advance.TEARDOWN)
        if op.sends and op.send in colors and op.advance in LAST
        else op
        for op in entry.ops
    )
    return replace(entry, ops=tuple(ops))


def without_teardown(phase: Phase) -> Phase:
    """The phase whose colors are not torn down: behind the last vectors on a color with switches
    these are set back."""
    if not any(lane.tears_down for role in phase.roles for lane in role.lanes):
        return phase
    switched = switched_colors([phase])

    def kept(entry: Entry) -> Entry:
        ops = (
            replace(op, advance=Advance.RESET if op.send in switched else Advance.NOTHING)
            if op.advance is Advance.TEARDOWN
            else op
            for op in entry.ops
        )
        return replace(entry, ops=tuple(ops))

    def loops(lane: Lane) -> tuple[Loop | Once, ...]:
        return tuple(replace(of, entries=tuple(map(kept, of.entries))) for of in lane.table)

    roles = (
        replace(role, lanes=tuple(replace(lane, loops=loops(lane)) for lane in role.lanes))
        for role in phase.roles
    )
    return replace(phase, roles=tuple(roles))
