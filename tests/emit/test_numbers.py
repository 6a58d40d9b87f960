"""Tasks and registers of libraries: no PE has one for two operations that may be under way at once,
and what it loads or binds before the program begins is nobody else's there.

Counted PE by PE, from the models that the templates print: what a PE's class does in each phase, in
which slots, of which chains. Positions are those in the library's lists.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import pytest
from libraries import CODES, needed, on
from programs_at_random import program as random_program

from collc.base.columns import Ints
from collc.base.diagnostics import CollcError
from collc.cost.predict import unprinted
from collc.driver.pipeline import compile_text
from collc.emit import numbers
from collc.emit.library import libraries_of
from collc.emit.model import OWN_TASK, ClassModel, LibraryModel, PhaseModel, PlacedAct, SlotModel
from collc.emit.phases import in_blocks
from collc.lowering.resources import left_by
from collc.plan import Advance, Phase, Plan
from collc.plan.plan import ProgramPlan
from collc.target import TARGETS, Target
from emitting import EXAMPLES, example_bundle

NOBODY = -1
RANDOM, PARTS = 30, 6
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.coll"))


class User(NamedTuple):
    """A slot of a phase, or one of its joins, on a PE."""

    phase: str
    name: str


class Part(NamedTuple):
    """What a PE does in a slot."""

    phase: PhaseModel
    slot: SlotModel
    placed: PlacedAct
    calls_back: bool

    @property
    def user(self) -> User:
        return User(self.phase.name, self.slot.name)

    @property
    def is_code(self) -> bool:
        """Whether code does it, or waits for it: then it ends in no task, and has no registers."""
        act = self.placed.act
        combines = act.op.action.value == "combine" and act.command is Advance.NOTHING
        return act.is_local or (self.calls_back and combines)

    @property
    def registers(self) -> list[int]:
        """The positions of its registers."""
        if self.is_code or in_blocks(self.placed.act):
            return []
        two = bool(self.slot.turns) or self.slot.table
        return [self.slot.register, *([self.slot.register_out] if two else [])]

    @property
    def has_task(self) -> bool:
        """Whether it ends in a task of its own."""
        silent = self.is_code or self.placed.act.is_silent
        return not silent and self.placed.end == OWN_TASK


def faults(program: ProgramPlan) -> Iterator[str]:
    """What is wrong with the tasks and registers of the libraries of a program."""
    libraries = libraries_of(program, "some")
    streams = program.call_streams or (program,)
    for numbers_of in ("task_ids", "dsr_ids"):
        taken = Counter(number for one in libraries for number in getattr(one, numbers_of))
        yield from (f"{numbers_of}: {n} is taken twice" for n, of in taken.items() if of > 1)
        there = set(getattr(_left(program), _FIELDS[numbers_of]))
        yield from (f"{numbers_of}: {n} is not there" for n in sorted(taken.keys() - there))
    for stream, library in zip(streams, libraries, strict=True):
        yield from _faults_of_lists(library)
        for parts, joins in _kinds_of_pes(stream, library):
            yield from _faults_of_registers(parts)
            yield from _faults_of_tasks(library, parts, joins)


_FIELDS = {"task_ids": "local_task_ids", "dsr_ids": "dsr_ids"}


def _left(program: ProgramPlan) -> Target:
    """What is left for a program: not what is reserved, nor, as a task's id, a color in use."""
    left = left_by(program.program.reserved, program.target)
    colors = {number for one in program.call_streams or (program,) for number in one.color_numbers}
    taken = colors if program.target.tasks_by_color else set()
    return replace(left, local_task_ids=tuple(n for n in left.local_task_ids if n not in taken))


def _faults_of_lists(library: LibraryModel) -> Iterator[str]:
    """Positions that the library has for itself are those of nothing else."""
    lasts = [one.task for one in library.torn_down if one.task >= 0]
    lasts += [library.start_task] * (library.start_task >= 0)
    lasts += [len(library.task_ids) - 1] * library.ends_at_once
    had = [*library.turns, *library.joined, *lasts]
    slots = [slot for phase in library.phases for of in phase.sections for slot in of.slots]
    joins = [join for phase in library.phases for of in phase.sections for join in of.joins]
    own = {one.task for one in (*slots, *joins) if one.task >= 0 and not one.shares_task}
    if len(set(had)) < len(had) or own & set(had):
        yield f"tasks: of the library {had}, of operations {sorted(own)}"
    if any(not 0 <= at < len(library.task_ids) for at in (*had, *own)):
        yield "tasks: a position beyond the list"
    if {slot.task for slot in slots if slot.shares_task} - set(library.turns):
        yield "tasks: an operation has in turn what no operation has"
    if {join.task for join in joins if join.shares_task} - set(library.joined):
        yield "tasks: a join has in turn what no join has"


Joins = Mapping[tuple[str, int], tuple[int, ...]]  # of a section their tasks


def _kinds_of_pes(
    program: ProgramPlan, library: LibraryModel
) -> Iterator[tuple[list[Part], list[tuple[User, int, bool, int]]]]:
    """What PEs do that do not do the same in all phases: their parts, and their joins, each with
    its task, whether it has that in turn, and its section."""
    phases = list(_phases(program, library))
    if not phases:
        return
    columns = np.stack([_classes_at(*of) for *of, _ in phases], axis=1)
    for kind in np.unique(columns, axis=0).tolist():
        parts, joins = list[Part](), list[tuple[User, int, bool, int]]()
        for (_, _, model, calls_back), of in zip(phases, kind, strict=True):
            if of == NOBODY:
                continue
            slots = {slot.key: slot for section in model.sections for slot in section.slots}
            one = model.classes[of]
            parts += [Part(model, slots[act.key], act, calls_back) for act in one.acts]
            joins += _joins(model, one)
        yield parts, joins


def _joins(model: PhaseModel, of: ClassModel) -> Iterator[tuple[User, int, bool, int]]:
    by_table = {act.key[0] for act in of.acts if act.act.table is not None}
    for at, ends in enumerate(of.ends):
        for join in model.sections[at].joins if at not in by_table else ():
            if ends > join.least:
                yield User(model.name, join.name), join.task, join.shares_task, at


def _phases(
    program: ProgramPlan, library: LibraryModel
) -> Iterator[tuple[Plan, Phase, PhaseModel, bool]]:
    """The phases of collectives that have code of their own."""
    plans = {plan.collective.name: plan for plan in program.plans}
    for one in library.collectives:
        plan = plans[one.name]
        for phase, model in zip(plan.phases, one.phases, strict=True):
            yield plan, phase, model, bool(one.combine.callback)


def _classes_at(plan: Plan, phase: Phase, model: PhaseModel) -> Ints:
    """The class of each PE of the program's grid, or NOBODY; int64 [PEs]."""
    grid = plan.collective.grid
    lined = plan.collective.lined if phase.path else grid
    found = np.full((lined.height, lined.width), NOBODY, dtype=np.int64)
    for region, role in phase.regions:
        classes = [one for one in model.classes if one.role == role]
        for x, y in product(region.x, region.y):
            place = x if phase.axis == "x" else y
            found[y, x] = next(
                one.index for one in classes if len(classes) == 1 or place in one.places
            )
    if phase.path:
        along, found = found[0], np.full((grid.height, grid.width), NOBODY, dtype=np.int64)
        found[phase.path.y, phase.path.x] = along
    site = grid.site
    if site is None:
        return found.reshape(-1)
    area = site.area or grid
    whole = np.full((site.whole.height, site.whole.width), NOBODY, dtype=np.int64)
    whole[site.y : site.y + area.height, site.x : site.x + area.width] = found
    return whole.reshape(-1)


def _beside(one: Part, other: Part) -> bool:
    """Whether both may be under way at once: chains of a section are beside each other."""
    (section, chain, _), (of, beside, _) = one.slot.key, other.slot.key
    return one.phase is other.phase and section == of and chain != beside


def _faults_of_registers(parts: Sequence[Part]) -> Iterator[str]:
    """Of what a PE does."""
    conditions = {f"{one.phase.name}.{one.slot.field}" for one in parts}
    users: dict[int, list[Part]] = {}
    for part in parts:
        if len(set(part.registers)) < len(part.registers):
            yield f"registers: one for both sides of {part.user}"
        for at in part.registers:
            users.setdefault(at, []).append(part)
    for at, of in users.items():
        for one, other in combinations(of, 2):
            if _beside(one, other):
                yield f"registers: {at} is of {one.user} and {other.user} at once"
        for one in of if len(of) > 1 else ():
            if not _holds(one.slot.shares_register, conditions):
                yield f"registers: {at} is loaded once by {one.user}, and others have it"


def _holds(condition: str, had: set[str]) -> bool:
    """Whether a condition that names slots holds of a PE that has some."""
    named = re.findall(r"(\w+\.\w+)(?:\.takes_part| > 0)", condition)
    return condition == "true" or any(name in had for name in named)


def _faults_of_tasks(
    library: LibraryModel, parts: Sequence[Part], joins: Sequence[tuple[User, int, bool, int]]
) -> Iterator[str]:
    own, ended = Counter[int](), [part for part in parts if part.has_task]
    own.update(part.slot.task for part in ended if not part.slot.shares_task)
    own.update(task for _, task, in_turn, _ in joins if not in_turn)
    yield from (f"tasks: {at} is bound {of} times" for at, of in own.items() if of > 1)
    if any(part.slot.task < 0 for part in ended):
        yield "tasks: an operation ends in none"
    for one, other in combinations(ended, 2):
        if _beside(one, other) and one.slot.task == other.slot.task:
            yield f"tasks: {one.slot.task} is of {one.user} and {other.user} at once"
    of_sections = Counter((user.phase, section, task) for user, task, _, section in joins)
    yield from (
        f"tasks: {at[2]} is of {of} joins at once" for at, of in of_sections.items() if of > 1
    )
    told = {part.placed.end for part in parts if part.placed.end >= 0}
    if told - {task for _, task, _, _ in joins}:
        yield "tasks: an end is told to a join that the PE does not have"


def with_fewest(program: ProgramPlan) -> ProgramPlan:
    """A program with as many tasks and registers as it is said to need. With one fewer it is
    refused."""
    fewest = {}
    for field in CODES:
        count, there = needed(program, field), getattr(_left(program), field)
        fewest[field] = there[:count]
        assert not count or unprinted(on(program, **{field: there[: count - 1]})), field
    return on(program, **fewest)


def program_of_example(name: str, target: str) -> ProgramPlan:
    return example_bundle(EXAMPLES / f"{name}.coll", target).program


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", NAMES)
def test_no_pe_has_one_number_for_two_operations_at_once(name: str, target: str) -> None:
    program = program_of_example(name, target)
    assert not list(faults(program))
    if target == "wse2":
        fewest = with_fewest(program)
        assert not unprinted(fewest)
        assert not list(faults(fewest))


@pytest.mark.parametrize("part", range(PARTS))
def test_nor_has_any_in_random_programs(part: int) -> None:
    checked = 0
    for number in range(part, RANDOM, PARTS):
        try:
            program = compile_text(random_program(number), "some.coll", {}).program
        except CollcError:
            continue
        fewest = with_fewest(program)
        assert not unprinted(fewest), number
        assert not [*faults(program), *faults(fewest)], number
        checked += 1
    assert checked > RANDOM // PARTS // 2


SEVERAL = ("allreduce_2d", "all_to_all", "halo_exchange", "program_together")
NEVER = {
    "areas": (numbers.Area, "meets", lambda *_: False),
    "users": (numbers.User, "meets", lambda *_: False),
    "beside": (numbers.User, "runs_beside", lambda *_: False),
    "shared": (numbers, "_shared_with", lambda *_: iter(())),
}


@pytest.mark.parametrize("fault", NEVER)
def test_a_fault_in_the_numbers_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = [program_of_example(name, "wse2") for name in SEVERAL]
    fewest = [*map(with_fewest, programs)]
    monkeypatch.setattr(*NEVER[fault])
    found = [*map(faults_of_anew, programs), *map(faults_of_anew, fewest)]
    assert any(found)


def test_chains_with_one_task_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where they have them in turn."""
    programs = [program_of_example(name, "wse2") for name in SEVERAL]
    fewest = [*map(with_fewest, programs)]
    in_turn = numbers.Tasks._in_turn

    def of_one(tasks: numbers.Tasks, users: dict[numbers.Key, set[int]]) -> dict[numbers.Key, int]:
        found = in_turn(tasks, users)
        first = tasks.first_in_turn
        return {key: at if key[1] < 0 else first for key, at in found.items()}

    monkeypatch.setattr(numbers.Tasks, "_in_turn", of_one)
    said = {one.partition(":")[0] for program in fewest for one in faults_of_anew(program)}
    assert said == {"tasks"}


def faults_of_anew(program: ProgramPlan) -> list[str]:
    """The faults of libraries that are not known yet."""
    return list(faults(replace(program)))
