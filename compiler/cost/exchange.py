"""Evaluation of a phase made of steps: its step tables, run cycle by cycle (`collc_evaluator`).

Each different line is evaluated once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from collc.cost.evaluated_line import line_of
from collc.cost.operations import Costs
from collc.cost.streams import begun, run_streams, stream_line
from collc.plan import Phase
from collc.plan.unrolled import Ints
from collc.spec.exchange import StepsPhase

MOST = 200_000_000  # looks at a PE that are taken; then the rest goes on at the same pace
ENOUGH = 200  # wavelets that operations have left at least, when repetition is looked for


@dataclass(frozen=True, eq=False)
class ExchangeRun:
    """By line and place: when the code calls what follows, and the last busy cycle."""

    time: Ints
    end: Ints


def run_exchange(  # noqa: PLR0913, PLR0917 - the phase, when it is called, how long to follow it
    costs: Costs,
    phase: Phase,
    pattern: StepsPhase,
    called: Ints,
    deep: Ints,
    looks: int | None = None,
) -> ExchangeRun:
    """Evaluate a phase; `called` is [line, place], `deep` what returning behind it takes. After so
    many `looks` at a PE of a line (`MOST`) the rest is taken to go on at the same pace. Lines that
    begin alike, sooner or later, are alike."""
    if phase.streams:
        return ExchangeRun(*run_streams(costs, phase, pattern, called, deep))
    line = line_of(costs, phase, pattern)
    first = called.min(axis=1, keepdims=True)
    deep = deep - costs.code.returns  # what returns beside the task itself
    both = np.concatenate((called - first, deep), axis=1)
    different, which = np.unique(both, axis=0, return_inverse=True)
    places = pattern.ranks
    runs = [line.run(one[:places], one[places:], looks or MOST, ENOUGH) for one in different]
    which = which.reshape(-1)
    return ExchangeRun(
        np.stack([run.free for run in runs])[which] + first,
        np.stack([run.ended for run in runs])[which] + first,
    )


def begun_by(costs: Costs, phase: Phase, pattern: StepsPhase) -> Ints:
    """By place: cycles of the code that begins a phase, from its call to its return."""
    if phase.streams:
        return begun(costs, stream_line(costs, phase, pattern))
    return line_of(costs, phase, pattern).code_of_beginning()
