#!/usr/bin/env cs_python
"""Runs the compiled program on random input and checks the result.

total = reduce(x: u32[16], max) on 6 x 1 PEs

The program is loaded once and launched several times.

Made by collc 0.2.0 from test.coll.
"""

from __future__ import annotations

import argparse

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import (  # pylint: disable=no-name-in-module
    MemcpyDataType,
    MemcpyOrder,
    SdkRuntime,
)

WIDTH, HEIGHT = 6, 1
LENGTH = 16
DTYPE = np.uint32
ROOT = (0, 0)  # x, y


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="output directory of cslc")
    parser.add_argument("--cmaddr", help="IP:port of a system; the simulator if absent")
    parser.add_argument("--launches", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    rng = np.random.default_rng(args.seed)
    runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
    buffer = runner.get_id("x")
    runner.load()
    runner.run()
    for _ in range(args.launches):
        given = make_input(rng)
        # memcpy takes 32-bit words; a 16-bit element is the low half of its word.
        words = given.view(np.uint32).astype(np.uint32).ravel()
        copy_in(runner, buffer, words, LENGTH, 32)
        runner.launch("run", nonblock=False)
        out = copy_out(runner, buffer, LENGTH, 32)
        check(given, out.astype(np.uint32).view(DTYPE).reshape(HEIGHT, WIDTH, LENGTH))
    runner.stop()
    print("SUCCESS!")


def make_input(rng: np.random.Generator) -> np.ndarray:
    """One vector for each PE, as an array [y, x, element]."""
    shape = (HEIGHT, WIDTH, LENGTH)
    if np.issubdtype(DTYPE, np.integer):
        return rng.integers(0, 100, size=shape).astype(DTYPE)
    return rng.uniform(0.5, 1.5, size=shape).astype(DTYPE)


def copy_in(runner: SdkRuntime, symbol: int, words: np.ndarray, count: int, bits: int) -> None:
    """Copies `count` elements of `bits` bits to each PE."""
    runner.memcpy_h2d(symbol, words, 0, 0, WIDTH, HEIGHT, count, **options(bits))


def copy_out(runner: SdkRuntime, symbol: int, count: int, bits: int) -> np.ndarray:
    """`count` elements of each PE, one in each 32-bit word."""
    out = np.zeros(HEIGHT * WIDTH * count, np.uint32)
    runner.memcpy_d2h(out, symbol, 0, 0, WIDTH, HEIGHT, count, **options(bits))
    return out


def options(bits: int) -> dict[str, object]:
    """Options of memcpy for elements of 16 or 32 bits."""
    width = {16: MemcpyDataType.MEMCPY_16BIT, 32: MemcpyDataType.MEMCPY_32BIT}[bits]
    return {
        "streaming": False,
        "order": MemcpyOrder.ROW_MAJOR,
        "data_type": width,
        "nonblock": False,
    }


def check(given: np.ndarray, found: np.ndarray) -> None:
    """Compares with NumPy bit by bit."""
    operands = given.reshape(-1, LENGTH)
    expected = np.maximum.reduce(operands, axis=0, dtype=DTYPE)
    results = found[ROOT[1], ROOT[0]]
    np.testing.assert_array_equal(results, np.broadcast_to(expected, results.shape))


if __name__ == "__main__":
    main()
