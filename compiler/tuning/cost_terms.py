"""What a schedule takes at least, and what the cycles go into.

The cost model (its closed forms are in `collc_research.reproduce`) is followed backwards from the
end: what the last thing waited for, and that in turn, down to the first element sent. On this way

    distance    is a cycle for every hop
    depth       the way in and out of every processor that passes a vector on
    bandwidth   the elements of the vector itself, at one a cycle
    contention  elements of other vectors that a PE takes before, one after the other

What a prediction has beyond that is start-up, as much of it as two PEs have, or waiting: for
switches, tasks and full queues. The model leaves both out, so no plan of the schedule is faster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields

import numpy as np

from collc.base.diagnostics import Span
from collc.base.values import dataclass
from collc.cost.start_up import Children, cycles_of_few, of_few_elements
from collc.cost.steps_model import follow_steps, step_begins
from collc.lowering import does_as_a_stream
from collc.plan.one_word import reduces_one_word
from collc.schedule import BroadcastPhase, Phase, ReducePhase, Schedule
from collc.spec import (
    Contract,
    ContractKind,
)
from collc.spec.arithmetic import arithmetic_of
from collc.spec.exchange import StepsPhase
from collc.spec.simd import PAIR, slices_go_in_pairs, wavelets
from collc.target import Target


@dataclass(frozen=True)
class Terms:
    """Cycles, by what they go into."""

    start_up: int = 0
    distance: int = 0
    depth: int = 0
    bandwidth: int = 0
    contention: int = 0
    waiting: int = 0

    def __add__(self, other: Terms) -> Terms:
        return Terms(*(a + b for a, b in zip(self.values(), other.values(), strict=True)))

    def values(self) -> tuple[int, ...]:
        """The cycles, in the order of the fields."""
        return tuple(getattr(self, field.name) for field in fields(self))

    @property
    def cycles(self) -> int:
        """All of them."""
        return sum(self.values())

    def named(self) -> tuple[tuple[str, int], ...]:
        """What takes any, with its name as people write it."""
        names = (field.name.replace("_", "-") for field in fields(self))
        return tuple((name, n) for name, n in zip(names, self.values(), strict=True) if n)


def least_terms(schedule: Schedule, target: Target) -> Terms:
    """What any plan of a schedule takes at least."""
    if not schedule.phases:
        return Terms()
    contract = schedule.collective.contract
    arithmetic = arithmetic_of(contract.element, contract.operation)
    terms = Terms(start_up=_start_up(schedule, target))
    for group in _groups(schedule.phases):
        first = group[0]
        if isinstance(first, BroadcastPhase):
            terms += _multicast(first, wavelets(contract, target, combines=False), target)
        elif isinstance(first, StepsPhase) and does_as_a_stream(schedule, first):
            terms += _stream(first, contract, target)
        elif isinstance(first, StepsPhase):
            terms += _exchange(first, contract, target)
        else:
            trees = tuple(phase for phase in group if isinstance(phase, ReducePhase))
            behind = wavelets(contract, target, combines=True) - 1  # the first one
            combining = behind * arithmetic.cycles_per_element(target) // arithmetic.words
            stretched = combining + 1
            terms += _reduction(trees, stretched, target)
    return terms


def terms_of(schedule: Schedule, cycles: int, target: Target) -> Terms:
    """Where predicted cycles go."""
    least = least_terms(schedule, target)
    return least + Terms(waiting=cycles - least.cycles)


def _groups(phases: Sequence[Phase]) -> Iterator[tuple[Phase, ...]]:
    """The phases; the two sides of a root within a line, which reduce at the same time, as one."""
    waiting: list[ReducePhase] = []
    for phase in phases:
        if isinstance(phase, ReducePhase):
            if waiting and (waiting[0].axis, waiting[0].home) != (phase.axis, phase.home):
                yield tuple(waiting)
                waiting = []
            waiting.append(phase)
            continue
        if waiting:
            yield tuple(waiting)
            waiting = []
        yield (phase,)
    if waiting:
        yield tuple(waiting)


def _multicast(phase: BroadcastPhase, length: int, target: Target) -> Terms:
    across = max(phase.x, phase.width - 1 - phase.x)
    down = max(phase.y, phase.height - 1 - phase.y)
    distance = (across + down) * target.hop
    return Terms(distance=distance, depth=target.visit, bandwidth=length - 1)


def _reduction(phases: tuple[ReducePhase, ...], length: int, target: Target) -> Terms:
    """Trees with a common root, one for each side of it."""
    children = [list(below) for below in phases[0].children]
    places = list(phases[0].place_of)
    for phase in phases[1:]:
        shift = len(children) - 1
        for rank, below in enumerate(phase.children):
            moved = [child + shift for child in below]
            if rank == 0:
                children[0] += moved
            else:
                children.append(moved)
                places.append(-rank)
    return _critical(children, places, length, target)


def _critical(
    children: Sequence[Sequence[int]], places: Sequence[int], length: int, target: Target
) -> Terms:
    """The chain of causes that ends when rank 0 has taken its last element."""
    through = target.visit
    first_sent, last_taken = [1] * len(children), [0] * len(children)
    waited = [[False] * len(below) for below in children]  # for the vector, not for the one before
    for rank in reversed(range(len(children))):
        for index, child in enumerate(children[rank]):
            way = through + abs(places[child] - places[rank]) * target.hop
            arrival = first_sent[child] + way
            waited[rank][index] = arrival > last_taken[rank]
            first_sent[rank] = max(arrival, last_taken[rank] + 1)
            last_taken[rank] = first_sent[rank] + length - 1
    distance = depth = contention = rank = 0
    index = len(children[0]) - 1
    while index >= 0:
        if waited[rank][index]:
            child = children[rank][index]
            distance += abs(places[child] - places[rank]) * target.hop
            depth += through
            rank, index = child, len(children[child]) - 1
        else:
            contention += length
            index -= 1
    return Terms(distance=distance, depth=depth, bandwidth=length, contention=contention)


def _exchange(phase: StepsPhase, contract: Contract, target: Target) -> Terms:
    """Steps, by the model of `follow_steps`."""
    steps = follow_steps(phase, contract, target)
    last = int(steps.time.argmax())
    total = max(int(steps.time[last]), steps.link_load)
    bandwidth = max(int(steps.busy[last]), steps.link_load)
    start_up = min(int(steps.rows[last]) * step_begins(target), total - bandwidth)
    distance = min(steps.hops, total - bandwidth - start_up)
    return Terms(start_up, distance, total - bandwidth - start_up - distance, bandwidth)


def _stream(phase: StepsPhase, contract: Contract, target: Target) -> Terms:
    """What routers turn: no PE takes more than an element a cycle, and every slice that it ends
    with another rank's has come to it once, over all hops."""
    bounds = phase.slicing.bounds // (PAIR if slices_go_in_pairs(phase, contract, target) else 1)
    places = np.array(phase.places)
    taken = np.zeros((phase.ranks, phase.slicing.count), np.bool_)
    far = 0
    for moves in phase.steps:
        each = moves.by_slice()
        there = np.diff(bounds)[each.slice] > 0
        source, destination = each.source[there], each.destination[there]
        taken[destination, each.into[there]] = True
        far = max(far, int(np.abs(places[source] - places[destination]).max(initial=0)))
    most = int((taken * np.diff(bounds)).sum(axis=1).max())
    hops = far * target.hop
    return Terms(distance=max(hops - most, 0), bandwidth=most)


def _start_up(schedule: Schedule, target: Target) -> int:
    """What few PEs take beyond the model, and that a further phase begins with a task."""
    contract = schedule.collective.contract
    further = target.cycles.engine.task_start * (len(list(_groups(schedule.phases))) - 1)
    if isinstance(schedule.phases[0], StepsPhase) or contract.operation is None:
        return further
    plain = arithmetic_of(contract.element, contract.operation).kind == "dsd"
    by_trees = all(isinstance(phase, ReducePhase) for phase in schedule.phases[:-1])
    told = by_trees and isinstance(schedule.phases[-1], BroadcastPhase)
    kind = contract.kind if told and reduces_one_word(contract) else ContractKind.REDUCE
    few = _of_few(of_few_elements(contract, 1, kind), target)
    return few + (further if plain else 0)


# In the second one the root's code is over before a word comes.
_FEW: tuple[Children, ...] = (((1,), ()), (*((rank,) for rank in range(1, 8)), ()))


def _of_few(contract: Contract, target: Target) -> int:
    """Cycles beyond the model's in which trees of few PEs reduce an element: the fewest. Of a
    one-word collective (`collc.plan.one_word`) a multicast belongs to it."""
    nowhere = Span("", 1, 1, 1, 1)
    told = contract.kind is not ContractKind.REDUCE
    found = []
    for children in _FEW:
        model = _critical(children, range(len(children)), 1, target)
        if told:
            model += _multicast(BroadcastPhase("few", 0, 0, len(children), 1, nowhere), 1, target)
        found.append(cycles_of_few(contract, (children,), int(told), target) - model.cycles)
    return min(found)
