"""What `run auto` chooses is as fast as anything that it may choose from."""

from __future__ import annotations

import brute_force
import pytest

from collc.driver.pipeline import read
from collc.language.clauses import Use, broadcast, bypassing, reduce
from collc.language.elaborate import with_steps
from collc.language.expressions import AUTO
from collc.target import TARGETS
from collc.tuning import decided
from collc.tuning.predicted import candidate_of, predicted
from collc.tuning.written import Clauses, written


@pytest.mark.parametrize("case", [7, 9, 126, 203, 204, 205, 206, 207])
def test_nothing_there_is_to_choose_from_is_faster_than_the_choice_by_a_hundredth(
    case: int,
) -> None:
    """Cases 7, 9 and 126 were missed while only some sizes of groups were looked at."""
    found = brute_force.compared(brute_force.point(case, 32))
    assert found.miss <= brute_force.ALLOWED, found


@pytest.mark.parametrize(
    ("case", "steps"),
    [
        (37, (reduce(bypassing(Use("two_phase", (("S", 158),))), 93),)),
        (102, (reduce(Use("chain_star", (("S", 2),)), 17),)),
        (112, (reduce(Use("chain"), 38), broadcast(AUTO))),
    ],
)
def test_plans_that_once_were_missed_on_long_lines(case: int, steps: Clauses) -> None:
    """A last group that is much smaller, a root within the line that both sides' vectors reach, and
    a root that is the best for a tree that is not the best elsewhere."""
    it = brute_force.point(case, 256)
    (open_one,) = read(it.text, "point.coll", {}, None).collectives
    target = TARGETS[it.target]
    candidate = candidate_of(with_steps(open_one, written(steps).clauses), target)
    cycles = predicted(candidate, target, [])[1].cycles
    decision = decided(open_one, target).decision
    assert decision is not None and decision.chosen.cycles is not None and cycles is not None
    assert decision.chosen.cycles <= cycles
