"""Collectives whose length is given when the program runs are proved for every length."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import floor

import pytest

from collc.base.diagnostics import CollcError, Span
from collc.driver.pipeline import compile_text
from collc.proof.lengths import lengths_to_prove
from collc.spec import RunLength


def text_of(slices: int, sent: tuple[str, ...], most: int) -> str:
    sends = "".join(f"each r, q where r == 0 and q > 0 : {one}  r -> q\n" for one in sent)
    return f"""
    target wse2
    grid row = 3 x 1
    algorithm some(n) slices {slices} {{ step {{ {sends} }} }}
    collective c = broadcast(x: f32[m <= {most}]) on row {{ run some }}
    program {{ c }}
    """


def refused(text: str) -> list[str]:
    """The places and words beside the problems; none if it compiles."""
    try:
        compile_text(text, "test.coll", {})
    except CollcError as error:
        assert {d.code for d in error.diagnostics} == {"C208"}
        return [words for d in error.diagnostics for _, words in d.also]
    return []


@pytest.mark.parametrize(("most", "length"), [(2, 2), (3, 2), (4, 4), (5, 5), (300, 300)])
def test_slices_that_are_empty_at_the_longest_length_are_not_forgotten(
    most: int, length: int
) -> None:
    """Of five slices the first and the third are not sent: of three elements they hold none."""
    wrong = refused(text_of(5, ("slice 1", "slices 3 .. 4"), most))
    assert wrong
    assert (f"this is so with m = {length}" in wrong) == (most != length)


@pytest.mark.parametrize("most", [1, 2, 3, 4])
def test_a_slice_that_is_empty_at_every_length_may_be_missed(most: int) -> None:
    assert not refused(text_of(5, ("slices 1 .. 4",), most))


@pytest.mark.parametrize("most", [60, 70, 99])
def test_how_many_lengths_there_are_does_not_matter(most: int) -> None:
    """The first of a hundred slices begins to hold an element at a length of 100."""
    assert not refused(text_of(100, ("slices 1 .. 99",), most))


def test_a_slice_that_is_empty_at_nearly_every_length_is_not_forgotten() -> None:
    """The third of a hundred holds an element from a length of 34 on."""
    missing = ("slices 0 .. 1", "slices 3 .. 99")
    assert not refused(text_of(100, missing, 33))
    assert refused(text_of(100, missing, 34))
    assert refused(text_of(100, missing, 99))


@pytest.mark.parametrize("counts", [(5,), (12,), (3, 4), (5, 7), (6, 10)])
@pytest.mark.parametrize("least", [1, 4])
@pytest.mark.parametrize("longest", [4, 5, 9, 30])
def test_the_lengths_that_are_proved_have_every_segment(
    counts: tuple[int, ...], least: int, longest: int
) -> None:
    def segments(length: int) -> set[tuple[Fraction, Fraction]]:
        cuts = sorted({Fraction(k, count) for count in counts for k in range(count + 1)})
        return {(a, b) for a, b in pairwise(cuts) if floor(a * length) < floor(b * length)}

    span = Span("test.coll", 1, 1, 1, 2)
    proved = [longest, *lengths_to_prove(RunLength("m", longest, span, least, longest), counts)]
    assert all(least <= length <= longest for length in proved)
    every = set().union(*map(segments, range(least, longest + 1)))
    assert set().union(*map(segments, proved)) == every


def test_slices_of_several_phases_are_proved_where_none_is_empty() -> None:
    """Two thirds are sent, and then a half: the second one fills the last third."""
    text = """
    target wse2
    grid row = 3 x 1
    algorithm thirds(n) slices 3 {{
        step {{ each r, q where r == 0 and q > 0 : slices 0 .. 1  r -> q }}
    }}
    algorithm halves(n) slices 2 {{
        step {{ each r, q where r == 0 and q > 0 : slice {}  r -> q }}
    }}
    collective c = broadcast(x: f32[m <= {}]) on row {{ run thirds then run halves }}
    program {{ c }}
    """
    assert not refused(text.format(1, 3))
    assert not refused(text.format(1, 1))
    assert refused(text.format(0, 3))


def test_slices_that_belong_to_ranks_are_proved_where_none_of_theirs_is_empty() -> None:
    """Of three elements the ranks 1, 3 and 4 of five have one each, of two the ranks 2 and 4."""
    text = """
    target wse2
    grid row = 5 x 1
    algorithm thirds(n) slices 3 {{
        step {{
            each r where r == 1 : slice 0  r -> 0
            each r where r == 3 : slice 1  r -> 0
            each r where r == 4 : slice 2  r -> 0
        }}
    }}
    collective c = gather(x: f32[{}3]) on row {{ run thirds }}
    program {{ c }}
    """
    assert not refused(text.format(""))
    assert refused(text.format("m <= "))
