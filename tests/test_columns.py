"""Rows of arrays of equal length: the order that keys give them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collc.base.columns import stable_order

SIZES = st.sampled_from([0, 3, 2**16 - 1, 2**16, 2**40])


@given(st.lists(st.tuples(st.integers(0, 3), SIZES), max_size=40))
def test_rows_are_in_the_order_of_their_keys_and_equal_ones_keep_theirs(
    rows: list[tuple[int, int]],
) -> None:
    first, second = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    expected = sorted(range(len(rows)), key=lambda row: rows[row])
    assert stable_order(first, second).tolist() == expected


@pytest.mark.parametrize("largest", [2**16 - 1, 2**16])
def test_a_key_that_no_longer_fits_16_bits_is_sorted_whole(largest: int) -> None:
    key = np.array([largest, 0, 1, largest], dtype=np.int64)
    assert stable_order(key).tolist() == [1, 2, 0, 3]
