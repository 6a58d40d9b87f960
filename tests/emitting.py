"""Bundles of every kind, made without the language, for tests of what is emitted."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import product
from pathlib import Path

from programs.texts import dynamic_length, program_of
from steps_patterns import Line, texts_of
from with_schedules import render

from building import (
    HERE,
    binomial,
    broadcast,
    chain,
    collective,
    grid_allreduce,
    line_allreduce,
    line_reduce,
    reduce_step,
    star,
    two_phase,
)
from collc.cost import predict_program
from collc.cost.choice import build_plan
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.plan.one_call import of_one_call
from collc.plan.plan import ProgramPlan
from collc.schedule import build_schedule
from collc.spec import BroadcastStep, Collective, ContractKind, ElementType, Operation, Order, Spec
from collc.target import TARGETS


def files_of(what: Collective, target: str = "wse2") -> dict[str, str]:
    """The bundle of a collective, as if it came from `test.coll`."""
    plan = plan_of(what, target)
    spec = Spec("test.coll", target, (), (what,))
    return render(spec, plan, predict_program(plan), tuple(TARGETS))


def plan_of(what: Collective, target: str = "wse2") -> ProgramPlan:
    """The plan of a collective that is alone."""
    schedule = build_schedule(what)
    return of_one_call(build_plan(schedule, TARGETS[target]))


def every_kind_of_collective() -> dict[str, Collective]:
    """Collectives that between them use every part of the templates, by name."""
    named = {
        "alone": line_reduce(chain(1)),
        "chain": line_reduce(chain(7)),
        "star": line_reduce(star(9)),
        "star_in_rounds": line_reduce(star(64), length=1000),
        "binomial": line_reduce(binomial(64)),
        "two_phase": line_reduce(two_phase(24, 4), colors=2),
        "more_colors": line_reduce(two_phase(64, 8), length=8),
        "broadcast": broadcast(5, 4, 2, 1),
        "allreduce": line_allreduce(binomial(6)),
        "grid": grid_allreduce(two_phase(12, 4), binomial(9)),
        "minimum": mirrored_minimum(),
    }
    for element, operation in product(ElementType, Operation):
        if not operation.combines(element):
            continue
        named[f"{element.value}_{operation.value}"] = collective(
            6, 1, [reduce_step(binomial(6))], element=element, operation=operation
        )
    return named


@cache
def every_kind_of_bundle() -> list[tuple[str, Callable[[], dict[str, str]]]]:
    """(name, files) for every kind of collective; the files are made once, when they are asked
    for: a worker that collects tests has no use for most of them."""
    named: list[tuple[str, Callable[[], dict[str, str]]]] = [
        *((name, partial(files_of, what)) for name, what in every_kind_of_collective().items()),
        *((name, partial(bundle_of, line)) for name, line in EXCHANGES.items()),
        *((name, partial(files_of_program, limits)) for name, limits in PROGRAMS.items()),
        *((name, partial(files_of_example, name)) for name in AS_EXAMPLES),
        ("dynamic_length", dynamic_length_files),
        ("one_word", one_word_files),
    ]
    return [(name, cache(files)) for name, files in named]


ONE_WORD = """target wse2
grid tile = 7 x 3
collective total = allreduce(x: f32[1], add) on tile {
    reduce columns by chain to 0 then reduce row by binomial to 3 then broadcast from (3, 0)
}
program { total }
"""


def one_word_files() -> dict[str, str]:
    """The bundle of an allreduce of one element: leaves, PEs that store and send, both sides of a
    root."""
    return dict(compile_text(ONE_WORD, "test.coll", {}).files)


AS_EXAMPLES = ("program_parts", "program_together", "row_major", "direct_allreduce")
PROGRAMS = {"program": "within colors <= 3", "program_apart": ""}


def files_of_program(limits: str) -> dict[str, str]:
    """The bundle of a program of several collectives."""
    text = program_of(["two_phase", "broadcast from the middle"], limits, rounds=2)
    return dict(compile_text(text, "test.coll", {"P": 9}).files)


def dynamic_length_files() -> dict[str, str]:
    """The bundle of a choice by a length that is given at run time."""
    return dict(compile_text(dynamic_length("chain", 2), "test.coll", {"P": 9, "B": 40}).files)


def files_of_example(name: str) -> dict[str, str]:
    """The bundle of a program among the examples."""
    return dict(example_bundle(EXAMPLES / f"{name}.coll").files)


EXAMPLES = Path(__file__).parents[1] / "examples"


def example_bundle(
    path: Path, target: str | None = None, given: Mapping[str, int] | None = None
) -> Bundle:
    """An example as it is built, for the target that it names or another one, with these
    parameters; compiled once in a process, since many laws are about all examples."""
    text = path.read_text(encoding="utf-8")
    other = None if re.search(rf"^target {target}$", text, re.MULTILINE) else target
    return _compiled(text, path.name, other, tuple((given or {}).items()))


@cache
def _compiled(
    text: str, name: str, target: str | None, given: tuple[tuple[str, int], ...]
) -> Bundle:
    return compile_text(text, name, dict(given), target)


EXCHANGES = {
    "ring_allreduce": Line("ring_allreduce", 6, 24, ring=True),
    "ring_allreduce_on_a_line": Line("ring_allreduce", 6, 25, colors=4),
    "recursive_doubling": Line(
        "recursive_doubling", 6, 9, operation=Operation.MAX, element=ElementType.I32
    ),
    "scatter": Line("scatter", 5, 20),
}


def bundle_of(line: Line) -> dict[str, str]:
    """The bundle of a phase made of steps."""
    schedule = line.schedule()
    return texts_of(schedule, build_plan(schedule, TARGETS["wse2"]))


def mirrored_minimum() -> Collective:
    """A minimum on a grid whose orders start at the south-east corner."""
    steps = [
        reduce_step(binomial(5), Order.SOUTH_TO_NORTH),
        reduce_step(star(7), Order.EAST_TO_WEST),
        BroadcastStep(6, 4, HERE),
    ]
    return collective(7, 5, steps, ContractKind.ALLREDUCE, 33, ElementType.F16, Operation.MIN)


def by_commands(folder: Path) -> str:
    """What the emitted commands of a bundle print, with stand-ins for the vendor's tools."""
    shims = [sys.executable, "-m", "fabsim", "shims", "tools"]
    subprocess.run(shims, cwd=folder, check=True, capture_output=True)
    path = f"{folder / 'tools'}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", "commands_wse2.sh"],
        cwd=folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.stdout + ran.stderr
