"""The constants of the cost model: what `make constants` measures, and a sample of it made anew."""

from __future__ import annotations

from dataclasses import asdict, fields

import pytest
from measuring.engine import measured_engine
from measuring.fitting import fitted, trimmed
from measuring.one_word import measured_one_word
from measuring.pairs import measured_pairs
from measuring.probes import probe_of
from measuring.programs import measured_programs
from measuring.rows import measured_cuts, tasks_of
from measuring.streams import measured_streams
from measuring.trees import measured_trees

from collc.target import TARGETS
from collc.target.constants import (
    FILE,
    TIMING,
    Code,
    Engine,
    OneWordCode,
    RowCode,
    StreamCode,
    constants_of,
    read,
)


@pytest.mark.parametrize("target", TARGETS)
def test_the_machine_and_the_phases_of_trees_are_as_measured(target: str) -> None:
    constants = constants_of(target)
    engine = measured_engine(target, TIMING)
    assert engine == {name: getattr(constants.engine, name) for name in engine}
    assert set(engine) == {field.name for field in fields(Engine)}
    trees = measured_trees(target, TIMING, engine)
    assert trees == {name: getattr(constants.code, name) for name in trees}


@pytest.mark.parametrize("target", TARGETS)
def test_the_code_between_collectives_is_as_measured(target: str) -> None:
    constants = constants_of(target)
    known = asdict(constants.engine) | asdict(constants.code)
    programs = measured_programs(target, TIMING, known)
    assert programs == {name: getattr(constants.code, name) for name in programs}
    trees = measured_trees(target, TIMING, asdict(constants.engine))
    pairs = measured_pairs(target, TIMING)
    assert pairs == {name: getattr(constants.code, name) for name in pairs}
    assert set(programs) | set(trees) | set(pairs) == {field.name for field in fields(Code)}


@pytest.mark.parametrize("target", TARGETS)
def test_one_word_collectives_take_what_was_measured(target: str) -> None:
    constants = constants_of(target)
    one_word = {"own": asdict(constants.own), "token": asdict(constants.token)}
    assert one_word == measured_one_word(target, TIMING)


@pytest.mark.parametrize("target", TARGETS)
def test_the_code_of_streams_is_as_measured(target: str) -> None:
    constants = constants_of(target)
    fit = measured_streams(target, TIMING, constants)
    assert fit.cycles == asdict(constants.streams)
    assert fit.worst <= 3


@pytest.mark.parametrize("target", TARGETS)
def test_where_slices_begin_is_found_in_as_many_cycles_as_measured(target: str) -> None:
    cuts = measured_cuts(target, TIMING)
    assert cuts == {name: getattr(constants_of(target).rows, name) for name in cuts}


@pytest.mark.parametrize(
    ("target", "pattern"),
    [("wse2", "two_pes"), ("wse3", "prefix_sum")],
)
def test_tasks_that_run_rows_take_what_their_pieces_take(target: str, pattern: str) -> None:
    constants = constants_of(target)
    tasks = tasks_of(probe_of(pattern, 3, 6), target, TIMING, constants)
    assert len(tasks) > 5
    for task in tasks:
        takes = sum(count * getattr(constants.rows, name) for name, count in task.counts)
        assert abs(takes - task.cycles) <= 4, task


@pytest.mark.parametrize("target", TARGETS)
def test_every_constant_is_in_the_file_and_nothing_else_is(target: str) -> None:
    values = read(FILE)[TIMING][target]
    rows, streams, one_word = values.pop("rows"), values.pop("streams"), values.pop("one_word")
    assert set(values) == {field.name for kind in (Engine, Code) for field in fields(kind)}
    assert set(rows) == {field.name for field in fields(RowCode)}
    assert set(streams) == {field.name for field in fields(StreamCode)}
    assert set(one_word) == {"own", "token"}
    assert all(
        set(one) == {field.name for field in fields(OneWordCode)} for one in one_word.values()
    )


def test_pieces_are_what_fits_the_tasks_that_have_them() -> None:
    tasks = [(13, {"x": 1, "y": 2}), (16, {"x": 2, "y": 2}), (40, {"x": 1, "y": 1, "z": 4})]
    fit = fitted(tasks)
    assert fit.cycles == {"x": 3, "y": 5, "z": 8}
    assert fit.worst == 0


def test_a_piece_takes_nothing_rather_than_less() -> None:
    assert fitted([(10, {"x": 1}), (4, {"x": 1, "y": 1})]).cycles["y"] == 0


def test_a_task_of_the_other_lane_does_not_count() -> None:
    tasks = [(10 * n, {"x": n}) for n in range(1, 12)]
    assert trimmed([*tasks, (300, {"x": 3})]).cycles == {"x": 10}
