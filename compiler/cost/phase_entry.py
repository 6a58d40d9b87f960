"""The code that begins a phase, by PE: how long it keeps the PE from what is called behind it."""

from collections.abc import Callable

import numpy as np

from collc.cost.ends import parts_of
from collc.cost.exchange import begun_by, elements_of
from collc.cost.operations import Costs, Place
from collc.cost.predict import Times, lines_of
from collc.plan import Phase, Region, Role
from collc.plan.form import Form, form_of
from collc.plan.geometry import line_of
from collc.plan.plan import ProgramPlan, Use


def code_of_start(plan: ProgramPlan, use: Use, costs: Costs) -> Times:
    """From the call of a phase's first function to its return."""
    phase = plan.phase(use)
    if not form_of(phase).is_cut:
        passing = costs.code.store_passes * phase.passes
        return by_role(plan, use, lambda role: _code(role, costs, passing), _through(costs))
    grid = plan.plans[use.collective].collective.grid
    code = np.full((grid.whole.width, grid.whole.height), _through(costs), dtype=np.int64)
    for part in parts_of(grid, code):
        _by_place(part, phase, begun_by(costs, phase))
    return code


def by_role(plan: ProgramPlan, use: Use, of: Callable[[Role], int], none: int = 0) -> Times:
    """What is said of the role of each PE in a phase; `none` of those that have no part in it."""
    phase, grid = plan.phase(use), plan.plans[use.collective].collective.grid
    found = np.full((grid.whole.width, grid.whole.height), none, dtype=np.int64)
    values = list(map(of, phase.roles))
    for part in parts_of(grid, found):
        for region, number in phase.regions:
            part[places_of(phase, region)] = values[number]
    return found


def at_places(plan: ProgramPlan, use: Use, cycles: Times) -> tuple[int, ...]:
    """By place of an exchange, the most cycles that a PE there takes on any line; empty if none
    takes any."""
    phase, grid = plan.phase(use), plan.plans[use.collective].collective.grid
    if not form_of(phase).is_cut or not cycles.any():
        return ()
    path, line = phase.path, line_of(phase)
    of_parts = (
        part[path.x, path.y] if path is not None else lines_of(part, line).max(axis=0)
        for part in parts_of(grid, cycles)
    )
    return tuple(np.max(list(of_parts), axis=0).tolist())


def _by_place(part: Times, phase: Phase, values: Times) -> None:
    """The same for each place of all lines of an exchange."""
    if phase.path is not None:
        part[phase.path.x, phase.path.y] = values
    else:
        lines_of(part, line_of(phase))[:] = values


def _code(role: Role, costs: Costs, passing: int) -> int:
    """What a role does first, with the functions that lead there and their returns; `passing` is
    what it takes more to store several vectors by one operation."""
    if not role.ops:
        return _through(costs)
    first, *others = role.ops
    if first.stores:
        issued = costs.issued(Place(0, 0), "store") + passing
        return issued + 1 + (costs.code.own_vector_read if others and not costs.maps else 0)
    if first.copies:
        return costs.issued(Place(0, 0), "copy") + 1
    adds = first.combines_from is not None
    return costs.issued(Place(0, 0), "add" if adds else "send") + 1


def _through(costs: Costs) -> int:
    """What a PE without a part in a phase does of it."""
    return costs.code.ends


def places_of(phase: Phase, region: Region) -> tuple[Times, Times]:
    """The PEs of a region as indices."""
    along = np.array(list(region.x), dtype=np.int64)
    if phase.path is not None:
        return phase.path.x[along], phase.path.y[along]
    across = np.array(list(region.y), dtype=np.int64)
    return along[:, None], across[None, :]


STREAMS_BUSY = 85  # percent of the time that a PE works while it runs streams [fit of rows]


def work_of(plan: ProgramPlan, use: Use, costs: Costs, lasts: Times, *, sending: bool) -> Times:
    """Cycles that the elements of a phase take of a PE; the phase `lasts` so long. Without
    `sending` those of operations that only send, which go after all others, do not count."""
    collective = plan.plans[use.collective].collective
    phase = plan.phase(use)
    work = np.zeros_like(lasts)
    for part, long in zip(
        parts_of(collective.grid, work), parts_of(collective.grid, lasts), strict=True
    ):
        if form_of(phase) is Form.STEPS:
            _by_place(part, phase, elements_of(costs, phase)[sending])
            continue
        for region, number in phase.regions:
            places, role = places_of(phase, region), phase.roles[number]
            if form_of(phase).is_cut:
                part[places] = long[places] * STREAMS_BUSY // 100
                continue
            vectors = sum(
                op.vectors * turns
                for op, turns in role.repeated
                if sending or not op.sends or op.combines_from is not None
            )
            part[places] = vectors * costs.combining(costs.length)
    return work
