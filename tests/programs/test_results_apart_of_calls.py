"""`into` with lengths and roots that calls give: the result has so many elements, what is behind
them stays."""

from __future__ import annotations

import pytest

from collc.driver.pipeline import compile_text

CALLS = {
    "a multicast": ("broadcast(x: f32[n <= 24]) into y", "run auto from 0"),
    "a tree": ("reduce(x: f32[n <= 24], min) into y", "run auto to 0"),
    "streams of slices": ("gather(x: f32[n <= 24]) into y", "run auto to 0"),
    "steps": ("allreduce(x: f32[n <= 24], add) into y", "run ring_allreduce"),
    "an array with gaps": ("allreduce(x: f32[n <= 24], add) into y by 2", "run auto"),
    "a choice by length": (
        "reduce(x: f32[n <= 24], add) into y",
        "select by n {\n n <= 4: reduce star to 0\n else: reduce chain to 0\n}",
    ),
    "a root": ("broadcast(x: f32[24]) into y", "run auto from r < 4"),
    "a root and a length": ("reduce(x: f32[n <= 24], add) into y", "run auto to r < 4"),
}


def text_of(name: str, target: str, calls: str = "c c") -> str:
    what, how = CALLS[name]
    lines = (f"target {target}", "grid g = 4 x 1", f"collective c = {what} on g {{ {how} }}")
    return "\n".join((*lines, f"program {{ {calls} }}")) + "\n"


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("name", CALLS)
def test_the_result_of_a_call_is_in_its_own_buffer(name: str, target: str) -> None:
    text = text_of(name, target)
    given = {"n": 6} if "n <=" in text else {}
    given |= {"r": 2} if "r <" in text else {}
    report = compile_text(text, "t.coll", {}, None).run(seed=2, lengths=given)
    assert report.verified, report.problem
