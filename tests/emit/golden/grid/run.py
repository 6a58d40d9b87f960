#!/usr/bin/env cs_python
"""Runs the compiled program on random input and checks the result.

total = allreduce(x: f32[16], add) on 12 x 9 PEs

The program is loaded once and launched several times.

Made by collc 0.2.0 from test.coll.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import (  # pylint: disable=no-name-in-module
    MemcpyDataType,
    MemcpyOrder,
    SdkRuntime,
)

WIDTH, HEIGHT = 12, 9
LENGTH = 16
DTYPE = np.float32
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


# The transfers of the plan. Each phase has: axis, first and last line, whether the transfers of a
# table happen at once, tables. An entry of a table stands for several transfers: the first one as
# (source place, destination place, source element, destination element, elements, whether they are
# combined), the differences from one transfer to the next, and how many there are.
ORDER = [
    (
        "y",
        0,
        11,
        False,
        [
            [
                ((7, 6, 0, 0, 16, 1), (-2, -2, 0, 0, 0, 0), 2),
                ((6, 4, 0, 0, 16, 1), (-3, -2, 0, 0, 0, 0), 2),
                ((1, 0, 0, 0, 16, 1), (1, 0, 0, 0, 0, 0), 2),
                ((4, 0, 0, 0, 16, 1), (4, 0, 0, 0, 0, 0), 2),
            ],
        ],
    ),
    (
        "x",
        0,
        0,
        False,
        [
            [
                ((11, 10, 0, 0, 16, 1), (-1, -1, 0, 0, 0, 0), 3),
                ((7, 6, 0, 0, 16, 1), (-1, -1, 0, 0, 0, 0), 3),
                ((8, 4, 0, 0, 16, 1), (-5, -2, 0, 0, 0, 0), 2),
                ((2, 1, 0, 0, 16, 1), (-1, -1, 0, 0, 0, 0), 2),
                ((4, 0, 0, 0, 16, 1), (0, 0, 0, 0, 0, 0), 1),
            ],
        ],
    ),
    ("from", 0, 0, False, []),
]


def rows_of(table: list | tuple) -> Iterator[list[int]]:
    """The rows of a table: each entry has the first of some rows, by what they differ, and how many
    they are."""
    for first, differences, count in table:
        for i in range(count):
            yield (np.array(first) + i * np.array(differences)).tolist()


def in_order(vectors: np.ndarray, order: list, combine) -> np.ndarray:
    """What the transfers of a plan make of the vectors of all PEs, [y, x, element], operand by
    operand. Transfers that happen at once all read before one of them writes."""
    state = vectors.copy()
    for axis, first, last, at_once, tables in order:
        if axis == "from":
            state[:] = state[last, first].copy()
            continue
        turned = state if axis == "x" else state.swapaxes(0, 1)
        lines = turned[first : last + 1]
        steps = [list(rows_of(table)) for table in tables]
        for step in steps if at_once else [[row] for rows in steps for row in rows]:
            read = [lines[:, row[0], row[2] : row[2] + row[4]].copy() for row in step]
            for i, (_, destination, _, into, count, combines) in enumerate(step):
                here = lines[:, destination, into : into + count]
                here[...] = combine(here, read[i]) if combines else read[i]
    return state


def same_bits(found: np.ndarray, wanted: np.ndarray) -> None:
    """Compares bit by bit, except that every NaN is equal to every other."""
    wanted = np.broadcast_to(wanted, found.shape)
    for part in found.dtype.names or (...,):
        one, other = found[part], wanted[part]
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(np.signbit(one[one == 0]), np.signbit(other[other == 0]))


def check(given: np.ndarray, found: np.ndarray) -> None:
    """Compares with NumPy bit by bit, the operands in the plan's order."""
    expected = in_order(given, ORDER, np.add)[ROOT[1], ROOT[0]]
    results = found
    same_bits(results, expected)


if __name__ == "__main__":
    main()
