"""What `run auto` chooses is as fast as anything that it may choose from."""

from __future__ import annotations

import brute_force
import pytest


@pytest.mark.parametrize("case", [7, 9, 126, 203, 204, 205, 206, 207])
def test_nothing_there_is_to_choose_from_is_faster_than_the_choice_by_a_hundredth(
    case: int,
) -> None:
    """Cases 7, 9 and 126 were missed while only some sizes of groups were looked at."""
    found = brute_force.compared(brute_force.point(case, 32))
    assert found.miss <= brute_force.ALLOWED, found
