"""All that is right and could be better, as far as it costs cycles."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from collc.base.diagnostics import Diagnostic
from collc.cost import cycles_of
from collc.cost.choice import build_plan
from collc.language.kinds import OPTIMAL
from collc.language.optimal_tree import best_tree
from collc.machine.prediction import Prediction, Wait
from collc.plan import Plan
from collc.schedule import ReducePhase, Schedule, ascending, build_schedule, step_of
from collc.schedule.written import text_of_step
from collc.spec import Collective, ReduceStep, Tree
from collc.spec.exchange import StepsPhase
from collc.spec.simd import wavelets
from collc.target import Target
from collc.tuning.link_load import CrowdedLink, crowded_link, most_lost, transfers
from collc.tuning.other_plans import (
    MOST_HOPS,
    SNAKE,
    OtherPlan,
    Trials,
    hops_of,
    in_order,
    other_plans,
)
from collc.tuning.predicted import candidate_of, predicted
from collc.tuning.trees import with_chosen_trees

_LONG = 0.05  # of a wait, or of what is lost otherwise
_MUCH = 0.03  # of what another plan wins


def warnings_of(
    schedule: Schedule, plan: Plan, prediction: Prediction, target: Target
) -> Iterator[Diagnostic]:
    """What is said of a plan of a schedule by itself."""
    cycles = prediction.cycles
    trials = Trials(schedule, target)
    of_plans = [
        *_stalls(schedule, prediction, target),
        *_shared_links(trials, plan, cycles),
        *_noncontiguous_order(trials, cycles),
    ]
    yield from of_plans or _less_than_half(trials, prediction)
    yield from uneven_slices(schedule, cycles, target)


def _less_than_half(trials: Trials, prediction: Prediction) -> Iterator[Diagnostic]:
    """C805: the fastest plan of those that are tried, if it takes less than half. Nothing is tried
    where the bound says that none does."""
    collective, cycles = trials.schedule.collective, prediction.cycles
    if 2 * prediction.bound >= cycles:
        return
    others = list(other_plans(trials, -(-cycles // 2)))
    if others:
        best = others[-1]
        yield Diagnostic(
            "C805",
            f"`{collective.name}` takes more than twice the cycles that it could take",
            collective.steps[0].span,
            help=f"`{best.text}` is predicted to take {best.cycles} cycles instead of {cycles}",
        )


def _noncontiguous_order(trials: Trials, cycles: int) -> Iterator[Diagnostic]:
    """C804: the longest gap, if the same steps take clearly less in the order of a snake."""
    schedule = trials.schedule
    path = schedule.collective.path
    if path is None or not path.gaps or not schedule.phases:
        return
    found = in_order(trials, SNAKE, int((1 - _LONG) * cycles) + 1)
    if found is None:
        return
    place = max(sorted(path.gaps), key=lambda place: len(path.way(place - 1, place)))
    ends, hops = path.places[place - 1 : place + 1], len(path.way(place - 1, place)) - 1
    yield Diagnostic(
        "C804",
        f"in `{path.word}` PE {ends[1]} comes behind PE {ends[0]}, {hops} hops away: "
        f"{cycles - found.cycles} of {cycles} cycles are lost by such gaps",
        schedule.phases[0].span,
        help=f"`{found.text}` is predicted to take {found.cycles} cycles instead of {cycles}",
    )


_SHOWN = 6  # transfers over a link


def _shared_links(trials: Trials, plan: Plan, cycles: int) -> Iterator[Diagnostic]:
    """C802: the link at which most is lost, if another plan takes clearly less."""
    schedule, target = trials.schedule, trials.target
    found = [
        (link, steps)
        for steps, phase in zip(schedule.phases, plan.phases, strict=True)
        if isinstance(steps, StepsPhase) and phase.has_loops
        if most_lost(schedule, steps, phase) >= _LONG * cycles
        for link in [crowded_link(schedule, steps, phase, target)]
        if link is not None
    ]
    if not found:
        return
    link, phase = max(found, key=lambda one: one[0].lost)
    if link.lost < _LONG * cycles:
        return
    others = list(other_plans(trials, round((1 - _MUCH) * cycles)))
    if others:
        help = _in_words(others, cycles)
        yield Diagnostic("C802", _told(link, phase, cycles), phase.span, help=help)


def _in_words(others: list[OtherPlan], cycles: int) -> str:
    """What is predicted of other plans."""
    first, *further = others
    words = f"`{first.text}` is predicted to take {first.cycles} cycles instead of {cycles}"
    return "; ".join([words, *(f"`{one.text}` {one.cycles}" for one in further)])


def _listed(pairs: list[str]) -> str:
    """A list of pairs in no order; how many are left out stands at its end."""
    if len(pairs) <= _SHOWN + 1:
        return ", ".join(pairs)
    return f"{', '.join(pairs[:_SHOWN])} and {len(pairs) - _SHOWN} more"


def _told(link: CrowdedLink, phase: StepsPhase, cycles: int) -> str:
    pairs = _listed([f"{source} to {rank}" for source, rank in link.transfers])
    where = f"over the {link.word} from PE {link.source} to PE {link.target}"
    what = f"`{phase.algorithm}` sends {link.elements} elements {where} in step {link.step}, those"
    passed = f", and PE {link.by} lets {link.passed} of others pass" if link.passed else ""
    lost = f"about {link.lost} of {cycles} cycles are lost there"
    return f"{what} of rank {pairs}{passed}: {lost}"


def uneven_slices(schedule: Schedule, cycles: int, target: Target) -> Iterator[Diagnostic]:
    """C803: slices that differ, if the next length that makes them equal takes clearly less."""
    uneven = [
        phase for phase in schedule.by_steps if not phase.slicing.even and phase.blocks is None
    ]
    contract = schedule.collective.contract
    if not uneven or contract.run_length or contract.own or hops_of(schedule) > MOST_HOPS:
        return
    phase = uneven[0]
    length = -(-contract.length // phase.slicing.count) * phase.slicing.count
    longer = replace(schedule.collective, contract=replace(contract, length=length))
    other = candidate_of(longer, target)
    limit = round((1 - _LONG) * cycles)
    if other.at_least > limit:
        return
    found = predicted(other, target, [])[1]
    if found.cycles is None or found.cycles > limit:
        return
    yield Diagnostic(
        "C803",
        f"{_uneven(schedule, phase)}: {cycles - found.cycles} of {cycles} cycles are lost by that",
        phase.span,
        help=f"with vectors of {length} elements all slices are equal, and `{phase.algorithm}` is "
        f"predicted to take {found.cycles} cycles instead of {cycles}",
    )


def _uneven(schedule: Schedule, phase: StepsPhase) -> str:
    """Which slices there are, and where a longer one is sent first."""
    sizes = sorted(set(np.diff(phase.slicing.bounds).tolist()))
    both = f"{sizes[0]} and {sizes[-1]} elements"
    step, (source, target, size) = next(
        (index, found)
        for index in range(len(phase.steps))
        if len((found := transfers(phase, index))[0])
    )
    longest = int(size.argmax())
    one, other = (
        schedule.collective.pe_at(phase.axis, int(ends[longest]), phase.lines[0])
        for ends in (source, target)
    )
    first = f"as from PE {one} to PE {other} in step {step}, which takes {size[longest]}"
    return f"`{phase.algorithm}` sends slices of {both}, {first}"


def _stalls(schedule: Schedule, prediction: Prediction, target: Target) -> Iterator[Diagnostic]:
    """C801: the longest wait on the way to the slowest result, if another tree avoids it."""
    collective = schedule.collective
    phases = {phase.name: phase for phase in schedule.reductions}
    waits = [
        (wait, phases[path.phase])
        for path in prediction.critical_path
        if path.phase in phases
        for wait in path.waits
        if not phases[path.phase].bypass
    ]
    longest, phase = max(waits, key=lambda one: one[0].cycles, default=(None, None))
    if longest is None or phase is None or longest.cycles < _LONG * prediction.cycles:
        return
    better = _better(collective, phase, target)
    other = build_schedule(with_chosen_trees(better, target))
    cycles = cycles_of(build_plan(other, target))
    if prediction.cycles - cycles < _MUCH * prediction.cycles:
        return
    yield Diagnostic(
        "C801",
        _stalled(longest, phase, collective),
        phase.span,
        help=f"`{text_of_step(better, phase)}` is predicted to take {cycles} cycles instead of "
        f"{prediction.cycles}; {_other(phase.tree)}",
    )


def _stalled(wait: Wait, phase: ReducePhase, collective: Collective) -> str:
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
    extent = grid.extent(phase.axis)
    return place if ascending(step.order) else extent - 1 - place


def _step(phase: ReducePhase, collective: Collective) -> ReduceStep:
    step = step_of(collective, phase)
    assert isinstance(step, ReduceStep), "a reduction with trees is a step of its own"
    return step


def _lines(phase: ReducePhase, collective: Collective) -> str:
    """Which lines of a grid a phase is along; nothing where there is but one."""
    if collective.lined.is_line:
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
