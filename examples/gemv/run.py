#!/usr/bin/env cs_python
"""Computes y = A x + b on random numbers, with the kernel and with the baseline, compares both with
NumPy, and says how long they communicate.

Times are those of one PE, the one where y ends. Communication is all of its time but its product.
"""

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

HOW = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}
PARTS = ("x comes", "product", "row sums", "sent back", "y collected")


class Shape:
    """The grid of PEs, and the block of A on each."""

    def __init__(self, collectives: str, program: str) -> None:
        grid = json.loads((Path(collectives) / "manifest.json").read_text())["program"]
        params = json.loads((Path(program) / "out.json").read_text())["params"]
        self.width, self.height = grid["width"], grid["height"]
        self.rows, self.columns = int(params["rows"]), int(params["columns"])

    def blocks(self, matrix: np.ndarray) -> np.ndarray:
        """A matrix as blocks: [row of PEs, column of PEs, element], each column by column."""
        parts = matrix.reshape(self.height, self.rows, self.width, self.columns)
        return parts.transpose(0, 2, 3, 1).reshape(self.height, self.width, -1)


def main() -> None:
    """Two products with each program, on one load of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="output directory of cslc for the kernel")
    parser.add_argument("--baseline", required=True, help="the same for the baseline")
    parser.add_argument("--collectives", required=True, help="output directory of collc")
    parser.add_argument("--cmaddr", help="IP:port of a system; the simulator if absent")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    shape = Shape(args.collectives, args.name)
    rng = np.random.default_rng(args.seed)
    problems = [random_problem(rng, shape) for _ in range(2)]
    times = []
    for name, steps in ((args.name, run_kernel), (args.baseline, run_baseline)):
        runner = SdkRuntime(name, cmaddr=args.cmaddr)
        runner.load()
        runner.run()
        for matrix, x, b in problems:
            found, stamps = steps(runner, shape, matrix, x, b)
            wanted = matrix.astype(np.float64) @ x + b
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)
        runner.stop()
        times.append(stamps)
    show(shape, *times)
    print("SUCCESS!")


def random_problem(rng: np.random.Generator, shape: Shape) -> tuple[np.ndarray, ...]:
    """A, x and b."""
    sizes = shape.height * shape.rows, shape.width * shape.columns
    return tuple(
        rng.uniform(-1.0, 1.0, size).astype(np.float32) for size in (sizes, sizes[1], sizes[0])
    )


def run_kernel(
    runner: SdkRuntime, shape: Shape, matrix: np.ndarray, x: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The result and the times of its PE. Blocks are counted from the south-eastern corner."""
    copy_in(runner, "a", shape.blocks(matrix)[::-1, ::-1])
    copy_in(runner, "x", x.reshape(1, 1, -1))
    copy_in(runner, "b", b.reshape(1, 1, -1))
    runner.launch("multiply", nonblock=False)
    stamps = copy_stamps(runner, shape, 5)
    times = [stamps[i + 1] - stamps[i] for i in range(4)]
    return copy_y(runner, shape), np.array([*times[:3], 0, times[3]])


def run_baseline(
    runner: SdkRuntime, shape: Shape, matrix: np.ndarray, x: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The same with one color; blocks are counted from the north-western corner."""
    copy_in(runner, "a", shape.blocks(matrix))
    copy_in(runner, "given", np.concatenate([x, b]).reshape(1, 1, -1))
    runner.launch("multiply", nonblock=False)
    stamps = copy_stamps(runner, shape, 6)
    return copy_y(runner, shape), np.diff(stamps)


def copy_in(runner: SdkRuntime, symbol: str, values: np.ndarray) -> None:
    """Copies an array [y, x, element] to the PEs from (0, 0) on."""
    height, width, length = values.shape
    flat = np.ascontiguousarray(values).ravel()
    runner.memcpy_h2d(runner.get_id(symbol), flat, 0, 0, width, height, length, **HOW)


def copy_y(runner: SdkRuntime, shape: Shape) -> np.ndarray:
    """The result, from the PE where it ends."""
    length = shape.height * shape.rows
    found = np.zeros(length, np.float32)
    corner = (shape.width - 1, shape.height - 1)
    runner.memcpy_d2h(found, runner.get_id("y"), *corner, 1, 1, length, **HOW)
    return found


def copy_stamps(runner: SdkRuntime, shape: Shape, count: int) -> np.ndarray:
    """The times at which that PE was through with something, in cycles."""
    words = np.zeros(3 * count, np.uint32)
    corner = (shape.width - 1, shape.height - 1)
    how = {**HOW, "data_type": MemcpyDataType.MEMCPY_16BIT}
    runner.memcpy_d2h(words, runner.get_id("stamps"), *corner, 1, 1, 3 * count, **how)
    parts = words.astype(np.int64).reshape(count, 3)
    return parts @ np.array([1, 1 << 16, 1 << 32])


def show(shape: Shape, kernel: np.ndarray, baseline: np.ndarray) -> None:
    """A table of cycles."""
    grid = (
        f"{shape.width} x {shape.height} PEs, {shape.rows} x {shape.columns} elements of A on each"
    )
    print(f"cycles on {grid}")
    print(f"{'':15}{'kernel':>9}{'baseline':>10}")
    for i, part in enumerate(PARTS):
        print(f"{part:15}{kernel[i]:9}{baseline[i]:10}")
    ours, theirs = (
        int(times.sum() - times[PARTS.index("product")]) for times in (kernel, baseline)
    )
    print(f"{'communication':15}{ours:9}{theirs:10}   {ours / theirs:.2f}")


if __name__ == "__main__":
    main()
