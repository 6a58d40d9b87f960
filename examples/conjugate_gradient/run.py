#!/usr/bin/env cs_python
"""Solves random tridiagonal systems on a row of PEs and compares with NumPy."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import (  # pylint: disable=no-name-in-module
    MemcpyDataType,
    MemcpyOrder,
    SdkRuntime,
)

RELATIVE_TOLERANCE = 1e-5  # of the residual's length
HOW = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}


def main() -> None:
    """Two systems, one after the other, on one load of the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="output directory of cslc")
    parser.add_argument("--collectives", required=True, help="output directory of collc")
    parser.add_argument("--cmaddr", help="IP:port of a system; the simulator if absent")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    pes = json.loads((Path(args.collectives) / "manifest.json").read_text())["program"]["width"]
    given = json.loads((Path(args.name) / "out.json").read_text())["params"]
    block, most = int(given["block"]), int(given["iterations"])
    rng = np.random.default_rng(args.seed)
    runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
    runner.load()
    runner.run()
    for _ in range(2):
        diagonal, beside, right = random_system(rng, pes * block)
        found, iterations = solved(runner, (pes, block), diagonal, beside, right)
        matrix = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
        residual = np.linalg.norm(right - matrix @ found) / np.linalg.norm(right)
        print(f"{iterations} iterations, residual {residual:.1e}")
        assert 0 < iterations < most, "no convergence"
        np.testing.assert_allclose(found, np.linalg.solve(matrix, right), rtol=1e-3, atol=1e-4)
    runner.stop()
    print("SUCCESS!")


def random_system(rng: np.random.Generator, size: int) -> tuple[np.ndarray, ...]:
    """Diagonal, what stands beside it, and a right side; rows are dominated by their diagonal, so
    the matrix is positive definite."""
    diagonal = rng.uniform(2.5, 4.0, size).astype(np.float32)
    beside = rng.uniform(-1.0, 1.0, size - 1).astype(np.float32)
    return diagonal, beside, rng.normal(size=size).astype(np.float32)


def solved(
    runner: SdkRuntime,
    shape: tuple[int, int],
    diagonal: np.ndarray,
    beside: np.ndarray,
    right: np.ndarray,
) -> tuple[np.ndarray, int]:
    """Copies a system in, block by block, launches, and copies x out again; with the iterations
    that it took, on which all PEs agree."""
    pes, block = shape
    # A PE has what stands beside each of its diagonal's elements: one more than these.
    padded = np.concatenate([[0.0], beside, [0.0]]).astype(np.float32)
    besides = np.concatenate([padded[i * block : (i + 1) * block + 1] for i in range(pes)])
    tolerance = np.full(pes, RELATIVE_TOLERANCE**2 * np.dot(right, right), np.float32)
    for name, vector, length in (
        ("diagonal", diagonal, block),
        ("beside", besides, block + 1),
        ("r", right, block),
        ("tolerance", tolerance, 1),
    ):
        runner.memcpy_h2d(runner.get_id(name), vector, 0, 0, pes, 1, length, **HOW)
    runner.launch("solve", nonblock=False)
    found = np.zeros(pes * block, np.float32)
    runner.memcpy_d2h(found, runner.get_id("x"), 0, 0, pes, 1, block, **HOW)
    counts = np.zeros(pes, np.uint32)
    runner.memcpy_d2h(counts, runner.get_id("done_iterations"), 0, 0, pes, 1, 1, **HOW)
    assert len(set(counts)) == 1, counts
    return found, int(counts[0])


if __name__ == "__main__":
    main()
