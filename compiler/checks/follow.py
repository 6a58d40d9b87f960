"""Every call followed through the machine without a clock (`collc.machine`), twice.

The machine tells what cannot go on, what arrives where it is not wanted, and what is not as at
first when all is quiet. What the promised elements hold then is compared with what the schedule
makes of them (`collc.machine.due`). Here both are put into words.

A length that is given when the program runs changes nothing but which slices are empty, so a few
lengths stand for all: the longest, and shorter ones of which some slices are empty. Where a root is
given, or an alternative depends on the length, one round follows for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from collc.base.columns import Bools, Ints, Words
from collc.base.diagnostics import Diagnostic
from collc.base.grids import Grid
from collc.base.memoize import memoized
from collc.base.paths import Path
from collc.base.values import dataclass
from collc.checks.one_line import Part, parts
from collc.machine import Fault, Run, cuts, run
from collc.machine.due import atoms, begin, carried, due
from collc.plan import Phase, Plan
from collc.plan.alike import Alike
from collc.plan.dynamic_lengths import plan_of_length
from collc.plan.one_call import by_itself_in
from collc.plan.placement import colors_of
from collc.plan.plan import ProgramPlan
from collc.schedule import Phase as Pattern
from collc.schedule import Schedule
from collc.schedule.lengths import of_length
from collc.schedule.moves import most_slices, moved

_CIRCLE = "waits for itself"  # how the machine ends what it tells of a circle
CALLS = 2  # that follow each other: what the first one leaves, the second begins with
MOST_LENGTHS = 8  # of those that have empty slices
MOST_ASKED = 64  # PEs, up to which is told whose contributions a PE has


class _Codes(NamedTuple):
    """The code of a fault in a reduction, in a multicast, and in what is made of steps."""

    reduction: str
    multicast: str
    steps: str


OF_KIND = {
    "stuck": _Codes("C314", "C317", "C321"),
    "lost": _Codes("C314", "C317", "C320"),
    "leaves the grid": _Codes("C314", "C317", "C320"),
    "words left": _Codes("C314", "C317", "C321"),
    "several receive": _Codes("C315", "C317", "C320"),
    "several send": _Codes("C315", "C317", "C320"),
    "other slice": _Codes("C315", "C317", "C322"),
    "other length": _Codes("C315", "C317", "C322"),
    "staging": _Codes("C315", "C317", "C322"),
    "no fixed order": _Codes("C315", "C317", "C323"),
    "cut filter": _Codes("C314", "C317", "C321"),
    "kept back": _Codes("C314", "C317", "C321"),
    "not returned": _Codes("C329", "C317", "C321"),
    "command refused": _Codes("C316", "C317", "C321"),
    "not torn down": _Codes("C331", "C331", "C331"),
    "set twice": _Codes("C313", "C313", "C313"),
    "shared queue": _Codes("C305", "C305", "C305"),
}
_OTHER_VALUES = _Codes("C315", "C317", "C322")

_HELP = {
    "C305": "the colors need queues of their own; please report this",
    "C313": "phases whose routers differ need different colors; please report this",
    "C314": "a router has to be in the position that takes the next vector; please report this",
    "C315": "the routes do not follow the schedule; please report this",
    "C316": "routers between sender and receiver have to be in their last position; "
    "please report this",
    "C317": "the routes do not cover the grid; please report this",
    "C320": "each color has to lead from one sender to one receiver; please report this",
    "C321": "what is sent in a step has to be received in the same step, in one order",
    "C322": "lanes do not follow the schedule; please report this",
    "C323": "what is changed has to be staged, or to wait; please report this",
    "C329": "the last vector on a color brings its routers back; please report this",
    "C331": "the compiler decides how colors are handed over, not the program; please report this",
}


def follow(plan: Plan | ProgramPlan, schedules: Sequence[Schedule]) -> Iterator[Diagnostic]:
    """C314 to C317, C320 to C323, C329, C331: what does not go on, or ends in another way than the
    schedules of the collectives say. At most one of each code for a phase. It is for plans whose
    form other checks have passed."""
    if isinstance(plan, Plan):
        yield from _by_itself(plan, schedules[0])
        return
    of_name = {schedule.collective.name: schedule for schedule in schedules}
    for one in plan.call_streams or (plan,):
        own = [of_name[each.collective.name] for each in one.plans]
        by_itself = by_itself_in(one)
        if by_itself is not None:
            yield from followed(by_itself, own[0])
        else:
            yield from _of_calls(one, one.plans, own, called(one))


def followed(plan: Plan, schedule: Schedule) -> tuple[Diagnostic, ...]:
    """What `follow` says of a plan. It is kept: a plan is checked when it is chosen, and again for
    other targets when it is emitted."""
    return _known(*schedule.phases, plan=Alike(plan))


@memoized
def _known(*phases: Pattern, plan: Alike) -> tuple[Diagnostic, ...]:
    return tuple(_by_itself(plan.plan, Schedule(plan.plan.collective, phases)))


def _by_itself(plan: Plan, schedule: Schedule) -> Iterator[Diagnostic]:
    """What is wrong with calls of a plan, which on a large grid is followed in parts."""
    for part in parts(plan, schedule):
        found = list(_of_part(part))
        yield from (found and part.named and list(_of_part(part.named))) or found


def _of_part(part: Part) -> Iterator[Diagnostic]:
    return _of_calls(part.plan, (part.plan,), (part.schedule,), (0,) * CALLS, part.asked)


def called(plan: ProgramPlan) -> tuple[int, ...]:
    """The collectives that are called one after the other: two rounds, or as many as some call has
    alternatives, in each of which it takes another one."""
    names = plan.program.alternatives
    most = max((len(names.get(call, ())) for call in plan.program.calls), default=0)
    found = []
    for turn in range(max(2, most)):
        for call in plan.program.calls:
            of_call = names.get(call, (call,))
            found.append(plan.index_of_collective(of_call[turn % len(of_call)]))
    return tuple(found)


def _of_calls(
    plan: Plan | ProgramPlan,
    plans: Sequence[Plan],
    schedules: Sequence[Schedule],
    called: tuple[int, ...],
    asked: Bools | None = None,
) -> Iterator[Diagnostic]:
    """What is wrong with calls one behind the other, of vectors of the lengths to be followed."""
    told: set[tuple[str, object]] = set()
    for shorter in _lengths(schedules):
        for_length = tuple(
            plan_of_length(one, shorter(contract.length))
            if shorter and (contract := one.collective.contract).run_length
            else one
            for one in plans
        )
        of_length_too = [
            of_length(one, shorter(contract.length))
            if shorter and (contract := one.collective.contract).run_length
            else one
            for one in schedules
        ]
        whole = replace(plan, plans=for_length) if isinstance(plan, ProgramPlan) else for_length[0]
        calls = _Calls(whole, for_length, tuple(of_length_too), called, asked)
        for problem in calls.problems():
            if (problem.code, problem.at) not in told:
                told.add((problem.code, problem.at))
                yield problem


Shorter = Callable[[int], int]


def _lengths(schedules: Sequence[Schedule]) -> Iterator[Shorter | None]:
    """What makes of the longest vectors those of the lengths to be followed."""
    yield None
    given = [one.collective.contract.run_length for one in schedules]
    if not any(given):
        return
    most = max(map(most_slices, schedules))
    short = np.unique(np.linspace(1, most, min(most, MOST_LENGTHS)).astype(np.int64))
    for length in short.tolist():

        def at_most(longest: int, length: int = length) -> int:
            return min(length, longest)

        yield at_most


@dataclass(frozen=True, eq=False)
class _Calls:
    """Calls one behind the other: `called` are numbers of the `plans`, and of their schedules.
    `asked` as in a `Part`."""

    plan: Plan | ProgramPlan
    plans: tuple[Plan, ...]
    schedules: tuple[Schedule, ...]
    called: tuple[int, ...]
    asked: Bools | None = None

    def problems(self) -> Iterator[Diagnostic]:
        """What is wrong with them; what PEs hold is looked at if nothing else is."""
        first = [begin(self.schedules[k], self.cuts[k], call) for call, k in enumerate(self.called)]
        found = self.run(first)
        if found.faults:
            yield from map(self._worded, found.faults)
            return
        for call, held in enumerate(found.held):
            problem = self._other_values(call, held)
            if problem:
                yield problem
                return

    def run(self, first: Sequence[Words]) -> Run:
        """The calls, with what PEs hold before each."""
        finer = [self.cuts[k] for k in self.called]
        return run(self.plan, first, calls=self.called, atoms=finer)

    @cached_property
    def cuts(self) -> tuple[Ints, ...]:
        """The atoms of each plan."""
        both = zip(self.schedules, self.plans, strict=True)
        return tuple(atoms(schedule, cuts(plan)) for schedule, plan in both)

    def _worded(self, fault: Fault) -> Diagnostic:
        """A fault in words."""
        call = fault.call or 0
        plan = self.plans[self.called[call]]
        phase = plan.phases[fault.phase if fault.phase is not None else self._on(plan, fault)]
        code, label = _code(OF_KIND[fault.kind], phase), self._label(plan, phase)
        where = f"`{label}` gets stuck: " if fault.kind == "stuck" else f"in `{label}` "
        message = f"{where}{fault.text}{self._circling(fault, phase)}{self._when(call)}"
        message += self._handed_over(fault)
        return Diagnostic(code, message, phase.span, help=_HELP[code])

    def _circling(self, fault: Fault, phase: Phase) -> str:
        """Words for what waits for itself without a router that could be named: on which colors the
        operation moves words at which that is told."""
        if not fault.text.endswith(_CIRCLE):
            return ""
        lanes = {
            lane.name: lane
            for role in phase.roles
            if role.name == fault.role
            for lane in role.lanes
        }
        lane = lanes.get(fault.lane or "")
        if lane is None or fault.op is None:
            return ""
        op, (x, y) = lane.ops[fault.op], fault.pe
        moves = [(op.receives_on, "receives on"), (op.sends_on, "sends on")]
        told = [f"{how} `{color}`" for color, how in moves if color]
        return f", beginning with what PE ({x}, {y}) {' and '.join(told)}" if told else ""

    def _handed_over(self, fault: Fault) -> str:
        """Words for a router of a color that is not torn down: the phases that set it in turn."""
        if fault.kind != "not torn down" or isinstance(self.plan, Plan):
            return ""
        names = [f"`{name}`" for name in dict.fromkeys(self._setting(self.plan, fault))]
        if not names:
            return ""
        (x, y), (*first, last) = fault.pe, names
        who = f"{', '.join(first)} and {last} set" if first else f"each call of {last} sets"
        return f"; {who} the router of PE ({x}, {y})"

    def _setting(self, program: ProgramPlan, fault: Fault) -> Iterator[str]:
        """The labels of the phases that set the router of a fault on its color, call by call."""
        for k in self.called:
            for _, use in program.uses_of(k):
                phase = program.phase(use)
                at = _place_on(self.plans[k].collective.grid, phase.path, fault.pe)
                role = None if at is None else phase.role_at(at)
                names = {one.color for one in role.colors} if role else set()
                numbers = {program.colors[n].number for name, n in use.positions if name in names}
                if fault.color in numbers:
                    yield program.label(use)

    @staticmethod
    def _on(plan: Plan, fault: Fault) -> int:
        """The phase that uses the color of a fault that belongs to none."""
        numbers = dict(plan.colors)
        for index, phase in enumerate(plan.phases):
            if fault.color in {numbers.get(name) for name in colors_of([phase])}:
                return index
        return 0

    def _label(self, plan: Plan, phase: Phase) -> str:
        """`reduce`, or in a program `c0.reduce`."""
        own = plan.collective.name
        return f"{own}.{phase.name}" if isinstance(self.plan, ProgramPlan) else phase.name

    def _when(self, call: int) -> str:
        """Words for a call that is not the first of its collective."""
        before = self.called[:call].count(self.called[call])
        return " in its next call" if before else ""

    def _other_values(self, call: int, held: Words) -> Diagnostic | None:
        """The first promised atom of the first PE that holds something else behind a call."""
        k = self.called[call]
        plan, schedule, bounds = self.plans[k], self.schedules[k], self.cuts[k]
        wanted, asked = self._due(call)
        wrong = np.argwhere((held != wanted) & asked)
        if not len(wrong):
            return None
        pe, atom = (int(n) for n in wrong[0])
        grid = schedule.collective.grid
        phase = _last_at(plan, grid, pe)
        first, last = int(bounds[atom]), int(bounds[atom + 1]) - 1
        which = "its element" if first == last == 0 else f"elements {first} to {last}"
        message = f"in `{self._label(plan, phase)}` {_pe(grid, pe)} ends with other values in "
        message += f"{which}{self._when(call)}{self._contributions(call, pe, atom)}"
        code = _code(_OTHER_VALUES, phase)
        return Diagnostic(code, message, phase.span, help=_HELP[code])

    def _due(self, call: int) -> tuple[Words, Bools]:
        """What PEs have to hold behind a call, and which of that counts."""
        k = self.called[call]
        schedule, bounds = self.schedules[k], self.cuts[k]
        if self.asked is None:
            return due(schedule, bounds, call)
        slices = moved(schedule, schedule.phases[-1]).bounds[0]
        counts = np.diff(np.searchsorted(bounds, slices))
        wanted = carried(schedule, bounds, begin(schedule, bounds, call))
        return wanted, np.repeat(self.asked, counts, axis=1)

    def _contributions(self, call: int, pe: int, atom: int) -> str:
        """Of which PEs an atom has contributions, and of which it should."""
        k = self.called[call]
        schedule, bounds = self.schedules[k], self.cuts[k]
        grid = schedule.collective.grid
        if grid.width * grid.height > MOST_ASKED:
            return ""
        first = [begin(self.schedules[k], self.cuts[k], n) for n, k in enumerate(self.called)]

        def there(given: Words) -> int:
            calls = [*first[:call], given, *first[call + 1 :]]
            return int(self.run(calls).held[call][pe, atom])

        def wanted(given: Words) -> int:
            return int(carried(schedule, bounds, given)[pe, atom])

        found, due_of = (_made_of(value, first[call]) for value in (there, wanted))
        if found == due_of:
            return ": the same contributions in another order, or from other elements"
        names = [", ".join(_pe(grid, one) for one in of) or "nobody" for of in (found, due_of)]
        return f": contributions of {names[0]}, due are those of {names[1]}"


def _made_of(value: Callable[[Words], int], given: Words) -> list[int]:
    """The PEs on whose first values a value depends."""
    before, found = value(given), []
    for pe in range(len(given)):
        changed = given.copy()
        changed[pe] += np.uint64(1)
        if value(changed) != before:
            found.append(pe)
    return found


def _code(codes: _Codes, phase: Phase) -> str:
    if not phase.whole:
        return codes.steps
    return codes.multicast if phase.order is None else codes.reduction


def _place_on(grid: Grid, path: Path | None, pe: tuple[int, int]) -> tuple[int, int] | None:
    """Where the regions of a phase have a PE of the whole grid; None where its grid has none, or
    stands for several lines."""
    site, (x, y) = grid.site, pe
    if site is not None:
        x, y = x - site.x, y - site.y
    if not (0 <= x < grid.width and 0 <= y < grid.height):
        return None
    return (path.place_of((x, y)), 0) if path else (x, y)


def _last_at(plan: Plan, grid: Grid, pe: int) -> Phase:
    """The last phase in which a PE does anything."""
    x, y = pe % grid.width, pe // grid.width
    for phase in reversed(plan.phases):
        at = (phase.path.place_of((x, y)), 0) if phase.path else (x, y)
        role = phase.role_at(at)
        if role is not None and role.ops:
            return phase
    return plan.phases[-1]


def _pe(grid: Grid, pe: int) -> str:
    """`PE (3, 0)`, as the whole grid counts it; of lines that are alike, on the first one."""
    dx, dy = (grid.site.x, grid.site.y) if grid.site else (0, 0)
    return f"PE ({pe % grid.width + dx}, {pe // grid.width + dy})"
