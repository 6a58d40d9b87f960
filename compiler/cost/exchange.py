"""A phase made of steps within a prediction: each different line is evaluated once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from collc.cost.operations import Costs
from collc.cost.rows import Instructions, run_timeline
from collc.plan import Exchange, Phase, RowKind
from collc.steps import StepsPhase
from collc.unrolled import Ints, connections, unrolled

DEPTH = 3  # the task, what begins steps, what follows the last


@dataclass(frozen=True, eq=False)
class ExchangeRun:
    """By line and place: when the code calls what follows, and the last busy cycle."""

    time: Ints
    end: Ints


def run_exchange(costs: Costs, phase: Phase, pattern: StepsPhase, called: Ints) -> ExchangeRun:
    """Evaluate a phase; `called` is [line, place]."""
    assert phase.exchange is not None, "a phase made of steps is an exchange"
    rows = unrolled(phase, pattern)
    target, _ = connections(phase, pattern)
    features = _features(rows.kind, phase.exchange)
    different, which = np.unique(called, axis=0, return_inverse=True)
    runs = [run_timeline(costs, rows, target, features, line) for line in different]
    which = which.reshape(-1)
    finish = Instructions().finish * costs.scalar
    return ExchangeRun(
        np.stack([run.free for run in runs])[which] + finish,
        np.stack([run.ended for run in runs])[which],
    )


def _features(kinds: Ints, exchange: Exchange) -> frozenset[str]:
    """What the text of the phase has to tell apart."""
    combines = int(RowKind.COMBINES | RowKind.RECEIVES)
    slicing = exchange.slicing
    features = {
        "areas": exchange.areas > 0,
        "combines": bool(((kinds & combines) == combines).any()),
        "relays": bool((kinds & int(RowKind.RELAYS)).any()),
        "uneven": slicing.length % slicing.count > 0,
        "slices": slicing.count > 1,
    }
    return frozenset(name for name, has in features.items() if has)
