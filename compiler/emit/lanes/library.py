"""The library of a collective, from its plan."""

import re
from collections.abc import Sequence
from dataclasses import replace

from collc.base.diagnostics import CollcError
from collc.base.version import __version__
from collc.emit.grid_places import site_model
from collc.emit.headline import headline, promise_of
from collc.emit.lanes.classes import classes_of
from collc.emit.lanes.cuts import cut_of
from collc.emit.lanes.model import LibraryModel, PhaseModel, SectionModel, SlotModel
from collc.emit.lanes.not_yet import UnprintedError, diagnostic
from collc.emit.lanes.numbers import SECOND, Registers, Tasks
from collc.emit.lanes.phases import Numbers, phase_model
from collc.emit.model import BundleModel
from collc.emit.names import combine_of
from collc.emit.paths import path_model
from collc.emit.registers import RegisterModel, name_of
from collc.lowering.resources import left_by
from collc.plan import Phase, Plan
from collc.schedule import home_pe
from collc.spec.simd import has_pairs_of_wavelets


def library_name(source: str) -> str:
    """The library of a file, by the file's name: an identifier."""
    stem = re.sub(r"\W", "_", source.rpartition(".")[0] or source)
    return stem if re.match(r"[A-Za-z]", stem) else f"collective_{stem}"


def library_of(plan: Plan, source: str) -> LibraryModel:
    """The library of a collective that is alone. Raises CollcError for what is not printed yet."""
    try:
        return _library(plan, source)
    except UnprintedError as found:
        raise CollcError([diagnostic(plan, found.what)]) from None


def with_numbers(model: BundleModel, library: LibraryModel) -> BundleModel:
    """What the manifest says of resources, with those that the library has."""
    files = ("dsr_dest", "dsr_src0", "dsr_src1")
    registers = tuple(
        RegisterModel("", type, number, "", name_of(type, number))
        for type in files
        for number in library.dsr_ids
    )
    *tasks, last = library.task_ids or (-1,)
    return replace(
        model,
        input_queues=library.input_queues,
        output_queues=library.output_queues,
        task_ids=tuple(tasks),
        done_id=last,
        registers=registers,
    )


def _library(plan: Plan, source: str) -> LibraryModel:
    collective, contract = plan.collective, plan.collective.contract
    grid, name = collective.grid, library_name(source)
    how, simd = combine_of(contract), _simd_of(plan)
    free = left_by(collective.limits.reserved, plan.target)
    tasks = free.task_ids_beside([number for _, number in plan.colors])
    given, phases = _phases(plan, len(free.dsr_ids), len(tasks))
    operation = contract.operation.value if contract.operation else "move"
    return LibraryModel(
        name=name,
        type_name="".join(part.capitalize() for part in name.split("_") if part),
        collective=collective.name,
        headline=headline(plan),
        by_slices=promise_of(collective),
        source=re.sub(r"[^\w./ +-]", "_", source),
        version=__version__,
        target=plan.target.name,
        width=grid.whole.width,
        height=grid.whole.height,
        site=site_model(grid, home_pe(plan.schedule)),
        path=path_model(collective.path, grid) if collective.path else None,
        length=contract.words,
        element=contract.element.word.value,
        buffer=contract.buffer,
        combine=how,
        simd=simd,
        op="_".join(["op", operation, contract.element.word.value, *([simd] if simd else [])]),
        colors=tuple(number for _, number in plan.colors),
        input_queues=plan.input_queues[: given.inputs],
        output_queues=plan.output_queues[: given.outputs],
        task_ids=_first(tasks, given.tasks.size, "tasks"),
        dsr_ids=_first(free.dsr_ids, len(given.registers.users), "registers"),
        phases=phases,
        turns=tuple(range(given.tasks.own, given.tasks.own + given.tasks.in_turn)),
        meetings=tuple(range(given.tasks.own + given.tasks.in_turn, given.tasks.size)),
        root=home_pe(plan.schedule),
    )


def _phases(plan: Plan, registers: int, tasks: int) -> tuple[Numbers, tuple[PhaseModel, ...]]:
    """The phases; as many slots as there are registers, or tasks, for have their own."""
    words = plan.collective.contract.words
    cuts = [cut_of(phase, words) for phase in plan.phases]
    if any(cut.dynamic_length for cut in cuts):
        raise UnprintedError("slices of a length that is given when the program runs")
    classes = [classes_of(phase, cut) for phase, cut in zip(plan.phases, cuts, strict=True)]

    def numbered(tasks: Tasks) -> tuple[Numbers, list[PhaseModel]]:
        given = Numbers(plan, classes, Registers(registers), tasks)
        return given, [phase_model(given, index) for index in range(len(plan.phases))]

    given, phases = numbered(Tasks(ALL))
    if given.tasks.size > tasks:
        least, above = 0, given.tasks.seen
        while above - least > 1:
            limit = (least + above) // 2
            fits = numbered(Tasks(limit))[0].tasks.size <= tasks
            least, above = (limit, above) if fits else (least, limit)
        first = numbered(Tasks(least))[0].tasks
        given, phases = numbered(first.second_pass())
    return given, _linked([_shared(given, at, phase) for at, phase in enumerate(phases)])


def _shared(given: Numbers, index: int, phase: PhaseModel) -> PhaseModel:
    """The phase, its slots told where they have registers in turn with others."""

    def told(slot: SlotModel) -> SlotModel:
        second = (*slot.key[:2], slot.key[2] + SECOND)
        found = (given.registers.conditions(index, key) for key in (slot.key, second))
        conditions = tuple(dict.fromkeys(one for of in found for one in of))
        some = "true" if len(conditions) > MOST_CONDITIONS else " or ".join(conditions)
        return replace(slot, shares_register=some)

    sections = (replace(one, slots=tuple(map(told, one.slots))) for one in phase.sections)
    return replace(phase, sections=tuple(sections))


ALL = 1 << 16  # slots
MOST_CONDITIONS = 4  # beyond, registers are taken for shared everywhere


def _first(available: Sequence[int], count: int, what: str) -> tuple[int, ...]:
    if count > len(available):
        raise UnprintedError(f"{count} {what}, where a PE has {len(available)},")
    return tuple(available[:count])


def _simd_of(plan: Plan) -> str:
    """What an instruction takes of the fabric, in CSL; empty for an element."""
    modes = {_simd_mode(plan, phase) for phase in plan.phases}
    if len(modes) > 1:
        raise UnprintedError("phases that take words of the fabric in different numbers")
    return modes.pop() if modes else ""


def _simd_mode(plan: Plan, phase: Phase) -> str:
    if phase.wide:
        both = cut_of(phase, 1).slicing.count > 1 or has_pairs_of_wavelets(plan.collective.contract)
        return "simd_64" if both else "simd_32_or_64"
    return "simd_32" if phase.paired else ""


def _linked(phases: Sequence[PhaseModel]) -> tuple[PhaseModel, ...]:
    """The phases, each section told what comes next."""
    after, found = "done", list[PhaseModel]()
    for phase in reversed(phases):
        sections = list[SectionModel]()
        for section in reversed(phase.sections):
            slots = tuple(replace(one, then=one.then or after) for one in section.slots)
            joins = tuple(replace(one, then=one.then or after) for one in section.joins)
            sections.insert(0, replace(section, next=after, slots=slots, joins=joins))
            after = sections[0].begin
        found.insert(0, replace(phase, sections=tuple(sections)))
    return tuple(found)
