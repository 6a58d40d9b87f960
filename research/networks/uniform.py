"""Uniform cost: rounds of messages that all ranks begin together, or each as soon as it can.

Of the messages that a rank sends (or receives) in a round, one follows the other. If all are
equally long, this is what it takes: as many turns as the busiest rank has messages suffice, since
they can be dealt out so that nobody sends or receives two at a time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from collc.base.values import dataclass
from collc_research.networks.network import Uniform
from collc_research.networks.rounds import Ints, Round

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class UniformCost:
    """`time_ns` if every round waits for the last message of the one before; `overlapped_ns` if a
    rank only waits for those it exchanges with. `rounds` counts the rounds, `one_way` those of them
    in which nobody both sends and receives. Bytes are those that follow each other, round by round.
    """

    time_ns: float
    overlapped_ns: float
    rounds: int
    one_way: int
    bytes_sent: int
    bytes_combined: int


def uniform_cost(
    network: Uniform, rounds: Iterable[Round], ranks: int, element_bytes: int
) -> UniformCost:
    """Follow the rounds of a schedule."""
    time, count, one_way, sent, combined = 0.0, 0, 0, 0, 0
    clock = np.zeros(ranks)
    for whole in rounds:
        present, one = _present(whole)
        both = _both_ways(one)
        busy = _busiest(one, _costs(network, one, both, element_bytes))
        sums = _summed(one, one.destination, one.combined * element_bytes)
        reducing = network.gamma_ns_per_byte * sums
        time += float(busy.max()) + float(reducing.max())
        count += 1
        one_way += not bool(both.any())
        sent += int(_busiest(one, one.elements * element_bytes).max())
        combined += int(sums.max())
        clock[present] = _overlapped(clock[present], one, busy) + reducing
    end = float(clock.max()) if ranks else 0.0
    return UniformCost(time, end, count, one_way, sent, combined)


def _present(whole: Round) -> tuple[Ints, Round]:
    """The ranks that take part in a round, and the round with these numbered 0, 1, 2, ..."""
    both = np.concatenate([whole.source, whole.destination])
    present, index = np.unique(both, return_inverse=True)
    source, destination = index.reshape(2, -1).astype(np.int64)
    return present, Round(source, destination, whole.elements, whole.combined)


def _both_ways(one: Round) -> npt.NDArray[np.bool_]:
    """For each message, whether one of its ends both sends and receives in this round."""
    sends, receives = np.isin(one.destination, one.source), np.isin(one.source, one.destination)
    return np.asarray(sends | receives)


def _costs(network: Uniform, one: Round, both: npt.NDArray[np.bool_], element_bytes: int) -> Floats:
    """How long each message takes."""
    alpha = network.alpha_ns * np.where(both, 1.0, network.one_way_alpha)
    beta = network.beta_ns_per_byte * np.where(both, 1.0, network.one_way_beta)
    return np.asarray(alpha + beta * one.elements * element_bytes)


def _summed(one: Round, ranks: Ints, values: npt.NDArray[Any]) -> Floats:
    """Values added up by rank, for all ranks of a round."""
    total = np.zeros(int(max(one.source.max(), one.destination.max())) + 1)
    np.add.at(total, ranks, values)
    return total


def _busiest(one: Round, costs: npt.NDArray[Any]) -> Floats:
    """By rank, what it sends or what it receives, whichever is more."""
    out, into = _summed(one, one.source, costs), _summed(one, one.destination, costs)
    return np.asarray(np.maximum(out, into))


def _overlapped(clock: Floats, one: Round, busy: Floats) -> Floats:
    """When each rank has done its part of a round that it begins with all it exchanges with."""
    begin = clock.copy()
    np.maximum.at(begin, one.source, clock[one.destination])
    np.maximum.at(begin, one.destination, clock[one.source])
    end: Floats = begin + busy
    after = end.copy()
    np.maximum.at(after, one.destination, end[one.source])
    return after
