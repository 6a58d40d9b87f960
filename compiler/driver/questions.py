"""A program whose steps are left open, for many lengths: what is chosen, and what it takes."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

from collc.base.cache import Kept
from collc.base.values import dataclass
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compiled, of_one
from collc.language import parse_source
from collc.language.elaborate import with_steps
from collc.language.undecided import steps_of
from collc.schedule import build_schedule
from collc.schedule.barrier_tokens import with_tokens
from collc.spec import Collective, Considered, Spec
from collc.target import TARGETS
from collc.tuning.cost_terms import least_terms
from collc.tuning.decide import decided


@dataclass(frozen=True)
class Question:
    """A program whose steps are left open, and the parameter that its length follows from."""

    text: str
    file: str
    definitions: Mapping[str, int]
    target: str | None
    name: str

    def at(self, length: int) -> tuple[Spec, Collective]:
        """The program for one length; raises CollcError."""
        given = {**self.definitions, self.name: length}
        spec = of_one(parse_source(self.text, given, self.target, file=self.file, leave_open=True))
        return spec, spec.collectives[0]

    def decide(self, length: int) -> Considered:
        """The best plan for one length."""
        spec, collective = self.at(length)
        decision = decided(collective, TARGETS[spec.target]).decision
        assert decision is not None, "all steps are left open"
        return decision.chosen

    def least(self, plan: str, length: int) -> int:
        """What a plan takes at least."""
        spec, collective = self.at(length)
        written = with_steps(collective, steps_of(plan))
        schedule = with_tokens(build_schedule(written))
        return least_terms(schedule, TARGETS[spec.target]).cycles

    def bundle(self, plan: str, length: int) -> Bundle:
        """A plan compiled for one length; raises CollcError."""
        spec, collective = self.at(length)
        written = with_steps(collective, steps_of(plan))
        return compiled(replace(spec, collectives=(written,)))


class Remembered:
    """The plans that have been chosen for a question, by length, and the cycles of what has been
    run, by plan and length."""

    def __init__(self, question: Question, folder: Path | None = None) -> None:
        given = sorted(question.definitions.items())
        asked = [question.text, given, question.target, question.name]
        self._kept = Kept("tune", asked, folder)

    def plan(self, length: int) -> Considered | None:
        """The plan chosen for a length, if one has been."""
        fields = self._kept.get([length])
        if fields is None:
            return None
        terms = tuple((name, part) for name, part in fields["terms"])
        return Considered(**(fields | {"terms": terms}))

    def keep(self, length: int, plan: Considered) -> None:
        """Keep a choice."""
        self._kept.keep([length], asdict(plan))

    def cycles(self, plan: str, length: int) -> int | None:
        """What a plan took on the simulator, if it has been run."""
        found = self._kept.get([plan, length])
        return None if found is None else int(found)

    def keep_cycles(self, plan: str, length: int, cycles: int) -> None:
        """Keep that."""
        self._kept.keep([plan, length], cycles)
