"""Judging a run: what a wrong, a stuck and an impossible run come to."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from collc import Bundle, CollcError, RunError
from collc import run as launching
from collc.base.files import write_files
from collc.cli import commands
from collc.driver.pipeline import compile_text
from collc.run import compiled
from collc.run.program import NOTHING_KNOWN

NOTHING = """target wse2
grid pe = 1 x 1
contract shift(n) { after each r where r > 0 : r has r - 1 }
algorithm pass_on(n) { step { each r where r < n - 1 : r -> r + 1 } }
collective shifted = shift(x: f32[4]) on pe { run pass_on }
program { shifted shifted }
"""
TEXT = """target wse2
grid row = 4 x 1
collective total = reduce(x: i32[3], add) on row {
    reduce chain to 0
}
program { total }
"""


class SimulationError(Exception):
    """As fabsim's."""


class CslError(Exception):
    """As fabsim's."""


class Simulator:
    """Gives back the input as the result, which a sum of four vectors is not."""

    def __init__(self, _: object) -> None:
        self.memory = np.empty(0)

    def memcpy_h2d(self, _: str, values: np.ndarray[Any, Any], *__: int) -> None:
        self.memory = values

    def memcpy_d2h(self, *_: object) -> np.ndarray[Any, Any]:
        return self.memory.copy()

    def launch(self, *_: object, **__: object) -> SimpleNamespace:
        return SimpleNamespace(start_cycle=0, cycles=7, tile_cycles=28)

    def stop(self) -> None:
        pass


class StuckSimulator(Simulator):
    def launch(self, *_: object, **__: object) -> SimpleNamespace:
        raise SimulationError("stuck at cycle 12")


class SmallSimulator(Simulator):
    def launch(self, *_: object, **__: object) -> SimpleNamespace:
        raise MemoryError


@pytest.fixture
def bundle() -> Bundle:
    return compile_text(TEXT, "sum.coll", {})


@pytest.fixture
def simulate(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put another simulator in fabsim's place."""

    def replace(simulator: type[Simulator]) -> None:
        fake = SimpleNamespace(
            compile=lambda *_, **__: SimpleNamespace(width=4, height=1),
            opened=lambda program: SimpleNamespace(
                simulator=simulator(program), report=lambda: None
            ),
            SimulationError=SimulationError,
            CslError=CslError,
        )
        real = importlib.import_module
        monkeypatch.setattr(
            importlib, "import_module", lambda name: fake if name == "fabsim" else real(name)
        )

    return replace


def run_command(directory: Path, *options: str) -> Result:
    path = directory / "sum.coll"
    path.write_text(TEXT, encoding="utf-8")
    return CliRunner().invoke(commands, ["run", str(path), *options])


def test_a_good_run_is_verified_and_has_no_problem(bundle: Bundle) -> None:
    report = bundle.run()
    assert report.verified
    assert not report.problem
    assert report.cycles > 0


def test_a_run_writes_the_trace_that_the_environment_asks_for(
    bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = tmp_path / "sum.trace"
    monkeypatch.setenv("FABSIM_OPTIONS", f"--trace {trace}")
    assert bundle.run().verified
    # Later runs of one process have their number in the name.
    (written,) = tmp_path.glob("sum*.trace")
    assert written.read_text().startswith("@0 dimX=4, dimY=1\n")


def test_a_wrong_result_names_the_first_wrong_element(bundle: Bundle, simulate: Any) -> None:
    simulate(Simulator)
    report = bundle.run()
    assert not report.verified
    assert "3 of 3 elements are wrong; the first is element 0 at PE (0, 0)" in report.problem
    assert report.cycles == 7


def test_a_stuck_run_is_a_run_error(bundle: Bundle, simulate: Any) -> None:
    simulate(StuckSimulator)
    with pytest.raises(RunError, match="stuck at cycle 12"):
        bundle.run()


def test_a_run_beyond_the_computers_memory_says_its_size(bundle: Bundle, simulate: Any) -> None:
    simulate(SmallSimulator)
    with pytest.raises(RunError, match="too small for 4 x 1 PEs of 3 elements"):
        bundle.run()


def test_without_fabsim_a_run_says_what_to_install(
    bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_: str) -> None:
        raise ImportError("No module named 'fabsim'")

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(CollcError, match="C501: running needs fabsim"):
        bundle.run()


@pytest.mark.parametrize("simulator", [Simulator, StuckSimulator])
def test_a_failed_run_prints_the_same_object_as_a_good_one(
    simulator: type[Simulator], simulate: Any, tmp_path: Path
) -> None:
    good = json.loads(run_command(tmp_path, "--json").stdout)
    simulate(simulator)
    result = run_command(tmp_path, "--json")
    assert result.exit_code == 3
    facts = json.loads(result.stdout)
    assert facts.keys() == good.keys()
    assert facts["verified"] is False
    assert facts["problem"]
    assert facts["predicted_cycles"] == good["predicted_cycles"]
    assert (facts["cycles"] is None) == (simulator is StuckSimulator)


@pytest.mark.parametrize("simulator", [Simulator, StuckSimulator])
def test_a_failed_run_says_so_and_is_status_3(
    simulator: type[Simulator], simulate: Any, tmp_path: Path
) -> None:
    simulate(simulator)
    result = run_command(tmp_path, "-o", str(tmp_path / "out"))
    assert result.exit_code == 3
    assert "WRONG" in result.output
    assert "the run failed: " in result.output


def test_a_run_of_which_nothing_is_compared_is_status_3_and_not_called_wrong(
    tmp_path: Path,
) -> None:
    path = tmp_path / "twice.coll"
    path.write_text(NOTHING, encoding="utf-8")
    result = CliRunner().invoke(commands, ["run", str(path)])
    assert result.exit_code == 3
    assert "twice.coll on wse2: nothing was compared" in result.output
    assert f"the run shows nothing: {NOTHING_KNOWN}" in result.output
    assert "WRONG" not in result.output


def test_csl_that_does_not_compile_is_a_run_error(
    bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoiled(directory: Any, texts: Any) -> None:
        write_files(directory, {**texts, "layout.csl": "layout {"})

    monkeypatch.setattr("collc.run.write_files", spoiled)
    monkeypatch.setattr(launching._compiled, "held", {})
    with pytest.raises(RunError, match=r"layout\.csl"):
        bundle.run()


def test_the_last_programs_are_compiled_once_for_each_text_target_and_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def compile(layout: str, arch: str, **_: Any) -> SimpleNamespace:
        asked.append(arch)
        return SimpleNamespace(width=len(Path(layout).read_text()), height=1)

    fake = SimpleNamespace(compile=compile, CslError=RuntimeError)
    monkeypatch.setattr(launching._compiled, "held", {})
    monkeypatch.setattr(launching._compiled, "room", 10)
    short, long = {"layout.csl": "a", "run.py": ""}, {"layout.csl": "a" * 11}
    for _ in range(2):
        compiled(fake, short, "wse2")
        compiled(fake, short | {"run.py": "b"}, "wse3")
    assert asked == ["wse2", "wse3"]
    monkeypatch.setenv("FABSIM_TIMING", "streams")
    compiled(fake, short, "wse3")  # and that of wse2 is forgotten
    monkeypatch.delenv("FABSIM_TIMING")
    compiled(fake, short, "wse3")
    compiled(fake, short, "wse2")
    assert asked == ["wse2", "wse3", "wse3", "wse2"]
    for _ in range(2):
        compiled(fake, long, "wse2")  # which is too large to be held
    assert asked[4:] == ["wse2", "wse2"]
