#!/usr/bin/env cs_python
"""Runs the compiled program on random input and checks the result.

total = allreduce(x: f32[16], add) on 12 x 9 PEs

Made by collc 0.1.0 from test.coll.
"""

from __future__ import annotations

import argparse

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import (  # pylint: disable=no-name-in-module
    MemcpyDataType,
    MemcpyOrder,
    SdkRuntime,
)

WIDTH, HEIGHT, LENGTH = 12, 9, 16
DTYPE = np.float32
ROOT = (0, 0)  # x, y


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="output directory of cslc")
    parser.add_argument("--cmaddr", help="IP:port of a system; the simulator if absent")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    given = make_input(np.random.default_rng(args.seed))
    found = run(args.name, args.cmaddr, given)
    check(given, found)
    print("SUCCESS!")


def make_input(rng: np.random.Generator) -> np.ndarray:
    """One vector for each PE, as an array [y, x, element]."""
    shape = (HEIGHT, WIDTH, LENGTH)
    if np.issubdtype(DTYPE, np.integer):
        return rng.integers(0, 100, size=shape).astype(DTYPE)
    return rng.uniform(0.5, 1.5, size=shape).astype(DTYPE)


def run(name: str, cmaddr: str | None, given: np.ndarray) -> np.ndarray:
    """Copies the vectors in, launches, copies them out again."""
    options = {
        "streaming": False,
        "order": MemcpyOrder.ROW_MAJOR,
        "data_type": MemcpyDataType.MEMCPY_32BIT,
        "nonblock": False,
    }
    runner = SdkRuntime(name, cmaddr=cmaddr)
    symbol = runner.get_id("x")
    runner.load()
    runner.run()
    # The host side moves 32-bit words; a 16-bit element is the low half of its word.
    words = given.view(np.uint32).astype(np.uint32).ravel()
    runner.memcpy_h2d(symbol, words, 0, 0, WIDTH, HEIGHT, LENGTH, **options)
    runner.launch("run", nonblock=False)
    out = np.zeros(HEIGHT * WIDTH * LENGTH, np.uint32)
    runner.memcpy_d2h(out, symbol, 0, 0, WIDTH, HEIGHT, LENGTH, **options)
    runner.stop()
    return out.astype(np.uint32).view(DTYPE).reshape(HEIGHT, WIDTH, LENGTH)


def check(given: np.ndarray, found: np.ndarray) -> None:
    """Compares with NumPy; a rounded type may differ by the rounding of each operand."""
    operands = given.reshape(-1, LENGTH)
    expected = np.add.reduce(operands.astype(np.float64), axis=0)
    results = found
    if np.issubdtype(DTYPE, np.integer):
        np.testing.assert_array_equal(results, np.broadcast_to(expected, results.shape))
        return
    tolerance = WIDTH * HEIGHT * float(np.finfo(DTYPE).eps)
    np.testing.assert_allclose(results, np.broadcast_to(expected, results.shape), rtol=tolerance)


if __name__ == "__main__":
    main()
