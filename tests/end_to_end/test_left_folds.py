"""Results of `order fixed` on the simulator, bit by bit the left fold over ranks in NumPy."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

from collc.driver.pipeline import compile_text

ROW, GRID = "5 x 1", "3 x 2"
CASES = [
    ("allreduce(x: f32[1], add)", "run auto", ROW),
    ("allreduce(x: f32[33], add)", "run auto", ROW),
    ("allreduce(x: f16[10], add)", "reduce star to 0 then broadcast from 0", ROW),
    ("reduce(x: f32[9], mul)", "reduce chain to 4", ROW),
    ("reduce(x: f32[9], add)", "order east_to_west reduce chain to 4", ROW),
    ("reduce(x: f32[16], add)", "run ring_reduce(c = 4, root = 4) to 4", ROW),
    ("reduce(x: f32[7], add)", "run auto to 2", ROW),
    ("reduce_scatter(x: f32[20], add)", "run auto", ROW),
    ("reduce_scatter(x: f32[20], add)", "reduce star to 0 then run linear_scatter", ROW),
    ("allreduce(x: f32[12], add)", "order snake run auto", GRID),
    ("allreduce(x: f32[12], add)", "order row_major reduce chain to 5 then broadcast from 5", GRID),
    ("allreduce(x: f32[n <= 30], add)", "run auto", ROW),
]


def _ranks(steps: str, size: str) -> list[tuple[int, int]]:
    """(y, x) of the ranks in their order."""
    width, height = (int(word) for word in size.split(" x "))
    pes = [(y, x) for y in range(height) for x in range(width)]
    if "snake" in steps:
        pes = [(y, x if y % 2 == 0 else width - 1 - x) for y, x in pes]
    return pes[::-1] if "east_to_west" in steps else pes


def _varied(dtype: type, shape: tuple[int, ...]) -> np.ndarray:
    """Floats of many sizes and both signs, so that each grouping has other bits."""
    dice = np.random.default_rng(7)
    sizes = 10.0 ** dice.uniform(-2, 2, shape)
    return (sizes * dice.choice([-1, 1], shape)).astype(dtype)


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(("contract", "steps", "size"), CASES)
def test_the_bits_are_those_of_the_left_fold(contract, steps, size, target):
    text = f"target {target} grid g = {size} collective c = {contract} on g "
    bundle = compile_text(f"{text} {{ order fixed {steps} }} program {{ c }}", "fixed.coll", {})
    ranks = _ranks(steps, size)
    dtype = np.float16 if "f16" in contract else np.float32
    held = bundle.spec.collectives[0].contract.held
    width, height = (int(word) for word in size.split(" x "))
    given = _varied(dtype, (height, width, held))
    ufunc = np.multiply if "mul" in contract else np.add
    vectors = [given[pe] for pe in ranks]
    wanted = reduce(ufunc, vectors)
    assert held == 1 or (wanted != reduce(ufunc, vectors[::-1])).any(), "the order matters"
    for length in (held, 3) if "<=" in contract else (held,):
        lengths = {"n": (length,)} if "<=" in contract else None
        report = bundle.run(inputs={"x": given}, lengths=lengths)
        assert report.verified, report.problem
        found = report.results["x"].reshape(height, width, held)
        for rank, pe in enumerate(ranks):
            part = slice(0, length)
            if contract.startswith("reduce_scatter"):
                part = slice(held // len(ranks) * rank, held // len(ranks) * (rank + 1))
            elif contract.startswith("reduce(") and rank != _root(steps, len(ranks)):
                continue
            assert found[pe][part].tobytes() == wanted[part].tobytes()


def _root(steps: str, ranks: int) -> int:
    return 2 if steps.endswith("to 2") else ranks - 1


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("root", [0, 2, 3])
def test_a_chain_to_any_rank_runs_on_each_row_where_pes_keep_nothing_of_what_passes(root, target):
    text = f"""target {target} grid g = 4 x 2
    collective c = allreduce(x: f32[6], add) on each row of g {{
        run chain_reduce(root = {root}) then run direct_broadcast(root = {root})
    }}
    program {{ c }}"""
    report = compile_text(text, "rows.coll", {}).run()
    assert report.verified, report.problem


def test_calls_of_a_program_keep_it_with_colors_that_they_share():
    text = """target wse3 grid g = 6 x 2
    collective rows = allreduce(x: f32[9], add) on each row of g { order fixed run auto }
    collective all = allreduce(y: f32[5], add) on g { order snake order fixed run auto }
    collective parts = reduce_scatter(z: f32[12], add) on each row of g { order fixed run auto }
    program { rows all parts within colors <= 8 }"""
    bundle = compile_text(text, "fixed.coll", {})
    x, y = _varied(np.float32, (2, 6, 9)), _varied(np.float32, (2, 6, 5))
    z = _varied(np.float32, (2, 6, 12))
    report = bundle.run(inputs={"x": x, "y": y, "z": z})
    assert report.verified, report.problem
    parts = np.stack([reduce(np.add, row) for row in z]).reshape(2, 6, 2)
    found = report.results["z"].reshape(2, 6, 6, 2)
    assert all((found[:, rank, rank] == parts[:, rank]).all() for rank in range(6))
    wanted = np.stack([reduce(np.add, row) for row in x])
    assert (report.results["x"].reshape(2, 6, 9) == wanted[:, None]).all()
    along = reduce(np.add, [y[pe] for pe in _ranks("snake", "6 x 2")])
    assert (report.results["y"].reshape(2, 6, 5) == along).all()
