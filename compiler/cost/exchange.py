"""A phase made of steps within a prediction: each different line is evaluated once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from collc.cost.links import Link, links_on_line
from collc.cost.operations import Costs
from collc.cost.row_code import Here, features_of
from collc.cost.row_moves import CODE
from collc.cost.rows import run_timeline
from collc.cost.timeline import Line, timeline
from collc.plan import Phase, RowKind
from collc.plan.dynamic_lengths import exchange_of_length
from collc.plan.step_tables import always
from collc.plan.unrolled import NOWHERE, Ints, Unrolled, connections, roles_of_places, unrolled
from collc.spec.exchange import StepsPhase

@dataclass(frozen=True, eq=False)
class ExchangeRun:
    """By line and place: when the code calls what follows, and the last busy cycle."""

    time: Ints
    end: Ints


def run_exchange(
    costs: Costs, phase: Phase, pattern: StepsPhase, called: Ints, deep: Ints
) -> ExchangeRun:
    """Evaluate a phase; `called` is [line, place], `deep` what returning behind it takes.
    Lines that begin alike, sooner or later, are alike."""
    line = _line(costs, phase, pattern)
    first = called.min(axis=1, keepdims=True)
    deep = deep - costs.code.returns  # what returns beside the task itself
    both = np.concatenate((called - first, deep), axis=1)
    different, which = np.unique(both, axis=0, return_inverse=True)
    places = pattern.ranks
    runs = [run_timeline(costs, line, one[:places], one[places:]) for one in different]
    which = which.reshape(-1)
    return ExchangeRun(
        np.stack([run.free for run in runs])[which] + first,
        np.stack([run.ended for run in runs])[which] + first,
    )


def begun_by(costs: Costs, phase: Phase, pattern: StepsPhase) -> Ints:
    """By place: cycles of the code that begins a phase, from its call to its return."""
    none = np.zeros(pattern.ranks, dtype=np.int64)
    moves = timeline(costs, _line(costs, phase, pattern), none, none).state.moves
    found: Ints = np.where(moves[:, :, 0] == CODE, moves[:, :, 2], 0).sum(axis=1)
    return found


def _line(costs: Costs, phase: Phase, pattern: StepsPhase) -> Line:
    """What a line of the phase runs."""
    phase, pattern = exchange_of_length(phase, pattern, costs.length)
    assert phase.exchange is not None, "a phase made of steps is an exchange"
    rows = unrolled(phase, pattern)
    target, _ = connections(phase, pattern)
    text = features_of(costs, rows, phase)
    links = _links(target, rows.lanes, phase)
    return Line(text, rows, target, links, _here(rows, phase, pattern))


def _links(target: Ints, lanes: int, phase: Phase) -> dict[int, list[Link]]:
    """The links that each lane uses: of the row, or of the grid where an order leaps."""
    if phase.path is None or not phase.ways:
        return links_on_line(target, lanes)
    ways = {(way.pes[0], way.pes[-1]): way.pes for way in phase.ways}
    pes = phase.path.places
    ends = {
        lane: (pes[lane // lanes], pes[to // lanes])
        for lane, to in enumerate(target.tolist())
        if to != NOWHERE
    }
    return {lane: list(pairwise(ways.get(pair, pair))) for lane, pair in ends.items()}


def _here(rows: Unrolled, phase: Phase, pattern: StepsPhase) -> list[Here]:
    """What the text of each place knows of its lanes."""
    assert phase.exchange is not None, "a phase made of steps is an exchange"
    found = []
    for role in roles_of_places(phase, pattern):
        for lane in role.lanes if role else (None,) * rows.lanes:
            bits = always(lane, phase.exchange) if lane else RowKind(0)
            found.append(
                Here(
                    receives=lane is not None and lane.receives_on is not None,
                    sends=lane is not None and lane.sends_on is not None,
                    always_receives=bool(bits & RowKind.RECEIVES),
                    always_sends=bool(bits & RowKind.SENDS),
                )
            )
    return found
