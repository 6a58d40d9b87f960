"""Lengths that are given when a program runs: which, and what is run for one of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import log
from operator import index
from typing import SupportsIndex

import numpy as np

from collc.base.diagnostics import CollcError, Diagnostic
from collc.plan import Phase, Plan
from collc.schedule.lengths import collective_of_length
from collc.spec import Program

Lengths = Mapping[str, Sequence[int]]  # by name, one for each round
Given = Sequence[SupportsIndex] | SupportsIndex  # one for all rounds, or one for each


def lengths_of_run(program: Program, given: Lengths, seed: int) -> dict[str, tuple[int, ...]]:
    """A length or root of each name for each round: as given, or random. Each order of magnitude of
    lengths is as likely as any other, so that all alternatives come to be run."""
    dice = np.random.default_rng(seed)
    found = {}
    for name, most in program.lengths:
        random = np.exp(dice.uniform(0, log(most + 1), program.rounds))
        found[name] = tuple(given.get(name, (min(int(n), most) for n in random)))
    for name, ranks in program.roots:
        found[name] = tuple(given.get(name, dice.integers(0, ranks, program.rounds).tolist()))
    return found


def checked_lengths(
    program: Program, given: Iterable[tuple[str, Given]]
) -> dict[str, tuple[int, ...]]:
    """What a user gives, of which no name need be said where there is only one, and one length may
    stand for all rounds. Raises CollcError where a program has no use for it or a number is out of
    its range, TypeError for what is no whole number."""
    known = {name: limits for name, *limits in program.given}
    rounds = program.rounds
    found: dict[str, tuple[int, ...]] = {}
    for said, numbers in given:
        lengths = _whole_numbers(numbers)
        name = next(iter(known)) if not said and len(known) == 1 else said
        if name not in known or name in found:
            raise _refused(_why_not(name, known, found))
        if len(lengths) not in (1, rounds):
            what = (
                "1 round: give one"
                if rounds == 1
                else f"{rounds} rounds: give one, or one for each"
            )
            raise _refused(f"{len(lengths)} lengths for {what}")
        least, most = known[name]
        wrong = next((n for n in lengths if not least <= n <= most), None)
        if wrong is not None:
            raise _refused(
                f"{name} = {wrong}: it is {least} to {most}", _NEVER if wrong == 0 else ""
            )
        found[name] = lengths * rounds if len(lengths) == 1 else lengths
    return found


def _why_not(name: str, known: Mapping[str, object], found: Mapping[str, object]) -> str:
    if name in found:
        return f"the length {name} is given twice"
    if not known:
        return "the program has no length that is given when it runs"
    names = ", ".join(known)
    return f"there is no length {name} to give, but {names}" if name else f"say which of {names}"


_NEVER = "leave out a call with nothing to send, on all PEs"


def _whole_numbers(given: Given) -> tuple[int, ...]:
    return tuple(index(one) for one in (given if isinstance(given, Iterable) else (given,)))


def _refused(message: str, help: str = "") -> CollcError:
    return CollcError([Diagnostic("C503", message, None, help=help)])


def plan_of_length(plan: Plan, length: int) -> Plan:
    """The plan of a collective for vectors of a dynamic length."""
    collective = collective_of_length(plan.collective, length)
    phases = (phase_of_length(phase, length) for phase in plan.phases)
    return replace(plan, collective=collective, phases=tuple(phases))


def phase_of_length(phase: Phase, length: int) -> Phase:
    """A phase for vectors of a dynamic length; as it is where that is known."""
    if not phase.slicing.dynamic:
        return phase
    return replace(phase, slicing=replace(phase.slicing, length=length))
