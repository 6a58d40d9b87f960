"""Time stamps in emitted programs: what they say, and what they take."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from click.testing import CliRunner
from libraries import taken as numbers_taken

import fabsim
from collc.backends import Settings
from collc.backends.compare import Place, Row, Trial, tried
from collc.base.diagnostics import CollcError
from collc.base.files import write_files
from collc.cli import commands
from collc.cost.predict import predict_program
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.emit.clock import MEMORY_BYTES, RAMPS, SPIN
from collc.target import TARGETS
from collc.target.fabric import fabric_of

EXAMPLES = Path(__file__).parents[2] / "examples"
Stamps = npt.NDArray[np.int64]
LOOP = 11  # cycles of a turn of the loop in which a PE waits for its start, beside its stamp

ALONE = """
target wse2
grid one = 1 x 1
collective total = allreduce(x: f32[4], add) on one { run auto }
program { total }
"""


def turn(target: str) -> int:
    """Cycles from the last stamp at most, and those of taking it: PEs begin that far apart."""
    return LOOP + dict(fabsim.timing_numbers("simfabric", target))["stamp_cycles"]


def compiled(example: str, parameters: dict[str, int], target: str) -> Bundle:
    text = (EXAMPLES / f"{example}.coll").read_text()
    return compile_text(text, example, parameters, target, timed=True)


def ran(bundle: Bundle, target: str, *words: str) -> Row:
    """What run.py says on fabsim."""
    place = Place("fabsim", fabric_of(bundle.size, TARGETS[target]), words)
    (row,) = tried(Trial(bundle.files, target, bundle.prediction.cycles), [place], Settings())
    assert row.result == "right", row.why
    return row


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(
    ("example", "parameters"),
    [
        ("allreduce_2d", {"W": 5, "H": 4, "B": 16}),
        ("tree_barrier", {}),
    ],
)
def test_the_cycles_are_those_of_a_run_without_a_host(example, parameters, target) -> None:
    bundle = compiled(example, parameters, target)
    row = ran(bundle, target, "--hop", "1")
    untimed = compile_text(
        (EXAMPLES / f"{example}.coll").read_text(), example, parameters, target
    ).run()
    assert row.cycles is not None
    assert row.starts_within is not None
    assert row.starts_within <= turn(target)
    assert row.cycles - row.starts_within <= untimed.cycles + turn(target)
    assert untimed.cycles <= row.cycles


def stamped(bundle: Bundle, target: str, folder: Path) -> tuple[Stamps, Stamps]:
    """By PE of a row with hops of one cycle: when it begins and when it ends, from the first start
    of all on."""
    write_files(folder, bundle.files)
    simulator = fabsim.Simulator(fabsim.compile(folder / "layout.csl", arch=target))
    width, _ = bundle.size
    at = np.arange(width)
    signal = at + RAMPS * (at > 0)
    waits = (signal.max() - signal + SPIN).astype(np.uint16)
    simulator.memcpy_h2d("start_wait", waits, 0, 0, width, 1, 1)
    simulator.launch("run")
    words = simulator.memcpy_d2h("time_stamps", np.uint16, 0, 0, width, 1, 9)
    stamps = words.reshape(width, 3, 3).astype(np.int64) @ np.array([1, 1 << 16, 1 << 32])
    begins, ends = (stamps[:, i] - stamps[:, 0] + signal for i in (1, 2))
    return begins - begins.min(), ends - begins.min()


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_steps_take_what_they_are_predicted_to_with_these_starts(
    target: str, tmp_path: Path
) -> None:
    """Where a vector comes late it may come while code runs, and goes before it: of steps, starts
    that are apart cost more than they are apart, so they are predicted with them."""
    text, parameters = (EXAMPLES / "ring_allreduce.coll").read_text(), {"P": 5, "B": 20}
    bundle = compiled("ring_allreduce", parameters, target)
    begins, ends = stamped(bundle, target, tmp_path)
    row = ran(bundle, target, "--hop", "1")
    assert (row.cycles, row.starts_within) == (ends.max(), begins.max())
    assert begins.max() <= turn(target)
    together, apart = (
        predict_program(bundle.program, starts=starts).cycles for starts in (None, begins)
    )
    untimed = compile_text(text, "ring_allreduce", parameters, target).run().cycles
    assert untimed + apart - together <= ends.max() <= untimed + apart - together + turn(target)


def test_the_vendors_clock_on_a_wse3_has_hops_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the hop that run.py assumes for the target, PEs begin together there, too."""
    monkeypatch.setenv("FABSIM_TIMING", "simfabric")
    right = ran(compiled("chain", {"P": 40, "B": 1}, "wse3"), "wse3")
    wrong = ran(compiled("chain", {"P": 40, "B": 1}, "wse3"), "wse3", "--hop", "1")
    assert right.cycles is not None
    assert wrong.cycles is not None
    assert wrong.cycles > right.cycles + 15


def test_one_pe_needs_no_signal() -> None:
    bundle = compile_text(ALONE, "alone.coll", {}, timed=True)
    assert "clock_layout.csl" not in bundle.files
    assert ran(bundle, "wse2").cycles is not None


@pytest.mark.parametrize("example", ["two_phase", "program_mixed"])
def test_what_they_take_is_counted_and_nobody_elses(example: str) -> None:
    timed = compiled(example, {"P": 8}, "wse2")
    untimed = compile_text((EXAMPLES / f"{example}.coll").read_text(), example, {"P": 8})
    taken = json.loads(timed.files["manifest.json"])["resources"]["time_stamps"]
    assert taken["bytes"] == MEMORY_BYTES
    assert timed.memory_bytes >= untimed.memory_bytes + MEMORY_BYTES
    others = [number for plan in timed.plans for _, number in plan.colors]
    assert taken["color"] not in others
    for plan in timed.plans:
        assert taken["queue"] not in (*plan.input_queues, *plan.output_queues)
    tasks, dsrs = numbers_taken(timed.files)
    assert tasks and taken["task"] not in tasks
    assert dsrs and taken["dsr"] not in dsrs


def test_where_nothing_is_left_for_them_that_is_said_and_the_program_runs_without(
    tmp_path: Path,
) -> None:
    text = (EXAMPLES / "chain.coll").read_text()
    full = text.replace("reduce chain to 0", "reduce chain to 0\n    reserve tasks 24 .. 26")
    with pytest.raises(CollcError, match="time stamps need a task id"):
        compile_text(full, "full.coll", {"P": 4}, timed=True)
    (tmp_path / "full.coll").write_text(full)
    result = CliRunner().invoke(
        commands, ["run", str(tmp_path / "full.coll"), "-D", "P=4", "--on", "fabsim"]
    )
    assert result.exit_code == 0, result.output
    assert "no cycles: " in result.stdout


def test_a_program_without_them_is_as_it_was() -> None:
    files = compile_text((EXAMPLES / "chain.coll").read_text(), "chain", {"P": 4}).files
    assert not [name for name in files if "clock" in name]
    assert "time_stamps" not in "".join(files.values())
