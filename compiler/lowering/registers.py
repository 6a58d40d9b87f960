"""How many data-structure registers the phases of a collective need, and their numbers.

A number is that of a *pair*, a `dsr_dest` and a `dsr_src0`, or of a *source*, a `dsr_src1`. The
destination and the first source of one operation are a pair; its second source may have any number.
So what is dealt out are pairs and sources, which count from the same numbers: the same number in
two files is two registers. Number 0 is memcpy's in every file (`Target.dsr_ids`).

Phases of trees have the vector's pair in common, loaded when an operation in memory begins. Each
has a pair for where its vector goes, whose source is the vector, and one for the control wavelet
behind it; a source for the vectors that are stored, one for what is sent or copied, and one for
the control wavelet. An operation that passes over the vector several times has DSDs, for which the
compiler takes registers itself: a `mem4d_dsd` needs more of them than a `dsr_dest` (D115). That of
a one-word collective goes to a word, and has a pair and a source of its own (D376).
"""

from __future__ import annotations

from collections.abc import Sequence

from collc.lowering.resources import take
from collc.plan import Phase, sides_of
from collc.plan.form import form_of
from collc.plan.one_word import are_one_word
from collc.plan.operands import Having, pairs_of_tree, sends, sources_of_tree
from collc.plan.ready import are_ready
from collc.target import Target


def pairs_of_phase(phase: Phase, *, one_word: bool = False) -> int:
    """Pairs of a phase, beside the vector's; one for each side of a lane of an exchange: for the
    slice that it receives into, and for where it sends."""
    if form_of(phase).is_cut:
        return sum(side.count for side in sides_of(phase))
    return _count(phase, pairs_of_tree(one_word=one_word))


def sources_of_phase(phase: Phase, *, one_word: bool = False) -> int:
    """Sources of a phase; one for each side of a lane of an exchange: for what arrives, and for the
    slice that it sends."""
    if form_of(phase).is_cut:
        return sum(side.count for side in sides_of(phase))
    return _count(phase, sources_of_tree(phase, one_word=one_word))


def vector_pairs(phases: Sequence[Phase]) -> int:
    """Pairs for the vector in memory: one if some phase is that of a tree."""
    return int(any(not form_of(phase).is_cut for phase in phases))


def dsrs_needed(phases: Sequence[Phase]) -> int:
    """How many numbers the phases take, if each has its own."""
    one_word = are_one_word(phases)
    pairs = vector_pairs(phases) + sum(pairs_of_phase(phase, one_word=one_word) for phase in phases)
    sources = sum(sources_of_phase(phase, one_word=one_word) for phase in phases)
    return max(pairs, sources) + are_ready(phases)


def dsrs_in_turn(phase: Phase) -> int:
    """How many numbers a phase takes that has them in turn with others. It loads them when it
    begins, and those of its control wavelet, which are its vector's, behind that."""
    if form_of(phase).is_cut:
        return dsrs_needed([phase])
    return max(
        1 + _count(phase, (sends,)), _count(phase, sources_of_tree(phase, one_word=False)[:-1])
    )


def number_dsr_ids(phases: Sequence[Phase], target: Target) -> tuple[int, ...]:
    """Enough numbers for the pairs, and for the sources; the vector's pair has the first one."""
    return take(target.dsr_ids, dsrs_needed(phases))


def _count(phase: Phase, kinds: Sequence[Having]) -> int:
    return sum(any(map(having, phase.roles)) for having in kinds)
