"""The scripts of all PEs of a program for the machine with a clock, each made once. In reading
order: what the calls of a program run, scripts, scripts that are cut by phases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from collc.base.columns import Bools, Ints
from collc.base.values import dataclass
from collc.emit.actions import Begun, Case, Kernel, Pe, Place, halves
from collc.emit.acts import Takes
from collc.emit.kernel import turn_task
from collc.emit.model import LibraryModel
from collc.emit.parts import Common, Part, Parts, Sets, distinct, parts_of, sets_of
from collc.emit.rates import rates_of
from collc.machine.given import Given as GivenCalls
from collc.machine.reading import (
    Calls,
    Color,
    calls_of_program,
    places_of,
    roles_and_places,
)
from collc.machine.segments import segments_of
from collc.machine.timed import Script, TimedOp
from collc.plan.one_call import called_once
from collc.plan.plan import ProgramPlan
from collc.spec import RootChoice

Lengths = Mapping[str, Sequence[int]]


@dataclass(frozen=True, eq=False)
class _Called:
    """A call of a round: how it begins, in ways of which each PE has one, int64 [PEs]."""

    ways: tuple[Begun, ...]
    way_at: Ints | None = None


class _Calls:
    """What the calls of a program run, by what is given to them."""

    def __init__(self, program: ProgramPlan, commons: Sequence[Common], lengths: Lengths) -> None:
        self.program, self.lengths = program, lengths
        # plans that share code are that whose code it is
        self.plans = {
            plan.collective.name: (library, common.program.index_of_collective(own))
            for library, common in enumerate(commons)
            for plan in common.program.plans
            for own in (common.shared.get(plan.collective.name, plan.collective.name),)
        }
        self.selections = {one.name: one for one in program.program.selections}
        self.rooted = {one.name: one for one in program.program.rooted}
        self.cases: dict[Case, int] = {}
        self._ranks: dict[str, Ints] = {}

    def round(self, number: int) -> tuple[_Called, ...]:
        """The calls of a round."""
        return tuple(self._called(name, number) for name in self.program.program.calls)

    def _called(self, name: str, number: int) -> _Called:
        if name in self.rooted:
            return self._rooted(self.rooted[name], number)
        if name not in self.selections:
            return _Called((Begun(self._case(name, self._own_length(name, number))),))
        of = self.selections[name]
        length = self._given(of.length.name, number, of.length.most)
        chosen = of.chosen(length)
        way = halves(of.names.index(chosen), len(of.names))
        return _Called((Begun(self._case(chosen, length), way, 1),))

    def _own_length(self, name: str, number: int) -> int | None:
        """The length that is given of a collective that the program has no choice for."""
        of = self.program.plans[self.program.index_of_collective(name)].collective.contract
        if of.run_length is None or of.run_length.name not in self.lengths:
            return None
        return self._given(of.run_length.name, number, of.run_length.most)

    def _rooted(self, of: RootChoice, number: int) -> _Called:
        length = None
        if of.length is not None:
            length = self._given(of.length.name, number, of.length.most)
        root, given = self._given(of.root, number, 0), 1 + (of.length is not None)
        ranks = self._ranks_of(of)
        behind, own, before = (self._case(name, length) for name in of.names)
        ways = (
            Begun(behind, (True,), given),
            Begun(own, (False, False), given),
            Begun(before, (False, True), given),
        )
        return _Called(ways, np.where(ranks == root, 1, np.where(ranks > root, 0, 2)))

    def _ranks_of(self, of: RootChoice) -> Ints:
        """The rank of each PE; 0 of one that has no part."""
        if of.name not in self._ranks:
            own = self.program.plans[self.program.index_of_collective(of.names[0])].collective
            grid, path = own.grid, own.path
            y, x = np.divmod(np.arange(grid.width * grid.height), grid.width)
            place = x if of.axis == "x" else y
            if path is not None:
                place = np.argsort(path.y * grid.width + path.x)
            rank_at = np.argsort(np.array(of.places))
            ranks = np.zeros(grid.whole.width * grid.whole.height, dtype=np.int64)
            ranks[places_of(grid)] = rank_at[place]
            self._ranks[of.name] = ranks
        return self._ranks[of.name]

    def _given(self, name: str, number: int, otherwise: int) -> int:
        found = self.lengths.get(name, ())
        return found[number] if found else otherwise

    def _case(self, name: str, length: int | None) -> int:
        return self.cases.setdefault(Case(*self.plans[name], length), len(self.cases))


def scripts_of(
    program: ProgramPlan, libraries: Sequence[LibraryModel], lengths: Lengths | None = None
) -> tuple[Calls, list[Script], Ints]:
    """What the machine runs of a program, the scripts of its PEs, and which of them each has. Of
    lengths and roots those that are given count, by name, for each round; else lengths are the
    longest, and roots the first rank. A program with roots is as it is seen from them."""
    calls = calls_of_program(program, program.calls)
    given = calls.with_filters
    index = {number: at for at, number in enumerate(given.numbers)}
    names = {
        of.collective.name: colors for of, colors in zip(calls.plans, calls.colors, strict=True)
    }
    commons = [
        _common_of(of, library, [names[plan.collective.name] for plan in of.plans], index)
        for of, library in zip(program.call_streams or (program,), libraries, strict=True)
    ]
    task = turn_task(program, libraries)
    kernel, rounds = _kernel_of(program, commons, task, lengths or {})
    return calls, *_Scripts(program, kernel, commons, given, rounds).made()


def _kernel_of(
    program: ProgramPlan, commons: Sequence[Common], task: int, lengths: Lengths
) -> tuple[Kernel, list[tuple[_Called, ...]]]:
    """The program around libraries, and what the calls of each round run."""
    called = _Calls(program, commons, lengths)
    alike: dict[object, tuple[_Called, ...]] = {}
    rounds, said = [], program.program
    for number in range(said.rounds):
        values = tuple(of[number] for of in lengths.values())
        if values not in alike:
            alike[values] = called.round(number)
        rounds.append(alike[values])
    phases = None if (plan := called_once(program)) is None else len(plan.phases)
    return Kernel(said.turns, said.rounds, tuple(called.cases), phases, task), rounds


def _common_of(
    program: ProgramPlan,
    library: LibraryModel,
    names: Sequence[Mapping[str, Color]],
    index: Mapping[int, int],
) -> Common:
    """What all PEs have in common of a library of a program, or of a call stream; `names` are the
    colors of each plan, `index` says where the machine has them."""
    engine = program.target.cycles.engine
    colors = tuple(
        {name: index[color.number] for name, color in of.items() if color.number in index}
        for of in names
    )
    rates, takes = tuple(map(rates_of, program.plans)), Takes(engine.jump, engine.no_jump)
    return Common(program, library, colors, rates, takes, index)


class _Scripts:
    """The scripts of all PEs, each made once."""

    def __init__(
        self,
        program: ProgramPlan,
        kernel: Kernel,
        commons: Sequence[Common],
        given: GivenCalls,
        rounds: Sequence[tuple[_Called, ...]],
    ) -> None:
        self.kernel, self.commons, self.given, self.rounds = kernel, commons, given, rounds
        self.pes = given.width * given.height
        firsts = np.cumsum([0, *(len(plan.phases) for plan in program.plans)]).tolist()
        names = (plan.collective.name for plan in program.plans)
        self.first = dict(zip(names, firsts, strict=False))

    def made(self) -> tuple[list[Script], Ints]:
        """The scripts, and which of them each PE has."""
        having = [(case.library, self._parts(case)) for case in self._own_code()]
        by_case = [self._parts(case) for case in self.kernel.cases]
        called = {id(one): one for of in self.rounds for one in of}
        varying = [one for one in called.values() if one.way_at is not None]
        columns = [one.way_at for one in varying if one.way_at is not None]
        columns += [part.class_at for _, of in having for part in of]
        copied_at = {at: self._copied_at(case) for at, case in enumerate(self.kernel.cases)}
        columns += copied_at.values()
        for case, of in enumerate(by_case):
            runs = self._runs(called.values(), case)
            columns += [np.where(runs, part.part_at, -1) for part in of]
        firsts, script_at = distinct(columns, self.pes)
        scripts = []
        for pe in firsts:
            parts = [[part.parts[part.part_at[pe]] for part in of] for of in by_case]
            others: list[list[Part]] = [[] for _ in self.commons]
            for library, of in having:
                others[library] += [part.parts[part.part_at[pe]] for part in of]
            own = {key: _way_at(one, pe) for key, one in called.items()}
            rounds = [tuple(own[id(one)] for one in of) for of in self.rounds]
            copying = {at for at, copied in copied_at.items() if copied[pe]}
            made = Pe(self.kernel, self.commons, parts, others, rounds, copying)
            scripts.append(made.script())
        return scripts, script_at

    def _copied_at(self, case: Case) -> Ints:
        """By PE 1 if a case does nothing there but bring the vector into its buffer, else 0."""
        common, found = self.commons[case.library], np.zeros(self.pes, dtype=np.int64)
        if not common.model(case.of).phases and common.model(case.of).first_pass:
            found[places_of(common.program.plans[case.of].collective.grid)] = 1
        return found

    def _own_code(self) -> Iterator[Case]:
        """The plans that have code of their own."""
        for library, common in enumerate(self.commons):
            names = {one.name for one in common.library.collectives}
            for of, plan in enumerate(common.program.plans):
                if plan.collective.name in names:
                    yield Case(library, of)

    def _runs(self, called: Iterable[_Called], case: int) -> Bools:
        """The PEs that run a case."""
        found = np.zeros(self.pes, dtype=np.bool_)
        for one in called:
            for at, way in enumerate(one.ways):
                if way.case == case:
                    found |= True if one.way_at is None else one.way_at == at
        return found

    def _parts(self, case: Case) -> list[Parts]:
        """The parts of PEs in the phases of a case."""
        common = self.commons[case.library]
        plan, colors = common.program.plans[case.of], common.colors[case.of]
        first, found = self.first[plan.collective.name], []
        for at, model in enumerate(common.model(case.of).phases, first):
            given = self.given.phases[at]
            sets = sets_of(self.given, given, model, colors)
            placed = given.role_at, given.place_at
            phase = plan.phases[at - first]
            found.append(parts_of(plan, phase, model, placed, sets, at, case.length))
        return found


def _way_at(one: _Called, pe: int) -> Begun:
    return one.ways[0 if one.way_at is None else one.way_at[pe]]


class ScriptsByPhase:
    """The scripts of the PEs of a collective that is called once, and has no color torn down, cut
    into segments of some phases: `at` has by PE of its grid a number for what it does, `roles` the
    roles in each phase, NOBODY for none, int64 [PEs].

    PEs whose code is the same, and which differ only in how many words they move, have a *pattern*
    in common: it is made and cut once, with places for the numbers of words."""

    def __init__(
        self, program: ProgramPlan, library: LibraryModel, groups: Sequence[range], lengths: Lengths
    ) -> None:
        (plan,), (model,) = program.plans, library.collectives
        (names,) = calls_of_program(program, program.calls).colors
        index = {number: at for at, number in enumerate({one.number: 0 for one in names.values()})}
        self.common = _common_of(program, library, (names,), index)
        self.kernel, (self.round,) = _kernel_of(program, (self.common,), -1, lengths)
        (case,) = self.kernel.cases
        self.groups = groups
        radix = 1
        pes = plan.collective.grid.width * plan.collective.grid.height
        self.at = np.zeros(pes, dtype=np.int64)
        self.parts: list[Sequence[Part]] = []
        self.roles: list[Ints] = []
        none: tuple[list[Sets], Ints] = [()], np.zeros(pes, dtype=np.int64)
        for number, (phase, of) in enumerate(zip(plan.phases, model.phases, strict=True)):
            placed = roles_and_places(plan, phase)
            self.roles.append(placed[0])
            found = parts_of(plan, phase, of, placed, none, number, case.length)
            self.at += radix * found.part_at
            radix *= len(found.parts)
            self.parts.append(found.parts)
        self.colors = [
            {
                self.common.colors[0][use.color]
                for at in group
                for role in plan.phases[at].roles
                for use in role.colors
            }
            for group in groups
        ]
        self.shapes = [list(map(_shape, range(len(of)), of)) for of in self.parts]
        self.places: dict[Place, int] = {}  # by place the number that stands for its words
        self.place_of: dict[int, Place] = {}
        self.patterns: dict[object, list[Script]] = {}
        self.known: dict[object, Script] = {}

    def segments(self, number: int) -> list[Script]:
        """The segments of PEs with a number. Raises InseparableError."""
        which = []
        for found in self.parts:
            number, at = divmod(number, len(found))
            which.append(at)
        own = [of[at] for of, at in zip(self.parts, which, strict=True)]
        shapes = tuple(of[at] for of, at in zip(self.shapes, which, strict=True))
        key = shapes, _equal_numbers(own)
        if key not in self.patterns:
            self.patterns[key] = self._pattern(own)
        segments = []
        for group, pattern in zip(self.groups, self.patterns[key], strict=True):
            of_group = id(pattern), tuple(which[group.start : group.stop])
            if of_group not in self.known:
                self.known[of_group] = self._with_words(pattern, own)
            segments.append(self.known[of_group])
        return segments

    def _pattern(self, parts: Sequence[Part]) -> list[Script]:
        """Segments in which a negative number of words stands for those of a place."""
        begun = tuple(one.ways[0] for one in self.round)
        pe = Pe(self.kernel, (self.common,), [parts], [parts], [begun])
        script = pe.script()
        ops = list(script.ops)
        for at, place in pe.places.items():
            number = self.places.setdefault(place, -1 - len(self.places))
            self.place_of[number] = place
            ops[at] = replace(ops[at], words=(number,))
        cut = segments_of(replace(script, ops=tuple(ops)), self.groups, self.colors)
        return [self.known.setdefault(one, one) for one in cut]

    def _with_words(self, segment: Script, parts: Sequence[Part]) -> Script:
        """A segment with the words of the parts of a PE."""

        def of(op: TimedOp) -> TimedOp:
            place = self.place_of.get(op.words[0])
            if place is None:
                return op
            phase, key, divisor = place
            words = parts[phase].words[key]
            return replace(op, words=tuple(one // divisor for one in words))

        return replace(segment, ops=tuple(map(of, segment.ops)))


def _shape(number: int, part: Part) -> object:
    """What the code of a part depends on, besides which numbers of words are equal; that is the
    part itself where it goes by step tables or turns, or calls cut its slices."""
    if part.rows or part.spans or any(one.act.turns is not None for one in part.acts.values()):
        return number
    local = tuple(part.words[key] for key, one in part.acts.items() if one.act.is_local)
    acts = tuple((key, id(one)) for key, one in part.acts.items())
    return acts, local, part.ends, part.restores


def _equal_numbers(parts: Sequence[Part]) -> tuple[int, ...]:
    """Which descriptors of a PE point at the same elements, of the same number of words."""
    known: dict[object, int] = {}
    found = []
    for part in parts:
        for key, placed in part.acts.items():
            if key in part.words:
                of = part.words[key][0], placed.act.op.slices.backward
                found.append(known.setdefault(of, len(known)))
                found.append(known.setdefault((*of, part.firsts.get(key)), len(known)))
    return tuple(found)
