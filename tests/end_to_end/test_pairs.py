"""Pairs of a value and an index: every pair arrives whole, and the right one of two is chosen."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from libraries import with_operations

from collc.base.files import write_files
from collc.driver.pipeline import compile_text
from collc.language import parse_source
from collc.language.show import show_spec
from collc.spec import ElementType, Operation
from collc.spec.arrays import DTYPE, combine, reduced
from collc.target import TARGETS
from fabsim.cslc import compile_command

PROGRAM = """
target {target}
param P = {ranks}
grid pes = P x {rows}
collective best = {contract} on pes {{ {steps} }}
program {{ {calls} }}
"""
PAIRS = [element for element in ElementType if element.pair_of]


def program(contract: str, steps: str, **changes: object) -> str:
    values = {"target": "wse2", "ranks": 5, "rows": 1, "calls": "best"} | changes
    return PROGRAM.format(contract=contract, steps=steps, **values)


def runs(text: str, length: int | None = None) -> None:
    bundle = compile_text(text, "pairs.coll", {})
    report = bundle.run(seed=3, lengths=None if length is None else {"n": [length]})
    assert report.verified, report.problem
    off = abs(bundle.prediction.cycles - report.cycles)
    assert length is not None or off <= 0.035 * report.cycles + 60


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element", PAIRS, ids=lambda element: element.value)
def test_a_tree_and_steps_choose_pairs_of_every_type(element: ElementType, target: str) -> None:
    for operation, steps in (
        ("argmax", "reduce two_phase(S = 2) to 2 then broadcast from 2"),
        ("argmin", "order ring run ring_allreduce"),
    ):
        runs(program(f"allreduce(x: {element.value}[7], {operation})", steps, target=target))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("contract", "rows", "steps"),
    [
        ("broadcast(x: (f32, u32)[3])", 2, "broadcast from (1, 1)"),
        ("gather(x: (f32, u32)[7])", 1, "run linear_gather"),
        ("all_to_all(x: (f32, u32)[10])", 1, "run pairwise_all_to_all"),
        ("reduce_scatter(x: (i32, u32)[13], argmin)", 1, "run chain_reduce_scatter"),
        ("allreduce(x: (f32, u32)[20], argmax)", 1, "order ring run ring_allreduce in simd"),
        (
            "allgather(x: (u32, u32)[23])",
            3,
            "run rows by ring_allgather then run columns by ring_allgather",
        ),
    ],
)
def test_slices_are_cut_between_pairs(contract: str, rows: int, steps: str, target: str) -> None:
    runs(program(contract, steps, rows=rows, target=target))


@pytest.mark.parametrize("length", [1, 6])
@pytest.mark.parametrize("steps", ["reduce chain to 0", "order ring run ring_allreduce"])
def test_a_length_of_the_run_counts_pairs(steps: str, length: int) -> None:
    kind = "reduce" if "reduce" in steps.split() else "allreduce"
    runs(program(f"{kind}(x: (f32, u32)[n <= 9], argmax)", steps), length)


def test_calls_follow_each_other_with_pairs_of_their_own() -> None:
    steps = "reduce chain to 0 then broadcast from 0"
    runs(program("allreduce(x: (f32, u32)[2], argmin)", steps, calls="repeat 3 { best }"))


def test_of_equal_values_the_lower_index_is_chosen() -> None:
    dtype = DTYPE[ElementType.F32_U32]
    pairs = np.array([(1.0, 7), (2.0, 9), (2.0, 3), (-1.0, 1), (-1.0, 0)], dtype)
    assert reduced(Operation.ARGMAX, pairs).tolist() == (2.0, 3)
    assert reduced(Operation.ARGMIN, pairs).tolist() == (-1.0, 0)
    for operation in (Operation.ARGMAX, Operation.ARGMIN):
        one, other = pairs[:, None], pairs[None]
        assert (combine(operation, one, other) == combine(operation, other, one)).all()


def test_pairs_may_be_given_and_no_numbers_in_their_place() -> None:
    steps = "reduce chain to 0 then broadcast from 0"
    bundle = compile_text(program("allreduce(x: (i32, u32)[1], argmin)", steps), "pairs.coll", {})
    dtype = DTYPE[ElementType.I32_U32]
    given = np.array([(3, 0), (-2, 1), (5, 2), (-2, 3), (0, 4)], dtype).reshape(1, 5, 1)
    report = bundle.run(inputs={"x": given})
    assert report.verified, report.problem
    assert report.results["x"].tolist() == [[[(-2, 1)]] * 5]
    with pytest.raises(TypeError, match="has to be pairs"):
        bundle.run(inputs={"x": given["value"]})


def test_a_spec_with_pairs_reads_as_it_is_shown() -> None:
    shown = show_spec(parse_source(program("reduce(x: ( f32,u32 )[2], argmax)", "reduce chain")))
    assert "reduce(x: (f32, u32)[2], argmax)" in shown
    assert show_spec(parse_source(shown)) == shown


@pytest.fixture
def host_script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], None]:
    """Compiles what is in `tmp_path` and runs its host script in this process."""

    def run() -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(str(files("fabsim").joinpath("drop_in")))
        arguments = "layout.csl --arch=wse2 -o out --memcpy --channels=1 --fabric-dims=12,6"
        compile_command([*arguments.split(), "--fabric-offsets=4,1"])
        spec = importlib.util.spec_from_file_location("pairs_run", "run.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        monkeypatch.setattr(sys, "argv", ["run.py", "--name", "out"])
        module.main()

    return run


@pytest.mark.parametrize("calls", ["best", "repeat 2 { best best }"])
def test_the_host_script_compares_pairs(
    calls: str,
    tmp_path: Path,
    host_script: Callable[[], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    steps = "reduce chain to 0 then broadcast from 0"
    text = program("allreduce(x: (f32, u32)[40], argmax)", steps, calls=calls)
    compile_text(text, "pairs.coll", {}).write(tmp_path)
    host_script()
    assert "SUCCESS!" in capsys.readouterr().out
    files = {file.name: file.read_text() for file in tmp_path.glob("*.csl")}
    write_files(tmp_path, with_operations(files, "(ties and (received < own))", "ties"))
    with pytest.raises(AssertionError):
        host_script()
