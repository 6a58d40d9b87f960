"""The page of gaps: a few of its points."""

import pytest

import gap


@pytest.mark.parametrize("collective", gap.PROGRAMS)
def test_a_point_is_above_its_bounds_and_its_terms_add_up(collective):
    point = gap.measure((collective, 5, 8))
    assert point.cycles >= max(point.bound, point.tree_bound)
    assert sum(point.terms.values()) == point.cycles - point.bound
    assert gap._is_good(point)


def test_a_table_has_a_row_for_each_number_of_pes_and_names_what_dominates():
    terms = {"depth": 3, "start-up": 20}
    points = [
        gap.Point("reduce", pes, length, "", 2 * bound, bound, bound, terms, bound, bound)
        for pes in (4, 8)
        for length in (1, 2)
        for bound in (10 * pes,)
    ]
    assert list(gap.table(points, "any"))[2:] == [
        "| 4 | 2.00 s | 2.00 s |",
        "| 8 | 2.00 s | 2.00 s |",
    ]
    assert list(gap.table(points, "model"))[2] == "| 4 | 1.00 | 1.00 |"
