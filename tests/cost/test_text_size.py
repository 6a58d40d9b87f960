"""How long functions are before they are optimised, as counted and in fabsim, and calls that are
left because one has grown too long, as predicted and in traces."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from measuring.traces import traced

import fabsim
from collc.base.files import write_files
from collc.cost.call_stream import call_stream_of
from collc.cost.function_text import Text, inlined
from collc.cost.text_size import CallStreamText, text_of_turns
from collc.driver.pipeline import compile_text

EVERY = np.ones((1, 1), dtype=np.bool_)
STEPS = "order west_to_east reduce {} to 0 then broadcast from 0"


def test_nothing_is_put_behind_what_has_no_room() -> None:
    small, large = Text(10, 2), Text(7000, 500)
    found = inlined(Text(600, 4), [(EVERY, one) for one in (small, large, large, small)], (1, 1))
    assert [bool(one) for one in found.left] == [False, False, True, True]
    assert np.all(found.text.instructions == 8112)
    assert np.all(found.text.variables == 506)


def test_what_a_pe_does_not_have_needs_no_room() -> None:
    large = Text(7000, 500)
    found = inlined(Text(600, 4), [(~EVERY, large), (EVERY, large)], (1, 1))
    assert [bool(one) for one in found.left] == [False, False]


@pytest.mark.parametrize("tree", ["chain", "star"])
@pytest.mark.parametrize("calls", [1, 2, 3, 4])
def test_a_pe_calls_what_has_no_room(calls: int, tree: str) -> None:
    names = [f"c{number}" for number in range(calls)]
    steps = STEPS.format(tree)
    declared = [
        f"collective {c} = allreduce({c}v: f32[8], add) on all {{ {steps} }}" for c in names
    ]
    body = f"repeat 2 {{ {' '.join(names)} }} within colors <= 2 reconfigure teardown"
    text = "\n".join(["grid all = 4 x 1", *declared, f"program {{ {body} }}"]) + "\n"
    bundle = compile_text(text, "test.coll", {}, "wse2")
    plan = bundle.program
    call_stream = call_stream_of(plan, plan.program.turns, calls, joined=False)
    stream = CallStreamText(plan, call_stream.given, call_stream.switched)
    behind, turns = text_of_turns([stream], plan.program, called=call_stream.calls.called)
    left = stream.calls_left(behind)
    end, ended = sum(left.end) > 0, sum(left.ended) + sum(left.sent) > 0
    expected = (end | ended | turns.next_round)[:, 0].tolist()
    assert any(expected) == (calls > 2)
    trace = traced(bundle, "simfabric")
    assert [bool(trace.cycles(pe, "code", "CALL")) for pe in range(4)] == expected


TEARDOWN = "reconfigure teardown"
TREES = "reduce {} to 0 then broadcast from 0"
RING = "reduce_scatter({0}v: f32[40], add)", "run ring_reduce_scatter"
# by how much the function behind a collective may be off: a contract, steps, calls, clauses
PROGRAMS = [
    (0.025, "allreduce({0}v: f32[8], add)", TREES.format("chain"), 2, TEARDOWN),
    (0.025, "allreduce({0}v: f32[8], add)", TREES.format("chain"), 4, TEARDOWN),
    (0.015, "allreduce({0}v: f32[8], add)", TREES.format("star"), 4, TEARDOWN),
    (0.035, "barrier()", TREES.format("chain"), 3, TEARDOWN),
    (0.025, "allreduce({0}v: f32[8], min)", TREES.format("chain"), 3, TEARDOWN),
    (0.015, *RING, 2, f"within colors <= 4 {TEARDOWN}"),
    (0.055, *RING, 3, ""),
    (0.02, "allgather({0}v: f32[40])", "run ring_allgather", 2, ""),
    (0.005, "allreduce({0}v: f32[40], add)", "run recursive_doubling", 2, ""),
    (0.18, "gather({0}v: f32[40])", "run linear_gather", 3, TEARDOWN),  # at the last PE
]


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(("off", "contract", "steps", "calls", "clauses"), PROGRAMS)
def test_what_is_behind_a_collective_is_as_long_as_fabsim_has_it(
    off: float, contract: str, steps: str, calls: int, clauses: str, target: str
) -> None:
    names = [f"c{number}" for number in range(calls)]
    declared = [
        f"collective {c} = {contract.format(c)} on all {{ order west_to_east {steps} }}"
        for c in names
    ]
    body = f"program {{ {' '.join(names)} {clauses} }}"
    bundle = compile_text("\n".join(["grid all = 4 x 1", *declared, body]), "test.coll", {}, target)
    plan = bundle.program
    call_stream = call_stream_of(plan, plan.program.turns, calls, joined=False)
    stream = CallStreamText(plan, call_stream.given, call_stream.switched)
    text, _ = text_of_turns([stream], plan.program, called=False)
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), bundle.files)
        program = fabsim.compile(Path(folder) / "layout.csl", arch=target)
    for pe in range(4):
        (size,) = (one for name, one, _ in program.inlined(pe, 0) if name == "called")
        assert text.instructions[pe, 0] == pytest.approx(size, rel=off)
