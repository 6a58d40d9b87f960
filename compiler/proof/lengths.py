"""Vectors whose length is given when the program runs: which lengths have to be proved.

Slice k of c begins at element k n div c, where n is the length. The larger k / c, the later it
begins, whatever n is; so where several phases cut a vector, all of their slices begin in one order,
and some at the same element. If n is a multiple of all their numbers of slices, no two do unless
they do for every n. What holds for that length holds for all others: they only lack some segments.

If that length is longer than any that can be given, some segments may have no element at any length
of the run, and what becomes of them is nothing. Then a few lengths are proved that together have
every segment that any length has. That is enough: slices stay in their places (where they do not, a
dynamic length is refused), so what a segment comes to hold does not depend on the others. Where
slices belong to ranks the contract cuts vectors, too, into one for each rank. Were something wrong
at a length, it were so in one of its segments, and it is wrong as well at the length that was
proved for that one.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import lcm

import numpy as np

from collc.base.diagnostics import Diagnostic
from collc.schedule import Schedule
from collc.schedule.lengths import of_length
from collc.spec import RunLength

Prove = Callable[[Schedule], Iterable[Diagnostic]]


def at_other_lengths(schedule: Schedule, prove: Prove) -> Iterator[Diagnostic]:
    """What is wrong at some dynamic length, if nothing is at the longest one; `prove` is for
    vectors of one length."""
    given = schedule.collective.contract.run_length
    counts = [p.slicing.count for p in schedule.by_steps]
    if given is None or not counts:
        return
    if schedule.collective.contract.kind.by_slices:
        counts.append(schedule.collective.grid.width * schedule.collective.grid.height)
    of_all = lcm(*counts)
    whole = -(-given.least // of_all) * of_all  # the first that may be given, if any may
    found = list(prove(of_length(schedule, whole)))
    if found and whole > given.longest:
        tried = ((n, list(prove(of_length(schedule, n)))) for n in lengths_to_prove(given, counts))
        whole, found = next(((n, wrong) for n, wrong in tried if wrong), (whole, []))
    where = f"this is so with {given.name} = {whole}"
    for diagnostic in found:
        yield replace(diagnostic, also=(*diagnostic.also, (given.span, where)))


def lengths_to_prove(given: RunLength, counts: Sequence[int]) -> Iterator[int]:
    """Lengths below the longest one that have, together with it, every segment that any length of
    the run has. `counts` are the numbers of slices, of the phases and of the contract."""
    cuts = sorted({Fraction(k, count) for count in counts for k in range(count + 1)})
    numerators = np.array([cut.numerator for cut in cuts], np.int64)
    denominators = np.array([cut.denominator for cut in cuts], np.int64)
    had = np.zeros(len(cuts) - 1, np.bool_)
    for length in range(given.longest, given.least - 1, -1):
        here = np.diff(numerators * length // denominators) > 0
        if length < given.longest and (here & ~had).any():
            yield length
        had |= here
