"""Cycles that relays take at least, known before they are lowered."""

import numpy as np

from collc.lowering.steps import traffic_of
from collc.schedule import Schedule
from collc.spec.exchange import StepsPhase
from collc.spec.simd import PAIR, WIDE, slices_go_in_pairs
from collc.target import Target

COMPARES = 3  # instructions of the task between two steps, at least: two loads and a comparison


def relays_at_least(schedule: Schedule, phase: StepsPhase, target: Target) -> int:
    """Cycles that a phase takes at least by relays: a PE has a slot for each wavelet that it sends,
    passes on or receives (for `WIDE` of them by a wide instruction), and between two of its steps a
    task starts, whose code takes slots, too."""
    contract, traffic = schedule.collective.contract, traffic_of(phase)
    if not len(traffic):
        return 0
    bounds = np.asarray(phase.slicing.bounds)
    words = (bounds[traffic.first + traffic.count] - bounds[traffic.first]) * contract.element.words
    low = np.minimum(traffic.source, traffic.target)
    high = np.maximum(traffic.source, traffic.target)
    handled = np.zeros(phase.ranks + 1, dtype=np.int64)
    np.add.at(handled, low, words)
    np.add.at(handled, high + 1, -words)
    on_the_way = np.zeros((len(phase.steps), phase.ranks + 1), dtype=np.int64)
    np.add.at(on_the_way, (traffic.step, low), 1)
    np.add.at(on_the_way, (traffic.step, high + 1), -1)
    steps = (on_the_way.cumsum(axis=1) > 0).sum(axis=0)
    at_once = PAIR if slices_go_in_pairs(phase, contract, target) else 1
    at_once *= WIDE if phase.wide else 1
    between = np.maximum(steps - 1, 0) * (target.cycles.engine.task_start + COMPARES)
    return int((handled.cumsum() // at_once + between).max())
