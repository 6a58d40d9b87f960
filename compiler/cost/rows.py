"""Evaluation of a phase made of steps along one line: its rows, run cycle by cycle.

A PE has one slot in a cycle. What receives or lets pass goes first, then the code, then what only
sends; equals take turns. What is written waits in the lane's output queue for the ramp, which all
lanes of a PE share, and for room on its way, which comes back when the receiver takes an element.
A latency later it is at the other end's ramp, goes down it as soon as the lane's input queue has
room, and can be used. Cycles are run by `collc.cost.cycles`; what code does in them, and how long
it takes, say `collc.cost.row_moves` and `collc.cost.row_code`.
"""

from __future__ import annotations

import numpy as np

from collc.cost.cycles import FINISHED, FULL, STUCK, advance
from collc.cost.line_state import ACTIVE, BUDGET, INTO, OUT, PASSED, ROW, RUNS
from collc.cost.links import rebuilt
from collc.cost.operations import Costs
from collc.cost.timeline import Line, Timeline, timeline
from collc.plan.unrolled import Ints

MOST = 200_000_000  # looks at a place that are taken
ROW_COST = 70  # about what a row costs besides its elements, in cycles


def run_timeline(costs: Costs, of: Line, called: Ints, deep: Ints) -> Timeline:
    """Run all rows; at `called[p]` the code of place p, `deep[p]` functions deep, calls the
    phase."""
    line = timeline(costs, of, called, deep)
    line.state.clock[BUDGET] = MOST // 2
    if _run(line):
        return line
    middle = line.now, _progress(line)
    line.state.clock[BUDGET] = MOST // 2
    if not _run(line):
        _extrapolate(line, middle)
    return line


def _run(line: Timeline) -> bool:
    """Run cycles until all is over (true) or the budget is spent."""
    end = advance(line.state)
    while end == FULL:
        line.state = rebuilt(line.state)
        end = advance(line.state)
    assert end != STUCK, "rows that the checks let pass come to their end"
    return end == FINISHED


def _progress(line: Timeline) -> float:
    """The part of all rows that is behind the PEs, by their elements and what a row costs."""
    table = line.table
    weights = table.rows[:, [INTO, OUT, PASSED]].sum(axis=1) + ROW_COST
    before = np.concatenate(([0], np.cumsum(weights)))
    first, begun = table.first, np.clip(line.state.lanes[:, ROW], 0, table.count)
    behind = before[first + begun] - before[first]
    total = before[first + table.count] - before[first]
    return float(behind.sum() / total.sum())


def _extrapolate(line: Timeline, middle: tuple[int, float]) -> None:
    """The rest is taken to go on as fast as the second half of what has been evaluated."""
    then, before = middle
    behind = _progress(line)
    pace = (line.now - then) / max(behind - before, 1e-9)
    end = line.now + round((1 - behind) * pace)
    places = line.state.places
    runs = line.state.lanes[:, RUNS].reshape(len(places), -1).any(axis=1)
    going = runs | (places[:, ACTIVE] > 0)
    line.free[going], line.ended[going] = end, end - 1
