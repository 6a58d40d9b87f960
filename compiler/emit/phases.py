"""The phases of a library: slots, in which classes of PEs have their operations, what follows what,
and the positions of all that they occupy.

A slot is an import of the PE's text. PEs of different classes that do the same at the same point of
a chain have it in the same slot, whatever their roles are called.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace

import numpy as np

from collc.base.values import dataclass
from collc.emit.classes import (
    Act,
    PeClass,
    Section,
    Turns,
    in_stage,
    merged,
    places_in,
)
from collc.emit.conditions import cases_of
from collc.emit.cuts import Cut, cut_of, first_of_block, operation_of, simd_of
from collc.emit.grid_places import coordinates, places_at
from collc.emit.model import (
    CLOSING_TASK,
    OWN_TASK,
    ClassModel,
    JoinModel,
    LaneModel,
    MultiplexedColor,
    PhaseModel,
    PlacedAct,
    SectionModel,
    SlotModel,
    StepsModel,
    taking_part,
)
from collc.emit.names import combine_of
from collc.emit.not_yet import UnprintedError
from collc.emit.numbers import SECOND, Area, Key, Registers, Tasks, User
from collc.emit.place_numbers import Speller
from collc.emit.routers import RoutesModel, detours_model, routers_models, routes_models
from collc.emit.step_tables import kinds_of, program_of, table_numbers, tables_of
from collc.lowering.memory import row_numbers
from collc.plan import (
    OF_OWN_ROUTER,
    Action,
    Advance,
    Filter,
    Phase,
    Plan,
    Region,
    RowKind,
    Strided,
)
from collc.plan.one_word import sends_to_parent
from collc.plan.slots import slot_of
from collc.plan.streams import asides_of

# cycles of a bound that an operation computes; of a slice in a table, and of all else about that
SHIFTED, DIVIDED, PER_SLICE, TABLE = 3, 10, 8, 20


@dataclasses.dataclass
class Numbers:
    """What phases take numbers from."""

    registers: Registers
    tasks: Tasks
    phases: int = 0


@dataclass(frozen=True)
class Given:
    """A phase, and where it is: its plan and that one's number, its index and classes; the prefix
    of its names, its lanes with their queues, the positions of its colors, and those whose routers
    another phase has set. Those that are `multiplexed` are set as it begins, by the code of the
    phase `sets`. Where what is sent on a color `shares_microthreads` with what is received on
    others, the former has to end first.
    """

    plan: Plan
    collective: int
    index: int
    classes: tuple[PeClass, ...]
    prefix: str
    lanes: tuple[LaneModel, ...]
    colors: Mapping[str, int]
    set_elsewhere: frozenset[str]
    restores: bool
    multiplexed: tuple[MultiplexedColor, ...]
    sets: str
    closing: str  # the position of the task that ends it behind its teardowns, if they do
    shares_microthreads: bool
    staged_word: bool  # its vectors are a word of the library's
    follows_word: bool  # those of the phases before it are, whose sends it does not wait for

    @property
    def phase(self) -> Phase:
        """The phase, by the name that it has in the library."""
        phase = self.plan.phases[self.index]
        return replace(phase, name=f"{self.prefix}{phase.name}") if self.prefix else phase

    @property
    def earlier(self) -> tuple[str, ...]:
        """The collective's phases before it."""
        return tuple(f"{self.prefix}{one.name}" for one in self.plan.phases[: self.index])


def phase_model(numbers: Numbers, given: Given) -> PhaseModel:
    """A phase, which takes the positions it needs from the numbers. Raises UnprintedError for what
    is not printed yet."""
    plan, phase, classes = given.plan, given.phase, given.classes
    cut = cut_of(phase, plan.collective.contract)
    lanes = given.lanes
    layouts = [
        _arranged(
            [one.sections[at] for one in classes if at < len(one.sections)],
            [lane.name for lane in lanes],
        )
        for at in range(max(len(one.sections) for one in classes))
    ]
    numbered = _Builder(numbers, given, cut, lanes, layouts)
    sections = tuple(numbered.section(at) for at in range(len(layouts)))
    grid = plan.collective.grid if phase.path is None else plan.collective.lined
    place, line = places_at(phase, plan.collective.grid)
    several = len(classes) != len(phase.roles)
    size, names = (grid.width, grid.height), coordinates(phase)
    regions = tuple(_split_regions(phase, classes)) if several else phase.regions
    models = tuple(numbered.model(i, one) for i, one in enumerate(classes))
    torn_down = {color.name for color in given.multiplexed}
    routes = routes_models(phase, given.set_elsewhere | torn_down, place)
    ids = {name: f"colors[{at}]" for name, at in given.colors.items()}
    detours = detours_model(phase.detours, plan.collective.grid)
    return PhaseModel(
        name=phase.name,
        type_name="".join(part.capitalize() for part in phase.name.split("_")),
        about=phase.about,
        lanes=lanes,
        sections=sections,
        fields=tuple(slot for section in sections for slot in section.slots),
        rows=tuple(sorted({s.turns for one in sections for s in one.slots if s.turns})),
        ends=tuple(_ends_field(at) for at in range(len(sections)) if numbered.counts_ends(at)),
        classes=models,
        tables=tuple(numbered.speller.tables.items()),
        cases=cases_of(regions, size, len(classes), f"{phase.name}_classes", names),
        role_cases=cases_of(phase.regions, size, len(phase.roles), f"{phase.name}_roles", names)
        if several
        else None,
        on_path=phase.path is not None,
        place=place,
        block=numbered.block(line),
        cut=cut,
        steps=numbered.steps(),
        slices=any(
            f"{phase.name}_{of}" in line
            for one in models
            for line in one.lines
            for of in ("slices", "backward", "firsts")
        )
        or _filters(routes),
        routes=tuple(numbered.by_position(one) for one in routes),
        detours=detours
        and replace(detours, settings=tuple(map(numbered.by_position, detours.settings))),
        filters=_filters(routes),
        stage=f"{phase.name}_stage" if cut.stage else "",
        roles=len(phase.roles),
        idle=tuple(i for i, one in enumerate(classes) if not one.sections),
        restores=given.restores,
        staged_word=given.staged_word,
        simd=(simd := simd_of(phase, plan.collective.contract)),
        elements_in_word=2 if simd and plan.element.word.bytes == 2 else 1,
        operation=operation_of(phase, plan.collective.contract),
        multiplexed=given.multiplexed,
        routers=routers_models(phase, torn_down, ids) if given.sets == phase.name else (),
        sets=given.sets,
        cuts_table=cut.dynamic_length and numbered.cuts_table(),
    )


def _filters(routes: Iterable[RoutesModel]) -> bool:
    """Whether some router has a filter, which counts words."""
    return any("_words(" in line for one in routes for _, of in one.settings for line in of)


def _ends_field(section: int) -> str:
    return f"ends_{section + 1}" if section else "ends"


ChainKey = tuple[str, int]  # a lane, and 1 for what it receives beside what it sends


@dataclass(frozen=True)
class _Arranged:
    """The chains of a section, each with the names of its slots."""

    chains: tuple[tuple[ChainKey, tuple[str, ...]], ...]

    def place(self, key: ChainKey, acts: Sequence[Act]) -> list[tuple[int, int]]:
        """Where the acts of a class's chain are: which chain, and which slot of it."""
        keys = [key for key, _ in self.chains]
        at = keys.index(_key_among(key, acts, keys))
        return [(at, slot) for slot in places_in(self.chains[at][1], _names(acts))]


def _names(acts: Sequence[Act]) -> list[str]:
    """Slots are alike where what they do and the lane are."""
    return [f"{act.lane}.{act.name}" for act in acts]


def _key_among(key: ChainKey, acts: Sequence[Act], keys: Collection[ChainKey]) -> ChainKey:
    """The chain that a PE has operations in: where others receive beside what they send, one that
    only receives does so in the same chain."""
    lane, _ = key
    only_receives = not any(isinstance(act.op.send, str) for act in acts)
    return (lane, 1) if only_receives and (lane, 1) in keys else key


def _arranged(sections: Sequence[Section], lanes: Sequence[str]) -> _Arranged:
    """The chains of all classes in common: first what lanes send, in their order. Of the sequences
    of a chain the longest come first, so that the others find their place in them."""
    keys = {key for section in sections for key, _ in section.chains}
    found: dict[ChainKey, list[list[str]]] = {}
    for section in sections:
        for key, chain in section.chains:
            found.setdefault(_key_among(key, chain, keys), []).append(_names(chain))
    order = sorted(found, key=lambda key: (key[1], lanes.index(key[0])))
    return _Arranged(
        tuple((key, tuple(merged(sorted(found[key], key=len, reverse=True)))) for key in order)
    )


class _Builder:
    """Slots, joins and classes of a phase, with their numbers."""

    def __init__(
        self,
        numbers: Numbers,
        given: Given,
        cut: Cut,
        lanes: Sequence[LaneModel],
        layouts: Sequence[_Arranged],
    ) -> None:
        self.calls_back = bool(combine_of(given.plan.collective.contract).callback)
        self.given, self.phase, self.classes, self.cut = given, given.phase, given.classes, cut
        self.lanes = {lane.name: lane for lane in lanes}
        self.layouts = layouts
        self._placed: dict[int, list[tuple[Key, Act]]] = {}
        self.number = numbers.phases  # of all phases of the library
        numbers.phases += 1
        self.speller = Speller(self.phase.name)
        self.fields = self._fields()
        self.users = self._users()
        self.yielding = self._yielding()
        self.rows = self._all_rows()
        self.by_table = {
            where
            for one in self.classes
            for where, act in self.placed(one)
            if act.table is not None
        }
        self.repeated = {
            where
            for one in self.classes
            for where, act in self.placed(one)
            if self._repeats(act) > 1
        }
        self.registers = numbers.registers.assigned(map(self._user, self._with_registers()))
        self.tasks, self.tasks_in_turn = numbers.tasks.assigned(
            {key: (of, self._area(of)) for key, of in self._users_of_tasks().items()}
        )

    def _yielding(self) -> frozenset[str]:
        """The lanes that PEs only send on, where there are others that they also receive on: who
        is served there waits for others first."""
        lanes = [lane for role in self.phase.roles for lane in role.lanes]
        received = {lane.name for lane in lanes if lane.receives}
        return frozenset(self.lanes) - received if received else frozenset()

    def _most_ends(self, section: int) -> int:
        here = (one.sections[section].ends for one in self.classes if section < len(one.sections))
        return max(1, *here, 1)

    def _fields(self) -> dict[Key, str]:
        """The name of each slot in the parameters of the phase."""
        found: dict[Key, str] = {}
        used: set[str] = set()
        single = len(self.lanes) == 1
        for section, layout in enumerate(self.layouts):
            for chain, (_, names) in enumerate(layout.chains):
                for slot, name in enumerate(names):
                    lane, _, does = name.rpartition(".")
                    field = base = does if single else f"{lane}_{does}"
                    number = section + 1
                    while field in used:
                        field, number = f"{base}_{number}", number + 1
                    used.add(field)
                    found[section, chain, slot] = field
        return found

    def placed(self, one: PeClass) -> Sequence[tuple[Key, Act]]:
        """The slots of a class with its acts."""
        known = self._placed.get(id(one))
        if known is None:
            known = self._placed[id(one)] = list(self._places(one))
        return known

    def _places(self, one: PeClass) -> Iterator[tuple[Key, Act]]:
        for at, section in enumerate(one.sections):
            for key, chain in section.chains:
                where = self.layouts[at].place(key, chain)
                for (number, slot), act in zip(where, chain, strict=True):
                    yield (at, number, slot), act

    def _users(self) -> dict[Key, set[int]]:
        users: dict[Key, set[int]] = {slot: set() for slot in self.fields}
        for index, one in enumerate(self.classes):
            for slot, _ in self.placed(one):
                users[slot].add(index)
        return users

    def _with_registers(self) -> Iterator[Key]:
        """The slots, and again those that have two registers."""
        placed = (at for one in self.classes for at in self.placed(one))
        moving = {where for where, act in placed if not self._waits(act) and not in_blocks(act)}
        yield from (slot for slot in self.fields if slot in moving)
        for section, chain, place in self.fields:
            if self._rows((section, chain, place)) or (section, chain, place) in self.by_table:
                yield section, chain, place + SECOND

    def _waits(self, act: Act) -> bool:
        """Whether code waits for it: nothing comes or goes, or elements are combined one by one."""
        combines = act.op.action is Action.COMBINE and act.command is Advance.NOTHING
        return act.is_local or (self.calls_back and combines)

    def _rows(self, slot: Key) -> int:
        """The rows that turns have in a slot: one behind those of the most."""
        return self.rows.get(slot, 0)

    def _repeats(self, act: Act) -> int:
        """How often it is begun: of a length that calls give for each vector."""
        varies = self.given.plan.collective.contract.run_length is not None
        return act.repeats * (act.op.vectors if varies else 1)

    def _all_rows(self) -> dict[Key, int]:
        found: dict[Key, int] = {}
        for one in self.classes:
            for slot, act in self.placed(one):
                if act.turns is not None:
                    found[slot] = max(found.get(slot, 0), act.turns.count + 1)
        return found

    def _user(self, key: Key) -> User:
        slot = (key[0], key[1], key[2] % SECOND)
        classes = frozenset(self.users[slot])
        condition = self.takes_part(slot)
        return User(self.number, key, classes, self._area(classes), condition)

    def takes_part(self, slot: Key) -> str:
        """The condition that a PE has a slot."""
        return taking_part(self.phase.name, self.fields[slot], table=slot in self.by_table)

    def _area(self, classes: Set[int]) -> Area:
        """The PEs of the roles of some classes."""
        roles = {id(self.phase.roles[self.classes[one].role]) for one in classes}
        slot = slot_of(self.number, self.phase, lambda role: id(role) in roles)
        return Area(self.given.collective, slot)

    def _users_of_tasks(self) -> dict[Key, Set[int]]:
        """The classes that have a task: behind a slot, or one that joins ends."""
        found: dict[Key, set[int]] = {}
        for index, one in enumerate(self.classes):
            ends = self._ends(one)
            for slot, act in self.placed(one):
                if not self._waits(act) and not act.is_silent and slot not in ends:
                    found.setdefault(slot, set()).add(index)
            for at, section in enumerate(one.sections):
                for number in range(0 if section.by_steps else section.ends - 1):
                    found.setdefault((at, -1, number), set()).add(index)
        return {key: found[key] for key in sorted(found)}

    def _ends(self, one: PeClass) -> dict[Key, tuple[int, int, bool]]:
        """For what a class waits for beside others: the section, which of its joins the end is told
        to, the last of them being 0, and whether it unblocks that. What is received ends last.
        Where a phase ends with its teardowns, -1 stands for the task that waits for these."""
        found: dict[Key, tuple[int, int, bool]] = {}
        if self.given.closing and one.sections:
            found |= {slot: (slot[0], -1, False) for slot in self._closing(one)}
        for at, section in enumerate(one.sections):
            if section.ends < 2 or section.by_steps:
                continue
            last = [
                (self.layouts[at].place(key, chain)[-1], chain[-1])
                for key, chain in section.chains
                if not chain[-1].is_silent
            ]
            last.sort(key=lambda end: isinstance(end[1].op.receive, str))
            if self.calls_back and any(
                self._waits(act) and not act.is_local for _, of in section.chains for act in of
            ):
                raise UnprintedError("call-backs beside other operations")
            for i, ((chain, slot), _) in enumerate(last):
                found[at, chain, slot] = at, min(len(last) - 2, len(last) - 1 - i), i > 0
        return found

    def _closing(self, one: PeClass) -> Iterator[Key]:
        """The slot whose end is that of the operations of a class, if nothing else has to be done
        behind it."""
        at, section = len(one.sections) - 1, one.sections[-1]
        if section.ends != 1 or section.by_steps:
            return
        for key, chain in section.chains:
            act = chain[-1]
            plain = act.turns is None and self._repeats(act) == 1 and not self._waits(act)
            if plain and not act.is_silent and act.command is Advance.NOTHING:
                number, slot = self.layouts[at].place(key, chain)[-1]
                yield at, number, slot

    def section(self, at: int) -> SectionModel:
        """A section of the PE's text."""
        # a number alone is what ends the name of a collective's second phase along an axis
        layout = self.layouts[at]
        name = f"{self.phase.name}_section_{at + 1}" if at else self.phase.name
        most = 1 if self._by_steps(at) else self._most_ends(at)
        joins = tuple(
            JoinModel(
                name=f"{name}_{_JOINED[number]}",
                ends=_ends_field(at),
                least=number + 1,
                task=self.tasks[at, -1, number],
                then="" if number == 0 else f"{name}_{_JOINED[number]}_end",
                shares_task=(at, -1, number) in self.tasks_in_turn,
                activates=self.tasks[at, -1, number - 1] if number else -1,
            )
            for number in range(most - 1)
        )
        starts = tuple(
            (
                self.name((at, chain, 0)),
                " or ".join(self.takes_part((at, chain, slot)) for slot in range(len(names))),
            )
            for chain, (_, names) in enumerate(layout.chains)
        )
        slots = tuple(slot for slot in self.slots(at))
        return SectionModel(
            name,
            starts,
            "",
            joins,
            slots,
            self._alone(at),
            _ends_field(at) if self.counts_ends(at) else "",
        )

    def counts_ends(self, at: int) -> bool:
        """Whether parameters say how many ends a PE waits for in a section."""
        return self._most_ends(at) > 1

    def cuts_table(self) -> bool:
        """Whether where slices begin is looked up: to compute it for each operation would take
        longer than to make a table, cycles of which are known; a division by a power of two is a
        shift."""
        if self.rows:  # turns find them if not all are alike
            return False
        most, count = max(len(self.placed(one)) for one in self.classes), self.cut.slicing.count
        each = SHIFTED if count & (count - 1) == 0 else DIVIDED
        return bool(self.by_table) or each * most > PER_SLICE * count + TABLE

    def _by_steps(self, at: int) -> bool:
        """Whether a section is one of step tables."""
        return any(section == at for section, _, _ in self.by_table)

    def _alone(self, at: int) -> str:
        """The condition that a PE has one lane with a step table."""
        if not self._by_steps(at):
            return ""
        return f"{self.phase.name}.{_ends_field(at)} == 1" if self.counts_ends(at) else "true"

    def steps(self) -> StepsModel | None:
        """What the text has of step tables."""
        if not self.by_table:
            return None
        phase, words, slicing = self.phase, self.given.plan.element.words, self.cut.slicing
        if self.calls_back and any(
            kind & RowKind.RECEIVES and kind & RowKind.COMBINES for kind in kinds_of(phase)
        ):
            raise UnprintedError("call-backs beside other operations")
        speller = Speller(phase.name)
        programs = tuple(
            (
                name,
                tuple(program_of(phase, name, table, speller) for table in tables_of(phase, index)),
            )
            for index, name in enumerate(phase.lanes)
        )
        given = {
            "slices": slicing.count,
            "grains": slicing.length // slicing.grain,
            "grain": slicing.grain,
            "block": f"{phase.name}.block" if self.cut.blocks else 0,
            "length": slicing.length,
            "words": words,
            "backward": _bool(phase.backward),
            "varies": _bool(slicing.dynamic),
        }
        return StepsModel(
            programs,
            tuple(speller.tables.items()),
            row_numbers(phase),
            f"ops.Slicing{{ {', '.join(f'.{name} = {value}' for name, value in given.items())} }}",
        )

    def name(self, slot: Key) -> str:
        """What the text calls a slot."""
        return f"{self.phase.name}_{self.fields[slot]}"

    def slots(self, at: int) -> Iterator[SlotModel]:
        """The slots of a section, chain by chain."""
        for chain, (_, names) in enumerate(self.layouts[at].chains):
            for slot, kind in enumerate(names):
                where = at, chain, slot
                lane = self.lanes[kind.rpartition(".")[0]]
                last = slot + 1 == len(names)
                yield SlotModel(
                    name=self.name(where),
                    field=self.fields[where],
                    phase=self.phase.name,
                    lane=lane,
                    task=self.tasks.get(where, -1),
                    register=self.registers.get(where, 0),
                    register_out=self.registers.get((at, chain, slot + SECOND), 0),
                    turns=self._rows(where),
                    table=where in self.by_table,
                    repeats=where in self.repeated,
                    begins=self._begins(where),
                    then="" if last else f"begin_{self.name((at, chain, slot + 1))}",
                    stage=f"&{self.phase.name}_stage"
                    if self.cut.stage
                    else "&none_" + self.given.plan.element.word.value,
                    bounds=f"&{self.phase.name}_bounds" if self.cut.dynamic_length else "0",
                    loads=not kind.endswith(".tell"),
                    key=where,
                    shares_register="true" if self.given.follows_word else "",
                    shares_task=where in self.tasks_in_turn,
                )

    def _stage(self) -> str:
        """The address of the stage, or of what stands for it."""
        element = self.given.plan.element.word.value
        return f"&{self.phase.name}_stage" if self.cut.stage else f"&none_{element}"

    def _begins(self, slot: Key) -> str:
        at, chain, number = slot
        if self.calls_back:  # which may go through all of them at once
            return "true"
        if at:
            return ""
        before = [f"{name}.takes_part" for name in self.given.earlier]
        before += [
            f"{self.phase.name}.{self.fields[at, chain, one]}.takes_part" for one in range(number)
        ]
        return " and ".join(f"!{one}" for one in before) or "true"

    def block(self, line: str) -> str:
        """Where the block of a line begins."""
        words = self.given.plan.element.words
        return first_of_block(self.cut.blocks, line, words) if self.cut.blocks else ""

    def by_position(self, routes: RoutesModel) -> RoutesModel:
        """Routes with the positions of colors in place of their names."""
        settings = ((str(self.given.colors[name]), lines) for name, lines in routes.settings)
        return replace(routes, settings=tuple(settings))

    def model(self, index: int, one: PeClass) -> ClassModel:
        """What a class does, and the lines of the layout that say so."""
        ends = self._ends(one)
        placed = {
            key: replace(self._placed_act(key, act, ends.get(key)), goes_on=self._goes_on(act, one))
            for key, act in self.placed(one)
        }
        lines = list(self._lane_lines(one))
        for slot in self.fields:
            if slot in placed:
                lines += self._lines(self.fields[slot], placed[slot], one)
        for at, section in enumerate(one.sections):
            if self.counts_ends(at):
                lines.append(f"{_ends_field(at)} = {section.ends};")
        restores = self.given.restores and self._has_result(one)
        if restores:
            lines.append("restores = true;")
        return ClassModel(
            index,
            self.phase.roles[one.role].about,
            tuple(lines),
            one.role,
            one.places,
            tuple(placed.values()),
            tuple(section.ends for section in one.sections),
            restores,
        )

    def _placed_act(self, key: Key, act: Act, end: tuple[int, int, bool] | None) -> PlacedAct:
        repeats, yields = self._repeats(act), False
        if act.command is Advance.NOTHING:
            yields = act.lane in self.yielding
        section, join, unblocks = end or (0, 0, False)
        task = OWN_TASK
        if end is not None:
            task = self.tasks[section, -1, join] if join >= 0 else CLOSING_TASK
        rounds = act.op.vectors if repeats < act.op.vectors else 1
        return PlacedAct(key, act, repeats, rounds, yields, task, unblocks)

    def _has_result(self, one: PeClass) -> bool:
        """Whether PEs of a class have the result of the phase."""
        role = self.phase.roles[one.role]
        return self.phase.order is None or not sends_to_parent(role)

    def _lane_lines(self, one: PeClass) -> Iterator[str]:
        for name in self.lanes:
            acts = [act for _, act in self.placed(one) if act.lane == name]
            ops = [act.op for act in acts]
            ops += [act.turns.receive for act in acts if act.turns is not None]
            ops += [op for act in acts if act.table is not None for op in act.table.ops]
            into = {op.receives_on for op in ops if op.receives_on}
            out = {op.sends_on for op in ops if op.sends_on}
            if len(into) > 1 or len(out) > 1:
                raise UnprintedError("a lane that receives, or sends, on several colors")
            if into or out:
                given = (
                    self.given.colors[of.pop()] if of else "ops.no_color" for of in (into, out)
                )
                yield f"{name} = ops.lane({', '.join(map(str, given))});"

    def _lines(self, field: str, placed: PlacedAct, one: PeClass) -> Iterator[str]:
        act = placed.act
        if act.table is not None:
            index = self.phase.lanes.index(act.lane)
            yield f"{field} = {table_numbers(self.phase, index)[one.role]};"
        elif act.turns is not None:
            yield from self._turns(field, act, act.turns, one.places)
        else:
            yield f"{field} = {self._op(act, one.places, one.role)};"
            yield from self._facts(field, placed, one)
        if placed.end != OWN_TASK:
            position = self.given.closing if placed.end == CLOSING_TASK else placed.end
            yield f"{field}.end = {position};"
            if placed.unblocks:
                yield f"{field}.unblocks = true;"

    def _facts(self, field: str, placed: PlacedAct, one: PeClass) -> Iterator[str]:
        """What else is said of an operation."""
        act = placed.act
        if act.command is Advance.NOTHING:
            yield from self._operand(field, placed, one)
        if placed.yields:
            yield f"{field}.yields = true;"
        if placed.goes_on:
            yield f"{field}.goes_on = true;"
        if act.is_silent:
            yield f"{field}.silent = true;"

    def _goes_on(self, act: Act, one: PeClass) -> bool:
        """Whether what follows an act need not wait for its end: who uses a color next waits for
        its teardown; and a word that is sent is part of what the next phase receives. At the end of
        a chain beside others the ends of all are waited for."""
        if act.command is Advance.TEARDOWN:
            beside = (chain for of in one.sections if of.ends > 1 for _, chain in of.chains)
            waits = self.given.shares_microthreads and not self.given.closing
            return not waits and all(chain[-1] is not act for chain in beside)
        last = one.sections[-1].chains[0][1][-1]
        return self.given.staged_word and act is last and isinstance(act.op.send, str)

    def _operand(self, field: str, placed: PlacedAct, one: PeClass) -> Iterator[str]:
        """What an operation that moves elements has beside those of one pass."""
        act = placed.act
        if in_blocks(act):
            yield f"{field} = ops.in_blocks({field}, {self._blocks(act, one.places)});"
        if act.sieve is not None and act.is_local:
            yield f"{field} = ops.sifted({field}, {self._sifted(act, act.sieve, one.places)});"
        if placed.rounds > 1:
            yield f"{field}.rounds = {placed.rounds};"
        if placed.repeats > 1:
            yield f"{field}.repeats = {placed.repeats};"
        if act.op.advance in OF_OWN_ROUTER:
            yield f"{field}.advances = true;"

    def _turns(self, field: str, act: Act, turns: Turns, places: Sequence[int]) -> Iterator[str]:
        """Turns, and their rows."""
        slicing, firsts = self.cut.slicing, (act.op.slices.first, turns.receive.slices.first)
        passes_on = all(
            (firsts[0].at(place) + turns.shift - firsts[1].at(place)) % slicing.count == 0
            for place in places
        )
        combines = turns.receive.action is Action.COMBINE
        if combines and self.calls_back:
            raise UnprintedError("call-backs beside other operations")
        size, dynamic = int(np.diff(slicing.bounds).max()), self.cut.dynamic_length
        differs = not dynamic and not slicing.even
        facts = {"takes_part": "true", "turns": turns.count, "combines": _bool(combines)}
        facts |= {
            "passes_on": _bool(passes_on),
            "extent": 1 if dynamic else slicing.size(0) if slicing.even else size,
        }
        facts |= {"differs": _bool(differs)}
        given = ", ".join(f".{name} = {value}" for name, value in facts.items())
        yield f"{field} = ops.Loop{{ {given} }};"
        rows = max(self._rows(slot) for slot, name in self.fields.items() if name == field)
        block = "block, " if self.cut.blocks else ""
        for name, number in zip(("from", "to"), firsts, strict=True):
            first = f"{self.speller.at(number, places)}, {turns.shift}"
            yield f"{field}_{name} = {self.phase.name}_firsts_{rows}({block}{first});"
            if dynamic or differs:
                yield f"{field}_{name}_sizes = {self.phase.name}_sizes_{rows}({first});"

    def _op(self, act: Act, places: Sequence[int], role: int) -> str:
        """An operation, by a function of ops.csl."""
        if act.command is not Advance.NOTHING:
            if act.command is Advance.HAND_OVER:
                lanes = (one for one in self.phase.roles[role].lanes if one.name == act.lane)
                return f"ops.hand_over({_bool(any(one.receives for one in lanes))})"
            return f"ops.{_COMMANDS.get(act.command, 'tell')}()"
        op = act.op
        combines = op.action.value == "combine"
        if in_stage(op.send) or in_stage(op.receive):
            return self._staged(act, places)
        span = self._span(act, places)
        if isinstance(op.receive, str) and isinstance(op.send, str):
            return f"ops.{'pass' if combines else 'relay'}({span})"
        if isinstance(op.send, str):
            return f"ops.give({span})"
        if not isinstance(op.receive, str):
            raise UnprintedError("vectors that are combined in memory")
        return f"ops.{'store' if combines else 'take'}({span})"

    def _staged(self, act: Act, places: Sequence[int]) -> str:
        """An operation that puts words into the stage, or takes them from there."""
        op, span = act.op, self._span(act, places)
        if in_stage(op.send) and act.sieve is not None:
            span = self._all_that_comes(act, act.sieve, places)
            return f"ops.put_aside({span}, {self._aside(act.lane)})"
        place = op.send if in_stage(op.send) else op.receive
        area = place.area * self.cut.slicing.length  # type: ignore[union-attr]
        begin = f"{area} - @as(i16, block)" if self.cut.blocks else str(area)
        at = "ops.at_its_start" if self.cut.stages_one_slice else begin
        behind = "_combined" if op.action is Action.COMBINE and in_stage(op.receive) else ""
        return f"ops.{'put_aside' if in_stage(op.send) else 'settle'}{behind}({span}, {at})"

    def _span(self, act: Act, places: Sequence[int]) -> str:
        """The elements of an operation, by the functions of the layout."""
        slices = act.op.slices
        if act.op.elements is not None:
            words = self.given.plan.element.words
            count = self.speller.at(act.op.elements, places)
            return f"elements({count if words == 1 else f'{count} * {words}'})"
        if self.cut.slicing.count == 1 and not self.cut.blocks:
            return (
                f"{self.phase.name}_backward(0, 1)"
                if slices.backward
                else f"{self.phase.name}_whole"
            )
        first, count = self._first_and_count(act, places)
        turned = slices.backward and slices.blocks == 1 and act.last is None
        function = f"{self.phase.name}_{'backward' if turned else 'slices'}"
        block = "block, " if self.cut.blocks else ""
        return f"{function}({block}{first}, {count})"

    def _blocks(self, act: Act, places: Sequence[int]) -> str:
        """How many slices, in how many blocks, of how many elements, and which way."""
        slices = act.op.slices
        _, count = self._first_and_count(act, places)
        turned = _bool(slices.backward and act.last is None)
        return f"{count}, {slices.blocks}, {self.cut.slicing.bound(slices.period)}, {turned}"

    def _sifted(self, act: Act, sieve: Filter, places: Sequence[int]) -> str:
        """Where in the stage the first elements are, and how far from there the next ones."""
        size, begin = self.cut.slicing.size(0), self._aside(act.lane)
        before = f"{self.speller.at(sieve.before.count, places)} * {sieve.before.blocks * size}"
        return f"{begin} + @as(i16, {before}), {self._period(sieve, places) * size}"

    def _aside(self, lane: str) -> int:
        """The first element of the stage that has what comes on a lane."""
        found = asides_of(self.given.plan.phases[self.given.index])
        return found[lane].start * self.cut.slicing.size(0)

    def _all_that_comes(self, act: Act, sieve: Filter, places: Sequence[int]) -> str:
        """The elements that come before a filter in memory."""
        _, count = self._first_and_count(act, places)
        return f"elements({count} * {self._period(sieve, places) * self.cut.slicing.size(0)})"

    @staticmethod
    def _period(sieve: Filter, places: Sequence[int]) -> int:
        """How many slices come before the same PE's again."""
        (period,) = {sieve.period.number_at(place) for place in places}
        return period

    def _first_and_count(self, act: Act, places: Sequence[int]) -> tuple[str, str]:
        """The slices of an operation."""
        slices = act.op.slices
        first = self.speller.at(slices.first, places, act.shift, act.modulus)
        count = self.speller.at(slices.count, places)
        if act.last is not None:
            last = act.last.slices
            lengths = {
                last.first.at(place) + last.count.at(place) - act.first_at(place)
                for place in places
            }
            end = f"{self.speller.at(last.first, places)} + {self.speller.at(last.count, places)}"
            count = str(lengths.pop()) if len(lengths) == 1 else f"{end} - {first}"
        return first, count


def in_blocks(act: Act) -> bool:
    """Whether the operand has three dimensions: then it is in no register. All that comes is put
    aside in its order."""
    aside = act.sieve is not None and not act.is_local
    return act.op.slices.blocks > 1 and act.command is Advance.NOTHING and not aside


def _bool(value: bool) -> str:
    return "true" if value else "false"


_COMMANDS = {Advance.RESET: "reset", Advance.TEARDOWN: "tear_down"}
_JOINED = ("all", "first_three", "first_two", "first_one")


def _split_regions(phase: Phase, classes: Sequence[PeClass]) -> Iterator[tuple[Region, int]]:
    """The regions of classes: parts of those of their roles."""
    for region, role in phase.regions:
        for index, one in enumerate(classes):
            if one.role != role:
                continue
            along, across = region.sides(phase.axis)
            for run in _runs([place for place in along if place in set(one.places)]):
                yield Region(run, across) if phase.axis == "x" else Region(across, run), index


def _runs(places: Iterable[int]) -> Iterator[Strided]:
    """Places as strided runs, the longest that begin with the first one each time."""
    left = list(places)
    while left:
        step = left[1] - left[0] if len(left) > 1 else 1
        count = 1
        while count < len(left) and left[count] == left[0] + count * step:
            count += 1
        yield Strided(left[0], left[count - 1], step if count > 1 else 1)
        left = left[count:]
