#!/usr/bin/env cs_python
"""Runs the compiled program on random input and checks the result.

total = allreduce(x: f16[33], min) on 7 x 5 PEs

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

WIDTH, HEIGHT = 7, 5
LENGTH = 33
DTYPE = np.float16
ROOT = (6, 4)  # x, y


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
        words = given.view(np.uint16).astype(np.uint32).ravel()
        copy_in(runner, buffer, words, LENGTH, 16)
        runner.launch("run", nonblock=False)
        out = copy_out(runner, buffer, LENGTH, 16)
        check(given, out.astype(np.uint16).view(DTYPE).reshape(HEIGHT, WIDTH, LENGTH))
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


def combine(own: np.ndarray, received: np.ndarray) -> np.ndarray:
    """The operation of the collective, element by element."""
    taken = (received < own) | np.isnan(own) | (received == own) & np.signbit(received)
    return np.where(taken, received, own)


def combined(vectors: np.ndarray) -> np.ndarray:
    """All vectors combined, in the order of their ranks."""
    result = vectors[0]
    for received in vectors[1:]:
        result = combine(result, received)
    return result


def same_bits(found: np.ndarray, wanted: np.ndarray) -> None:
    """Compares bit by bit, except that every NaN is equal to every other."""
    wanted = np.broadcast_to(wanted, found.shape)
    for part in found.dtype.names or (...,):
        one, other = found[part], wanted[part]
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(np.signbit(one[one == 0]), np.signbit(other[other == 0]))


def check(given: np.ndarray, found: np.ndarray) -> None:
    """Compares with NumPy bit by bit."""
    expected = combined(given[::-1][:, ::-1].swapaxes(0, 1).reshape(-1, LENGTH))
    results = found
    same_bits(results, expected)


if __name__ == "__main__":
    main()
