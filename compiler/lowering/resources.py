"""Numbers for colors, queues, task ids and DSR ids: lowest first, in one fixed order.

A plan that needs more than the target has gets numbers past the target's last, so that it can be
shown and refused by `collc.checks` together with everything else that is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count, islice

from collc.plan import CopyVector, Phase, Role, SendVector, StoreVectors
from collc.spec import ContractKind
from collc.target import Target


def colors_of(phases: Sequence[Phase]) -> tuple[str, ...]:
    """The symbolic colors of all phases, in phase order, sorted within a phase."""
    names = [sorted({use.color for role in phase.roles for use in role.colors}) for phase in phases]
    return tuple(dict.fromkeys(name for group in names for name in group))


def switched_colors(phases: Sequence[Phase]) -> frozenset[str]:
    """The colors that have more than one position at some router."""
    uses = (use for phase in phases for role in phase.roles for use in role.colors)
    return frozenset(use.color for use in uses if len(use.positions) > 1)


def number_colors(phases: Sequence[Phase], target: Target) -> tuple[tuple[str, int], ...]:
    """Numbers for the symbolic colors; colors with positions first choose those with switches."""
    switched = switched_colors(phases)
    names = colors_of(phases)
    able = [color for color in target.colors if color in target.switch_colors]
    free = list(target.colors)
    numbers: dict[str, int] = {}
    for name in (name for name in names if name in switched):
        numbers[name] = able.pop(0) if able else _past(free, numbers.values())
        free = [color for color in free if color != numbers[name]]
    for name in (name for name in names if name not in switched):
        numbers[name] = free.pop(0) if free else _past(target.colors, numbers.values())
    return tuple((name, numbers[name]) for name in names)


def _past(available: Sequence[int], taken: Iterable[int]) -> int:
    """An available number, or one that the target does not have."""
    used = set(taken)
    free = (number for number in available if number not in used)
    return next(free, max((*available, *used), default=-1) + 1)


def take(available: Sequence[int], needed: int) -> tuple[int, ...]:
    """The first `needed` numbers; past the end of `available` they are made up."""
    past_end = count(max(available, default=-1) + 1)
    return tuple(islice((number for part in (available, past_end) for number in part), needed))


def receive_colors(role: Role) -> tuple[str, ...]:
    """The colors a role receives on, in order of first use: one input queue each."""
    return tuple(dict.fromkeys(_received(role)))


def _received(role: Role) -> Iterator[str]:
    for step in role.steps:
        if isinstance(step, SendVector):
            if step.adds_from is not None:
                yield step.adds_from
        else:
            yield step.color


def queues_needed(phase: Phase) -> int:
    """Input queues of a phase: as many as one PE has receive colors, at least one."""
    return max((1, *(len(receive_colors(role)) for role in phase.roles)))


def stores_needed(phase: Phase) -> int:
    """The most StoreVectors steps of one role."""
    return max(sum(isinstance(step, StoreVectors) for step in role.steps) for role in phase.roles)


def number_input_queues(phases: Sequence[Phase], target: Target) -> tuple[tuple[int, ...], ...]:
    """Input queues of each phase; no two phases share one, for each is bound to its color."""
    needed = [queues_needed(phase) for phase in phases]
    numbers = iter(take(target.input_queues, sum(needed)))
    return tuple(tuple(islice(numbers, size)) for size in needed)


def task_ids_of_phase(phase: Phase) -> int:
    """Local task ids of a phase.

    Reduce: one for each StoreVectors step (at least one: stored), then sent, then controlled.
    Broadcast: one (copied, or sent at the root).
    """
    return 1 if phase.kind is ContractKind.BROADCAST else max(1, stores_needed(phase)) + 2


def number_task_ids(
    phases: Sequence[Phase], colors: Iterable[int], target: Target
) -> tuple[int, ...]:
    """The module's task ids phase by phase as `task_ids_of_phase` says, and a last one for the
    caller's `done`, which the standalone program binds.

    On machines with one table for all tasks an id must not be the number of a color in use.
    """
    used = set(colors)
    free = [number for number in target.local_task_ids if number not in used]
    return take(free, sum(task_ids_of_phase(phase) for phase in phases) + 1)


def source_dsrs_of_phase(phase: Phase) -> int:
    """Registers of file src1 of a phase: one for each fabric operand that is received.

    Reduce: one for each StoreVectors step (at least one), then one for the vector added while
    sending. Broadcast: one.
    """
    return 1 if phase.kind is ContractKind.BROADCAST else max(1, stores_needed(phase)) + 1


def number_dsr_ids(phases: Sequence[Phase], target: Target) -> tuple[int, ...]:
    """DSR ids, long enough for both files.

    File src1: dealt out phase by phase as `source_dsrs_of_phase` says. File dest: the i-th id
    serves phase i (its sending). The same number in the two files is two registers.
    """
    sources = sum(source_dsrs_of_phase(phase) for phase in phases)
    return take(target.dsr_ids, max(sources, len(phases)))


def steps_of(role: Role) -> tuple[str, ...]:
    """A role's steps in words of a few letters, for messages and dumps."""
    words = {StoreVectors: "store", SendVector: "send", CopyVector: "copy"}
    return tuple(words[type(step)] for step in role.steps)
