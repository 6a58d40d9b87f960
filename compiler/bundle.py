"""What compiling ends in, whatever was compiled: the emitted files, and all values on the way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

from collc.cost import Prediction, predict
from collc.cost.program import predict_program
from collc.diagnostics import Diagnostic
from collc.files import write_files
from collc.plan import Plan
from collc.program import ProgramPlan
from collc.run import Progress, RunReport, run_bundle
from collc.run_lengths import Lengths
from collc.run_program import run_program
from collc.schedule import Schedule
from collc.spec import Decision, Spec
from collc.tuning.warnings import warnings_of

AnyPlan = TypeVar("AnyPlan", Plan, ProgramPlan)


@dataclass(frozen=True)
class _Compiled(ABC, Generic[AnyPlan]):
    """What one collective and several have in common."""

    spec: Spec
    plan: AnyPlan
    prediction: Prediction
    files: Mapping[str, str]

    @property
    @abstractmethod
    def schedules(self) -> tuple[Schedule, ...]:
        """What each collective does."""

    @property
    @abstractmethod
    def plans(self) -> tuple[Plan, ...]:
        """How each collective does it."""

    @abstractmethod
    def predicted_alone(self) -> tuple[Prediction, ...]:
        """What each collective takes by itself."""

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """What was chosen where the program left something to the compiler."""
        found = (schedule.collective.decision for schedule in self.schedules)
        return tuple(decision for decision in found if decision is not None)

    @cached_property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What is right and could be better."""
        alone = zip(self.schedules, self.plans, self.predicted_alone(), strict=True)
        return tuple(warning for one in alone for warning in warnings_of(*one, self.plan.target))

    @property
    def color_count(self) -> int:
        """Colors that the program uses."""
        return len(self.plan.colors)

    @property
    def memory_bytes(self) -> int:
        """Estimated memory of the largest PE class."""
        return self.plan.code_bytes + self.plan.data_bytes

    def write(self, directory: str | Path) -> None:
        """Write the files into `directory`, all or none. Raises OSError."""
        write_files(Path(directory), self.files)


@dataclass(frozen=True)
class Bundle(_Compiled[Plan]):
    """A compiled program of one collective: the emitted files and every value on the way to
    them."""

    schedule: Schedule

    @property
    def schedules(self) -> tuple[Schedule, ...]:
        """What the collective does."""
        return (self.schedule,)

    @property
    def plans(self) -> tuple[Plan, ...]:
        """How it does it."""
        return (self.plan,)

    def predicted_alone(self) -> tuple[Prediction, ...]:
        """What it takes."""
        return (self.prediction,)

    def run(
        self, *, seed: int = 1, repeats: int = 1, progress: Progress | None = None
    ) -> RunReport:
        """Run the emitted text on fabsim with random input and compare with NumPy, `repeats` times
        on one load of the program.

        `progress` is called now and then with the cycle the run has reached. Raises CollcError
        when fabsim is not installed and RunError when the run does not come to its end.
        """
        given = self.files, self.schedule, self.spec.target
        return run_bundle(*given, seed=seed, repeats=repeats, progress=progress)


@dataclass(frozen=True)
class ProgramBundle(_Compiled[ProgramPlan]):
    """A compiled program of several collectives: its files and every value on the way to them."""

    @property
    def schedules(self) -> tuple[Schedule, ...]:
        """What each collective does."""
        return self.plan.schedules

    @property
    def plans(self) -> tuple[Plan, ...]:
        """How each collective does it."""
        return self.plan.plans

    def predicted_alone(self) -> tuple[Prediction, ...]:
        """What each of them takes by itself."""
        return tuple(map(predict, self.plan.schedules, self.plan.plans))

    def predicted(self, lengths: Lengths) -> Prediction:
        """What a run takes with these lengths."""
        return predict_program(self.plan, lengths)

    def run(
        self,
        *,
        seed: int = 1,
        repeats: int = 1,
        lengths: Lengths | None = None,
        progress: Progress | None = None,
    ) -> RunReport:
        """Run the emitted text on fabsim with random input and compare with NumPy, `repeats` times
        on one load of the program; `lengths` as in `run_program`. Raises as `Bundle.run` does."""
        given = self.files, self.plan, self.spec.target
        return run_program(*given, seed=seed, repeats=repeats, lengths=lengths, progress=progress)
