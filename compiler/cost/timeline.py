"""What the evaluation of a line of rows goes through: its state, by lane and by place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from collc.cost.cycles import (
    CROSSES,
    DELAY,
    END_LINK,
    FIRST_LINK,
    HOPS,
    KINDS,
    LANE_FIELDS,
    NONE,
    NOW,
    PLACE_FIELDS,
    READY,
    ROOM,
    SENDING,
    SOURCE,
    TAKING,
    TARGET,
    UP,
    Arrays,
)
from collc.cost.links import Link, SharedLinks, shared_links
from collc.cost.operations import Costs
from collc.cost.row_code import ENDS, FABRIC, OVER, Features, Here, Move
from collc.plan import RowKind
from collc.unrolled import NOWHERE, Ints, Unrolled

APPLIES = int(RowKind.APPLIES)
ENOUGH = 200  # elements that operations have left at least, when repetition is looked for


@dataclass
class Code:
    """The code of one PE: its moves that are left, and by lane the row under way."""

    place: int
    lanes: list[int]  # that have rows
    row: list[int]
    due: list[int]  # operations of the row under way that have not ended
    running: int = 0
    pending: list[int] = field(default_factory=list)  # lanes whose rows have ended
    last: int = 0  # the lane whose task ran last
    moves: Iterator[Move] | None = None


@dataclass
class Timeline:
    """The state of `collc.cost.cycles`, and what the code does in between.

    By place, `free` is when the code calls what follows, `ended` the last busy cycle.
    """

    costs: Costs
    text: Features
    rows: Unrolled
    here: list[Here]
    kinds: list[list[int]]
    planned: list[list[int]]  # the kinds of rows before it is known that they move nothing
    walks: list[list[int]]
    numbers: list[list[list[int]]]  # elements of a row that come in, go out, and are let pass
    code: list[Code]
    links: SharedLinks
    state: Arrays
    free: Ints
    ended: Ints

    @property
    def now(self) -> int:
        """The cycle under way."""
        return int(self.state.clock[NOW])


@dataclass(frozen=True, eq=False)
class Line:
    """What a line runs: its rows, by lane where what it sends goes to, over which links, and what
    its text knows."""

    text: Features
    rows: Unrolled
    target: Ints
    links: dict[int, list[Link]]
    here: list[Here]


def timeline(costs: Costs, of: Line, called: Ints) -> Timeline:
    """Before the first cycle; at `called[p]` the code of place p calls the phase."""
    rows, target = of.rows, of.target
    assert rows.lanes in {1, 2}, "one lane, or one in each direction"
    kinds, planned, walks, numbers = [], [], [], []
    for lane in range(len(target)):
        own = np.arange(*rows.start[lane : lane + 2])
        # what moves nothing has no row, unless that depends on the length of the run
        there = rows.written if of.text.cuts else rows.kind
        own = own[(there[own] & (FABRIC | APPLIES | ENDS)) > 0]
        kinds.append([*rows.kind[own].tolist(), OVER, OVER, OVER])
        planned.append([*there[own].tolist(), OVER, OVER, OVER])
        walks.append([*rows.walk[own].tolist(), 0, 0, 0])
        into, out = rows.into_to - rows.into_from, rows.out_to - rows.out_from
        elements = np.stack((into[own], out[own], rows.passed[own]), axis=1)
        numbers.append((elements // costs.per_wavelet).tolist())
    code = [
        Code(
            place,
            [n for n in range(rows.lanes) if numbers[place * rows.lanes + n]],
            [NONE] * rows.lanes,
            [0] * rows.lanes,
        )
        for place in range(len(called))
    ]
    links = shared_links(of.links, rows.lanes)
    return Timeline(
        costs, of.text, rows, of.here, kinds, planned, walks, numbers, code, links,
        _state(costs, of, links, called), called.copy(), called.copy(),
    )  # fmt: skip


def _state(costs: Costs, of: Line, links: SharedLinks, called: Ints) -> Arrays:
    lanes, due = _lanes(costs, of, links)
    places = np.zeros((PLACE_FIELDS, len(called)), dtype=np.int64)
    places[READY] = called
    depth = 1 << int(max(lanes[DELAY].max(), lanes[HOPS].max() + 2)).bit_length()
    queues, count = (costs.output_queue, costs.input_queue), len(of.target)
    return Arrays(
        machine=np.array((costs.ramp, costs.hop, *queues, costs.group, ENOUGH), dtype=np.int64),
        clock=np.array((called.min(), 0, 0, 0, 0), dtype=np.int64),
        lanes=lanes,
        places=places,
        agenda=np.zeros((KINDS, depth, count), dtype=np.int64),
        marks=np.zeros(depth, dtype=np.int64),
        links=links.entries,
        taken=links.taken,
        due=due,
        high=np.zeros(count, dtype=np.bool_),
        low=np.zeros(count, dtype=np.bool_),
        able=np.zeros(count, dtype=np.bool_),
        ended=np.zeros(2 * count, dtype=np.int64),
        coding=np.zeros(len(called), dtype=np.int64),
    )


def _lanes(costs: Costs, of: Line, links: SharedLinks) -> tuple[Ints, Ints]:
    """The lanes before the first cycle, and what is due at those that share links."""
    count = len(of.target)
    lanes = np.zeros((LANE_FIELDS, count), dtype=np.int64)
    lanes[[SOURCE, TAKING, SENDING, CROSSES]] = NONE
    hops = np.array([len(of.links.get(lane, ())) for lane in range(count)], dtype=np.int64)
    lanes[TARGET], lanes[HOPS] = of.target, hops
    source = np.full(count, NOWHERE, dtype=np.int64)
    source[of.target[of.target != NOWHERE]] = np.flatnonzero(of.target != NOWHERE)
    lanes[DELAY] = costs.latency(0) - UP + costs.hop * hops[source]
    if costs.group > 1:
        lanes[DELAY] -= costs.ramp  # until it can go down the ramp
    lanes[ROOM] = costs.router_queue * (hops + 1) + costs.input_queue
    if links.lanes:  # what waits at a link and what waits for the ramp are not told apart
        lanes[ROOM] += costs.output_queue
        lanes[CROSSES, links.lanes] = np.arange(len(links.lanes))
        lanes[FIRST_LINK, links.lanes], lanes[END_LINK, links.lanes] = (
            links.first[:-1],
            links.first[1:],
        )
    lanes[SOURCE] = source
    most = int(lanes[ROOM, links.lanes].max(initial=0))
    return lanes, np.zeros((len(links.lanes), most), dtype=np.int64)
