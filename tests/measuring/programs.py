"""What the code between the collectives of a program takes: what fits whole small programs best.

Between phases code is called from task to task and chosen by conditions, and what it takes depends
on all of it, so pieces cannot be told apart one by one. Random programs are run, and the numbers
are moved until predictions are nearest, each pulled a little towards what it was.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from programs.bare import planned, run_planned
from programs.test_random_programs import random_program

from collc.base.diagnostics import CollcError
from collc.cost.program import predict_program
from collc.plan.program import ProgramPlan
from collc.target.constants import Code, Constants

_NAMES = [field.name for field in fields(Code)]
PIECES = tuple(_NAMES[_NAMES.index("program_launch") :])
CASES = 28  # programs
MOST_CYCLES = 1500  # of one
ROUNDS = 2
STEP = 4  # cycles by which a number is changed to see what that does
PULL = 0.3  # towards what a number was, in parts of its size


@dataclass(frozen=True)
class Case:
    """A program and what it took."""

    plan: ProgramPlan
    cycles: int


def cases(target: str) -> list[Case]:
    """Random programs of trees and broadcasts that do not take long."""
    found: list[Case] = []
    number = 0
    while len(found) < CASES:
        text = random_program(random.Random(number), 0)
        number += 1
        try:
            spec, plan = planned(re.sub(r"target \w+", f"target {target}", text))
        except CollcError:
            continue
        cycles = run_planned(spec, plan).cycles
        if cycles <= MOST_CYCLES:
            found.append(Case(plan, cycles))
    return found


def fitted_programs(of: Sequence[Case], known: Constants) -> tuple[Mapping[str, int], float]:
    """The pieces, and by what part predictions are off in the mean."""
    start = np.array([getattr(known.code, name) for name in PIECES], dtype=np.float64)
    cycles = np.array([case.cycles for case in of], dtype=np.float64)
    weight = 1 / np.maximum(60, 0.05 * cycles)
    pull = np.diag(PULL / np.maximum(3, start / 2) ** 2)
    found = start
    for _ in range(ROUNDS):
        now = _predicted(of, known, found)
        more = [
            (_predicted(of, known, found + STEP * one) - now) / STEP for one in np.eye(len(start))
        ]
        slopes = np.array(more).T * weight[:, None]
        aim = slopes.T @ ((cycles - now) * weight) + pull @ (start - found)
        found = np.maximum(0, np.round(found + np.linalg.solve(slopes.T @ slopes + pull, aim)))
    off = float(np.abs(_predicted(of, known, found) / cycles - 1).mean())
    return dict(zip(PIECES, found.astype(int).tolist(), strict=True)), off


def _predicted(of: Sequence[Case], known: Constants, values: np.ndarray) -> np.ndarray:
    pieces = dict(zip(PIECES, values.astype(int).tolist(), strict=True))
    constants = replace(known, code=replace(known.code, **pieces))
    cycles = [predict_program(_with(case.plan, constants)).cycles for case in of]
    return np.array(cycles, dtype=np.float64)


def _with(plan: ProgramPlan, constants: Constants) -> ProgramPlan:
    """A plan for a target with these constants."""
    target = replace(plan.target, cycles=constants)
    plans = tuple(replace(one, target=target) for one in plan.plans)
    call_streams = tuple(_with(one, constants) for one in plan.call_streams)
    return replace(plan, target=target, plans=plans, call_streams=call_streams)
