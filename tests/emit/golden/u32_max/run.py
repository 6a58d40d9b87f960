#!/usr/bin/env cs_python
"""Runs the compiled program on random input and checks the results.

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

WIDTH, HEIGHT, ROUNDS = 6, 1, 1
PES = np.arange(WIDTH * HEIGHT).reshape(HEIGHT, WIDTH)
BUFFERS = {  # name: type, bits of an element for memcpy, elements of a round
    "x": (np.uint32, 32, 16),
}
ROUNDED = set()  # buffers with sums whose order is not followed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="output directory of cslc")
    parser.add_argument("--cmaddr", help="IP:port of a system; the simulator if absent")
    parser.add_argument("--launches", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    rng = np.random.default_rng(args.seed)
    runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
    symbols = {name: runner.get_id(name) for name in ('x',)}
    runner.load()
    runner.run()
    for _ in range(args.launches):
        given = {name: make_input(rng, *kind) for name, kind in BUFFERS.items()}
        check_all(given, run(runner, symbols, given))
    runner.stop()
    print("SUCCESS!")


def check_all(given: dict[str, np.ndarray], found: dict[str, np.ndarray]) -> None:
    """Checks all rounds."""
    compared = 0
    for round_ in range(ROUNDS):
        compared += check(
            {name: vectors[:, :, round_] for name, vectors in given.items()},
            {name: vectors[:, :, round_] for name, vectors in found.items()},
        )
    assert compared or not BUFFERS, (
        "no element was compared: no contract says what a buffer holds after the last call"
    )


def make_input(rng: np.random.Generator, dtype: type, bits: int, length: int) -> np.ndarray:
    """One vector for each PE and round, as an array [y, x, round, element]."""
    shape = (HEIGHT, WIDTH, ROUNDS, length)
    if np.issubdtype(dtype, np.integer):
        return rng.integers(0, 100, size=shape).astype(dtype)
    return rng.uniform(0.5, 1.5, size=shape).astype(dtype)


def run(runner: SdkRuntime, symbols: dict[str, int], given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Copies the vectors in, launches, copies them out again."""
    for buffer, (_, bits, length) in BUFFERS.items():
        # memcpy takes 32-bit words; a 16-bit element is the low half of its word.
        words = given[buffer].view(f"uint{bits}").astype(np.uint32).ravel()
        copy_in(runner, symbols[buffer], words, ROUNDS * length, bits)
    runner.launch("run", nonblock=False)
    found = {}
    for buffer, (dtype, bits, length) in BUFFERS.items():
        out = copy_out(runner, symbols[buffer], ROUNDS * length, bits).astype(f"uint{bits}")
        found[buffer] = out.view(dtype).reshape(HEIGHT, WIDTH, ROUNDS, length)
    return found


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


def check(given: dict[str, np.ndarray], found: dict[str, np.ndarray]) -> int:
    """Computes the vectors of a round from call to call, and compares what the contracts promise
    bit by bit; returns the number of elements compared. Buffers in `ROUNDED` may differ by the
    rounding of each operand."""
    vectors = {name: array.reshape(WIDTH * HEIGHT, -1).copy() for name, array in given.items()}
    known = {name: np.ones(array.shape, bool) for name, array in vectors.items()}
    follow(total_call, PES.reshape(1, -1), "x", vectors, known)
    for name, wanted in vectors.items():
        asked = known[name]
        results = found[name].reshape(WIDTH * HEIGHT, -1)
        if name not in ROUNDED:
            same_bits(results[asked], wanted[asked])
        else:
            tolerance = WIDTH * HEIGHT * float(np.finfo(wanted.dtype).eps)
            np.testing.assert_allclose(results[asked], wanted[asked], rtol=tolerance)
    return sum(int(asked.sum()) for asked in known.values())


def same_bits(found: np.ndarray, wanted: np.ndarray) -> None:
    """Compares bit by bit, except that every NaN is equal to every other."""
    wanted = np.broadcast_to(wanted, found.shape)
    for part in found.dtype.names or (...,):
        one, other = found[part], wanted[part]
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(np.signbit(one[one == 0]), np.signbit(other[other == 0]))


def follow(collective, pes: np.ndarray, name: str, vectors: dict, known: dict) -> None:
    """Applies one call to a buffer, and notes which elements are known; `pes` has a row for each
    group of PEs that runs the collective by itself."""
    for group in pes:
        vectors[name][group], known[name][group] = collective(vectors[name][group], known[name][group])


def total_call(vectors: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """total = reduce(x: u32[16], max) on 6 x 1 PEs: its results, and which of them are known, given what was known before."""
    length, root = vectors.shape[1], 0 * 6 + 0
    results, now_known = vectors.copy(), np.zeros(vectors.shape, bool)
    total = total_total(vectors)
    results[root] = total
    now_known[root] = known.all(axis=0)
    return results, now_known


def total_total(vectors: np.ndarray) -> np.ndarray:
    """All vectors combined, in the order of their ranks."""
    return np.maximum.reduce(vectors, axis=0, dtype=vectors.dtype)


if __name__ == "__main__":
    main()
