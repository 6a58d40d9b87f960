"""What tasks that several phases of a program have take to find out whose they are, by PE.

Such a task reads which phase is under way and compares it with those in which this PE has a part in
the task, in their order, as `templates/collectives_pe.csl.j2` prints it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from collc.base.columns import Bools
from collc.base.values import dataclass
from collc.cost.operations import Costs
from collc.cost.phase_entry import by_role
from collc.cost.predict import Times
from collc.lowering.shared_phases import SharedPhase, is_quick
from collc.plan import BY_WAVELET, Role
from collc.plan.form import form_of
from collc.plan.plan import ProgramPlan, Use
from collc.spec.simd import by_call_back


@dataclass(frozen=True)
class Dispatch:
    """Cycles, [x, y], before the function behind storing is called, and that behind sending;
    `lanes` is the most that tasks of an exchange take before what begins a row."""

    stored: Times
    sent: Times
    lanes: Times


def dispatches(plan: ProgramPlan, given: list[SharedPhase]) -> list[Dispatch]:
    """Of each use."""
    code = plan.target.code
    found = []
    tasks: dict[int, list[Bools]] = {}  # the PEs that have a part in each, phase by phase
    own = [tasks_of(plan, use, one) for use, one in zip(plan.uses, given, strict=True)]
    often = [position for one in own for position, _ in one.values()]
    for one in own:
        times: dict[str, Times] = {}
        for name, (position, mask) in one.items():
            earlier = np.zeros(_shape(plan), dtype=np.int64)
            for before in tasks.setdefault(position, []):
                earlier += before
            asked = not plan.program.has_lengths or often.count(position) > 1
            times[name] = asked * (code.phase_read + code.other_use * earlier + code.this_use)
            tasks[position].append(mask)
        none = np.zeros(_shape(plan), dtype=np.int64)
        lanes = [times[name] * one[name][1] for name in times if name.isdigit()]
        most = np.maximum.reduce([none, *lanes])
        found.append(Dispatch(times.get("stored", none), times.get("sent", none), most))
    return found


def before_rows(
    plan: ProgramPlan, use: Use, dispatch: Dispatch, called: Bools
) -> tuple[int, Times]:
    """Cycles that tasks of an exchange take at least before what begins a row, and how many more
    they take, [x, y]; where it is `called` the call is among them. Of several lanes one task may
    begin the rows of all, so there all PEs are taken to be as late as the last."""
    cycles = dispatch.lanes + plan.target.code.jump * called
    if len(plan.phase(use).lanes) > 1 or not cycles.any():
        return int(cycles.max()), cycles * 0
    soonest = int(cycles[cycles > 0].min())
    return soonest, np.maximum(cycles - soonest, 0)


def _shape(plan: ProgramPlan) -> tuple[int, int]:
    grid = plan.plans[0].collective.grid.whole
    return grid.width, grid.height


def tasks_of(plan: ProgramPlan, use: Use, given: SharedPhase) -> dict[str, tuple[int, Bools]]:
    """The position of each task that a use has, and the PEs whose it is."""
    phase, position = plan.phase(use), given.first.tasks
    if form_of(phase).is_cut:
        return {
            str(n): (position + n, _where(plan, use, partial(_has_lane, n)))
            for n in range(len(phase.lanes))
        }
    contract = plan.plans[use.collective].collective.contract
    maps = by_call_back(contract)
    found: dict[str, tuple[int, Bools]] = {}
    if not maps and any(op.stores for role in phase.roles for op in role.ops):
        stored = _where(plan, use, lambda role: any(op.stores for op in role.ops))
        found["stored"] = position, stored
        position += 1
    found["sent"] = position, _where(plan, use, lambda role: any(op.sends for op in role.ops))
    controls = any(op.advance in BY_WAVELET for role in phase.roles for op in role.ops)
    if controls and not (given.ends_torn_down or is_quick(plan, use, given)):
        found["control"] = position + 1, _where(plan, use, sends_control)
    return found


def combining(plan: ProgramPlan, use: Use) -> Bools:
    """The PEs that combine vectors in a phase of a tree: call-backs have them to their end."""
    if form_of(plan.phase(use)).is_cut:
        return np.zeros(_shape(plan), dtype=np.bool_)
    return _where(plan, use, _combines)


def sends_first(plan: ProgramPlan, use: Use) -> Bools:
    """The PEs whose first operation of a phase sends and receives nothing."""
    return _where(plan, use, _sends_first)


def sends_combined(role: Role) -> bool:
    """Whether a PE with this role sends what it receives, combined with its own vector."""
    return any(op.sends and op.combines_from is not None for op in role.ops)


def sends_control(role: Role) -> bool:
    """Whether a PE with this role sends a control wavelet behind its vector."""
    return any(op.advance in BY_WAVELET for op in role.ops)


def _sends_first(role: Role) -> bool:
    return bool(role.ops) and role.ops[0].sends and role.ops[0].combines_from is None


def _has_lane(number: int, role: Role) -> bool:
    return len(role.lanes) > number


def _combines(role: Role) -> bool:
    return any(op.stores or (op.sends and op.combines_from is not None) for op in role.ops)


def _where(plan: ProgramPlan, use: Use, holds: Callable[[Role], bool]) -> Bools:
    """The PEs whose role of a phase is such a one."""
    return by_role(plan, use, holds) > 0


def control_load(given: SharedPhase, costs: Costs, *, late: bool) -> int:
    """What loading the registers of a control wavelet takes before it is issued."""
    if given.ends_torn_down:
        early = given.own_control and not costs.maps
        return 0 if early else costs.load + costs.issue
    return 2 * costs.load + costs.issue if late else 0
