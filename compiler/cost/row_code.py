"""What the code that runs rows does, as `templates/exchange_pe.csl.j2` prints it.

A piece of code is a list of moves (`collc.cost.row_moves`). Pieces depend on the bits of a row, not
on its numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from collc.cost.operations import Costs
from collc.cost.row_moves import APPLY, CHECKED, CODE, COUNTER, PASS, RECEIVE, SEND, TEST, WAIT
from collc.plan import Exchange, RowKind
from collc.unrolled import FIRST, WALKING, Unrolled

SENDS, RELAYS, RECEIVES = int(RowKind.SENDS), int(RowKind.RELAYS), int(RowKind.RECEIVES)
COMBINES, STAGES, APPLIES = int(RowKind.COMBINES), int(RowKind.STAGES), int(RowKind.APPLIES)
OUT, INTO, FABRIC = SENDS | RELAYS, RECEIVES | APPLIES, SENDS | RELAYS | RECEIVES
ENDS = int(RowKind.ENDS)
OVER = int(RowKind.OVER) | ENDS

Move = tuple[int, int]  # what, and a number

BACKWARD = 4  # instructions that find the vector from its last element on
ANEW = 3  # and those that find the slice with which all begins anew
CUTS, CUT = 60, 12  # a vector is cut into slices, and what each of them takes
LOOKED_UP = 16  # where slices begin and end: two entries of a table, a difference, a test
ENTRY = 4  # of a table, at a distance: added, scaled, added, read


@dataclass(frozen=True)
class Features:
    """What the text has to tell apart, and what it costs."""

    lanes: int
    walks: bool
    backward: bool
    cuts: int  # slices whose beginnings are looked up; 0 if rows say them
    sends: bool
    passes: bool
    receives: bool
    mixed: bool  # receives with and without combining
    areas: int
    mixed_applying: bool
    load: int
    issue: int


@dataclass(frozen=True)
class Here:
    """What is known of a lane of a PE when its text is compiled."""

    receives: bool
    sends: bool
    both: bool


def features_of(costs: Costs, rows: Unrolled, exchange: Exchange) -> Features:
    """The features of a phase's text."""
    kinds = {int(kind) for kind in set(rows.written.tolist())}
    received = [kind for kind in kinds if kind & RECEIVES]
    return Features(
        lanes=rows.lanes,
        walks=exchange.walks,
        backward=exchange.backward,
        cuts=exchange.slicing.count if exchange.by_length else 0,
        sends=any(kind & SENDS for kind in kinds),
        passes=any(kind & RELAYS for kind in kinds),
        receives=bool(received),
        mixed=any(kind & COMBINES for kind in received)
        and any(not kind & (COMBINES | STAGES) for kind in received),
        areas=exchange.areas,
        mixed_applying=any(kind & APPLIES and kind & COMBINES for kind in kinds),
        load=costs.load,
        issue=costs.issue,
    )


def beginning(text: Features) -> int:
    """Instructions with which a phase begins, before any row is prepared."""
    count = BACKWARD * text.backward + (ANEW + text.backward) * text.walks
    if text.cuts:
        count += CUTS + CUT * text.cuts  # as after another length
    return count


def start(text: Features, here: Here, kind: int, walk: int) -> tuple[Move, ...]:
    """The row is started, from the call to the return; or goes on by itself."""
    if walk >= WALKING:
        checked = (CHECKED + 1) * (text.lanes > 1)
        inside = [(CODE, 1 + checked), *_walk(text, here, kind, walk), (CODE, 1 + (text.lanes > 1))]
        return _joined(inside)
    moves: list[Move] = [(CODE, 1 + CHECKED * (text.walks and text.lanes > 1) + 3)]
    if here.receives:
        moves += _receive(text, kind)
    if here.sends:
        moves += _send(text, kind)
    if text.walks:
        moves += [(CODE, TEST), *(_begin_walk(text) if walk == FIRST else ())]
    if text.areas:
        moves += [(CODE, TEST), *(_apply(text, kind) if kind & APPLIES else ())]
    return _joined([*moves, (CODE, 1)])


def _joined(moves: list[Move]) -> tuple[Move, ...]:
    """Instructions that follow each other counted together."""
    found: list[Move] = []
    for what, number in moves:
        if found and what == CODE and found[-1][0] == CODE:
            found[-1] = (CODE, found[-1][1] + number)
        elif number or what != CODE:
            found.append((what, number))
    return tuple(found)


def _receive(text: Features, kind: int) -> Iterator[Move]:
    yield CODE, TEST
    if not kind & RECEIVES:
        return
    if text.areas:
        yield CODE, TEST
    yield CODE, 1
    if kind & STAGES:
        yield from ((WAIT, text.load + text.issue), (RECEIVE, 0), (CODE, 1))
        return
    yield WAIT, text.load
    yield from _receiving(text, kind)


def _receiving(text: Features, kind: int) -> Iterator[Move]:
    yield from ((CODE, TEST * text.mixed), (WAIT, text.issue), (RECEIVE, 0))
    yield CODE, int(text.mixed and kind & COMBINES > 0)


def _send(text: Features, kind: int) -> Iterator[Move]:
    yield CODE, TEST
    if not kind & OUT:
        return
    yield CODE, 1 + TEST + (not kind & RECEIVES) + TEST * (text.passes and text.sends) + 1
    if kind & RELAYS:
        yield from ((WAIT, text.load + text.issue), (PASS, 0))
        return
    if text.walks:
        yield from ((WAIT, text.load), (WAIT, text.issue), (SEND, 0))
    else:
        yield from ((WAIT, text.load + text.issue), (SEND, 0))
    yield CODE, int(text.passes)


def _begin_walk(text: Features) -> Iterator[Move]:
    for _ in range(1 + text.receives):
        yield from ((CODE, 1), (WAIT, text.load))
    yield CODE, 5 + 6 + 6 + 3  # turns, and how often to send and to receive; the row behind them


def _walk(text: Features, here: Here, kind: int, walk: int) -> Iterator[Move]:
    """`walk` says of which side slices have begun anew."""
    yield CODE, 2 + COUNTER
    for used, bit, anew, what in (
        (here.receives, RECEIVES, walk & 1, RECEIVE),
        (here.sends, SENDS, walk & 2, SEND),
    ):
        if not used:
            continue
        yield CODE, TEST * (not here.both)
        if not kind & bit:
            continue
        if what == SEND:
            yield CODE, 1 + (0 if here.both else TEST + (not kind & RECEIVES))
        yield CODE, CHECKED + COUNTER * (not anew)
        if what == RECEIVE:
            yield from _receiving(text, kind)
        else:
            yield from ((WAIT, text.issue), (SEND, 0))
        yield CODE, int(not anew)


def _apply(text: Features, kind: int) -> Iterator[Move]:
    """Operands: where it goes to, what was there if it is combined, what is staged."""
    operands = 3 if kind & COMBINES else 2
    yield CODE, TEST * text.mixed_applying + operands
    yield from ((WAIT, operands * text.load + text.issue), (APPLY, kind & COMBINES))
    yield CODE, int(text.mixed_applying and kind & COMBINES > 0)


def prepared(text: Features, here: Here, kind: int) -> int:
    """Instructions that prepare a row, with call and return."""
    count = 1 + 6
    if text.cuts:
        count += LOOKED_UP * ((here.sends and kind & OUT > 0) + (text.receives and kind & INTO > 0))
    if here.sends:
        mixed = text.passes and text.sends
        sending = bool(kind & SENDS) if mixed else text.sends
        count += TEST * mixed + (4 + 2 * ENTRY + 1 + mixed if sending else 3 + ENTRY)
    if text.receives:
        count += TEST
        if kind & INTO:
            count += 5 + 2 * ENTRY
            count += TEST * (text.areas > 0)
            if kind & (STAGES | APPLIES):
                count += 5 + 2 * ENTRY + 3 * (text.areas > 1)
    return count + 3 + 1
