"""A candidate for the choice: what it takes at least, and planned, checked and predicted."""

from dataclasses import replace
from typing import NamedTuple

from collc.base.diagnostics import Diagnostic
from collc.base.values import dataclass
from collc.checks import BUDGETS, TRAFFIC, check_plan
from collc.cost.choice import at_least, build_plan, relays_take
from collc.cost.predict import NEVER, TOO_LONG, cycles_or_never, unprinted
from collc.cost.stream_bounds import streams_at_least
from collc.language.show import show_steps
from collc.lowering.resources import left_by
from collc.plan import Plan
from collc.plan.one_call import of_one_call
from collc.plan.plan import ProgramPlan
from collc.proof import prove
from collc.schedule import Schedule, build_schedule
from collc.schedule.barrier_tokens import with_tokens
from collc.spec import Collective, Considered
from collc.target import Target
from collc.tuning.cost_terms import Terms, least_terms, terms_of
from collc.tuning.time_multiplexed import (
    colors_at_once,
    fastest_time_multiplexed,
    time_multiplexed,
)
from collc.tuning.trees import with_chosen_trees

TOO_WIDE = "C302"  # more colors than a limit allows
# PEs along an axis: relays of more are lowered in seconds. Those of fewer are predicted also where
# a bound rules them out, since a prediction says more.
_LONG = 256


@dataclass(frozen=True)
class Candidate:
    """A collective in full, as it is written, its schedule, and what it takes at least."""

    text: str
    collective: Collective
    schedule: Schedule
    least: Terms

    @property
    def at_least(self) -> int:
        """Cycles that it takes at least."""
        return self.least.cycles

    @property
    def changes(self) -> int:
        """How often it goes from one phase to the next."""
        return len(self.schedule.phases) - 1

    def without_prediction(self, refused: str = "") -> Considered:
        """What is noted if it is refused, or not looked at any further."""
        terms = self.least.named()
        return Considered(self.text, self.at_least, None, None, None, refused, terms)


class Refusal(NamedTuple):
    """What is wrong with a candidate, and how many colors its plan has; 0 if it has no plan."""

    problem: Diagnostic
    colors: int


class Chosen(NamedTuple):
    """A collective in full, chosen from several; its schedule, which is proved, and its plan, which
    has passed all checks: None where phases share colors over time, as those of a program do."""

    collective: Collective
    schedule: Schedule
    plan: Plan | None


def candidate_of(collective: Collective, target: Target) -> Candidate:
    """A collective in full as something to be predicted."""
    schedule = build_schedule(collective)
    least = least_terms(with_tokens(schedule), target)
    return Candidate(show_steps(collective), collective, schedule, least)


def predicted(
    candidate: Candidate, target: Target, problems: list[Refusal], best: int | None = None
) -> tuple[Chosen | None, Considered]:
    """Plan, check and predict a candidate, with its trees chosen; None if it is refused. What is
    not faster than `best` has to keep its budgets only, since it is not going to be emitted."""
    complete, schedule = _complete(candidate, target)
    values = with_tokens(schedule)
    is_long = max(complete.grid.width, complete.grid.height) > _LONG
    faster_than = best if values.by_steps and is_long else None
    if faster_than is not None:
        slowest = relays_take(values, target, faster_than)
        if slowest:
            return None, _ruled_out(candidate, slowest)
    found = list(prove(schedule))
    cycles = colors = 0
    if not found:
        left = left_by(complete.limits.reserved, target)
        plan = build_plan(values, left, faster_than)
        found = list(check_plan(plan, values, BUDGETS))
        if found and faster_than is not None:
            plan = build_plan(values, left)  # with the relays, it may keep its budgets
            found = list(check_plan(plan, values, BUDGETS))
        colors = len(plan.colors)
    if not found:
        cycles = cycles_or_never(plan)
        if cycles == TOO_LONG:
            # streams take little more than their bound; anything else only where there is no other
            if best is not None and not streams_at_least(plan):
                return None, candidate.without_prediction()
            cycles = at_least(values, plan)
        cycles = max(cycles, candidate.at_least)  # where the clock knows the bound only
        if best is None or cycles < best or cycles == NEVER:
            found = [*unprinted(of_one_call(plan)), *check_plan(plan, values, TRAFFIC)]
        assert found or cycles < NEVER, "a plan that gets stuck is refused by a check"
    if found:
        problems += [Refusal(problem, colors) for problem in found]
        refused = f"{found[0].code}: {found[0].message}"
        return None, candidate.without_prediction(refused)
    return Chosen(complete, schedule, plan), _considered(candidate, values, plan, cycles, colors)


def _ruled_out(candidate: Candidate, at_least: int) -> Considered:
    """What is noted if it takes more at least than was known of it: words that PEs pass on."""
    more = at_least - candidate.at_least
    terms = replace(candidate.least, contention=candidate.least.contention + max(more, 0))
    return replace(candidate, least=terms).without_prediction()


def predicted_sharing(
    candidate: Candidate, target: Target, best: int | None = None
) -> tuple[Chosen | None, Considered]:
    """The same; where its limit is too low for each phase to have colors of its own, with phases
    that share them over time: as many as the limit allows, or fewer where that is faster. Fewer are
    only tried for what is faster than `best` with as many."""
    problems: list[Refusal] = []
    alone = predicted(candidate, target, problems)
    if all(one.problem.code != TOO_WIDE for one in problems):
        return alone
    complete, schedule = _complete(candidate, target)
    colors = complete.limits.colors
    assert colors is not None, "only for a limit anything is shared"
    if colors_at_once(schedule, target) > colors:
        refused = f"{TOO_WIDE}: a phase has more colors than {colors}"
        return None, candidate.without_prediction(refused)
    found = time_multiplexed(schedule, target, colors)
    if found is None or best is None or found.prediction.cycles < best:
        found = fastest_time_multiplexed(schedule, target, colors)
    if found is None:
        refused = f"{TOO_WIDE}: no plan whose phases share colors over time passes the checks"
        return None, candidate.without_prediction(refused)
    plan, values = found.plan, with_tokens(schedule)
    taken = len(plan.color_numbers)
    considered = _considered(candidate, values, plan, found.prediction.cycles, taken)
    return Chosen(complete, schedule, None), considered


def _complete(candidate: Candidate, target: Target) -> tuple[Collective, Schedule]:
    """A candidate with its trees chosen, and its schedule."""
    complete = with_chosen_trees(candidate.collective, target)
    same = complete is candidate.collective  # no tree was left to be chosen
    return complete, candidate.schedule if same else build_schedule(complete)


def _considered(
    candidate: Candidate, values: Schedule, plan: Plan | ProgramPlan, cycles: int, colors: int
) -> Considered:
    """What is noted of a candidate that has been predicted."""
    terms = terms_of(values, cycles, plan.target).named()
    memory = plan.code_bytes + plan.data_bytes
    return Considered(candidate.text, candidate.at_least, cycles, colors, memory, "", terms)
