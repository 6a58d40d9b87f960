"""The library of a program, from its plan."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from collc.base.diagnostics import CollcError, Diagnostic
from collc.base.memoize import by_identity
from collc.base.values import dataclass
from collc.base.version import __version__
from collc.emit.classes import classes_of
from collc.emit.cuts import cut_of
from collc.emit.grid_places import rank_of, site_model
from collc.emit.headline import headline, promise_of
from collc.emit.length_choice import halved
from collc.emit.model import (
    CollectiveModel,
    JoinModel,
    LibraryModel,
    MultiplexedColor,
    PhaseModel,
    RootModel,
    SectionModel,
    SelectionModel,
    SlotModel,
    TornDownModel,
)
from collc.emit.names import call_stream_name, combine_of
from collc.emit.not_yet import UnprintedError, diagnostic
from collc.emit.numbers import SECOND, Registers, Tasks
from collc.emit.paths import path_model
from collc.emit.phases import Given, Numbers, phase_model
from collc.emit.queues import QueuesOfLanes, prefix_of, queues_of
from collc.emit.shortages import (
    REGISTERS,
    TASKS,
    Needed,
    ShortageError,
    shortages,
    shortages_together,
)
from collc.emit.spelling import taken_in_kernel
from collc.lowering.memory import steps_bytes
from collc.lowering.resources import left_by
from collc.plan import Phase, Plan
from collc.plan.configuration import is_switched, set_before, setters, torn_down_by
from collc.plan.form import Form, form_of
from collc.plan.one_word import are_one_word, reduces_one_word
from collc.plan.plan import ProgramPlan, Use
from collc.spec import Contract, ContractKind


def library_name(source: str, program: ProgramPlan, wanted: str = "") -> str:
    """The library of a file, by the file's name: an identifier that no kernel has otherwise. Raises
    CollcError if another name is wanted, and kernels have it."""
    stem = re.sub(r"\W", "_", source.rpartition(".")[0] or source, flags=re.ASCII).strip("_")
    name = wanted or (stem if re.match(r"[A-Za-z]", stem) else f"collective_{stem}".rstrip("_"))
    contracts = (plan.collective.contract for plan in program.plans)
    buffers = {held.buffer for contract in contracts for held in contract.in_memory}
    given = {given for given, _, _ in program.program.given}
    taken = {spelled for one in buffers | given for spelled in (one, f"{one}_ptr")}
    while {name, f"{name}_params"} & (taken | taken_in_kernel()):
        if wanted:
            message = f"a library cannot be called {wanted}: the kernel has that name already"
            raise CollcError([Diagnostic("C107", message, None, help="choose another `--name`")])
        name += "_library"
    return name


def libraries_of(program: ProgramPlan, source: str, wanted: str = "") -> tuple[LibraryModel, ...]:
    """The libraries of a program, called as the source file or as is `wanted`: one; of calls beside
    each other one for each call stream. Raises CollcError for what is not printed yet."""
    name, shown = library_name(source, program, wanted), re.sub(r"[^\w./ +-]", "_", source)
    return tuple(
        replace(one, name=f"{name}_{at}" if at else name, source=shown)
        for at, one in enumerate(_unnamed(program))
    )


@by_identity(2)
def _unnamed(program: ProgramPlan) -> tuple[LibraryModel, ...]:
    """The same without names: what is predicted is printed next."""
    try:
        if program.call_streams:
            streams = zip(program.call_streams, _apart(program), strict=True)
            return tuple(_library(stream, own) for stream, own in streams)
        return (_library(program, Own("", *_left(program))),)
    except UnprintedError as found:
        raise CollcError([diagnostic(program, found.what)]) from None
    except ShortageError as found:
        needs, beside = list(_needs_of_phases(program)), _beside_phases(program)
        raise CollcError(shortages(program, found, needs, beside)) from None


@dataclass(frozen=True)
class Own:
    """What a library has for itself: what the program calls it, where others are beside it, its
    task ids and its DSRs."""

    module: str
    tasks: tuple[int, ...]
    registers: tuple[int, ...]


def _left(program: ProgramPlan) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The task ids and the DSRs that nobody else has."""
    return tasks_left(program), left_by(program.program.reserved, program.target).dsr_ids


def tasks_left(program: ProgramPlan) -> tuple[int, ...]:
    """The task ids that a program may have."""
    free = left_by(program.program.reserved, program.target)
    return free.task_ids_beside(program.color_numbers)


def _apart(program: ProgramPlan) -> Iterator[Own]:
    """For each call stream what it needs, and a share of what is left."""
    tasks, registers = _left(program)
    needs = [_needs(stream) for stream in program.call_streams]
    there = {TASKS: len(tasks), REGISTERS: len(registers)}
    lacking = list(shortages_together(program, needs, there))
    if lacking:
        raise CollcError(lacking)
    needed = [need[TASKS] for need in needs]
    if program.program.goes_on and sum(needed) < len(tasks):
        tasks = tasks[:-1]  # one begins turns
    shares = (_shares(tasks, needed), _shares(registers, [need[REGISTERS] for need in needs]))
    for at, (of_tasks, of_registers) in enumerate(zip(*shares, strict=True)):
        yield Own(call_stream_name(at), of_tasks, of_registers)


def _shares(numbers: Sequence[int], needs: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """As many of the numbers as each needs, and of the others every so many: of tasks that are
    ready the one with the lowest number goes first, so that none has all the low ones."""
    own, others = numbers[: sum(needs)], numbers[sum(needs) :]
    for at, need in enumerate(needs):
        first = sum(needs[:at])
        yield (*own[first : first + need], *others[at :: len(needs)])


def _needs(program: ProgramPlan) -> Needed:
    """The fewest task ids and DSRs with which a library can do, where slots have them in turn."""
    given = _all_given(program)
    numbers, _ = _phases(program, given, 0, 0)
    tasks = numbers.tasks.size + _tasks_of_program(program, given)
    return {TASKS: tasks, REGISTERS: len(numbers.registers.users)}


def _all_given(program: ProgramPlan) -> list[tuple[Given, ...]]:
    """The phases of the collectives that have code of their own."""
    own_code = sorted({*_code_of(program)})
    queues = queues_of(program, own_code)
    return [tuple(_given(program, index, queues)) for index in own_code]


def _needs_of_phases(program: ProgramPlan) -> Iterator[tuple[str, Needed]]:
    """The same of each phase, as messages name it."""
    queues = queues_of(program, range(len(program.plans)))
    for index, plan in enumerate(program.plans):
        for of in _given(program, index, queues):
            numbers, _ = _phases(program, [(of,)], 0, 0)
            name = plan.phases[of.index].name
            label = name if len(program.plans) == 1 else f"{plan.collective.name}.{name}"
            yield label, {TASKS: numbers.tasks.size, REGISTERS: len(numbers.registers.users)}


def _tasks_of_program(program: ProgramPlan, given: Sequence[Sequence[Given]]) -> int:
    """The tasks that no phase has: one in which a call ends that may be over at once, and those
    that wait for teardowns."""
    at_once = any(_ends_at_once(of[0].plan, of) if of else True for of in given)
    return at_once + _waits(program)


def _beside_phases(program: ProgramPlan) -> str:
    """How many these are, and for what, as messages say it; empty if there is none."""
    waits = _waits(program)
    at_once = _tasks_of_program(program, _all_given(program)) - waits
    said = [f"{at_once} where a call is over at once"] if at_once else []
    said += [f"{waits} to wait for teardowns"] if waits else []
    return " and ".join(said)


def _waits(program: ProgramPlan) -> int:
    """The tasks that wait for teardowns: one, or one for each color where phases end with them."""
    torn_down = sum(color.torn_down for color in program.colors)
    return torn_down if program.ends_torn_down else int(bool(torn_down))


def _library(program: ProgramPlan, has: Own) -> LibraryModel:
    target, plans, first = program.target, program.plans, program.plans[0]
    torn_down = tuple(_torn_down(program))
    code = _code_of(program)
    own_code = [index for index, of in enumerate(code) if index == of]
    plans = tuple(program.plans[index] for index in own_code)
    queues = queues_of(program, own_code)
    given = [tuple(_given(program, index, queues)) for index in own_code]
    further = _tasks_of_program(program, given)
    followed = program.program.goes_on and not has.module  # one begins turns, if it is left
    for_phases = len(has.tasks) - further - followed
    numbers, phases = _phases(program, given, len(has.registers), for_phases)
    closes = program.ends_torn_down
    torn_down = tuple(
        replace(one, task=numbers.tasks.size + at if closes else -1)
        for at, one in enumerate(torn_down)
    )
    collectives = tuple(
        _collective(
            plan, prefix_of(program, plan), _linked(of, plan, prefix_of(program, plan), torn_down)
        )
        for plan, of in zip(plans, phases, strict=True)
    )
    by_index = dict(zip(own_code, collectives, strict=True))
    equal = tuple(
        (_named(by_index[of], program.plans[index]), by_index[of].name)
        for index, of in enumerate(code)
        if index != of
    )
    callable_ones = (*collectives, *(one for one, _ in equal))
    own, behind = numbers.tasks.own, numbers.tasks.own + numbers.tasks.in_turn
    grid = first.collective.grid.whole
    needed = {TASKS: numbers.tasks.size + further, REGISTERS: len(numbers.registers.users)}
    there = {TASKS: len(has.tasks), REGISTERS: len(has.registers)}
    if any(needed[resource] > there[resource] for resource in needed):
        raise ShortageError(needed, there)
    return LibraryModel(
        name="",
        call_stream=has.module,
        source="",
        version=__version__,
        target=target.name,
        width=grid.width,
        height=grid.height,
        colors=program.color_numbers,
        queues=queues.shared,
        input_queues=queues.inputs,
        output_queues=queues.outputs,
        task_ids=has.tasks[: needed[TASKS]],
        dsr_ids=has.registers[: needed[REGISTERS]],
        collectives=collectives,
        equal=equal,
        turns=tuple(range(own, behind)),
        joined=tuple(range(behind, numbers.tasks.size)),
        torn_down=torn_down,
        start_task=numbers.tasks.size if torn_down and not closes else -1,
        selections=tuple(_selections(program, callable_ones)),
        rooted=tuple(_roots(program, callable_ones)),
    )


def _collective(
    plan: Plan, prefix: str, linked: tuple[tuple[PhaseModel, ...], str]
) -> CollectiveModel:
    phases, restored = linked
    collective, contract = plan.collective, plan.collective.contract
    grid = collective.grid
    return CollectiveModel(
        name=collective.name,
        prefix=prefix,
        headline=headline(plan),
        by_slices=promise_of(collective),
        site=site_model(grid),
        width=grid.width,
        height=grid.height,
        path=path_model(collective.path, grid) if collective.path else None,
        length=contract.words,
        most=contract.held,
        element=contract.element.word.value,
        buffer=contract.result.name if contract.result else contract.buffer,
        run_length=contract.run_length.name if contract.run_length else "",
        combine=combine_of(contract),
        phases=phases,
        restored=restored,
        apart=contract.apart,
        input=contract.buffer if contract.result else "",
        input_apart=contract.stride,
        words=contract.element.words,
    )


def _code_of(program: ProgramPlan) -> list[int]:
    """For each collective the first one that does the same on the same colors, whatever its buffers
    are called; that may be itself. A barrier has a token of its own."""
    found: list[int] = []
    for index, plan in enumerate(program.plans):
        own, same = plan.collective.contract, _does(program, index)
        equal = (of for of in dict.fromkeys(found) if own.buffer and _does(program, of) == same)
        found.append(next(equal, index))
    return found


def _does(program: ProgramPlan, index: int) -> tuple[object, ...]:
    """What tells the code of collectives apart."""
    plan = program.plans[index]
    own, contract = plan.collective, plan.collective.contract
    vector = contract.element, contract.words, contract.held, contract.apart, contract.stride
    given = contract.run_length and contract.run_length.name, contract.result is None
    positions = [use.positions for _, use in program.uses_of(index)]
    where = own.grid.site or own.grid.whole, own.path
    return contract.operation, vector, given, where, positions, plan.phases


def _named(of: CollectiveModel, plan: Plan) -> CollectiveModel:
    """A collective that has the code of another one, by its own names."""
    contract = plan.collective.contract
    return replace(
        of,
        name=plan.collective.name,
        headline=headline(plan),
        buffer=contract.result.name if contract.result else contract.buffer,
        input=contract.buffer if contract.result else "",
    )


def _ends_at_once(plan: Plan, given: Sequence[Given]) -> bool:
    """Whether a call may be over on some PE without an operation that ends in a task."""
    calls_back = bool(combine_of(plan.collective.contract).callback)
    site = site_model(plan.collective.grid)
    passes_on = any(
        of.multiplexed and not of.closing and not all(one.sections for one in of.classes)
        for of in given
    )
    return calls_back or not plan.phases or bool(site.takes_part) or passes_on


def _torn_down(program: ProgramPlan) -> Iterator[TornDownModel]:
    """The colors that are torn down between phases."""
    torn_down = (index for index, color in enumerate(program.colors) if color.torn_down)
    for number, index in enumerate(torn_down):
        switched = "true" if is_switched(program, index) else "false"
        turns = tuple(_turning_outputs(program, index))
        yield TornDownModel(index, -1, f"0x{1 << number:04x}", switched, turns)


def _turning_outputs(program: ProgramPlan, index: int) -> Iterator[str]:
    """For each phase in which routers change the side they send to on a color, that one does."""
    for use, at in zip(program.uses, setters(program), strict=True):
        phase = program.phase(use)
        for name, position in use.positions:
            uses = (of for role in phase.roles for of in role.colors if of.color == name)
            if position == index and any(of.turns_output for of in uses):
                setter = program.uses[at]
                own = dict((p, n) for n, p in setter.positions)[index]
                yield f"{_name_of(program, setter)}_routers(x, y).{own}.pos1_changes_tx"


def _name_of(program: ProgramPlan, use: Use) -> str:
    """What the library calls the phase of a use."""
    plan = program.plans[use.collective]
    return f"{prefix_of(program, plan)}{plan.phases[use.phase].name}"


def _selections(
    program: ProgramPlan, collectives: Sequence[CollectiveModel]
) -> Iterator[SelectionModel]:
    """The choices by a length, but for those that are a collective."""
    named = {one.name: one for one in collectives}
    for one in program.program.selections:
        if one.names == (one.name,):
            continue
        of, length = named[one.names[0]], one.length.name
        given = f"input, vector, {length}" if of.input else f"vector, {length}"
        cases = [(one.lengths(i)[1], (f"{name}({given});",)) for i, name in enumerate(one.names)]
        choice = tuple(halved(length, cases))
        yield SelectionModel(one.name, length, *_held(of), of.element, choice)


def _roots(program: ProgramPlan, collectives: Sequence[CollectiveModel]) -> Iterator[RootModel]:
    """The choices by a root."""
    named = {one.name: one for one in collectives}
    for one in program.program.rooted:
        of = named[one.names[0]]
        length = one.length.name if one.length else ""
        rank = rank_of(one, of.site, f"{of.prefix}path_place" if of.path else "")
        held = _held(of)
        yield RootModel(one.name, one.root, one.ranks, rank, *held, of.element, length, one.names)


def _held(of: CollectiveModel) -> tuple[int, int]:
    """Elements of the array that a collective is given, and of that of its input, if it is one."""
    return of.held, of.input_held if of.input else 0


T = TypeVar("T", SlotModel, JoinModel)
Phases = list[list[PhaseModel]]  # of each collective


def _phases(
    program: ProgramPlan, given: Sequence[Sequence[Given]], registers: int, tasks: int
) -> tuple[Numbers, Phases]:
    """The phases; as many slots as there are registers, or tasks, for have their own."""

    def numbered(tasks: Tasks) -> tuple[Numbers, Phases]:
        numbers = Numbers(Registers(registers), tasks)
        made = {at: [phase_model(numbers, one) for one in given[at]] for at in order}
        return numbers, [made[at] for at in range(len(given))]

    order = sorted(range(len(given)), key=lambda at: sum(map(_acts, given[at])))

    numbers, phases = numbered(Tasks(ALL))
    if numbers.tasks.size > tasks:
        least, above = 0, numbers.tasks.seen
        while above - least > 1:
            limit = (least + above) // 2
            fits = numbers.tasks.within(limit).size <= tasks
            least, above = (limit, above) if fits else (least, limit)
        numbers, phases = numbered(numbers.tasks.within(least).second_pass())
    at = iter(range(numbers.phases))
    numbered_as = {index: [next(at) for _ in given[index]] for index in order}
    return numbers, [
        [
            _shared(numbers, number, phase)
            for number, phase in zip(numbered_as[index], of, strict=True)
        ]
        for index, of in enumerate(phases)
    ]


def _acts(given: Given) -> int:
    """How many operations a PE has in a phase at most."""
    return max(
        (sum(len(chain) for one in of.sections for _, chain in one.chains) for of in given.classes),
        default=0,
    )


def _given(program: ProgramPlan, collective: int, queues: QueuesOfLanes) -> Iterator[Given]:
    """The phases of a collective."""
    plan = program.plans[collective]
    negate, last = combine_of(plan.collective.contract).negate, _last_reduction(plan)
    torn_down = {color.position: color for color in _torn_down(program)}
    setter, before = setters(program), set_before(program)
    shares = _shares_microthreads(program, plan)
    one_word = not shares and reduces_one_word(plan.collective.contract)
    one_word = one_word and are_one_word(plan.phases)
    colors = program.positions_of(collective)
    for at, use in program.uses_of(collective):
        index, phase = use.phase, program.phase(use)
        cut = cut_of(phase, plan.collective.contract)
        classes = classes_of(phase, cut, _room(program, plan.collective.contract, phase))
        last_phase = index == len(plan.phases) - 1
        multiplexed = [
            MultiplexedColor(name, torn_down[colors[name]].mask, torn_down[colors[name]].switched)
            for name in torn_down_by(program, use)
        ]
        sets = _name_of(program, program.uses[setter[at]]) if multiplexed else ""
        yield Given(
            plan,
            collective,
            index,
            classes,
            prefix_of(program, plan),
            queues.lanes[at],
            colors,
            before[at],
            restores=bool(negate) and index <= last and phase.kind is not ContractKind.BROADCAST,
            multiplexed=tuple(multiplexed),
            sets=sets,
            closing=f"closing_{max(colors[one.name] for one in multiplexed)}"
            if multiplexed and program.ends_torn_down
            else "",
            shares_microthreads=shares,
            staged_word=one_word and not last_phase,
            follows_word=one_word and last_phase and bool(plan.collective.contract.buffer),
        )


def _last_reduction(plan: Plan) -> int:
    """The index of the last phase that combines; -1 if none does."""
    kinds = enumerate(phase.kind for phase in plan.phases)
    return max((i for i, kind in kinds if kind is not ContractKind.BROADCAST), default=-1)


def _room(program: ProgramPlan, contract: Contract, phase: Phase) -> int:
    """Bytes that a phase by steps may take of a PE's memory for operations, in which case it has no
    step tables: what is counted for it at least, and its share of what is left."""
    if form_of(phase) is not Form.STEPS:
        return 0
    phases = [phase for plan in program.plans for phase in plan.phases]
    by_steps = sum(form_of(phase) is Form.STEPS for phase in phases)
    left = program.target.free_bytes - program.code_bytes - program.data_bytes
    counted = min(steps_bytes(contract, phase, tables=tables) for tables in (False, True))
    return counted + left // max(1, by_steps)


def _shares_microthreads(program: ProgramPlan, plan: Plan) -> bool:
    """Whether what a collective sends, and what it receives in its last phase or others receive,
    have a microthread in common."""
    if not program.in_turn:
        others = {number for one in program.plans if one is not plan for number in one.input_queues}
        return bool({*plan.input_queues[-1:], *others} & set(plan.output_queues))
    queues = [color.queues for color in program.colors if color.queues]
    return any(
        out == into
        for one, (_, out) in enumerate(queues)
        for other, (into, _) in enumerate(queues)
        if one != other
    )


def _shared(numbers: Numbers, index: int, phase: PhaseModel) -> PhaseModel:
    """The phase, its slots told where they have registers in turn with others."""

    def told(slot: SlotModel) -> SlotModel:
        second = (*slot.key[:2], slot.key[2] + SECOND)
        found = (numbers.registers.conditions(index, key) for key in (slot.key, second))
        conditions = tuple(dict.fromkeys(one for of in found for one in of))
        some = "true" if len(conditions) > MOST_CONDITIONS else " or ".join(conditions)
        if not some:
            return slot
        return replace(slot, shares_register=some)

    sections = (replace(one, slots=tuple(map(told, one.slots))) for one in phase.sections)
    return replace(phase, sections=tuple(sections))


ALL = 1 << 16  # slots
MOST_CONDITIONS = 4  # beyond, registers are taken for shared everywhere


def _linked(
    phases: Sequence[PhaseModel], plan: Plan, prefix: str, torn_down: Sequence[TornDownModel]
) -> tuple[tuple[PhaseModel, ...], str]:
    """The phases, each section told what comes next; and what comes behind the phase that turns
    back signs."""
    calls_back = bool(combine_of(plan.collective.contract).callback)
    tasks = {one.mask: one.task for one in torn_down if one.task >= 0}
    passes_on = any(phase.multiplexed and phase.idle and not tasks for phase in phases)
    after = "finish" if calls_back else f"{prefix}over" if passes_on else "done"
    found, restored = list[PhaseModel](), ""
    for phase in reversed(phases):
        if phase.restores and not restored:
            after, restored = f"{prefix}restore", after
        sections, closed, closing = list[SectionModel](), after, tuple[int, ...]()
        if phase.multiplexed and tasks:
            last = max(tasks[color.mask] for color in phase.multiplexed)
            closing = tuple(one for one in tasks.values() if one <= last)
            after = f"close_{phase.name}"
        for section in reversed(phase.sections):
            slots = tuple(_with_next(one, one.then or after) for one in section.slots)
            joins = tuple(_with_next(one, one.then or after) for one in section.joins)
            sections.insert(0, replace(section, next=after, slots=slots, joins=joins))
            after = sections[0].begin
        of = replace(phase, sections=tuple(sections), closing=closing, closed=closed)
        found.insert(0, of)
        after = f"open_{phase.name}" if phase.multiplexed else after
    return _started_at_once(found, restored)


def _with_next(one: T, then: str) -> T:
    """The same if nothing changes, which is quicker."""
    return one if one.then == then else replace(one, then=then)


def _started_at_once(
    phases: Sequence[PhaseModel], restored: str
) -> tuple[tuple[PhaseModel, ...], str]:
    """The same, what has nothing to prepare begun without a function of its own."""
    slots = [slot for phase in phases for of in phase.sections for slot in of.slots]
    names = {
        f"begin_{slot.name}": f"{slot.name}.start"
        for slot in slots
        if not (slot.shares_register or slot.shares_task)
    }

    def direct(section: SectionModel) -> SectionModel:
        def named(one: T) -> T:
            return _with_next(one, names.get(one.then, one.then))

        return replace(
            section,
            next=names.get(section.next, section.next),
            slots=tuple(map(named, section.slots)),
            joins=tuple(map(named, section.joins)),
        )

    direct_phases = (
        replace(
            one,
            sections=tuple(map(direct, one.sections)),
            closed=names.get(one.closed, one.closed),
        )
        for one in phases
    )
    return tuple(direct_phases), names.get(restored, restored)
