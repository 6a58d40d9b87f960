"""What the evaluator (`collc_evaluator`) is given of a phase made of steps: one line of it.

In reading order: the types, `line_of`, entries of the step tables, links.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import accumulate, chain, pairwise

import numpy as np
from collc_evaluator import Line

from collc.base.columns import Ints
from collc.base.values import dataclass
from collc.cost.operations import Costs
from collc.cost.row_code import (
    Actions,
    Features,
    Here,
    beginning,
    features_of,
    lane_begun,
    prepared,
    start,
)
from collc.plan import AREA_BITS, Phase, RowKind
from collc.plan.dynamic_lengths import phase_of_length
from collc.plan.placement import roles_of_places
from collc.plan.step_tables import always
from collc.plan.unrolled import NOWHERE, Unrolled, connections, unrolled

RECEIVES, SENT = int(RowKind.RECEIVES), int(RowKind.SENDS | RowKind.RELAYS)
APPLIES, COMBINES = int(RowKind.APPLIES), int(RowKind.COMBINES)
END = int(RowKind.ENDS)
NO_MORE = int(RowKind.OVER) | END
KINDS = 1 << AREA_BITS  # more than the bits of a row say


@dataclass(frozen=True)
class LineCode:
    """Cycles of the pieces of code that belong to no entry."""

    jump: int
    no_jump: int
    counter: int
    step_begun: int
    step_over: int
    meet: int


@dataclass(frozen=True)
class Machine:
    """What the evaluator has to know of the machine, and of the code that belongs to no entry."""

    ramp_up: int
    send_start: int
    ramp_down: int
    hop: int
    router_queue: int
    output_queue: int
    input_queue: int
    group: int
    task: int
    dispatch: int
    between: int
    frame: int
    code: LineCode


def machine_of(costs: Costs, text: Features) -> Machine:
    """What it knows where a text runs."""
    own = {
        one.name: getattr(costs, one.name) for one in fields(Machine) if hasattr(costs, one.name)
    }
    code = LineCode(
        jump=costs.jump,
        no_jump=costs.no_jump,
        counter=text.code.counter,
        step_begun=text.code.step_begun,
        step_over=text.code.step_over,
        meet=costs.jump if costs.shared else 0,
    )
    known = {"task": costs.task - costs.dispatch, "frame": costs.code.frame, "code": code}
    return Machine(**own | known)


@dataclass(frozen=True)
class Kind:
    """Entries that are started by the same code: what prepares one, what that code does, and
    whether one ends its lane's part in a step."""

    prepared: Actions
    actions: Actions
    ends: bool


@dataclass(frozen=True, eq=False)
class Entries:
    """By entry: the kind; wavelets that come in, go out and are let pass; the cycles in which what
    is staged is applied."""

    kind: Ints
    into: Ints
    out: Ints
    passed: Ints
    applying: Ints


@dataclass(frozen=True, eq=False)
class Lanes:
    """By lane (place * lanes of a place + lane): where its entries start, the kind of what the code
    finds behind the last, where it sends to, where the links of that way start, and the
    cycles until its first entry is prepared."""

    start: Ints
    beyond: Ints
    target: Ints
    links_start: Ints
    links: Ints
    begins: Ints


def line_of(costs: Costs, phase: Phase) -> Line:
    """The first line of a phase."""
    phase = phase_of_length(phase, costs.length)
    rows = unrolled(phase)
    target, _ = connections(phase)
    text = features_of(costs, rows, phase)
    here = _here(rows, phase, costs)
    # what moves nothing has no entry, unless that depends on the dynamic length
    there = rows.written if text.cuts else rows.kind
    kept = np.flatnonzero((there & (SENT | RECEIVES | APPLIES | END)) > 0)
    lane = np.repeat(np.arange(len(target)), np.diff(rows.start))[kept]
    kinds, of_entry, beyond = _kinds(text, here, lane, rows.kind[kept], there[kept])
    links_start, links = _links(target, rows.lanes, phase)
    counts = np.bincount(lane, minlength=len(target))
    lanes = Lanes(
        start=np.concatenate(([0], np.cumsum(counts))),
        beyond=beyond,
        target=target,
        links_start=links_start,
        links=links,
        begins=_begins(text, here, there[kept], counts),
    )
    entries = _entries(costs, rows, kept, of_entry)
    return Line(machine_of(costs, text), rows.lanes, beginning(text), kinds, entries, lanes)


def _begins(text: Features, here: Sequence[Here], written: Ints, counts: Ints) -> Ints:
    """What each lane's code does before its first entry; `written` are the bits of all entries, of
    which each lane has so many."""
    first = np.cumsum(counts) - counts
    kinds = [
        int(written[at]) if count else NO_MORE for at, count in zip(first, counts, strict=True)
    ]
    known: dict[tuple[Here, int], int] = {}
    for key in dict.fromkeys(zip(here, kinds, strict=True)):
        known[key] = lane_begun(text, *key)
    return np.array([known[key] for key in zip(here, kinds, strict=True)], dtype=np.int64)


def _here(rows: Unrolled, phase: Phase, costs: Costs) -> list[Here]:
    """What the text of each place knows of its lanes."""
    found = []
    for place, role in enumerate(roles_of_places(phase)):
        for lane in role.lanes if role else (None,) * rows.lanes:
            bits = always(lane, phase.slicing) if lane else RowKind(0)
            found.append(
                Here(
                    receives=lane is not None and lane.receives_on is not None,
                    sends=lane is not None and lane.sends_on is not None,
                    always_receives=bool(bits & RowKind.RECEIVES),
                    always_sends=bool(bits & RowKind.SENDS),
                    late=costs.late[place] if costs.late else 0,
                    prepares=bool(costs.prepares and costs.prepares[place]),
                )
            )
    return found


def _kinds(
    text: Features, here: Sequence[Here], lane: Ints, kind: Ints, written: Ints
) -> tuple[list[Kind], Ints, Ints]:
    """All different kinds; which of them each entry is, of this `kind` and `written` so, and which
    the one behind the last entry of each lane."""
    at_once = [replace(one, late=0) for one in here]
    different = list(dict.fromkeys((*at_once, *here)))
    which, without = (
        np.array([different.index(one) for one in of], dtype=np.int64) for of in (here, at_once)
    )
    # a task goes on to an entry if the one before has something to wait for
    waits = np.zeros(len(lane), dtype=np.bool_)
    waits[1:] = (lane[1:] == lane[:-1]) & (written[:-1] & (SENT | RECEIVES) > 0)
    of_entries = np.where(waits, which[lane], without[lane])
    bits = np.concatenate((kind * KINDS + written, np.full(len(here), NO_MORE * (KINDS + 1))))
    keys = np.concatenate((of_entries, without)) * KINDS**2 + bits
    found, of_key = np.unique(keys, return_inverse=True)
    kinds = [
        Kind(
            prepared(text, different[key // KINDS**2], key % KINDS),
            start(text, different[key // KINDS**2], key // KINDS % KINDS),
            ends=bool(key // KINDS & END),
        )
        for key in found.tolist()
    ]
    return kinds, of_key[: len(lane)], of_key[len(lane) :]


def _entries(costs: Costs, rows: Unrolled, kept: Ints, kind: Ints) -> Entries:
    """The entries of the step tables, from the rows that are kept."""
    into = (rows.into_to - rows.into_from)[kept] * costs.words
    combines = (rows.kind[kept] & COMBINES) > 0
    applying = np.where(combines, -(-into // costs.apply_rate), -(-into // costs.move_rate))
    if costs.maps:
        received = into // costs.words // 2  # of two pairs, each is the result as often
        applying = np.where(combines, costs.combining(into) + received * costs.taken, applying)
    return Entries(
        kind=kind,
        into=into // costs.per_wavelet,
        out=costs.wavelets((rows.out_to - rows.out_from)[kept]),
        passed=costs.wavelets(rows.passed[kept]),
        applying=applying,
    )


def _links(target: Ints, lanes: int, phase: Phase) -> tuple[Ints, Ints]:
    """Where the links of each lane's way start, and all links: those of the row, or of the grid
    where the order of ranks is not contiguous."""
    if phase.path is None or not phase.detours:
        return _links_on_line(target, lanes)
    detours = {(one.pes[0], one.pes[-1]): one.pes for one in phase.detours}
    pes = phase.path.places
    links: list[list[tuple[object, object]]] = []
    for lane, to in enumerate(target.tolist()):
        pair = (pes[lane // lanes], pes[to // lanes])
        links.append(list(pairwise(detours.get(pair, pair))) if to != NOWHERE else [])
    number = {link: index for index, link in enumerate(dict.fromkeys(chain(*links)))}
    start = np.array([0, *accumulate(map(len, links))], dtype=np.int64)
    return start, np.array([number[link] for way in links for link in way], dtype=np.int64)


def _links_on_line(target: Ints, lanes: int) -> tuple[Ints, Ints]:
    """The same on a line: behind each place there is a link in both directions."""
    source = np.arange(len(target)) // lanes
    way = np.where(target == NOWHERE, 0, target // lanes - source)
    hops = np.abs(way)
    start = np.zeros(len(target) + 1, dtype=np.int64)
    start[1:] = np.cumsum(hops)
    lane = np.repeat(np.arange(len(target)), hops)
    behind = np.arange(len(lane)) - start[lane]
    back = np.where(way < 0, 1, 0)[lane]
    links: Ints = 2 * (source[lane] + (1 - 2 * back) * behind) + back
    return start, links
