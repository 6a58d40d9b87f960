"""Predicted cycles: the machine with a clock runs the code that the templates print of a plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise

from collc.base.columns import Ints
from collc.base.diagnostics import CollcError, Diagnostic
from collc.base.memoize import by_identity
from collc.cost.bound import bound_of
from collc.cost.by_lines import Clocked
from collc.cost.clocked import clocked
from collc.cost.critical_path import critical_path
from collc.cost.tree_bound import tree_bound_of
from collc.emit.library import libraries_of
from collc.emit.scripts import Lengths
from collc.lowering.by_itself import by_itself
from collc.machine.prediction import Prediction
from collc.machine.timed import MOST_WORDS, StuckError, TooLongError
from collc.plan import Plan
from collc.plan.geometry import home_of
from collc.plan.one_call import called_once, of_one_call
from collc.plan.plan import ProgramPlan
from collc.schedule.lengths import collective_of_length

NEVER = 1 << 62  # more cycles than any plan takes
TOO_LONG = NEVER - 1  # of a plan that is not followed to its end
# Words that are followed of a plan before it is chosen (D122): about a second.
CANDIDATE = 5_000_000
_ONLY = "only the bound is known"
HELD = 64  # predictions of plans that are held


def predict_program(
    program: ProgramPlan,
    lengths: Lengths | None = None,
    starts: Ints | None = None,
    most: int = MOST_WORDS,
) -> Prediction:
    """The cycles of a program whose calls are given `lengths` and roots by name, for each round, or
    else the most that they may be, and whose PEs begin at `starts`. The breakdown has a part for
    each phase of a single call, or for each collective that is called. Only the bound is known, as
    a note says, where more than the `most` words would have to be followed one by one, and where
    the run gets stuck: since the plan is checked, and ends without a clock, the clock is at fault
    then. Raises CollcError for what cannot be printed."""
    bound = max(_bounds(program, lengths or {}), default=0)
    calls = len(program.program.calls) * program.program.rounds
    kind = partial(Prediction, calls=calls)
    try:
        found = clocked(program, lengths, starts, most)
    except TooLongError as lacks:
        return kind(bound, bound, {"start": bound}, note=f"{_ONLY}: {lacks}")
    except StuckError as stuck:
        note = f"{_ONLY}: where cycles are counted, {stuck}; please report this with the program"
        return kind(bound, bound, {"start": bound}, note=note)
    cycles, breakdown = found.cycles, dict[str, int]()
    for name, part in _parts(program, found):
        breakdown[name] = breakdown.get(name, 0) + part
    plan = called_once(program)
    if plan is None:
        return kind(cycles, bound, breakdown)
    path = partial(critical_path, program)
    return kind(cycles, bound, breakdown, tree_bound_of(plan), find_path=path)


@by_identity(HELD)
def predict(plan: Plan) -> Prediction:
    """The same of a collective that is called once, and has the PEs to itself."""
    return predict_program(of_one_call(plan))


@by_identity(HELD)
def predict_by_itself(plan: Plan) -> Prediction:
    """The same of a collective of a program, if it had the PEs to itself."""
    return predict_program(by_itself(plan))


def cycles_of(plan: Plan) -> int:
    """The cycles alone."""
    return _cycles(of_one_call(plan), None)


@by_identity(HELD)
def cycles_or_never(plan: Plan) -> int:
    """The same of a candidate that no check has let pass: one that gets stuck takes for ever, as
    does one that cannot be printed. It is TOO_LONG where more than CANDIDATE words would have to be
    followed."""
    return program_cycles_or_never(of_one_call(plan))


def program_cycles_or_never(program: ProgramPlan) -> int:
    """The same of a program."""
    try:
        return clocked(program, most=CANDIDATE).cycles
    except (StuckError, CollcError):
        return NEVER
    except TooLongError:
        return TOO_LONG


def unprinted(program: ProgramPlan) -> tuple[Diagnostic, ...]:
    """Why a program cannot be printed, if it cannot."""
    try:
        libraries_of(program, "")
    except CollcError as found:
        return tuple(found.diagnostics)
    return ()


def cycles_for(plan: Plan, length: int) -> int:
    """Those of a call with a vector of a dynamic length, by itself."""
    given = plan.collective.contract.run_length
    assert given is not None, "the length is dynamic"
    return _cycles(by_itself(plan), {given.name: (length,)})


def _cycles(program: ProgramPlan, lengths: Lengths | None) -> int:
    """Those of `predict_program`."""
    try:
        return clocked(program, lengths).cycles
    except (TooLongError, StuckError):
        return max(_bounds(program, lengths or {}), default=0)


def _parts(program: ProgramPlan, found: Clocked) -> Iterator[tuple[str, int]]:
    """By how many cycles each phase of a single call, or each call, moves the end; and the rest."""
    marks, plan = found.marks or (0,), called_once(program)
    if plan is not None:
        names = [phase.name for phase in plan.phases]
    else:
        names = list(program.program.calls) * program.program.rounds
    yield "start", marks[0]
    # calls beside each other may come to their ends in any order
    ends = list(accumulate(marks, max))
    for name, (begins, end) in zip(names, pairwise(ends), strict=False):
        yield name, end - begins
    yield "completion", found.cycles - ends[-1]


def _bounds(program: ProgramPlan, lengths: Mapping[str, Sequence[int]]) -> Iterator[int]:
    """What each call takes at least."""
    choices = {one.name: one for one in program.program.choices}
    for call, of in zip(program.program.calls, program.calls, strict=True):
        choice = choices.get(call)
        if choice is None or choice.length is None:
            plan = program.plans[of]
            yield bound_of(plan.collective, home_of(plan), program.target)
            continue
        given = lengths.get(choice.length.name, ()) or (choice.length.most,)
        for length in dict.fromkeys(given):
            plan = program.plans[program.index_of(call, length)]
            collective = collective_of_length(plan.collective, length)
            yield bound_of(collective, home_of(plan), program.target)
