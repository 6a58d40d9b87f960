"""Faults that a single launch, or PEs that all begin together, let pass: run.py finds them.

Each fault is an edit of the emitted text by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from collc.backends import Job, Outcome, Settings, opened
from collc.fabric import fabric_of
from collc.files import write_files
from collc.programs import compile_any
from collc.target import WSE2

EXAMPLES = Path(__file__).parents[2] / "examples"

Edit = Callable[[str], str]


def ran(
    example: str, parameters: dict[str, int], edit: Edit, folder: Path, *words: str, timed: bool
) -> Outcome:
    """What run.py says of a program whose modules were edited."""
    text = (EXAMPLES / f"{example}.coll").read_text()
    bundle = compile_any(text, example, parameters, "wse2", timed=timed)
    files = {name: edit(text) for name, text in bundle.files.items()}
    assert files != bundle.files
    write_files(folder, files)
    with opened("fabsim", Settings()) as tools:
        compiled = tools.compile(Job(folder, fabric_of(bundle.size, WSE2).options("wse2")))
        return tools.run(compiled, "run.py", words)


def without_resets(text: str) -> str:
    """Switches stay where they are after the last vector."""
    return text.replace("if (reduce.resets) reset else advance", "advance")


def without_blocks(text: str) -> str:
    """A step is over when what is received is there, though the own vector is still being sent."""
    return re.sub(r"\n *@block\(\w+_task\);", "", text)


def with_dead_handlers(text: str) -> str:
    """Whoever waits for a color that is torn down is not told."""
    for name in set(re.findall(r"@set_teardown_handler\((\w+),", text)):
        body = rf"(fn {name}\(\) void \{{\n)(.*?\n)?\}}"
        text = re.sub(body, r"\1}", text, count=1, flags=re.DOTALL)
    return text


def test_switches_that_are_not_set_back_are_found_by_the_second_launch(tmp_path: Path) -> None:
    given = ("two_phase", {"P": 64, "B": 4}, without_resets)
    assert ran(*given, tmp_path / "once", "--launches", "1", timed=False).status == 0
    assert ran(*given, tmp_path / "twice", timed=False).status != 0


@pytest.mark.parametrize("timed", [False, True])
def test_a_step_that_ends_too_early_is_found(timed: bool, tmp_path: Path) -> None:
    given = ("ring_allreduce", {"P": 4, "B": 200}, without_blocks)
    assert ran(*given, tmp_path, timed=timed).status != 0


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
