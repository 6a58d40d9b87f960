"""What compiling ends in, whatever was compiled: the emitted files, and all values on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from collc.base.diagnostics import Diagnostic
from collc.base.files import write_files
from collc.base.progress import under_way
from collc.base.values import dataclass
from collc.cost import predict_by_itself, predict_program
from collc.emit.clock import MEMORY_BYTES
from collc.emit.render import with_commands
from collc.language.show import show_spec, show_steps
from collc.machine.prediction import Prediction
from collc.plan import Plan
from collc.plan.dynamic_lengths import Given, checked_lengths
from collc.plan.one_call import by_itself_in
from collc.plan.placement import colors_of
from collc.plan.plan import ProgramPlan
from collc.run import Progress, RunReport
from collc.run.program import Inputs, run_program
from collc.schedule import Schedule
from collc.spec import Decision, Selection, Spec
from collc.target.fabric import Wanted
from collc.tuning.dynamic_length import Range, ranges
from collc.tuning.given_up import given_up
from collc.tuning.warnings import warnings_of

if TYPE_CHECKING:
    import networkx as nx  # type: ignore[import-untyped]

    from collc.view import Page


class LazyFiles(Mapping[str, str]):
    """Files that are emitted when one of them is first asked for: a program that is only proved
    or predicted needs none, and emitting is a third of such a command's time."""

    def __init__(self, emitted: Callable[[], Mapping[str, str]]) -> None:
        self._emitted = cache(emitted)

    def __getitem__(self, name: str) -> str:
        return self._emitted()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._emitted())

    def __len__(self) -> int:
        return len(self._emitted())


@dataclass(frozen=True, repr=False)
class Bundle:
    """A compiled program: the emitted files and every value on the way to them.

    `program` is the plan of all that is called, `plans` and `schedules` are those of the
    collectives, and what they carry out, in order of first calls; of one collective also `schedule`
    and `plan`. In runs PEs wait before each call, each differently long, up to `most_idle` turns of
    an empty loop.
    """

    spec: Spec
    program: ProgramPlan
    schedules: tuple[Schedule, ...]
    prediction: Prediction
    files: Mapping[str, str]
    most_idle: int = 0

    @property
    def plans(self) -> tuple[Plan, ...]:
        """How each collective does it."""
        return self.program.plans

    @property
    def schedule(self) -> Schedule:
        """What the one collective does; ValueError where there are several."""
        (schedule,) = self.schedules
        return schedule

    @property
    def plan(self) -> Plan:
        """How the one collective does it; ValueError where there are several."""
        (plan,) = self.plans
        return plan

    def by_themselves(self) -> Iterator[tuple[Schedule, Plan, Prediction]]:
        """The collectives that could be by themselves as they are here, each with what it takes
        then: those that have colors of their own for each phase within the program's limit. What
        phases take that share no colors says nothing of those that do."""
        most = self.program.program.colors
        for schedule, plan in zip(self.schedules, self.plans, strict=True):
            if by_itself_in(self.program):
                yield schedule, plan, self.prediction
            elif most is None or len(colors_of(plan.phases)) <= most:
                yield schedule, plan, predict_by_itself(plan)

    def choices(self) -> Iterator[tuple[Selection, list[Range]]]:
        """Every choice by length, with what each of its alternatives takes."""
        of_name = {plan.collective.name: plan for plan in self.plans}
        for one in self.program.program.selections:
            planned = [of_name[name] for name in one.names]
            texts = [show_steps(alternative.collective) for alternative in planned]
            yield one, ranges(one, planned, texts)

    def predicted(self, lengths: Mapping[str, Given]) -> Prediction:
        """What a run takes with these lengths; raises as `run` for what it cannot be run with."""
        fitting = checked_lengths(self.program.program, lengths.items())
        if not fitting:
            return self.prediction
        return predict_program(self.program, fitting)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """What was chosen where the program left something to the compiler."""
        return tuple(decision for _, decision in self.named_decisions)

    @property
    def named_decisions(self) -> tuple[tuple[str, Decision], ...]:
        """The same, with the names of the collectives."""
        found = (schedule.collective for schedule in self.schedules)
        return tuple((one.name, one.decision) for one in found if one.decision is not None)

    @cached_property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What is right and could be better."""
        target = self.program.target
        with under_way("looking for faster plans"):
            of_program = tuple(given_up(self.program, self.schedules, self.prediction))
            named = {span for warning in of_program for span, _ in warning.also}
            costs = (
                warning
                for schedule, plan, prediction in self.by_themselves()
                # no other plan serves every root, or is what the program has no room for
                if not plan.collective.root_of_call and plan.collective.span not in named
                for warning in warnings_of(schedule, plan, prediction, target)
            )
            return (*self.spec.notices, *of_program, *costs)

    @property
    def color_count(self) -> int:
        """Colors that the program uses."""
        return len(self.program.color_numbers) + (self.spec.time_stamps is not None)

    @property
    def memory_bytes(self) -> int:
        """Estimated memory of the largest PE class."""
        stamps = MEMORY_BYTES if self.spec.time_stamps else 0
        return self.program.code_bytes + self.program.data_bytes + stamps

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows of PEs."""
        grid = self.plans[0].collective.grid.whole
        return grid.width, grid.height

    def placed(self, wanted: Wanted) -> Bundle:
        """The same with commands files for another fabric; raises CollcError where the program has
        no place there."""
        files = with_commands(self.files, self.spec.target, self.size, wanted)
        return replace(self, files=files)

    def graph(self) -> nx.MultiDiGraph:
        """Who sends what to whom, for tools that take graphs: `collc.driver.graph`."""
        from collc.driver.graph import graph_of  # noqa: PLC0415 - networkx takes long to import

        return graph_of(self.schedules)

    def __repr__(self) -> str:
        """What it is, in a line."""
        names = ", ".join(schedule.collective.name for schedule in self.schedules)
        given = "".join(f", {p.name}={p.value}" for p in self.spec.parameters)
        what = f"{names} on {self.spec.target}{given}: {self.prediction.cycles} cycles predicted"
        return f"<Bundle {what}, {len(self.files)} files>"

    def _repr_html_(self) -> str:
        """The same for notebooks, with where the cycles go."""
        from collc.driver.html import html_of  # noqa: PLC0415 - most bundles are not shown

        return html_of(self)

    def view(self, *, seed: int | None = 1) -> Page:
        """A page that shows the plan, what is predicted, and a run with this seed, none where it is
        None; a notebook shows the page itself. Raises as `run` does where fabsim is missing."""
        from collc.view import (  # noqa: PLC0415 - as above
            Observed,
            Scope,
            page_of,
            watched_run,
        )

        seen = Observed() if seed is None else watched_run(self, seed, Scope())
        return page_of([(self, seen, show_spec(self.spec))])

    def run(
        self,
        *,
        inputs: Inputs | None = None,
        seed: int = 1,
        repeats: int = 1,
        lengths: Mapping[str, Given] | None = None,
        progress: Progress | None = None,
    ) -> RunReport:
        """Run the emitted text on fabsim with random input and compare with NumPy, `repeats` times
        on one load of the program. `inputs` are the caller's vectors by buffer, arrays [height,
        width, length], with a first axis for rounds if there are several; axes of size 1 may be
        left out. `results` of the report are such, too. `lengths` are as in `run_program`.

        `progress` is called now and then with the cycle the run has reached. Raises CollcError
        when fabsim is not installed and RunError when the run does not come to its end.
        """
        return run_program(
            self.files,
            self.program,
            self.schedules,
            self.spec.target,
            seed=seed,
            repeats=repeats,
            lengths=lengths,
            progress=progress,
            inputs=inputs,
            most_idle=self.most_idle,
        )

    def write(self, directory: str | Path) -> None:
        """Write the files into `directory`, all or none. Raises OSError."""
        write_files(Path(directory), self.files)
