"""What the code that runs rows does, as `templates/exchange_pe.csl.j2` prints it.

A piece of code is a list of moves (`collc.cost.row_moves`). Pieces depend on the bits of a row, not
on its numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from collc.constants import Code
from collc.cost.operations import Costs
from collc.cost.row_moves import APPLY, CODE, PASS, RECEIVE, SEND, WAIT
from collc.plan import Exchange, RowKind
from collc.unrolled import FIRST, WALKING, Unrolled

SENDS, RELAYS, RECEIVES = int(RowKind.SENDS), int(RowKind.RELAYS), int(RowKind.RECEIVES)
COMBINES, STAGES, APPLIES = int(RowKind.COMBINES), int(RowKind.STAGES), int(RowKind.APPLIES)
OUT, INTO, FABRIC = SENDS | RELAYS, RECEIVES | APPLIES, SENDS | RELAYS | RECEIVES
ENDS = int(RowKind.ENDS)
OVER = int(RowKind.OVER) | ENDS

Move = tuple[int, int]  # what, and a number


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
    code: Code

    def bit(self, holds: object) -> int:
        """A bit of a row's kind is tested."""
        return self.code.bit_set if holds else self.code.bit_clear


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
        code=costs.code,
    )


def beginning(text: Features) -> int:
    """What a phase begins with, before any row is prepared."""
    code, cycles = text.code, 0
    if text.backward:
        cycles += code.backward
    if text.walks:
        cycles += code.anew + code.anew_backward * text.backward
    if text.cuts:
        cycles += code.cuts + code.cut * text.cuts  # as after another length
    return cycles


def start(text: Features, here: Here, kind: int, walk: int) -> tuple[Move, ...]:
    """The row is started, from the call to the return; or goes on by itself."""
    code, checked = text.code, text.walks and text.lanes > 1
    if walk >= WALKING:
        entered = code.call + (code.is_true + code.call) * checked
        inside = _walk(text, here, kind, walk)
        return _joined([(CODE, entered), *inside, (CODE, code.frame * (1 + checked))])
    moves: list[Move] = [(CODE, code.call + code.is_false * checked + code.row_begun)]
    if here.receives:
        moves += _receive(text, kind)
    if here.sends:
        moves += _send(text, kind)
    if text.walks:
        moves += [(CODE, text.bit(walk == FIRST)), *(_begin_walk(text) if walk == FIRST else ())]
    if text.areas:
        applies = kind & APPLIES
        moves += [(CODE, text.bit(applies)), *(_apply(text, kind) if applies else ())]
    return _joined([*moves, (CODE, code.frame)])


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
    yield CODE, text.bit(kind & RECEIVES)
    if not kind & RECEIVES:
        return
    if text.areas:
        yield CODE, text.bit(kind & STAGES)
    yield CODE, text.code.operand
    if kind & STAGES:
        yield from ((WAIT, text.load + text.issue), (RECEIVE, 0), (CODE, text.code.over_else))
        return
    yield WAIT, text.load
    yield from _receiving(text, kind)


def _receiving(text: Features, kind: int) -> Iterator[Move]:
    if text.mixed:
        yield CODE, text.bit(kind & COMBINES)
    yield from ((WAIT, text.issue), (RECEIVE, 0))
    if text.mixed and kind & COMBINES:
        yield CODE, text.code.over_else


def _send(text: Features, kind: int) -> Iterator[Move]:
    yield CODE, text.bit(kind & OUT)
    if not kind & OUT:
        return
    yield CODE, text.code.block + _activated(text, kind)
    if text.passes and text.sends:
        yield CODE, text.bit(kind & SENDS)
    yield CODE, text.code.operand
    if kind & RELAYS:
        yield from ((WAIT, text.load + text.issue), (PASS, 0))
        return
    if text.walks:
        yield from ((WAIT, text.load), (WAIT, text.issue), (SEND, 0))
    else:
        yield from ((WAIT, text.load + text.issue), (SEND, 0))
    if text.passes:
        yield CODE, text.code.over_else


def _activated(text: Features, kind: int) -> int:
    """The task is activated if nothing is received that would do it."""
    return text.bit(not kind & RECEIVES) + text.code.activate * (not kind & RECEIVES)


def _begin_walk(text: Features) -> Iterator[Move]:
    for _ in range(1 + text.receives):
        yield from ((CODE, text.code.operand), (WAIT, text.load))
    yield CODE, text.code.walk_begun


def _walk(text: Features, here: Here, kind: int, walk: int) -> Iterator[Move]:
    """`walk` says of which side slices have begun anew."""
    code = text.code
    yield CODE, code.walk_row + code.counter
    for used, bit, anew, what in (
        (here.receives, RECEIVES, walk & 1, RECEIVE),
        (here.sends, SENDS, walk & 2, SEND),
    ):
        if not used:
            continue
        if not here.both:
            yield CODE, text.bit(kind & bit)
        if not kind & bit:
            continue
        if what == SEND:
            yield CODE, code.block + (0 if here.both else _activated(text, kind))
        yield CODE, code.is_false if anew else code.is_true + code.counter
        if what == RECEIVE:
            yield from _receiving(text, kind)
        else:
            yield from ((WAIT, text.issue), (SEND, 0))
        if not anew:
            yield CODE, code.over_else


def _apply(text: Features, kind: int) -> Iterator[Move]:
    """Operands: where it goes to, what was there if it is combined, what is staged."""
    operands = 3 if kind & COMBINES else 2
    if text.mixed_applying:
        yield CODE, text.bit(kind & COMBINES)
    yield CODE, operands * text.code.operand
    yield from ((WAIT, operands * text.load + text.issue), (APPLY, kind & COMBINES))
    if text.mixed_applying and kind & COMBINES:
        yield CODE, text.code.over_else


def prepared(text: Features, here: Here, kind: int) -> int:
    """What it takes to prepare a row, with call and return."""
    code = text.code
    cycles = code.prepare
    if text.cuts:
        cycles += code.bounds * (here.sends and kind & OUT > 0)
        cycles += code.bounds * (text.receives and kind & INTO > 0)
    if here.sends:
        cycles += _prepared_to_send(text, kind)
    if text.receives:
        cycles += text.bit(kind & INTO)
        if kind & INTO:
            cycles += _prepared_to_receive(text, kind)
    return cycles


def _prepared_to_send(text: Features, kind: int) -> int:
    code, mixed = text.code, text.passes and text.sends
    sends = bool(kind & SENDS) if mixed else text.sends
    tested = text.bit(kind & SENDS) * mixed
    return tested + (code.prepare_send + code.over_else * mixed if sends else code.prepare_pass)


def _prepared_to_receive(text: Features, kind: int) -> int:
    code, staged = text.code, kind & (STAGES | APPLIES)
    cycles = code.prepare_receive + text.bit(staged) * (text.areas > 0)
    return cycles + (code.prepare_stage + code.stage_area * (text.areas > 1) if staged else 0)
