"""A help that names a number names the limit: the program with that number compiles, and one
element more, or one color less, is refused."""

from __future__ import annotations

import re

import pytest

from collc.base.diagnostics import CollcError, Diagnostic, edited
from collc.driver.pipeline import compile_text

ROW = "target {target}\ngrid row = {P} x 1\n"
TOO_LONG = [
    "allreduce(x: f32[20000], add) on row {{ reduce chain to 0 then broadcast from 0 }}",
    "allreduce(x: f32[10219], add) on row {{ reduce chain to 0 then broadcast from 0 }}",
    "reduce(x: f16[30000], add) on row {{ reduce two_phase(S = 2) to 3 }}",
    "broadcast(x: (f32, u32)[9000]) on row {{ broadcast from 2 }}",
    "reduce(x: f32[9000], add) into y on row {{ run auto }}",
    "allgather(x: u16[50000]) on row {{ run ring_allgather }}",
    "allreduce(x: f32[20000] by 3, add) on row {{ run ring_allreduce }}",
]
TOO_FEW_COLORS = [
    "allreduce(x: f32[64], add) on row {{ run ring_allreduce within colors <= 1 }}",
    "reduce(x: f32[64], add) on row {{ reduce chain to 2 within colors <= 1 }}",
]


def refusal(text: str) -> Diagnostic | None:
    """What is wrong with a program, the only thing."""
    try:
        compile_text(text, "limit.coll", {})
    except CollcError as error:
        (one,) = error.diagnostics
        return one
    return None


def program(collective: str, target: str) -> str:
    whole = f"{ROW}collective total = {collective}\nprogram {{{{ total }}}}\n"
    return whole.format(target=target, P=6)


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("collective", TOO_LONG)
def test_the_length_that_a_help_names_is_the_longest(collective: str, target: str) -> None:
    text = program(collective, target)
    found = refusal(text)
    assert found is not None
    (edit,) = found.fix
    assert re.search(rf"\bat most {edit.text} elements", found.help)
    assert refusal(edited(text, found.fix)) is None
    more = edited(text, [type(edit)(edit.at, str(int(edit.text) + 1))])
    again = refusal(more)
    assert again is not None
    assert again.code in ("C308", "C309")


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("collective", TOO_FEW_COLORS)
def test_the_colors_that_a_help_names_are_the_fewest(collective: str, target: str) -> None:
    text = program(collective, target)
    found = refusal(text)
    assert found is not None
    (edit,) = found.fix
    assert refusal(edited(text, found.fix)) is None
    fewer = re.sub(r"\d+", lambda number: str(int(number[0]) - 1), edit.text)
    assert fewer.endswith(" 1") or refusal(edited(text, [type(edit)(edit.at, fewer)])) is not None
