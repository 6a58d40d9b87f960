"""The closed forms agree with following every vector of a tree, where they claim to."""

from __future__ import annotations

from itertools import pairwise

import pytest

from collc_research.reproduce import closed_forms as forms
from tests.trees import Children, model_cycles

LENGTHS = (1, 2, 3, 8, 40, 64, 333, 4096)
RAMP = forms.RAMP


def chain_tree(pes: int) -> Children:
    return (*((rank + 1,) for rank in range(pes - 1)), ())


def star_tree(pes: int) -> Children:
    return (tuple(range(1, pes)), *(() for _ in range(pes - 1)))


def binomial_tree(pes: int) -> Children:
    above = [[c for c in range(1, pes) if c - (c & -c) == rank] for rank in range(pes)]
    return tuple(map(tuple, above))


def two_phase_tree(pes: int, group: int) -> Children:
    heads = sorted({0, *range(pes - group, 0, -group)})
    children: list[list[int]] = [[] for _ in range(pes)]
    for rank in range(1, pes):
        if rank not in heads:
            children[rank - 1].append(rank)
    for head, following in pairwise(heads):
        children[head].append(following)
    return tuple(map(tuple, children))


@pytest.mark.parametrize("length", LENGTHS)
def test_chain_and_star(length: int) -> None:
    for pes in (2, 3, 8, 33, 512):
        assert forms.chain(pes, length) == model_cycles(chain_tree(pes), length, RAMP)
        assert forms.star(pes, length) == model_cycles(star_tree(pes), length, RAMP)


@pytest.mark.parametrize("length", LENGTHS)
def test_the_binomial_tree_of_a_power_of_two(length: int) -> None:
    for pes in (2, 4, 8, 64, 512):
        assert forms.binomial(pes, length) == model_cycles(binomial_tree(pes), length, RAMP)


@pytest.mark.parametrize("length", LENGTHS)
def test_two_phase_with_every_group(length: int) -> None:
    for pes in (9, 16, 23, 64):
        for group in range(2, pes + 1):
            exact = model_cycles(two_phase_tree(pes, group), length, RAMP)
            assert forms.two_phase(pes, length, group) == exact


def test_measured_cycles_lie_above_the_model_by_one_start_up() -> None:
    measured = (10055, 9421, 9117, 8989, 8973, 9061, 9297, 9800, 7218)
    groups = (2, 4, 8, 16, 32, 64, 128, 256, 512)
    above = [m - forms.two_phase(512, 4096, g) for m, g in zip(measured, groups, strict=True)]
    assert above == [79, 77, 77, 77, 77, 77, 77, 78, 56]


def test_printed_forms_differ_by_what_is_said() -> None:
    printed = forms.two_phase(512, 4096, 16, as_printed=True)
    assert printed - forms.two_phase(512, 4096, 16) == 10
    assert forms.broadcast_2d(4, 4, 1, as_printed=True) - forms.broadcast_2d(4, 4, 1) == 1
    assert forms.star_spaced(512, 1, 16, as_printed=True) == 52
    assert forms.star_spaced(512, 1, 16) == 502


def test_numbers_of_the_source() -> None:
    assert [f(512, 1) for f in (forms.star, forms.binomial, forms.chain)] == [517, 557, 3067]
    assert forms.left_right(512, 1, 255) == max(255 * 6 + 2, 256 * 6 + 1)
