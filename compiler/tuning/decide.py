"""The choice: of everything that comes into question the plan with the fewest predicted cycles.

Each candidate is the collective in full, as it could have been written. What it takes at least
(`collc.tuning.cost_terms`) is cheap to know, and orders the candidates; they are planned, checked
and predicted in that order until none is left that could be faster. So the choice is never
predicted to be slower than a candidate, whichever was ruled out without a prediction. Of equals the
first wins, in an order that depends on the program alone. Plans that need more colors than a limit
allows are predicted with phases that share them over time, as many as the budget allows (D403).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import pairwise, product
from math import prod
from typing import TypeVar

from collc.base.diagnostics import CollcError
from collc.base.progress import Tell, under_way
from collc.base.values import dataclass
from collc.checks.budgets.memory import vector_fits
from collc.language.elaborate import filled, with_steps
from collc.language.show import show_steps
from collc.proof.fixed_order import grouped_by_lines
from collc.spec import Collective, Considered, Decision, Undecided
from collc.target import Target
from collc.tuning.budget import MOST_MIRRORED, MOST_SHARING, Budget
from collc.tuning.candidates import plans, values
from collc.tuning.predicted import (
    TOO_WIDE,
    Candidate,
    Chosen,
    Refusal,
    candidate_of,
    predicted,
    predicted_sharing,
)
from collc.tuning.written import Written, with_open_sizes

T = TypeVar("T")

_ALL_AT_ONCE = 256  # combinations of numbers that are all looked at


@dataclass
class _Search:
    """What has been found so far: the fastest one, and all that was looked at. `colors` are those
    that a plan may have, whatever the limit of the collective; where it `shares` them, phases that
    cannot each have their own may have them one after the other. Candidates for that are gathered
    in `waiting`. `too_wide` says of plans, by their texts with open sizes, why they cannot have
    colors of their own: as a rule sizes of groups do not change how many they have."""

    target: Target
    colors: int | None = None
    shares: bool = True
    change: int = 0  # cycles that going from phase to phase is taken to last where they share
    best: Chosen | None = None
    chosen: Considered | None = None
    considered: dict[str, Considered] = field(default_factory=dict)
    too_wide: dict[str, str] = field(default_factory=dict)
    waiting: dict[str, Candidate] = field(default_factory=dict)
    problems: list[Refusal] = field(default_factory=list)
    read: set[str] = field(default_factory=set)  # texts of all candidates that have a meaning
    tell: Tell | None = None  # to be told how far it is
    budget: Budget = field(default_factory=Budget)

    def expected(self, candidate: Candidate, share: float = 1.0) -> float:
        """Cycles that a candidate may take whose phases share colors, if going from phase to phase
        takes that share of what it is taken to last."""
        return candidate.at_least + share * candidate.changes * self.change

    def tell_how_far(self) -> None:
        """Whoever waits is told how many candidates have been looked at, of those there are."""
        if self.tell is not None:
            self.tell(f"{len(self.considered)} of {len(self.read)} candidates")

    def is_near_the_best(self, candidate: Candidate) -> bool:
        """Whether a candidate that was looked at comes within a tenth of the fastest so far."""
        found = self.considered.get(candidate.text)
        if self.chosen is None or found is None or found.refused:
            return False
        return (found.cycles or found.at_least) * 10 <= (self.chosen.cycles or 0) * 11


def decided(
    collective: Collective, target: Target, colors: int | None = None, *, shares: bool = True
) -> Collective:
    """The collective of `chosen`; one that leaves nothing open as it is."""
    if collective.undecided is None:
        return collective
    return chosen(collective, target, colors, shares=shares).collective


def chosen(
    collective: Collective, target: Target, colors: int | None = None, *, shares: bool = True
) -> Chosen:
    """What is chosen for a collective that leaves something open, within so many colors if that is
    given, else within its own limit. With `shares` phases may share these colors over time; else
    each has its own. Raises CollcError where nothing that comes into question can be."""
    with under_way("choosing") as tell:
        search = _Search(target, colors, shares, tell=tell)
        found = _found(collective, search)
    if found is None:
        raise _nearest(search)
    return found


def decided_within(collective: Collective, target: Target, colors: int | None) -> Collective:
    """The collective of `chosen` for a program whose calls share so many colors, if that is given;
    where nothing keeps that limit, what is the best without it."""
    if colors is None:
        return decided(collective, target)
    limits = collective.limits
    try:
        found = decided(collective, target, min(colors, limits.colors or colors))
    except CollcError:
        return decided(collective, target)
    return replace(found, limits=limits)


def _found(collective: Collective, search: _Search) -> Chosen | None:
    """What is chosen; None where nothing that comes into question can be."""
    undecided = collective.undecided
    assert undecided is not None
    if too_long := list(vector_fits(collective, search.target)):
        raise CollcError(too_long)
    if collective.one_by_one and not collective.lined.is_line:
        raise CollcError([grouped_by_lines(collective)])
    if undecided.gaps:
        _fill(search, collective)
        _predict_waiting(search, MOST_SHARING)
    else:
        written = list(plans(collective, search.target))
        search.budget.at_least_one((one.text for one in written), undecided)
        _write(search, collective, written)
    if search.best is None or search.chosen is None:
        return None
    lost = [one for one in search.considered.values() if one is not search.chosen]
    lost.sort(key=lambda one: (one.refused != "", one.cycles is None, one.cycles or one.at_least))
    decision = Decision(search.chosen, tuple(lost), tuple(dict.fromkeys(search.budget.left_out)))
    one, schedule, plan = search.best
    one = replace(one, decision=decision)
    if plan is not None:  # of a barrier with tokens for vectors
        plan = replace(plan, collective=replace(plan.collective, decision=decision))
    return Chosen(one, replace(schedule, collective=one), plan)


def _nearest(search: _Search) -> CollcError:
    """Why there is no plan: the limit of colors of the plan that needs fewest, else what is wrong
    with the first one; what does not keep the contract, and numbers that an algorithm is not made
    for, only where there are no others."""
    too_wide = [one for one in search.problems if one.problem.code == TOO_WIDE]
    if too_wide:
        return CollcError([min(too_wide, key=lambda one: one.colors).problem])
    made_for = [one for one in search.problems if one.problem.code != "C158"]
    keeping = [one for one in made_for if not one.problem.code.startswith("C2")]
    return CollcError([(keeping or made_for or search.problems)[0].problem])


def _write(search: _Search, collective: Collective, written: Sequence[Written]) -> None:
    """Look at plans as they are written: first at those of which nothing is known, then at those
    that may still be faster, then at what does the same as those near the best."""
    read: dict[str, Candidate] = {}
    _read(search, collective, [one for one in written if one.unbounded], read)
    left = []
    for one in (one for one in written if one.at_least or one.as_many_as):
        other = read.get(one.as_many_as)
        at_least = max(one.at_least, other.at_least if other else 0)
        if search.chosen is not None and at_least >= (search.chosen.cycles or 0):
            terms = other.least.named() if other else ((one.term, at_least),)
            ruled_out = Considered(one.text, at_least, None, None, None, "", terms)
            search.considered[one.text] = ruled_out
        else:
            left.append(one)
    _read(search, collective, left, read)
    _predict_waiting(search, MOST_SHARING)
    near = {text for text, one in read.items() if search.is_near_the_best(one)}
    _read(search, collective, [one for one in written if one.mirrors in near], read)
    _predict_waiting(search, MOST_MIRRORED)


def _read(
    search: _Search,
    collective: Collective,
    written: Sequence[Written],
    read: dict[str, Candidate],
) -> None:
    """Look at plans; `read` is told what each of them, by its text, became. Of those that leave
    numbers open, which come last, it is the fastest that was found."""
    assert collective.undecided is not None
    open_ones: dict[str, Collective] = {}
    clauses = {one.text: one.clauses for one in written}
    texts = list(search.budget.affordable(clauses, collective.undecided))
    made = _elaborated(
        search, lambda text: with_steps(collective, clauses[text]), texts, read, open_ones
    )
    _predict_all(search, made)
    for text, open_one in open_ones.items():
        found = _fill(search, open_one)
        if found is not None:
            read[text] = found


def _elaborated(
    search: _Search,
    elaborate: Callable[[T], Collective],
    given: Iterable[T],
    became: dict[T, Candidate] | None = None,
    open_ones: dict[T, Collective] | None = None,
) -> list[Candidate]:
    """The candidates that have a meaning, those that take the fewest cycles at least first;
    `became` is told what each of the given is, `open_ones` which of them still leave numbers open
    and are no candidates therefore."""
    found: dict[str, Candidate] = {}
    for one in given:
        try:
            collective = elaborate(one)
        except CollcError as error:
            search.problems += [Refusal(problem, 0) for problem in error.diagnostics]
            continue
        if search.colors is not None:
            limits = replace(collective.limits, colors=search.colors, colors_span=None)
            collective = replace(collective, limits=limits)
        if collective.undecided is not None:
            assert open_ones is not None, "numbers have been filled in"
            open_ones[one] = collective
            continue
        candidate = candidate_of(collective, search.target)
        search.read.add(candidate.text)
        search.tell_how_far()
        found.setdefault(candidate.text, candidate)
        if became is not None:
            became[one] = candidate
    return sorted(found.values(), key=lambda candidate: candidate.at_least)


def _predict_all(search: _Search, candidates: Iterable[Candidate]) -> None:
    """Predict what could be faster than the fastest so far; note the rest as ruled out. What needs
    more colors than its limit allows waits if its phases may share them."""
    for candidate in candidates:
        if candidate.text in search.considered:
            continue
        search.tell_how_far()
        best = search.chosen.cycles if search.chosen else None
        if best is not None and candidate.at_least >= best:
            search.considered[candidate.text] = candidate.without_prediction()
            continue
        kind = with_open_sizes(candidate.text)
        if kind not in search.too_wide:
            problems: list[Refusal] = []
            found, considered = predicted(candidate, search.target, problems, best)
            search.problems += problems
            if any(one.problem.code == TOO_WIDE for one in problems):
                search.too_wide[kind] = considered.refused
        if kind in search.too_wide:
            if search.shares and candidate.collective.limits.colors is not None:
                search.waiting[candidate.text] = candidate
                continue
            found, considered = None, candidate.without_prediction(search.too_wide[kind])
        search.considered[candidate.text] = considered
        if considered.cycles is not None and (best is None or considered.cycles < best):
            search.best, search.chosen = found, considered


def _predict_waiting(search: _Search, left: int) -> None:
    """Predict candidates whose phases share colors over time: first the one that takes the fewest
    cycles at least, then the others in the order of what they would take if all changes of phases
    took as long as its own. That is a guess, so what would not be faster even if they took half of
    it is left out, and all but the first of the rest, as many as are given; unless what a plan
    takes at least rules it out."""
    waiting = sorted(search.waiting.values(), key=search.expected)
    search.waiting.clear()
    too_wide: dict[str, str] = {}
    while waiting:
        candidate = waiting.pop(0)
        search.tell_how_far()
        text, best = candidate.text, search.chosen.cycles if search.chosen else None
        if best is not None and candidate.at_least >= best:
            search.considered[text] = candidate.without_prediction()
            continue
        kind = with_open_sizes(text)
        if not left or (best is not None and search.expected(candidate, 0.5) >= best):
            search.budget.left_out.append(kind)
            continue
        if kind in too_wide:
            search.considered[text] = candidate.without_prediction(too_wide[kind])
            continue
        found, considered = predicted_sharing(candidate, search.target, best)
        search.considered[text] = considered
        if considered.refused.startswith(TOO_WIDE):
            too_wide[kind] = considered.refused
        if considered.cycles is None:
            continue
        left -= 1
        if not search.change:
            search.change = (considered.cycles - candidate.at_least) // max(candidate.changes, 1)
            waiting.sort(key=search.expected)
        if best is None or considered.cycles < best:
            search.best, search.chosen = found, considered


def _fill(search: _Search, collective: Collective) -> Candidate | None:
    """Find numbers for the gaps: of those that come into question, then of those between them.
    Gives the fastest that was predicted."""
    undecided = collective.undecided
    assert undecided is not None
    domains = [values(gap, collective, search.target) for gap in undecided.gaps]
    numbers_of: dict[str, tuple[int, ...]] = {}

    def fill(numbers: tuple[int, ...]) -> Collective:
        complete = filled(collective, numbers)
        numbers_of.setdefault(show_steps(complete), numbers)
        return complete

    budget = search.budget
    budget.at_least_one([()], undecided)
    if prod(map(len, domains)) <= _ALL_AT_ONCE:
        looked_at = _elaborated(search, fill, budget.affordable(product(*domains), undecided))
    else:
        looked_at = _one_after_the_other(search, fill, domains, numbers_of, undecided)
    _predict_all(search, looked_at)
    best = _fastest(search, looked_at)
    steps = [max((b - a for a, b in pairwise(domain)), default=0) for domain in domains]
    while best is not None and any(step > 1 for step in steps):
        steps = [(step + 1) // 2 if step > 1 else 0 for step in steps]
        next_to = _near(numbers_of[best.text], steps, domains)
        near = _elaborated(search, fill, budget.affordable(next_to, undecided))
        _predict_all(search, near)
        best = _fastest(search, [best, *near])
    return best


def _fastest(search: _Search, candidates: Iterable[Candidate]) -> Candidate | None:
    """The one that is predicted to take the fewest cycles, or takes the fewest at least if it waits
    to be predicted; the first one of equals."""
    looked_at = search.considered
    found = (
        (looked_at[one.text].cycles if one.text in looked_at else one.at_least, one)
        for one in candidates
    )
    known = [(cycles, one) for cycles, one in found if cycles is not None]
    return min(known, key=lambda one: one[0])[1] if known else None


def _one_after_the_other(
    search: _Search,
    fill: Callable[[tuple[int, ...]], Collective],
    domains: Sequence[tuple[int, ...]],
    numbers_of: Mapping[str, tuple[int, ...]],
    undecided: Undecided,
) -> list[Candidate]:
    """Vary one number at a time, twice; the others stay at what is predicted to be the fastest, or
    takes the fewest cycles at least where nothing is predicted."""
    found: dict[str, Candidate] = {}
    best = tuple(domain[len(domain) // 2] for domain in domains)
    for index in (*range(len(domains)), *range(len(domains))):
        varied = ((*best[:index], number, *best[index + 1 :]) for number in domains[index])
        candidates = _elaborated(search, fill, search.budget.affordable(varied, undecided))
        _predict_all(search, candidates)
        found |= {candidate.text: candidate for candidate in candidates}
        fastest = _fastest(search, found.values()) or next(iter(candidates), None)
        best = numbers_of[fastest.text] if fastest else best
    return list(found.values())


def _near(
    numbers: tuple[int, ...], steps: Sequence[int], domains: Sequence[tuple[int, ...]]
) -> Iterator[tuple[int, ...]]:
    """Each number a step less, and a step more."""
    for index, (step, domain) in enumerate(zip(steps, domains, strict=True)):
        for number in (numbers[index] - step, numbers[index] + step):
            if step and domain[0] <= number <= domain[-1]:
                yield (*numbers[:index], number, *numbers[index + 1 :])
