"""What the evaluation of a line of rows goes through: its state before the first cycle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from collc.cost.line_state import (
    CROSSES,
    DELAY,
    END_LINK,
    ENDED,
    FIRST_LINK,
    FIRST_ROW,
    FREE,
    HAS_ROWS,
    HOPS,
    KINDS,
    LANE_FIELDS,
    LOADS,
    NEVER,
    NONE,
    NOW,
    PLACE,
    PLACE_FIELDS,
    READY,
    RING,
    RING_SIZE,
    ROOM,
    ROW,
    SEEN,
    SENDING,
    SOURCE,
    TAKING,
    TARGET,
    Arrays,
)
from collc.cost.links import Link, SharedLinks, shared_links
from collc.cost.operations import Costs
from collc.cost.row_code import Features, Here, beginning, loads_at_beginning
from collc.cost.row_moves import begin
from collc.cost.row_table import RowTable, row_table
from collc.plan.unrolled import NOWHERE, Ints, Unrolled

ENOUGH = 200  # elements that operations have left at least, when repetition is looked for


@dataclass(frozen=True, eq=False)
class Line:
    """What a line runs: its rows, by lane where what it sends goes to, over which links, and what
    its text knows."""

    text: Features
    rows: Unrolled
    target: Ints
    links: dict[int, list[Link]]
    here: list[Here]


@dataclass
class Timeline:
    """The state of `collc.cost.cycles`, and the rows of each lane."""

    table: RowTable
    state: Arrays

    @property
    def now(self) -> int:
        """The cycle under way."""
        return int(self.state.clock[NOW])

    @property
    def free(self) -> Ints:
        """By place, when the code calls what follows."""
        return self.state.places[:, FREE]

    @property
    def ended(self) -> Ints:
        """By place, the last busy cycle."""
        return self.state.places[:, ENDED]


def timeline(costs: Costs, of: Line, called: Ints, deep: Ints) -> Timeline:
    """Before the first cycle; at `called[p]` the code of place p, `deep[p]` functions deep, calls
    the phase."""
    assert of.rows.lanes in {1, 2}, "one lane, or one in each direction"
    table = row_table(costs, of.text, of.rows, of.here)
    state = _state(costs, of, table, called)
    begin(state, deep)
    return Timeline(table, state)


def _state(costs: Costs, of: Line, table: RowTable, called: Ints) -> Arrays:
    links = shared_links(of.links, of.rows.lanes)
    lanes = _lanes(costs, of, links)
    lanes[FIRST_ROW], lanes[HAS_ROWS] = table.first, table.count > 0
    lanes[LOADS] = [loads_at_beginning(of.text, one) for one in of.here]
    places = np.zeros((len(called), PLACE_FIELDS), dtype=np.int64)
    places[:, [READY, FREE, ENDED]] = called[:, None]
    places[:, SEEN] = called - 1
    code = costs.code
    begins = lanes[HAS_ROWS].reshape(len(called), -1).any(axis=1)
    machine = (
        costs.ramp_down, costs.hop, costs.output_queue, costs.input_queue, costs.group, ENOUGH,
        of.rows.lanes, len(links.lanes) > 0, costs.task, beginning(of.text), costs.load,
        _rise(costs), costs.send_start, costs.between, code.frame, code.own_bit_set, code.own_bit_clear, code.is_true,
        code.is_false, code.over_else, code.loop_back, code.counter, code.lane_begun,
        code.other_lane, code.goes_on, code.step_begun, code.step_over,
    )  # fmt: skip
    dues = np.zeros((KINDS, lanes[RING_SIZE].sum()), dtype=np.int64)
    return Arrays(
        machine=np.array(machine, dtype=np.int64),
        clock=np.array((called.min(), 0, 0, 0), dtype=np.int64),
        lanes=lanes.T.copy(),
        places=places,
        wakes=np.where(begins, called, NEVER),
        dues=dues,
        links=links.entries,
        taken=links.taken,
        rows=table.rows,
        pieces=table.pieces,
        moves=np.zeros((len(called), table.most, 3), dtype=np.int64),
        lanes_kept=np.zeros_like(lanes.T, order="C"),
        places_kept=np.zeros_like(places),
        dues_kept=np.zeros_like(dues),
    )


def _lanes(costs: Costs, of: Line, links: SharedLinks) -> Ints:
    """The lanes before the first cycle, but for their rows; [field, lane]."""
    count = len(of.target)
    lanes = np.zeros((LANE_FIELDS, count), dtype=np.int64)
    lanes[[SOURCE, TAKING, SENDING, ROW]] = NONE
    lanes[PLACE] = np.arange(count) // of.rows.lanes
    hops = np.array([len(of.links.get(lane, ())) for lane in range(count)], dtype=np.int64)
    lanes[TARGET], lanes[HOPS] = of.target, hops
    source = np.full(count, NOWHERE, dtype=np.int64)
    source[of.target[of.target != NOWHERE]] = np.flatnonzero(of.target != NOWHERE)
    lanes[DELAY] = costs.latency(0) - _rise(costs) + costs.hop * hops[source]
    if costs.group > 1:
        lanes[DELAY] -= costs.ramp_down  # until it can go down the ramp
    lanes[ROOM] = costs.router_queue * (hops + 1) + costs.input_queue
    # as many as there are cycles until they are there, since one comes in a cycle
    rise = _rise(costs) + costs.send_start
    under_way = np.maximum(lanes[DELAY], np.maximum(hops + 1, max(rise, costs.ramp_down)))
    if links.lanes:  # what waits at a link and what waits for the ramp are not told apart
        lanes[ROOM] += costs.output_queue
        lanes[CROSSES, links.lanes] = 1
        lanes[FIRST_LINK, links.lanes] = links.first[:-1]
        lanes[END_LINK, links.lanes] = links.first[1:]
        under_way = np.maximum(under_way, lanes[ROOM][source])
    lanes[SOURCE], lanes[RING_SIZE] = source, under_way + 1
    lanes[RING] = np.cumsum(lanes[RING_SIZE]) - lanes[RING_SIZE]
    return lanes


def _rise(costs: Costs) -> int:
    """Cycles from the instruction that writes an element to its way up the ramp."""
    return costs.ramp_up - 1
