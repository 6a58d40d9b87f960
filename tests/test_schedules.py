"""What a plan is to carry out stands beside it, and is followed as often as it has to be."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from collc.base.diagnostics import Diagnostic
from collc.checks import follow
from collc.driver.pipeline import compile_text
from collc.plan import Plan
from collc.plan.alike import Alike
from collc.schedule import Schedule
from collc.target import TARGETS

ROOT = Path(__file__).parents[1]
AUTO = """target wse2
grid pes = 4 x 3
collective total = allreduce(x: f32[12], add) on pes { run auto }
program { total }
"""
FEW_COLORS = """target wse2
grid pes = 4 x 3
collective total = allreduce(x: f32[12], add) on pes {
    reduce rows by chain then reduce column by chain then broadcast from (0, 0)
    within colors <= 2
}
program { total }
"""
SEVERAL = """target wse3
grid row = 6 x 1
collective ready = barrier() on row { run linear_barrier }
collective total = allreduce(x: f32[12], add) on row { run auto }
program { repeat 2 { ready total } }
"""
TOGETHER = """target wse2
grid pes = 4 x 4
grid north = pes[0 .. 3, 0 .. 1]
grid south = pes[0 .. 3, 2 .. 3]
collective above = reduce(x: f32[4], add) on north {
    reduce rows by chain then reduce column by chain }
collective below = broadcast(y: f32[4]) on south { broadcast from (1, 1) }
program { above and below }
"""


@pytest.mark.parametrize("text", [AUTO, FEW_COLORS, SEVERAL, TOGETHER])
def test_a_bundle_has_a_schedule_for_each_plan_of_the_same_collective(text: str) -> None:
    bundle = compile_text(text, "test.coll", {})
    assert [one.collective for one in bundle.schedules] == [one.collective for one in bundle.plans]
    decided = [one.collective.decision for one in bundle.schedules]
    assert [found is not None for found in decided].count(True) == text.count("auto")


def test_each_plan_is_followed_once_of_candidates_and_what_is_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Plan] = []
    found = follow._by_itself

    def counted(plan: Plan, schedule: Schedule) -> Iterator[Diagnostic]:
        asked.append(plan)
        return found(plan, schedule)

    monkeypatch.setattr(follow, "_by_itself", counted)
    text = AUTO.replace("4 x 3", "6 x 3")  # of which nothing is known yet
    chosen = compile_text(text, "test.coll", {}).plans[0]
    assert len(asked) == len(set(map(Alike, asked))) > 1
    followed = [plan.target for plan in asked if plan.phases == chosen.phases]
    assert followed.count(chosen.target) == 1 and len(followed) <= len(TARGETS)


def test_a_build_does_without_modules_that_take_long_to_import(tmp_path: Path) -> None:
    code = "import sys; from collc.start import main; main(); "
    code += (
        "print([name for name in ('numpy.random', 'numpy.ma', 'networkx') if name in sys.modules])"
    )
    example = str(ROOT / "examples" / "chain.coll")
    words = ["build", example, "-D", "P=8", "-o", str(tmp_path / "out")]
    run = [sys.executable, "-c", code, *words]
    said = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    assert said.splitlines()[-1] == "[]"
