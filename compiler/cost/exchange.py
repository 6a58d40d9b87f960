"""A phase made of steps within a prediction: each different line is evaluated once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from collc.cost.operations import Costs
from collc.cost.row_code import FABRIC, RECEIVES, SENDS, Here, features_of
from collc.cost.rows import run_timeline
from collc.cost.timeline import Line
from collc.plan import Phase
from collc.run_lengths import exchange_of_length
from collc.steps import StepsPhase
from collc.unrolled import Ints, Unrolled, connections, roles_of_places, unrolled

DEPTH = 2  # the task, and what begins steps and finds that there are no more


@dataclass(frozen=True, eq=False)
class ExchangeRun:
    """By line and place: when the code calls what follows, and the last busy cycle."""

    time: Ints
    end: Ints


def run_exchange(
    costs: Costs, phase: Phase, pattern: StepsPhase, called: Ints, deep: Ints
) -> ExchangeRun:
    """Evaluate a phase; `called` is [line, place], `deep` how many functions return behind it."""
    phase, pattern = exchange_of_length(phase, pattern, costs.length)
    assert phase.exchange is not None, "a phase made of steps is an exchange"
    rows = unrolled(phase, pattern)
    target, _ = connections(phase, pattern)
    text = features_of(costs, rows, phase.exchange)
    line = Line(text, rows, target, _here(rows, phase, pattern))
    both = np.concatenate((called, deep), axis=1)
    different, which = np.unique(both, axis=0, return_inverse=True)
    places = pattern.ranks
    runs = [run_timeline(costs, line, one[:places], one[places:]) for one in different]
    which = which.reshape(-1)
    return ExchangeRun(
        np.stack([run.free for run in runs])[which],
        np.stack([run.ended for run in runs])[which],
    )


def _here(rows: Unrolled, phase: Phase, pattern: StepsPhase) -> list[Here]:
    """What the text of each place knows of its lanes."""
    found = []
    for place, role in enumerate(roles_of_places(phase, pattern)):
        for index in range(rows.lanes):
            at = place * rows.lanes + index
            kinds = rows.kind[rows.start[at] : rows.start[at + 1]] & FABRIC
            lane = role.lanes[index] if role else None
            found.append(
                Here(
                    receives=lane is not None and lane.receives_on is not None,
                    sends=lane is not None and lane.sends_on is not None,
                    both=bool(len(kinds)) and bool((kinds == SENDS | RECEIVES).all()),
                )
            )
    return found
