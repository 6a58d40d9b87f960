"""A broadcast reaches every PE exactly once.

The vector is followed from its root over the grid, in which all but the first and the last row and
column of each region are left out: between them a region does the same everywhere. The root of a
one-word collective (`collc.plan.one_word`) has sent it in the phase before, and is reached as well.
"""

from collections import Counter
from collections.abc import Iterator
from functools import partial

from collc.base.diagnostics import Diagnostic
from collc.checks.by_phase import due, phases_of, problems
from collc.plan import (
    ColorUse,
    Direction,
    Phase,
    Plan,
    Role,
    Strided,
)
from collc.plan.form import Form
from collc.plan.one_word import is_one_word
from collc.schedule import BroadcastPhase

Cell = tuple[int, int]


def multicast(plan: Plan) -> Iterator[Diagnostic]:
    """C317: a PE that a broadcast does not reach, or reaches twice."""
    help = "the routes do not cover the grid"
    return problems("C317", help, phases_of(plan, Form.MULTICAST), partial(_problem, plan))


def _problem(plan: Plan, phase: Phase) -> str:
    """The first PE, by rows, that is not reached once, or what goes wrong on the way."""
    begun, pattern = is_one_word(plan), due(plan, phase)
    assert isinstance(pattern, BroadcastPhase), "one whole vector, to all PEs"
    if begun and list(_senders(plan.phases[-2], phase.name)) != [(pattern.x, pattern.y)]:
        return f"`{plan.phases[-2].name}` does not send it at PE ({pattern.x}, {pattern.y}) alone"
    columns = _representatives([region.x for region, _ in phase.regions])
    rows = _representatives([region.y for region, _ in phase.regions])
    if pattern.x not in columns or pattern.y not in rows:
        return f"PE ({pattern.x}, {pattern.y}) has no role"
    copies, astray = _flood(phase, (pattern.x, pattern.y), columns, rows, begun=begun)
    if astray:
        return astray
    for y in rows:
        for x in columns:
            wanted = 0 if (x, y) == (pattern.x, pattern.y) and not begun else 1
            if copies[x, y] != wanted:
                return f"PE ({x}, {y}) gets the vector {copies[x, y]} times, due is {wanted}"
    return ""


def _senders(phase: Phase, color: str) -> Iterator[Cell]:
    """The PEs that send on a color in a phase that is not its own."""
    for region, index in phase.regions:
        if any(op.sends_on == color for op in phase.roles[index].ops):
            for x in region.x:
                for y in region.y:
                    yield phase.path.places[x] if phase.path else (x, y)


def _representatives(runs: list[Strided]) -> list[int]:
    """The first and last coordinates of all runs; every coordinate of runs that are no stretch."""
    return sorted({c for run in runs for c in ((run.first, run.last) if _is_stretch(run) else run)})


def _is_stretch(run: Strided) -> bool:
    return run.repeats == 1 and (run.step == 1 or run.first == run.last)


def _flood(
    phase: Phase, root: Cell, columns: list[int], rows: list[int], *, begun: bool
) -> tuple[Counter[Cell], str]:
    """How often each PE takes the vector, and where it goes astray if it does; it has `begun` if
    its root has sent it before."""
    copies: Counter[Cell] = Counter()
    visited: set[Cell] = set()
    arrivals = [(columns.index(root[0]), rows.index(root[1]), Direction.RAMP)]
    while arrivals:
        column, row, source = arrivals.pop()
        if not (0 <= column < len(columns) and 0 <= row < len(rows)):
            return copies, f"the vector leaves the grid, going {source.opposite.value.lower()}"
        cell = (columns[column], rows[row])
        role = phase.role_at(cell)
        use = _use(role)
        if role is None or use is None or use.positions[0].receive is not source:
            return copies, f"PE {cell} does not take the vector from {source.value.lower()}"
        sends = source is Direction.RAMP and not begun
        if not _does_its_part(role, sends=sends):
            return copies, f"PE {cell} does not {'send' if sends else 'copy'} it"
        if cell in visited:
            return copies, f"PE {cell} gets the vector twice"
        visited.add(cell)
        for way in use.positions[0].send:
            if way is Direction.RAMP:
                copies[cell] += 1
            else:
                right, down = way.step
                arrivals.append((column + right, row + down, way.opposite))
    return copies, ""


def _does_its_part(role: Role, *, sends: bool) -> bool:
    """Whether a PE `sends` the vector, or copies it, and does nothing else."""
    (op, *others) = role.ops or (None,)
    part = op is not None and (op.sends if sends else op.copies)
    return part and not others


def _use(role: Role | None) -> ColorUse | None:
    """The one color of a broadcast, with its one route."""
    uses = role.colors if role else ()
    return uses[0] if len(uses) == 1 and len(uses[0].positions) == 1 else None
