"""Vectors whose length is given when the program runs: which lengths have to be proved.

Slice k of c begins at element k n div c, where n is the length. The larger k / c, the later it
begins, whatever n is; so where several phases cut a vector, all of their slices begin in one order,
and some at the same element. If n is a multiple of all their numbers of slices, no two do unless
they do for every n. What holds for that length holds for all others: they only lack some segments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from math import lcm

from collc.diagnostics import Diagnostic
from collc.run_lengths import of_length
from collc.schedule import Schedule
from collc.spec import RunLength
from collc.steps import StepsPhase

Prove = Callable[[Schedule], Iterable[Diagnostic]]

_TRIED = 64  # lengths, where the one that stands for all is longer than any that can be given


def at_other_lengths(schedule: Schedule, prove: Prove) -> Iterator[Diagnostic]:
    """What is wrong at some length of the run, if nothing is at the longest one; `prove` is for
    vectors of one length."""
    given = schedule.collective.contract.run_length
    counts = [p.slicing.count for p in schedule.phases if isinstance(p, StepsPhase)]
    if given is None or not counts:
        return
    whole = lcm(*counts)
    found = list(prove(of_length(schedule, whole)))
    if found and whole > given.longest:
        lengths = range(given.longest - 1, given.least - 1, -1)
        tried = (
            (n, wrong) for n in lengths[:_TRIED] if (wrong := list(prove(of_length(schedule, n))))
        )
        otherwise = (whole, found) if len(lengths) > _TRIED else (whole, [])
        whole, found = next(tried, otherwise)
    yield from (_said(diagnostic, given, whole) for diagnostic in found)


def _said(diagnostic: Diagnostic, given: RunLength, length: int) -> Diagnostic:
    """The same, with the length at which it is wrong."""
    where = f"this is so with {given.name} = {length}"
    if length > given.longest:
        where = f"this would be so with {given.name} = {length}, and perhaps with a smaller one"
    return replace(diagnostic, also=(*diagnostic.also, (given.span, where)))
