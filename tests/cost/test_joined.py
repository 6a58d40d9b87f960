"""Calls in flight at the same time: predicted cycles against those of the simulator."""

from __future__ import annotations

import random

import numpy as np
import pytest
from programs.test_random_parts import random_program

from collc.cost.processor import Piece, Processor
from collc.cost.stretches import coming
from collc.driver.pipeline import compile_text

EVERYWHERE = np.ones((1, 1), dtype=np.bool_)


def cycle(number: int) -> np.ndarray:
    return np.full((1, 1), number, dtype=np.int64)


def piece(due: int, cycles: int, *, system: bool = False) -> Piece:
    return Piece(cycle(due), cycle(cycles), EVERYWHERE, system)


def begun(processor: Processor, *pieces: Piece) -> list[int]:
    return [int(begin[0, 0]) for begin in processor.take(pieces)]


def test_a_task_waits_for_the_one_that_runs() -> None:
    assert begun(Processor([]), piece(15, 10), piece(10, 20)) == [30, 10]


def test_a_task_does_not_wait_for_what_is_due_later() -> None:
    other = (cycle(50), cycle(40), cycle(70))
    assert begun(Processor([other]), piece(45, 10), piece(50, 10)) == [45, 70]


def test_the_system_goes_before_all_that_waits() -> None:
    running = (cycle(0), cycle(0), cycle(30))
    assert begun(Processor([running]), piece(10, 10), piece(20, 5, system=True)) == [35, 30]


def test_trying_takes_nothing() -> None:
    processor = Processor([])
    assert processor.would_take([piece(5, 10)])[0] == processor.would_take([piece(5, 10)])[0]


def test_work_is_put_off_by_what_others_do_meanwhile() -> None:
    processor = Processor([], others_work=[(cycle(100), cycle(200), cycle(20), cycle(50))])
    sends, receives = EVERYWHERE, ~EVERYWHERE
    assert processor.put_off(cycle(0), cycle(150), sends) == 25
    assert processor.put_off(cycle(0), cycle(150), receives) == 10
    assert processor.put_off(cycle(0), cycle(100), sends) == 0


def test_an_operation_that_sends_stops_for_code() -> None:
    handler = (cycle(30), cycle(30), cycle(46))
    begins, stall = Processor([handler]).sends(cycle(26), cycle(12), [])
    assert (int(begins[0, 0]), int(stall.behind[0, 0]), int(stall.cycles[0, 0])) == (42, 4, 16)


def test_code_is_interrupted_by_all_elements_that_come() -> None:
    processor = Processor([], coming=coming((cycle(12), cycle(16)), (cycle(25), cycle(30))))
    assert begun(processor, piece(10, 16), piece(11, 4)) == [10, 35]


@pytest.mark.parametrize("case", [24, 32, 52, 58, 66, 69, 74, 97, 141])
def test_joined_calls_are_predicted_within_a_few_percent(case: int) -> None:
    bundle = compile_text(random_program(random.Random(case), steps=0), "random.coll", {})
    report = bundle.run(seed=case)
    assert report.verified and abs(bundle.prediction.cycles / report.cycles - 1) < 0.06


def test_rings_on_rows_and_columns_share_the_processors() -> None:
    text = """target wse2
grid pes = 3 x 3
collective rows = allreduce(x: f32[6], add) on each row of pes { order ring run ring_allreduce }
collective columns = allreduce(y: f32[6], add) on each column of pes {
    order ring
    run ring_allreduce
}
program { rows and columns }
"""
    bundle = compile_text(text, "rings.coll", {})
    assert abs(bundle.prediction.cycles / bundle.run().cycles - 1) < 0.1
