"""Calls that are left because a function has grown too long, as predicted and in traces."""

from __future__ import annotations

import numpy as np
import pytest
from measuring.traces import traced

from collc.cost.call_stream import call_stream_of
from collc.cost.function_text import Text, inlined
from collc.cost.text_size import Stream, of_turns
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
    stream = Stream(plan, call_stream.given, call_stream.switched)
    behind, turns = of_turns([stream], plan.program, called=call_stream.calls.called)
    left = stream.left(behind)
    end, ended = sum(left.end) > 0, sum(left.ended) + sum(left.sent) > 0
    expected = (end | ended | turns.next_round)[:, 0].tolist()
    assert any(expected) == (calls > 2)
    trace = traced(bundle, "simfabric")
    assert [bool(trace.cycles(pe, "code", "CALL")) for pe in range(4)] == expected
