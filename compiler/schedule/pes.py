"""Which PEs a schedule speaks of: where a result is, where ranks begin, a path as a row."""

from dataclasses import replace

from collc.schedule.model import BroadcastPhase, Schedule
from collc.spec import Collective, ReduceStep, RunStep
from collc.spec.steps import ascending, axis_of


def home_pe(schedule: Schedule) -> tuple[int, int]:
    """(x, y) of the PE that a rooted contract ends at or starts from.

    Where algorithms run it is said; else it is where the reductions end or, without any, where the
    broadcast starts.
    """
    if schedule.collective.root is not None:
        return schedule.collective.root
    place = {"x": 0, "y": 0}
    reductions = schedule.reductions
    for reduction in reductions:
        place[reduction.axis] = reduction.coordinate(0)
    if reductions:
        path = schedule.collective.path
        return path.places[place["x"]] if path else (place["x"], place["y"])
    sources = [(p.x, p.y) for p in schedule.phases if isinstance(p, BroadcastPhase)]
    return sources[0] if sources else (0, 0)


def corner_of(collective: Collective) -> tuple[int, int]:
    """(x, y) of the PE that is rank 0 along every axis that a step goes along; a path is laid out
    as a row."""
    extents = {"x": collective.grid.width, "y": collective.grid.height}
    place = {"x": 0, "y": 0}
    for step in reversed(collective.steps):  # the first along an axis counts
        if isinstance(step, RunStep):
            place[step.axis] = step.places[0]
        elif isinstance(step, ReduceStep):
            axis = axis_of(step.order)
            place[axis] = 0 if ascending(step.order) else extents[axis] - 1
    return place["x"], place["y"]


def pes_of_ranks(collective: Collective) -> tuple[tuple[int, int], ...]:
    """(x, y) of every rank that a contract of the user's own speaks of."""
    own = collective.contract.own
    assert own is not None
    return tuple(collective.pe_at(own.axis, place) for place in own.places)


def unfolded(schedule: Schedule) -> Schedule:
    """The same on a row instead of a path: place i of the path is PE (i, 0) of the row."""
    collective = schedule.collective
    path = collective.path
    if path is None:
        return schedule
    root = collective.root and (path.place_of(collective.root), 0)
    return Schedule(
        replace(collective, grid=collective.lined, path=None, root=root),
        tuple(
            replace(phase, x=path.place_of((phase.x, phase.y)), y=0, width=len(path), height=1)
            if isinstance(phase, BroadcastPhase)
            else phase
            for phase in schedule.phases
        ),
    )
