"""Numbers for colors and queues: lowest first, in one fixed order.

A plan that needs more than the target has gets numbers past the target's last, so that it can be
shown and refused by `collc.checks` together with everything else that is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import count, islice

from collc.plan import Phase, Plan, filters_of
from collc.plan.form import Form, form_of
from collc.plan.placement import colors_of, switched_colors
from collc.spec import Reserved
from collc.target import Target


def left_by(reserved: Reserved, target: Target) -> Target:
    """The target with what is left for a collective.

    A color may be a data task's, so its number is no task id on machines where those are one; the
    numbers of queues are those of the microthreads on which operations run, so a queue's number is
    kept from both kinds.
    """
    queues = {*reserved.input_queues, *reserved.output_queues}
    tasks = target.task_ids_beside(reserved.colors)
    return replace(
        target,
        colors=tuple(n for n in target.colors if n not in reserved.colors),
        switch_colors=target.switch_colors - set(reserved.colors),
        input_queues=tuple(n for n in target.input_queues if n not in queues),
        output_queues=tuple(n for n in target.output_queues if n not in queues),
        local_task_ids=tuple(n for n in tasks if n not in reserved.tasks),
        dsr_ids=tuple(n for n in target.dsr_ids if n not in reserved.dsrs),
        kept_bytes=target.kept_bytes if reserved.kept_bytes is None else reserved.kept_bytes,
        memory_bytes=target.memory_bytes - reserved.memory_bytes,
    )


def number_colors(phases: Sequence[Phase], target: Target) -> tuple[tuple[str, int], ...]:
    """Numbers for the symbolic colors."""
    switched, names = switched_colors(phases), colors_of(phases)
    numbers = color_numbers([name in switched for name in names], target)
    return tuple(zip(names, numbers, strict=True))


def color_numbers(switched: Sequence[bool], target: Target) -> list[int]:
    """Numbers of colors; those with several positions first choose the ones with switches."""
    able = [color for color in target.colors if color in target.switch_colors]
    free = list(target.colors)
    numbers = [-1] * len(switched)
    for i in sorted(range(len(switched)), key=lambda i: not switched[i]):
        with_switch = switched[i] and able
        numbers[i] = able.pop(0) if with_switch else _past(free, numbers)
        free = [color for color in free if color != numbers[i]]
    return numbers


def _past(available: Sequence[int], taken: Iterable[int]) -> int:
    """An available number, or one that the target does not have."""
    used = set(taken)
    free = (number for number in available if number not in used)
    return next(free, max((*available, *used), default=-1) + 1)


def take(available: Sequence[int], needed: int) -> tuple[int, ...]:
    """The first `needed` numbers; past the end of `available` they are made up."""
    past_end = count(max(available, default=-1) + 1)
    return tuple(islice((number for part in (available, past_end) for number in part), needed))


def assignments(
    met: Sequence[Sequence[int]],
    offered: Sequence[Sequence[int]],
    kept: Sequence[Set[int]],
    tries: Iterable[int] | None = None,
) -> Iterator[tuple[int, ...]]:
    """Numbers for several users at once, in the order in which each is `offered` them, the first
    user's changing last: none that is `kept` from a user, nor that of an earlier one that it has
    `met`. Ends when as many numbers have been looked at as there are `tries`; without, when there
    are no more."""
    if not met:
        yield ()
        return
    left = iter(count() if tries is None else tries)
    numbers: list[int] = []
    open_ones = [(iter(offered[0]), kept[0])]  # of these users and the next, what is left of them
    while open_ones:
        ways, taken = open_ones[-1]
        number = next(ways, None)
        if number is None:
            open_ones.pop()
            del numbers[len(open_ones) - 1 :]
        elif next(left, None) is None:
            return
        elif number not in taken and len(open_ones) == len(met):
            yield (*numbers, number)
        elif number not in taken:
            numbers.append(number)
            at = len(numbers)
            open_ones.append((iter(offered[at]), kept[at] | {numbers[i] for i in met[at]}))


def most_filters(phases: Iterable[Phase]) -> int:
    """Filters that a PE has at most, if it plays the role with most of them in each phase."""
    each = (
        max(len(filters_of(role)) for role in phase.roles)
        for phase in phases
        if form_of(phase) is Form.STREAM
    )
    return sum(each)


def within_budget(plan: Plan) -> bool:
    """Whether the plan uses only numbers that the target has and keeps the limit of colors."""
    target = plan.target
    used: tuple[tuple[tuple[int, ...], set[int]], ...] = (
        (target.colors, {number for _, number in plan.colors}),
        (target.input_queues, set(plan.input_queues)),
        (target.output_queues, set(plan.output_queues)),
    )
    numbers = dict(plan.colors)
    return (
        len(plan.colors) <= plan.color_limit
        and most_filters(plan.phases) <= target.filters
        and all(numbers[name] in target.switch_colors for name in switched_colors(plan.phases))
        and all(taken <= set(available) for available, taken in used)
    )
