"""Vectors that wait for each other although another tree would take less time.

In a tree a vector may have to wait until the receiver has taken the one before, or until a router
lets it pass. Some of that is there in every tree; what is said here is only what can be avoided.
"""

from collections.abc import Iterator
from dataclasses import replace

from collc.base.diagnostics import Diagnostic
from collc.cost import Prediction, cycles_of
from collc.cost.choice import build_plan
from collc.cost.line import Wait
from collc.language.declared_names import OPTIMAL
from collc.language.optimal import best_tree
from collc.schedule import ReducePhase, Schedule, ascending, build_schedule, step_of
from collc.schedule.written import text_of_step
from collc.spec import Collective, ReduceStep, Tree
from collc.spec.simd import wavelets
from collc.target import Target
from collc.tuning.thresholds import LONG, MUCH
from collc.tuning.trees import with_chosen_trees


def stalls(schedule: Schedule, prediction: Prediction, target: Target) -> Iterator[Diagnostic]:
    """C801: the longest wait on the way to the slowest result, if another tree avoids it."""
    collective = schedule.collective
    phases = {phase.name: phase for phase in schedule.phases if isinstance(phase, ReducePhase)}
    waits = [
        (wait, phases[path.phase])
        for path in prediction.critical_path
        if path.phase in phases
        for wait in path.waits
        if not phases[path.phase].bypass
    ]
    longest, phase = max(waits, key=lambda one: one[0].cycles, default=(None, None))
    if longest is None or phase is None or longest.cycles < LONG * prediction.cycles:
        return
    better = _better(collective, phase, target)
    other = build_schedule(with_chosen_trees(better, target))
    cycles = cycles_of(build_plan(other, target))
    if prediction.cycles - cycles < MUCH * prediction.cycles:
        return
    yield Diagnostic(
        "C801",
        _told(longest, phase, collective),
        phase.span,
        help=f"`{text_of_step(better, phase)}` is predicted to take {cycles} cycles instead of "
        f"{prediction.cycles}; {_other(phase.tree)}",
    )


def _told(wait: Wait, phase: ReducePhase, collective: Collective) -> str:
    """Who waits for whom, by their ranks on the line; those of the phase begin at its root."""
    rank = _rank_on_line(phase, collective, wait.rank)
    what = f"for rank {rank} to take what comes before"
    if wait.what == "router":
        what = f"until the router of rank {rank} lets it pass"
    source = _rank_on_line(phase, collective, wait.source or 0)
    lines = _lines(phase, collective)
    return f"in `{phase.tree}`{lines} the vector of rank {source} waits {wait.cycles} cycles {what}"


def _rank_on_line(phase: ReducePhase, collective: Collective, rank: int) -> int:
    """The rank on its line of a rank of a phase, which may be one side of a root only."""
    step = _step(phase, collective)
    place, grid = phase.coordinate(rank), collective.lined
    extent = grid.width if phase.axis == "x" else grid.height
    return place if ascending(step.order) else extent - 1 - place


def _step(phase: ReducePhase, collective: Collective) -> ReduceStep:
    step = step_of(collective, phase)
    assert isinstance(step, ReduceStep), "a reduction with trees is a step of its own"
    return step


def _lines(phase: ReducePhase, collective: Collective) -> str:
    """Which lines of a grid a phase is along; nothing where there is but one."""
    if min(collective.lined.width, collective.lined.height) == 1:
        return ""
    line = "row" if phase.axis == "x" else "column"
    first, last = phase.lines
    return f" along {line} {first}" if first == last else f" along each {line}"


def _other(tree: str) -> str:
    """What else could be changed."""
    if tree.startswith("two_phase"):
        return "larger groups make leaders wait less for each other"
    return "trees in which a rank has fewer children wait less"


def _better(collective: Collective, phase: ReducePhase, target: Target) -> Collective:
    """The collective with the best trees in the step of a phase, the other steps as they are."""
    # 1 for the token of a barrier
    length = wavelets(collective.contract, target, combines=True) or 1

    def best(tree: Tree) -> Tree:
        return replace(best_tree(len(tree.children), length, target, tree.span), text=OPTIMAL)

    old = _step(phase, collective)
    new = replace(old, tree=best(old.tree), far=old.far and best(old.far))
    steps = tuple(new if step is old else step for step in collective.steps)
    return replace(collective, steps=steps)
