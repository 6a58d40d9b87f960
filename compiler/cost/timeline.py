"""What the evaluation of a line of rows goes through: its state, by lane and by place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from collc.cost.links import Link, Links, shared_links
from collc.cost.operations import Costs
from collc.cost.row_code import ENDS, FABRIC, OVER, Features, Here, Move
from collc.plan import RowKind
from collc.unrolled import NOWHERE, Ints, Unrolled

Bools = npt.NDArray[np.bool_]

APPLIES = int(RowKind.APPLIES)
WRITTEN = 2  # cycles from the instruction that writes an element to its way up the ramp


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
    """By lane: elements that operations have left, that have arrived and not been taken, that there
    is room for. By place: instructions and cycles until the code goes on. `free` is when the
    code calls what follows, `ended` the last busy cycle.
    """

    costs: Costs
    text: Features
    rows: Unrolled
    here: list[Here]
    kinds: list[list[int]]
    planned: list[list[int]]  # the kinds of rows before it is known that they move nothing
    walks: list[list[int]]
    numbers: list[Ints]
    target: Ints
    source: Ints
    hops: Ints
    delay: Ints  # until what was sent to a lane has arrived
    left: Ints
    passing: Bools
    sends: Ints
    landing: Ints  # elements at the router, for the one ramp of all lanes of a PE
    favoured: Ints  # the lane that goes down it first
    arrived: Ints
    room: Ints
    slots: Ints
    ready: Ints
    wait: Ints
    active: Bools
    turn: Ints
    threads: Ints  # operations under way, in a list
    taking: Ints  # where in it a lane's operation is that receives or lets pass
    sending: Ints  # and the one that only sends
    free: Ints
    ended: Ints
    queued: Ints  # elements in output queues
    leaving: Ints  # those of them that may go up the one ramp of all lanes of a PE
    goes_up: Ints  # the lane that goes first
    written: Ints  # by cycle (modulo its depth) and lane, and a last one that stands for none
    sent: Bools
    taken: Ints
    entered: Ints  # what has gone down the ramp, where that is followed apart
    held: Ints  # what input queues hold then, whether it can be used or not
    code: list[Code]
    links: Links
    crossing: Ints  # lanes that share links with others
    last: int = 0  # the cycle in which something was sent or taken last
    moves: int = 0  # how often code has gone on


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
    lanes, places = len(target), len(called)
    hops = np.array([len(of.links.get(lane, ())) for lane in range(lanes)], dtype=np.int64)
    source = np.full(lanes, NOWHERE, dtype=np.int64)
    source[target[target != NOWHERE]] = np.flatnonzero(target != NOWHERE)
    links = shared_links(of.links, rows.lanes, costs.hop)
    crossing = np.array(list(links.ways), dtype=np.int64)
    kinds, planned, walks, numbers = [], [], [], []
    for lane in range(lanes):
        own = np.arange(*rows.start[lane : lane + 2])
        # what moves nothing has no row, unless that depends on the length of the run
        there = rows.written if of.text.cuts else rows.kind
        own = own[(there[own] & (FABRIC | APPLIES | ENDS)) > 0]
        kinds.append([*rows.kind[own].tolist(), OVER, OVER, OVER])
        planned.append([*there[own].tolist(), OVER, OVER, OVER])
        walks.append([*rows.walk[own].tolist(), 0, 0, 0])
        into, out = rows.into_to - rows.into_from, rows.out_to - rows.out_from
        elements = np.stack((into[own], out[own], rows.passed[own]), axis=1)
        numbers.append(elements // costs.per_wavelet)
    used = [
        [n for n in range(rows.lanes) if len(numbers[p * rows.lanes + n])] for p in range(places)
    ]
    delay = costs.latency(0) - WRITTEN + costs.hop * hops[source]
    if costs.group > 1:
        delay = delay - costs.ramp  # until it can go down the ramp
    source[target[crossing]] = NOWHERE
    room = costs.router_queue * (hops + 1) + costs.input_queue
    if len(crossing):  # what waits at a link and what waits for the ramp are not told apart
        room = room + costs.output_queue
    depth = 1 << int(max(delay.max(), hops.max() + 2)).bit_length()
    log = np.zeros((depth, lanes + 1), dtype=np.bool_)
    none = np.zeros(lanes, dtype=np.int64)
    idle = np.zeros(places, dtype=np.int64)
    return Timeline(
        costs, of.text, rows, of.here, kinds, planned, walks, numbers, target, source, hops, delay,
        none.copy(), none > 0, none.copy(), none.copy(), idle.copy(), none.copy(),
        room,
        idle.copy(), called.copy(), idle.copy(), idle > 0, idle.copy(),
        idle.copy(), none - 1, none - 1,
        called.copy(), called.copy(), none.copy(), none.copy(), idle.copy(),
        log.astype(np.int64), log, log.astype(np.int64), log.astype(np.int64), none.copy(),
        [Code(p, used[p], [-1] * rows.lanes, [0] * rows.lanes) for p in range(places)],
        links, crossing,
    )  # fmt: skip
