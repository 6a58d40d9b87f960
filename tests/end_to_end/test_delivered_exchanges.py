"""Phases made of steps, from plan to emitted text to fabsim, against NumPy on every PE."""

from __future__ import annotations

from itertools import product

import pytest
import steps_patterns as s
from libraries import lacking
from with_schedules import check_plan

import building as b
from collc.cost.choice import build_plan
from collc.lowering import candidate_plans
from collc.schedule import BroadcastPhase, build_schedule
from collc.spec import ElementType, Operation
from collc.target import TARGETS


def runs(schedule, target: str = "wse2", times: int = 1) -> None:
    plan = build_plan(schedule, TARGETS[target])
    assert check_plan(plan) == ()
    assert s.outcome(s.texts_of(schedule, plan), schedule, target, times)[0] == ""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", s.PATTERNS)
def test_patterns_deliver_with_every_wiring(name, target):
    for ranks, length in ((2, 1), (3, 17), (5, 60), (8, 64), (8, 3)):
        if name == "all_to_all" and length % ranks:
            continue
        schedule = s.Line(name, ranks, length, ring=name == "ring_allreduce").schedule()
        plans = candidate_plans(schedule, TARGETS[target])
        fitting = [plan for plan in plans if not check_plan(plan) and not lacking(plan)]
        assert fitting
        for plan in fitting:
            assert s.outcome(s.texts_of(schedule, plan), schedule, target)[0] == ""


@pytest.mark.parametrize(
    ("element", "operation"),
    [(e, o) for e, o in product(ElementType, Operation) if o.combines(e)],
)
def test_every_type_and_operation_delivers(element, operation):
    for name in ("ring_allreduce", "recursive_doubling"):
        runs(s.Line(name, 4, 18, element=element, operation=operation).schedule())


def test_a_collective_may_run_again():
    for name in ("ring_allreduce", "recursive_doubling", "gather"):
        runs(s.Line(name, 5, 20).schedule(), times=3)


def line(name: str, ranks: int, length: int, phase: str, axis: str, lines: int):
    make = s.PATTERNS[name][1]
    return s.phase(make(ranks), ranks, length, phase, axis, (0, lines - 1))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("columns", "rows"),
    [("ring_allreduce", "recursive_doubling"), ("halving_doubling", "ring_allreduce")],
)
def test_columns_then_rows_deliver(columns, rows, target):
    phases = [line(columns, 4, 24, "columns", "y", 6), line(rows, 6, 24, "rows", "x", 4)]
    runs(s.schedule(phases, 6, 4, 24), target)


@pytest.mark.parametrize("operation", [Operation.ADD, Operation.MIN])
def test_trees_and_steps_mix_in_any_order(operation):
    collective = b.line_reduce(b.binomial(6), 18)
    (tree,) = build_schedule(collective).phases
    exchange = line("ring_allreduce", 6, 18, "exchange", "x", 1)
    chain = line("chain", 6, 18, "chain", "x", 1)
    multicast = BroadcastPhase("broadcast", 0, 0, 6, 1, b.HERE)
    for phases in ([tree, chain], [exchange, multicast], [tree, multicast, exchange]):
        runs(s.schedule(phases, 6, 1, 18, operation=operation), "wse3")


def test_a_negated_minimum_comes_back_on_every_pe():
    phases = [
        line("ring_allreduce", 3, 7, "columns", "y", 4),
        line("recursive_doubling", 4, 7, "rows", "x", 3),
    ]
    for element in (ElementType.F32, ElementType.F16):
        runs(s.schedule(phases, 4, 3, 7, element=element, operation=Operation.MIN))
