"""What each phase of a program is given: positions of ids, and which of its routers it sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from collc.emit.ids import Ids
from collc.emit.model import SharedPhase, shared_phase
from collc.emit.names import combine_of
from collc.lowering.color_registers import source_positions
from collc.lowering.configuration import (
    Configuration,
    configuration,
    is_switched,
    setters,
    torn_down_by,
)
from collc.program import ProgramPlan, Use

FILES = ("source", "dest", "own")  # of DSRs, as `Ids` names them


def shared_of(plan: ProgramPlan) -> list[SharedPhase]:
    """What each use is given. Registers are loaded at compile time as long as there are enough for
    all phases; those that are left go to the other phases in turn. Where collectives are chosen by
    length, those for what is received on a color while a PE sends are shared by all phases."""
    ready = controls_ready(plan)
    bare = [_bare(plan, use, ready) for use in plan.uses]
    bare = list(_with_routers(plan, bare))
    needs = [_needs(plan, use, given) for use, given in zip(plan.uses, bare, strict=True)]
    by_color = bool(plan.program.selections)
    apart = by_color and sum(need.tasks for need in needs) <= len(plan.task_ids) - plan.own_tasks
    used = Ids(
        sources=len(plan.colors) if by_color else 0,
        dests=len(plan.colors) if ready else 0,
        owns=int(by_color),
    )
    widest = [max((getattr(need, f"{file}s") for need in needs), default=0) for file in FILES]
    total = [
        sum((getattr(need, f"{file}s") for need in needs), getattr(used, f"{file}s"))
        for file in FILES
    ]
    rooms = (len(source_positions(plan)), len(plan.dsr_ids), len(plan.dsr_ids))
    enough = all(most <= room for most, room in zip(total, rooms, strict=True))
    kept = [0 if enough else most for most in widest]
    found = []
    for given, need in zip(bare, needs, strict=True):
        after = [getattr(used, f"{f}s") + getattr(need, f"{f}s") for f in FILES]
        late = any(a + k > room for a, k, room in zip(after, kept, rooms, strict=True))
        start = (
            [room - k for k, room in zip(kept, rooms, strict=True)]
            if late
            else [getattr(used, f"{f}s") for f in FILES]
        )
        if not late:
            used.sources, used.dests, used.owns = after
        owns = start[2] if need.owns or not by_color else 0
        first = Ids(sources=start[0], dests=start[1], owns=owns, tasks=used.tasks)
        used.tasks += need.tasks if apart else 0
        found.append(replace(given, first=first, late=late))
    return found


def _with_routers(plan: ProgramPlan, bare: list[SharedPhase]) -> Iterator[SharedPhase]:
    """What uses are given, with whether they set routers, which those do not that another use sets
    alike, and the colors that an earlier use has set alike for good."""
    switched = {k for k, _ in enumerate(plan.colors) if is_switched(plan, k)}
    stay: set[tuple[int, Configuration]] = set()
    for index, (use, given, setter) in enumerate(zip(plan.uses, bare, setters(plan), strict=True)):
        own, phase = plan.plans[use.collective].collective, plan.phase(use)
        set_for_good = {
            name: (k, configuration(own, phase, name))
            for name, k in use.positions
            if name not in given.torn_down
        }
        again = frozenset(name for name, setting in set_for_good.items() if setting in stay)
        yield replace(
            given,
            sets_routers=setter == index,
            switched=frozenset(name for name, k in use.positions if k in switched),
            set_elsewhere=again,
        )
        stay |= set(set_for_good.values())


def controls_ready(plan: ProgramPlan) -> bool:
    """Whether every color has a register by which control wavelets are sent: some color is torn
    down, the registers suffice, and no operation on another color has the microthread that sends
    them, so that the next phase may begin meanwhile."""
    inputs = {color.input_queue for color in plan.colors}
    outputs = {color.output_queue for color in plan.colors}
    if inputs & outputs or not any(color.torn_down for color in plan.colors):
        return False
    needs = (_needs(plan, use, _bare(plan, use, True)).dests for use in plan.uses)
    return len(plan.colors) + max(needs, default=0) <= len(plan.dsr_ids)


def _bare(plan: ProgramPlan, use: Use, ready: bool) -> SharedPhase:
    """What a use is given, but for the ids."""
    return SharedPhase(
        positions=dict(use.positions),
        torn_down=frozenset(torn_down_by(plan, use)),
        first=Ids(),
        late=False,
        controls_ready=ready,
        by_color=bool(plan.program.selections),
    )


def _needs(plan: ProgramPlan, use: Use, given: SharedPhase) -> Ids:
    """How many ids of each kind a phase takes. The register of the own vector, which is loaded at
    run time, is the same for all where those of the colors are."""
    of = plan.plans[use.collective]
    ids = Ids()
    shared_phase(of, combine_of(of.collective.contract), use.phase, given, ids)
    if given.by_color and plan.phase(use).exchange is None:
        ids.owns = 0
    return ids
