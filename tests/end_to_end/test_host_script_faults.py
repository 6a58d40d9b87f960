"""Faults that a single launch, or PEs that all begin together, let pass: run.py finds them.

Each fault is an edit of the emitted text by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from collc.backends import Job, Outcome, Settings, opened
from collc.base.files import write_files
from collc.driver.pipeline import compile_text
from collc.target import WSE2
from collc.target.fabric import fabric_of

EXAMPLES = Path(__file__).parents[2] / "examples"

Edit = Callable[[str], str]


def ran(
    example: str,
    parameters: dict[str, int],
    edit: Edit,
    folder: Path,
    *words: str,
    timed: bool,
    late_cycles: int = 0,
) -> Outcome:
    """What run.py says of a program whose modules were edited."""
    text = (EXAMPLES / f"{example}.coll").read_text()
    bundle = compile_text(text, example, parameters, "wse2", timed=timed)
    files = {name: edit(text) for name, text in bundle.files.items()}
    assert files != bundle.files
    write_files(folder, files)
    with opened("fabsim", Settings(late_cycles=late_cycles)) as tools:
        compiled = tools.compile(Job(folder, fabric_of(bundle.size, WSE2).options("wse2")))
        return tools.run(compiled, "run.py", words)


def without_resets(text: str) -> str:
    """Switches stay where they are after the last vector."""
    return text.replace("if (op.resets) control.opcode.SWITCH_RST else if", "if")


def without_blocks(text: str) -> str:
    """A step is over when what is received is there, though the own vector is still being sent."""
    return re.sub(r"\n *@block\(end\);", "", text)


def with_dead_handlers(text: str) -> str:
    """Whoever waits for a color that is torn down is not told."""
    return re.sub(r"(fn torn_down_\d+\(\) void) \{[^\n]*\}", r"\1 {}", text)


def test_switches_that_are_not_set_back_are_found_by_the_second_launch(tmp_path: Path) -> None:
    given = ("two_phase", {"P": 64, "B": 4}, without_resets)
    assert ran(*given, tmp_path / "once", "--launches", "1", timed=False).status == 0
    assert ran(*given, tmp_path / "twice", timed=False).status != 0


def test_a_step_that_ends_too_early_is_found_by_pes_that_begin_late(tmp_path: Path) -> None:
    """Whether the program lets them, or the simulator: in step the fault may go by unseen."""
    given = ("ring_allreduce", {"P": 6, "B": 1200}, without_blocks)
    late = ran(*given, tmp_path / "timed", "--late", "3000", timed=True)
    assert "two operations use output queue" in late.errors
    late = ran(*given, tmp_path / "untimed", timed=False, late_cycles=3000)
    assert "two operations use output queue" in late.errors


def test_teardown_handlers_that_do_nothing_are_found(tmp_path: Path) -> None:
    given = ("program_mixed", {"P": 8, "B": 2, "R": 1}, with_dead_handlers)
    assert ran(*given, tmp_path, "--late", "3000", timed=True).status != 0


def test_late_starts_alone_are_right(tmp_path: Path) -> None:
    def same(text: str) -> str:
        return f"{text}\n" if text.startswith("// Time stamps of a PE") else text

    given = ("program_mixed", {"P": 8, "B": 2, "R": 1}, same)
    outcome = ran(*given, tmp_path, "--late", "3000", "--launches", "3", timed=True)
    assert outcome.status == 0, outcome.errors


def test_a_sum_in_another_order_than_the_plans_is_found(tmp_path: Path) -> None:
    """The tolerance of rounding would let it pass."""

    def turned(text: str) -> str:
        return text.replace("((63, 62, 0, 0, 4, 1), (-1, -1,", "((55, 54, 0, 0, 4, 1), (1, 1,")

    outcome = ran("two_phase", {"P": 64, "B": 4}, turned, tmp_path, timed=False)
    assert outcome.status != 0
    assert "Mismatched elements" in outcome.errors
