"""Collectives of a fixed length beside others of a dynamic one, in one program."""

from __future__ import annotations

import pytest
from libraries import library_of

from collc.driver.pipeline import compile_text

TEXT = """
target {target}
grid row = 5 x 1
collective spread = broadcast(x: f32[n <= 8]) on row {{
    order west_to_east
    broadcast from {root}
}}
collective total = reduce(y: f32[6], add) on row {{ order west_to_east reduce chain to 0 }}
collective best = allreduce(z: i32[6], max) on row {{
    order west_to_east
    reduce star to 0
    then broadcast from 0
}}
collective wait = barrier() on row {{ reduce chain to 0 then broadcast from 0 }}
collective gathered = allgather(w: f32[10]) on row {{ run auto }}
collective ring = allreduce(v: f32[10], add) on row {{ order ring run ring_allreduce }}
program {{ repeat 2 {{ {calls} }} {limits} }}
"""


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(
    ("calls", "limits", "root"),
    [
        ("spread total", "", "0"),
        ("total spread", "within colors <= 2", "0"),
        ("spread total best wait", "", "0"),
        ("wait best spread", "within colors <= 3", "r < 5"),
        ("gathered spread ring total", "", "0"),
    ],
)
def test_each_collective_has_its_own_length(
    target: str, calls: str, limits: str, root: str
) -> None:
    text = TEXT.format(target=target, calls=calls, limits=limits, root=root)
    bundle = compile_text(text, "lengths.coll", {})
    report = bundle.run(lengths={"n": (3, 8)})
    assert report.verified, report.problem


def test_a_fixed_length_is_loaded_before_the_program_begins() -> None:
    text = TEXT.format(target="wse2", calls="spread total", limits="", root="0")
    imports = library_of(compile_text(text, "lengths.coll", {}).files).split("@import_module(")
    varying = {".op = spread_": True, ".op = total_": False}
    for of, varies in varying.items():
        own = [one for one in imports if of in one]
        assert own
        assert {".varies = true" in one for one in own} == {varies}
