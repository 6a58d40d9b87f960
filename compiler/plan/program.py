"""The plan of a program: a Plan for each of its collectives, and what they share.

Made by `collc.lowering.sharing`, or by `of_one_call`; judged by `collc.checks`, read by
`collc.cost` and `collc.emit`.
A *use* of a color is one phase of one collective. Where several uses share a color, its routers are
torn down behind every use and configured anew before the next (docs/decisions.md, D35).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from collc.base.values import dataclass
from collc.plan import Phase, Plan
from collc.spec import Program
from collc.spec.program import program_of_one
from collc.target import Target


@dataclass(frozen=True)
class SharedColor:
    """A color of a program, with the queues that every PE receives it and sends it through.

    `torn_down` says whether its routers change between uses.
    """

    number: int
    input_queue: int
    output_queue: int
    torn_down: bool


def own_tasks(program: Program, colors: tuple[SharedColor, ...]) -> int:
    """Task ids of a program with these colors for itself: a phase is complete, and, where colors
    are torn down, one is; where phases end with their teardowns, one for each such color."""
    torn_down = sum(color.torn_down for color in colors)
    return max(1, torn_down) if ends_torn_down(program) else 1 + bool(torn_down)


def ends_torn_down(program: Program) -> bool:
    """Whether a PE's part of a phase is complete when the colors that its router has in it are torn
    down: where a root is the call's, every call sets them anew, so none could begin before."""
    return bool(program.rooted)


@dataclass(frozen=True)
class Use:
    """A phase as the program sees it: whose it is, and the position of each symbolic color it uses
    in `ProgramPlan.colors`."""

    collective: int
    phase: int
    positions: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class ProgramPlan:
    """Plans of the collectives, in order of first calls, whose colors are numbered together.

    `uses` are all phases, collective by collective; `calls` are indices of collectives. Of the
    plans, the numbers of queues, tasks and DSRs do not count: `colors` has the queues, `task_ids`
    are those of the whole program, `dsr_ids` what there is for every file. `code_bytes` and
    `data_bytes` are estimates for the largest PE class. `skewed` says that PEs wait before calls.
    Where calls are in flight at the same time, `call_streams` are programs whose calls may be so,
    each with calls of its own one after the other, and with numbers that no other call stream has;
    the plan is all of them put together.

    A program that calls one collective once can be `alone`: its files are specialised to the
    collective's own plan, with the numbers of that; nothing is shared, so `uses`, `colors`,
    `task_ids` and `dsr_ids` are empty.
    """

    target: Target
    program: Program
    plans: tuple[Plan, ...]
    uses: tuple[Use, ...]
    colors: tuple[SharedColor, ...]
    task_ids: tuple[int, ...]
    dsr_ids: tuple[int, ...]
    code_bytes: int
    data_bytes: int
    skewed: bool = False
    call_streams: tuple[ProgramPlan, ...] = ()
    alone: bool = False

    @property
    def color_numbers(self) -> tuple[int, ...]:
        """The colors that the program uses."""
        if self.alone:
            return tuple(number for _, number in self.plans[0].colors)
        return tuple(color.number for color in self.colors)

    def fits(self, most: int) -> bool:
        """Whether it uses only numbers that the target has, and few enough colors."""
        target = self.target
        return (
            len(self.colors) <= most
            and all(color.number in target.colors for color in self.colors)
            and all(color.input_queue in target.input_queues for color in self.colors)
            and all(color.output_queue in target.output_queues for color in self.colors)
        )

    @property
    def own_tasks(self) -> int:
        """How many of the task ids are the program's own; they come before those of phases."""
        return own_tasks(self.program, self.colors)

    @property
    def ends_torn_down(self) -> bool:
        """Whether phases end with their teardowns."""
        return ends_torn_down(self.program)

    @cached_property
    def calls(self) -> tuple[int, ...]:
        """The collectives of a round, in order; of a choice by length the one for the longest, by
        root the one that starts at the first rank."""
        most = {one.name: one.length.most for one in self.program.selections}
        return tuple(self.index_of(name, most.get(name, 0)) for name in self.program.calls)

    def index_of(self, call: str, length: int) -> int:
        """The collective that a call runs, for vectors of a length."""
        chosen = {one.name: one for one in self.program.selections}
        rooted = {one.name: one.names[0] for one in self.program.rooted}
        name = chosen[call].chosen(length) if call in chosen else rooted.get(call, call)
        return self.index_of_collective(name)

    def index_of_collective(self, name: str) -> int:
        """The collective of this name."""
        return next(i for i, plan in enumerate(self.plans) if plan.collective.name == name)

    def phase(self, use: Use) -> Phase:
        """The phase of a use."""
        return self.plans[use.collective].phases[use.phase]

    def uses_of(self, collective: int) -> Iterator[tuple[int, Use]]:
        """The uses of one collective, in order, each with its index."""
        return ((i, use) for i, use in enumerate(self.uses) if use.collective == collective)

    def label(self, use: Use) -> str:
        """How messages name a use: `largest.columns`."""
        return f"{self.plans[use.collective].collective.name}.{self.phase(use).name}"


def of_one_call(plan: Plan) -> ProgramPlan:
    """The plan of the program that calls one collective once, and is `alone`."""
    program, size = program_of_one(plan.collective), (plan.code_bytes, plan.data_bytes)
    return ProgramPlan(plan.target, program, (plan,), (), (), (), (), *size, alone=True)
