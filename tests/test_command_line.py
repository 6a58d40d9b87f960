"""The command line as a newcomer meets it: examples, new files, input from files, interrupts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from interrupts import COMMANDS as COMMANDS_TO_INTERRUPT
from interrupts import DONE, INTERRUPTED, interrupted

from collc.cli import COMMANDS, commands
from collc.commands.run import simulator_told

EXAMPLES = Path(__file__).parents[1] / "examples"
CHAIN = EXAMPLES / "chain.coll"


def collc(*words: str | Path) -> Result:
    return CliRunner().invoke(commands, [str(word) for word in words])


def test_examples_are_printed_and_listed() -> None:
    assert collc("example", "chain").output == CHAIN.read_text()
    listed = collc("example").output
    assert all(file.stem in listed for file in EXAMPLES.glob("*.coll"))
    wrong = collc("example", "chian")
    assert (wrong.exit_code, "did you mean chain?" in wrong.output) == (2, True)


@pytest.mark.parametrize("contract", ["allreduce", "reduce", "broadcast"])
def test_a_new_file_is_formatted_and_fine_and_none_is_overwritten(
    contract: str, tmp_path: Path
) -> None:
    file = tmp_path / "mine.coll"
    assert collc("new", file, "--contract", contract).exit_code == 0
    assert collc("fmt", "--check", file).exit_code == 0
    assert collc("check", file, "-D", "P=4").exit_code == 0
    text = file.read_text()
    assert collc("new", file).exit_code == 2
    assert file.read_text() == text


def test_a_link_that_leads_nowhere_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "link.coll").symlink_to(tmp_path / "elsewhere.coll")
    assert collc("new", tmp_path / "link.coll").exit_code == 2
    assert not (tmp_path / "elsewhere.coll").exists()


def test_input_comes_from_files_of_numpys(tmp_path: Path) -> None:
    file = tmp_path / "x.npy"
    small = ("run", CHAIN, "-D", "P=4", "-D", "B=8")
    np.save(file, np.ones((4, 8), np.float32))
    assert collc(*small, "--input", file).exit_code == 0
    assert collc(*small, "--input", f"x={file}").exit_code == 0
    np.save(file, np.ones((3, 8), np.float32))
    wrong = collc(*small, "--input", file)
    assert (wrong.exit_code, "shape (3, 8)" in wrong.output) == (2, True)
    file.write_bytes(b"\x93NUMPY nonsense")
    assert collc(*small, "--input", file).exit_code == 2
    np.save(file, np.array([{"a": 1}], dtype=object))
    assert "cannot be read as a NumPy array" in collc(*small, "--input", file).output


def test_what_buffers_hold_is_written_for_numpy(tmp_path: Path) -> None:
    given, file = tmp_path / "x.npy", tmp_path / "y.npy"
    np.save(given, np.ones((1, 4, 8), np.float32))
    small = ("run", CHAIN, "-D", "P=4", "-D", "B=8", "--input", given)
    assert collc(*small, "--output", f"x={file}").exit_code == 0
    held = np.load(file)
    assert (held.shape, held[0, 0].tolist()) == ((1, 4, 8), [4.0] * 8)
    assert "has no buffer q; it has x" in collc(*small, "--output", f"q={file}").output
    assert "x is given twice" in collc(*small, "--output", file, "--output", file).output


def test_a_trace_is_written_and_the_environment_is_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = tmp_path / "a trace"
    command = [sys.executable, "-m", "collc", "run", str(CHAIN), "-D", "P=2", "-D", "B=4"]
    done = subprocess.run(
        [*command, "--trace", str(trace), "--report"], capture_output=True, check=False
    )
    assert done.returncode == 0
    assert trace.read_bytes().startswith(b"FABTRACE")
    assert done.stderr
    monkeypatch.setenv("FABSIM_OPTIONS", "--max-cycles 100000")
    with simulator_told(trace, report=True):
        told = f"--trace-form binary --max-cycles 100000 --trace '{trace}' --report"
        assert os.environ["FABSIM_OPTIONS"] == told
    assert os.environ["FABSIM_OPTIONS"] == "--max-cycles 100000"


def test_the_summaries_of_help_are_those_of_commands_that_are_there_and_whole() -> None:
    shown = collc("--help").output
    assert all(f"{name} " in shown and said in shown for name, said in COMMANDS.items())
    assert "..." not in shown.partition("Everyday commands:")[2]
    assert all(commands.get_command(None, name) is not None for name in COMMANDS)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "after"),
    [("check", after) for after in (0, 0.02, 0.05, 0.2, 0.6)]
    + [("sweep", 0.1), ("sweep", 1.5), ("tune", 0.1), ("tune", 0.8)],
)
def test_an_interrupt_at_any_time_is_a_line_and_status_130(
    name: str, after: float, tmp_path: Path
) -> None:
    words, _ = COMMANDS_TO_INTERRUPT[name]
    assert interrupted(words, after, tmp_path) == INTERRUPTED


@pytest.mark.parametrize("name", ["help", "run"])
def test_an_interrupt_of_what_is_nearly_done_says_no_more(name: str, tmp_path: Path) -> None:
    words, seconds = COMMANDS_TO_INTERRUPT[name]
    for share in (0.1, 0.4, 0.7):
        assert interrupted(words, share * seconds, tmp_path) in {INTERRUPTED, *DONE}
