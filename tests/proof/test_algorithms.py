"""Every algorithm of the prelude is proved on every line; what is not quite it is refused."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import fields, replace

import numpy as np
import pytest
from mismatches import mismatch

from collc.language.prelude import is_listed, prelude_kinds
from collc.language.syntax import AlgorithmDecl
from collc.proof import prove
from collc.run.expected import expected, make_input
from collc.schedule import Schedule
from collc.spec import ContractKind
from collc.spec.exchange import Moves, StepsPhase
from tests.proof.algorithms import Case, names, schedules, uses

# The nightly run takes all numbers of ranks up to 40, and twice as many changes; here are the small
# numbers, and of the others some powers, what is beside powers, and odd ones.
ALL = bool(os.environ.get("COLLC_ALL_SIZES"))
RANKS = range(1, 41) if ALL else (*range(1, 14), 16, 17, 25, 31, 33)
Change = Callable[[StepsPhase, Moves, int, random.Random], Moves | None]


def test_every_algorithm_of_the_prelude_is_tried() -> None:
    declared = {
        name for name, kind in prelude_kinds().items() if kind is AlgorithmDecl and is_listed(name)
    }
    assert {name for _, name in names()} == declared


@pytest.mark.parametrize(("contract", "name"), names())
def test_an_algorithm_is_proved_for_every_number_of_ranks(contract: str, name: str) -> None:
    for ranks in RANKS:
        for schedule in schedules(contract, name, ranks):
            assert list(prove(schedule)) == [], (ranks, schedule.collective.contract.length)


@pytest.mark.parametrize(("contract", "name"), names())
def test_numpy_finds_what_the_contract_promises(contract: str, name: str) -> None:
    for ranks in (1, 2, 3, 4, 8, 9, 13):
        for schedule in schedules(contract, name, ranks):
            given = make_input(schedule.collective, seed=ranks)
            assert mismatch(schedule, given, expected(schedule, given)) == "", ranks


def with_step(schedule: Schedule, phase: int, step: int, moves: Moves) -> Schedule:
    """A schedule with one step replaced."""
    old = schedule.phases[phase]
    assert isinstance(old, StepsPhase)
    steps = (*old.steps[:step], moves, *old.steps[step + 1 :])
    phases = (*schedule.phases[:phase], replace(old, steps=steps), *schedule.phases[phase + 1 :])
    return replace(schedule, phases=phases)


def picked(moves: Moves, indices: list[int]) -> Moves:
    return Moves(*(getattr(moves, field.name)[indices] for field in fields(Moves)))


def changed(moves: Moves, index: int, name: str, value: int) -> Moves:
    column = getattr(moves, name).copy()
    column[index] = value
    changes = {name: column}
    if name == "slice" and moves.into[index] == moves.slice[index]:
        changes["into"] = column
    return replace(moves, **changes)


def dropped(phase: StepsPhase, moves: Moves, index: int, pick: random.Random) -> Moves | None:
    return picked(moves, [i for i in range(len(moves)) if i != index])


def doubled(phase: StepsPhase, moves: Moves, index: int, pick: random.Random) -> Moves | None:
    return picked(moves, [*range(len(moves)), index]) if moves.combines[index] else None


def redirected(phase: StepsPhase, moves: Moves, index: int, pick: random.Random) -> Moves | None:
    here = (moves.source[index], moves.destination[index])
    others = [rank for rank in range(phase.ranks) if rank not in here]
    return changed(moves, index, "destination", pick.choice(others)) if others else None


def of_wrong_slice(
    phase: StepsPhase, moves: Moves, index: int, pick: random.Random
) -> Moves | None:
    last = phase.slicing.count - moves.count[index]
    others = [first for first in range(last + 1) if first != moves.slice[index]]
    return changed(moves, index, "slice", pick.choice(others)) if others else None


def swapped(phase: StepsPhase, moves: Moves, index: int, pick: random.Random) -> Moves | None:
    """Combining what overwrites, or the other way round."""
    if moves.into[index] != moves.slice[index]:
        return None
    return changed(moves, index, "combines", not moves.combines[index])


def mutant(schedule: Schedule, change: Change, pick: random.Random) -> Schedule | None:
    """A schedule with one transfer changed; None where that says the same."""
    phase = schedule.phases[0]
    assert isinstance(phase, StepsPhase)
    step = pick.randrange(len(phase.steps))
    moves = phase.steps[step]
    wrong = change(phase, moves, pick.randrange(len(moves)), pick)
    return None if wrong is None else with_step(schedule, 0, step, wrong)


def is_right(schedule: Schedule) -> bool:
    """Whether NumPy finds the contract kept, with numbers that tell any two sums apart."""
    contract = schedule.collective.contract
    moves = [m for p in schedule.phases if isinstance(p, StepsPhase) for m in p.steps]
    if contract.operation is None and any(m.combines.any() for m in moves):
        return False
    given = np.random.default_rng(0).integers(
        1, 2**62, size=(1, schedule.collective.grid.width, contract.length)
    )
    return mismatch(schedule, given, expected(schedule, given)) == "" and rounds_alike(schedule)


def rounds_alike(schedule: Schedule) -> bool:
    """Whether all ranks of an allreduce end with the same bits, of many sums that are rounded."""
    contract = schedule.collective.contract
    if contract.kind is not ContractKind.ALLREDUCE:
        return True
    shape = (1, schedule.collective.grid.width, 50, contract.length)
    found = expected(schedule, np.random.default_rng(0).normal(size=shape).astype(np.float32))
    return bool((found == found[0, 0]).all())


CHANGES = (dropped, doubled, redirected, of_wrong_slice, swapped)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize(("contract", "name"), [c for c in names() if c[0] != "barrier"])
def test_a_changed_transfer_is_refused_unless_the_result_stays_right(
    contract: str, name: str, change: Change
) -> None:
    pick = random.Random(f"{name} {change.__name__}")
    for ranks in (2, 3, 4, 8, 9):
        for use in uses(name, ranks):
            schedule = Case(contract, use, ranks, 6 * ranks).schedule()
            for _ in range(6 if ALL else 3):
                wrong = mutant(schedule, change, pick)
                if wrong is not None:
                    assert bool(list(prove(wrong))) != is_right(wrong), (ranks, use)


@pytest.mark.parametrize("name", ["linear_barrier", "binomial_barrier", "dissemination_barrier"])
def test_a_barrier_without_one_of_its_tokens_is_none(name: str) -> None:
    for ranks in (2, 3, 5, 8):
        schedule = Case("barrier", name, ranks, 1).schedule()
        (phase,) = schedule.phases
        assert isinstance(phase, StepsPhase)
        for step, moves in enumerate(phase.steps):
            for index in range(len(moves)):
                left = [i for i in range(len(moves)) if i != index]
                (problem,) = prove(with_step(schedule, 0, step, picked(moves, left)))
                assert problem.code == "C201" and "may end before" in problem.message
