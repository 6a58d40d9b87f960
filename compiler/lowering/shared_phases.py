"""What each phase of a program is given: positions of ids, and which of its routers it sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from collc.base.values import dataclass
from collc.lowering.ids import Ids
from collc.lowering.registers import pairs_of_phase, vector_pairs
from collc.lowering.resources import task_ids_of_phase
from collc.plan import Phase
from collc.plan.configuration import (
    Configuration,
    configuration,
    is_switched,
    setters,
    torn_down_by,
)
from collc.plan.form import form_of
from collc.plan.operands import controls, copies, sends, stores
from collc.plan.plan import ProgramPlan, Use
from collc.spec import Contract
from collc.spec.simd import by_call_back


@dataclass(frozen=True)
class SharedPhase:
    """What a phase of a program of several collectives is given: the positions of its colors among
    the program's, those of them that are torn down, the first positions of the ids it takes,
    whether it loads its registers when it begins, and whether its colors have registers by which
    control wavelets are sent; `dynamic_length` says that its vectors are as long as a call says.
    A phase that `ends_torn_down` has an `own_control` if its control wavelets are sent by a
    register that sends no vectors. It `sets_routers` of the colors that are torn down if no other
    phase has code that sets them alike; on those that are `switched` some phase changes switch
    positions, and a router has so many `outputs` on them at most. Those of the colors that are
    `set_elsewhere` stay as another phase has them."""

    positions: Mapping[str, int]
    torn_down: frozenset[str]
    first: Ids
    late: bool
    controls_ready: bool
    dynamic_length: bool = False
    ends_torn_down: bool = False
    own_control: bool = False
    sets_routers: bool = False
    switched: frozenset[str] = frozenset()
    outputs: int = 1
    set_elsewhere: frozenset[str] = frozenset()


def loads_at_start(phase: Phase, given: SharedPhase) -> bool:
    """Whether a phase of a tree loads its registers in a function when it begins: they are those of
    other phases, too, or as long as the vectors of the call."""
    return not form_of(phase).is_cut and (given.late or given.dynamic_length)


def most_outputs(plan: ProgramPlan) -> int:
    """How many outputs a router has at most on a color that is torn down."""
    return max(
        (
            len(use.positions[0].send)
            for of in plan.uses
            for role in plan.phase(of).roles
            for use in role.colors
            if use.color in torn_down_by(plan, of)
        ),
        default=1,
    )


def shared_of(plan: ProgramPlan) -> list[SharedPhase]:
    """What each use is given. The phases of trees have registers of their own as long as there are
    enough; those that are left go to the others in turn, which load them when they begin, as all
    exchanges do."""
    ready, own_controls = controls_ready(plan), _own_controls(plan)
    alone = [_bare(plan, use, ready, own_controls) for use in plan.uses]
    bare = list(_with_routers(plan, alone))
    needs = [_needs(plan, use, given) for use, given in zip(plan.uses, bare, strict=True)]
    room = len(plan.dsr_ids)
    used = _of_all(plan, ready)
    exchanges = [form_of(plan.phase(use)).is_cut for use in plan.uses]
    in_turn = _widest(need for need, exchange in zip(needs, exchanges, strict=True) if exchange)
    own = [need for need, exchange in zip(needs, exchanges, strict=True) if not exchange]
    pairs = used.pairs + sum(need.pairs for need in own) + in_turn.pairs
    sources = used.sources + sum(need.sources for need in own) + in_turn.sources
    if max(pairs, sources) > room:
        in_turn = _widest(_needs_in_turn(plan, bare))
    tasks = len(plan.task_ids) - plan.own_tasks
    found = []
    for given, need, exchange in zip(bare, needs, exchanges, strict=True):
        pairs, sources = used.pairs + need.pairs, used.sources + need.sources
        waits = exchange or pairs + in_turn.pairs > room or sources + in_turn.sources > room
        first = replace(used)
        if waits:
            first.pairs, first.sources = room - in_turn.pairs, room - in_turn.sources
        else:
            used.pairs, used.sources = pairs, sources
        if plan.program.has_lengths:  # as few phases as there can be ask whose a task is
            first.tasks = used.tasks if used.tasks + need.tasks <= tasks else 0
            used.tasks = first.tasks + need.tasks
        found.append(replace(given, first=first, late=waits))
    return found


def _of_all(plan: ProgramPlan, ready: bool) -> Ids:
    """What all phases have in common: pairs and sources of the colors, which send control wavelets,
    then the vector's pair."""
    phases = [phase for one in plan.plans for phase in one.phases]
    colors = len(plan.colors) if ready else 0
    return Ids(pairs=colors + vector_pairs(phases), sources=colors, vector=colors)


def _needs_in_turn(plan: ProgramPlan, given: Sequence[SharedPhase]) -> list[Ids]:
    """How many ids of each kind the phases take if they load their registers when they begin."""
    return [
        _needs(plan, use, replace(one, late=True))
        for use, one in zip(plan.uses, given, strict=True)
    ]


def _widest(needs: Iterable[Ids]) -> Ids:
    """As many as any of them."""
    of_all = tuple(needs)
    return Ids(
        pairs=max((need.pairs for need in of_all), default=0),
        sources=max((need.sources for need in of_all), default=0),
    )


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
    torn_down = any(color.torn_down for color in plan.colors)
    if inputs & outputs or not torn_down or plan.ends_torn_down:
        return False
    given = [_bare(plan, use, True) for use in plan.uses]
    of_all, in_turn = _of_all(plan, ready=True), _widest(_needs_in_turn(plan, given))
    most = max(of_all.pairs + in_turn.pairs, of_all.sources + in_turn.sources)
    return most <= len(plan.dsr_ids)


def _own_controls(plan: ProgramPlan) -> bool:
    """Whether phases that end with their teardowns have registers of their own for control
    wavelets: even those that take registers in turn have them then."""
    given = [_bare(plan, use, ready=False, own_control=True) for use in plan.uses]
    in_turn = _widest(_needs_in_turn(plan, given))
    return plan.ends_torn_down and _of_all(plan, ready=False).pairs + in_turn.pairs <= len(
        plan.dsr_ids
    )


def _bare(plan: ProgramPlan, use: Use, ready: bool, own_control: bool = False) -> SharedPhase:
    """What a use is given, but for the ids."""
    return SharedPhase(
        positions=dict(use.positions),
        torn_down=frozenset(torn_down_by(plan, use)),
        first=Ids(),
        late=False,
        controls_ready=ready,
        dynamic_length=_contract(plan, use).run_length is not None,
        ends_torn_down=plan.ends_torn_down,
        own_control=own_control,
    )


def is_quick(plan: ProgramPlan, use: Use, given: SharedPhase) -> bool:
    """Whether PEs go on without waiting for their control wavelets."""
    return skips_controls(plan.phase(use), _contract(plan, use), given)


def skips_controls(phase: Phase, contract: Contract, given: SharedPhase) -> bool:
    """The same of a phase, that sends some: the next phase on the color waits for them anyway. A
    call-back sends its vector within a call of the phase, which must end first."""
    all_are = set(given.torn_down) == set(given.positions)
    return given.controls_ready and all_are and not _calls_back(phase, contract)


def _calls_back(phase: Phase, contract: Contract) -> bool:
    """Whether the phase of a tree combines elements by a call-back."""
    return by_call_back(contract) and not form_of(phase).is_cut


def _contract(plan: ProgramPlan, use: Use) -> Contract:
    """The contract that a phase is part of."""
    return plan.plans[use.collective].collective.contract


def _needs(plan: ProgramPlan, use: Use, given: SharedPhase) -> Ids:
    """How many ids of each kind a phase takes."""
    phase = plan.phase(use)
    if form_of(phase).is_cut:
        registers = pairs_of_phase(phase)
        return Ids(tasks=task_ids_of_phase(phase), pairs=registers, sources=registers)
    has = {of: any(map(of, phase.roles)) for of in (stores, sends, copies, controls)}
    waits = has[controls] and not is_quick(plan, use, given)
    own_control = waits and not given.late  # else it is sent by the vector's, or by the color's
    if given.ends_torn_down:  # by a register of its own, and nobody waits for it
        own_control, waits = has[controls] and given.own_control, False
    word = own_control and not given.ends_torn_down  # which is in memory
    stored = has[stores] and not _calls_back(phase, _contract(plan, use))
    return Ids(
        tasks=stored + has[sends] + waits,
        pairs=has[sends] + own_control,
        sources=(stored and not phase.passes) + (has[sends] or has[copies]) + word,
    )
