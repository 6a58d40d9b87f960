"""A schedule as plain data: every transfer, so that a sum can be done again in the same order.

Ranks are those of a line; `coordinates` tell where they stand on its axis, or on the path.
"""

from typing import Any

from collc.schedule import BroadcastPhase, Phase, ReducePhase, Schedule
from collc.spec.exchange import Moves, StepsPhase


def schedule_as_data(schedule: Schedule) -> dict[str, Any]:
    """A collective's phases in order; `path` is the PEs of an order that is no straight line."""
    collective = schedule.collective
    return {
        "name": collective.name,
        "contract": collective.contract.name,
        "path": collective.path and [list(pe) for pe in collective.path.places],
        "phases": [_phase(phase) for phase in schedule.phases],
    }


def _phase(phase: Phase) -> dict[str, Any]:
    if isinstance(phase, BroadcastPhase):
        return {"kind": "broadcast", "name": phase.name, "from": [phase.x, phase.y]}
    line = {"name": phase.name, "axis": phase.axis, "lines": list(phase.lines)}
    if isinstance(phase, ReducePhase):
        return {"kind": "tree", **line, **_tree(phase)}
    return {"kind": "steps", **line, **_steps(phase)}


def _tree(phase: ReducePhase) -> dict[str, Any]:
    """Ranks from the last to 0 combine with what they have what their children send, in the order
    given; the rank that is `idle` has no part."""
    return {
        "pattern": phase.tree,
        "coordinates": [phase.coordinate(rank) for rank in range(phase.ranks)],
        "idle": phase.idle,
        "children": [list(children) for children in phase.children],
    }


def _steps(phase: StepsPhase) -> dict[str, Any]:
    """Slice i is the elements from `slice_bounds[i]` to before the next bound; with `blocks` they
    count from the first element of the line's block."""
    blocks = phase.blocks
    first = {line: blocks.first_of_line(line) for line in blocks.lines} if blocks else None
    return {
        "pattern": phase.algorithm,
        "coordinates": list(phase.places),
        "slice_bounds": phase.slicing.bounds.tolist(),
        "blocks": first,
        "steps": [_moves(moves) for moves in phase.steps],
    }


def _moves(moves: Moves) -> dict[str, list[int] | list[bool]]:
    """The transfers of a step, which all send what was there when it began."""
    return {
        "source": moves.source.tolist(),
        "destination": moves.destination.tolist(),
        "slice": moves.slice.tolist(),
        "into": moves.into.tolist(),
        "count": moves.count.tolist(),
        "combines": moves.combines.tolist(),
    }
