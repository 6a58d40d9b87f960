"""Other ways to carry out a collective by steps, found by predicting them.

There are two kinds: the same steps in another order of the ranks, or the same algorithm with other
numbers; and every other plan of `collc.tuning.candidates`. What is made of steps is tried only
where lines have at most `MOST_RANKS` ranks, the lowest bounds first, and only as far as the ways of
all transfers that are tried have at most `MOST_HOPS` hops together, which is what predicting them
takes its time for. Trees take no time, and are tried whatever the size.
"""

from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from functools import cached_property

import numpy as np

from collc.base.diagnostics import CollcError
from collc.base.values import dataclass
from collc.language.clauses import order
from collc.language.elaborate import left_open, steps_as_declared, with_steps
from collc.language.printer import show
from collc.language.show import step_texts
from collc.schedule import Schedule, home_pe
from collc.spec import Collective, ContractKind, RunStep, Undecided
from collc.spec.exchange import StepsPhase
from collc.target import Target
from collc.tuning.candidates import commutes, plans
from collc.tuning.predicted import Candidate, candidate_of, predicted
from collc.tuning.written import Written

MOST_RANKS = 64
MOST_HOPS = 16_000
SNAKE = "snake"
_ROOTED = (ContractKind.REDUCE, ContractKind.BROADCAST)


@dataclass(frozen=True)
class OtherPlan:
    """A plan as it would be written, and the cycles that it is predicted to take."""

    text: str
    cycles: int


@dataclass
class Trials:
    """What other plans of a collective are predicted to take, each found out once, whoever asks.

    `hops_left` says how many hops their transfers may still have. Of every plan that was predicted
    there is what was `found`, and below how many cycles it was looked for: what takes more is not
    checked to the end. `elaborated` are plans in full, where they have a meaning.
    """

    schedule: Schedule
    target: Target
    hops_left: int = field(default_factory=lambda: MOST_HOPS)
    found: dict[str, tuple[OtherPlan | None, int]] = field(default_factory=dict)
    elaborated: dict[str, Candidate | None] = field(default_factory=dict)

    @cached_property
    def open_one(self) -> Collective | None:
        """The collective with all steps left to the compiler. None where nothing else can be tried:
        what the compiler has chosen, or is given its length when it runs, or keeps a contract that
        only its steps are known to keep."""
        collective = self.schedule.collective
        contract = collective.contract
        if collective.origin is None or collective.decision or contract.run_length or contract.own:
            return None
        try:
            return left_open(collective, order_too=_free(collective))
        except CollcError:
            return None

    @property
    def undecided(self) -> Undecided | None:
        """What plans have to keep besides their contract; None where nothing else can be tried."""
        if self.open_one is None:
            return None
        undecided = self.open_one.undecided
        assert undecided is not None
        if self.open_one.contract.kind in _ROOTED:
            undecided = replace(undecided, root=home_pe(self.schedule))
        return undecided

    def faster(self, plan: Written, below: int) -> OtherPlan | None:
        """A plan, if it takes fewer cycles than `below`, keeps the contract at the same PE and all
        limits, and does not take too long to predict."""
        text = plan.text
        found, looked_below = self.found.get(text, (None, 0))
        if looked_below < below and (found is None or looked_below <= found.cycles < below):
            found = self._predicted(plan, below)
            self.found[text] = found, below
        return found if found is not None and found.cycles < below else None

    def candidate(self, plan: Written) -> Candidate | None:
        """A plan in full; None if it has no meaning, or brings the result to another PE."""
        if plan.text not in self.elaborated:
            self.elaborated[plan.text] = self._candidate(plan)
        return self.elaborated[plan.text]

    def _candidate(self, plan: Written) -> Candidate | None:
        assert self.open_one is not None, "whoever asks has found something to try"
        try:
            candidate = candidate_of(with_steps(self.open_one, plan.clauses), self.target)
        except CollcError:
            return None
        if self.open_one.contract.kind not in _ROOTED:
            return candidate
        return candidate if home_pe(candidate.schedule) == home_pe(self.schedule) else None

    def _predicted(self, plan: Written, below: int) -> OtherPlan | None:
        candidate = self.candidate(plan)
        if candidate is None or candidate.at_least >= below:
            return None
        hops = hops_of(candidate.schedule)
        if hops > self.hops_left:
            return None
        self.hops_left -= hops
        _, found = predicted(candidate, self.target, [], below)
        if found.cycles is None:
            return None
        text, told = plan.text, candidate.text
        if text.startswith("order ") and not told.startswith("order "):
            told = text  # the usual order, which was another one
        return OtherPlan(told, found.cycles)


def hops_of(schedule: Schedule) -> int:
    """How many hops all transfers of a line have together, in all phases made of steps."""
    found = 0
    for phase in schedule.phases:
        if isinstance(phase, StepsPhase):
            places = np.array(phase.places)
            found += sum(
                int(np.abs(places[moves.source] - places[moves.destination]).sum())
                for moves in phase.steps
            )
    return found


def _short(schedule: Schedule) -> bool:
    """Whether the lines of all phases made of steps are so short that steps are tried."""
    return all(phase.ranks <= MOST_RANKS for phase in schedule.by_steps)


def other_plans(trials: Trials, below: int) -> Iterator[OtherPlan]:
    """The best plan of either kind that takes fewer cycles than `below`, if there is one; the
    second only if it takes fewer than the first."""
    schedule = trials.schedule
    if trials.undecided is None:
        return
    unsaid = replace(schedule.collective, undecided=trials.undecided)
    written = list(plans(unsaid, trials.target))
    trees = [one for one in written if one.unbounded]
    steps = sorted((one for one in written if one.at_least), key=lambda one: one.at_least)
    near: list[Written] = []
    if _short(schedule):
        near = [*_in_other_orders(schedule), *_alike(schedule, steps)]
    for texts in (near, [*trees, *(steps if _short(schedule) else ())]):
        found = _fastest(trials, texts, below)
        if found is not None:
            below = found.cycles
            yield found


def in_order(trials: Trials, name: str, below: int) -> OtherPlan | None:
    """The same steps in another order of all PEs, if they take fewer cycles than `below`; None
    where the order is part of the contract."""
    schedule = trials.schedule
    if trials.undecided is None or not _free(schedule.collective) or not _short(schedule):
        return None
    return trials.faster(_in_order(schedule, name), below)


def _free(collective: Collective) -> bool:
    """Whether what is promised is kept in any order of the ranks."""
    slices = collective.contract.kind.by_slices
    return commutes(collective) and not slices and not collective.one_by_one


def _in_order(schedule: Schedule, name: str) -> Written:
    """The same steps in another order."""
    collective, first = schedule.collective, order(name)
    text = " then ".join(step_texts(collective))
    return Written(f"{show(first)} {text}", (first, *steps_as_declared(collective)))


def _in_other_orders(schedule: Schedule) -> Iterator[Written]:
    """The same steps in the orders that come into question; refused where one is given already."""
    collective = schedule.collective
    words = {step.order: step.axis for step in collective.steps if isinstance(step, RunStep)}
    if len(words) != 1 or not _free(collective):
        return
    (word, axis), path = *words.items(), collective.path
    straight = "west_to_east" if axis == "x" else "north_to_south"
    for other in (SNAKE,) if path is not None else (straight, "ring"):
        if other != word:
            yield _in_order(schedule, other)


def _alike(schedule: Schedule, steps: Iterable[Written]) -> Iterator[Written]:
    """The same algorithm with other numbers."""
    runs = [step for step in schedule.collective.steps if isinstance(step, RunStep)]
    if len(runs) == 1 and "(" in runs[0].algorithm.text:
        name = runs[0].algorithm.text.partition("(")[0]
        yield from (one for one in steps if one.text.startswith(f"run {name}("))


def _fastest(trials: Trials, written: Iterable[Written], below: int) -> OtherPlan | None:
    """Of some plans the one with the fewest cycles, if they are fewer than `below`. What takes the
    fewest cycles at least is predicted first, so that most others need not be."""
    full = [(trials.candidate(one), one) for one in written if one.at_least < below]
    known = [(candidate.at_least, one) for candidate, one in full if candidate is not None]
    best = None
    for _, one in sorted(known, key=lambda known: known[0]):
        found = trials.faster(one, below)
        if found is not None:
            best, below = found, found.cycles
    return best
