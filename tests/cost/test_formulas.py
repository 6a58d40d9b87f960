"""The formulas as they are written are the closed forms, where they claim to be."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from collc.cost.formulas import FORMULAS
from collc_research.reproduce import closed_forms as forms

NAMES = {"ramp": forms.RAMP, "ceil": math.ceil, "log2": math.log2, "max": max, "sum": sum}
NAMES |= {"range": range, "round": round}

CLOSED: dict[str, Callable[..., float]] = {
    "broadcast": forms.broadcast,
    "chain": forms.chain,
    "star": forms.star,
    "binomial": forms.binomial,
    "two_phase": forms.two_phase,
    "ring_allreduce": forms.ring_allreduce,
    "butterfly": forms.butterfly,
}
OWN = {"two_phase": ("S", range(1, 20)), "butterfly": ("G", (2, 3, 4, 5))}


def value(text: str, numbers: dict[str, int]) -> float:
    return float(eval(text, {"__builtins__": {}} | NAMES | numbers))


@pytest.mark.parametrize("name", FORMULAS)
def test_the_words_say_what_the_closed_form_computes(name: str) -> None:
    formula = FORMULAS[name]
    letter, values = OWN.get(name, ("", (0,)))
    compared = 0
    for pes in (2, 3, 4, 8, 9, 16, 25, 27, 40, 64):
        for length in (1, 5, 64, 1000):
            for own in values:
                numbers = {"P": pes, "B": length} | ({letter: own} if letter else {})
                rounds = {"k": round(math.log(pes, own))} if letter == "G" else {}
                if formula.where and not value(formula.where, numbers | rounds):
                    continue
                extra = (own,) if letter else ()
                assert value(formula.text, numbers) == pytest.approx(
                    CLOSED[name](pes, length, *extra)
                ), numbers
                compared += 1
    assert compared >= 12
