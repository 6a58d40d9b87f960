#!/usr/bin/env cs_python
"""Runs the compiled program on random input and checks the results.

total = reduce(x: f32[16], add) on 24 x 1 PEs

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

WIDTH, HEIGHT, ROUNDS = 24, 1, 1
PES = np.arange(WIDTH * HEIGHT).reshape(HEIGHT, WIDTH)
BUFFERS = {  # name: type, bits of an element for memcpy, elements of a round
    "x": (np.float32, 32, 16),
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
    """total = reduce(x: f32[16], add) on 24 x 1 PEs: its results, and which of them are known, given what was known before."""
    length, root = vectors.shape[1], 0 * 24 + 0
    results, now_known = vectors.copy(), np.zeros(vectors.shape, bool)
    total = total_after(vectors)[root]
    results[root] = total
    now_known[root] = known.all(axis=0)
    return results, now_known


# The transfers of the plan. Each phase has: axis, first and last line, whether the transfers of a
# table happen at once, tables. An entry of a table stands for several transfers: the first one as
# (source place, destination place, source element, destination element, elements, whether they are
# combined), the differences from one transfer to the next, and how many there are.
total_ORDER = [
    (
        "x",
        0,
        0,
        False,
        [
            [
                ((23, 22, 0, 0, 16, 1), (-1, -1, 0, 0, 0, 0), 3),
                ((19, 18, 0, 0, 16, 1), (-1, -1, 0, 0, 0, 0), 3),
                ((20, 16, 0, 0, 16, 1), (-5, -2, 0, 0, 0, 0), 2),
                ((14, 13, 0, 0, 16, 1), (-1, -1, 0, 0, 0, 0), 2),
                ((16, 12, 0, 0, 16, 1), (-5, -2, 0, 0, 0, 0), 2),
                ((10, 9, 0, 0, 16, 1), (-1, -1, 0, 0, 0, 0), 2),
                ((12, 8, 0, 0, 16, 1), (-5, -2, 0, 0, 0, 0), 2),
                ((6, 5, 0, 0, 16, 1), (-1, -1, 0, 0, 0, 0), 2),
                ((8, 4, 0, 0, 16, 1), (-5, -2, 0, 0, 0, 0), 2),
                ((2, 1, 0, 0, 16, 1), (-1, -1, 0, 0, 0, 0), 2),
                ((4, 0, 0, 0, 16, 1), (0, 0, 0, 0, 0, 0), 1),
            ],
        ],
    ),
]


def total_after(vectors: np.ndarray) -> np.ndarray:
    """What these transfers make of the vectors of all PEs."""
    on_grid = vectors.reshape(1, 24, -1)
    return in_order(on_grid, total_ORDER, np.add).reshape(vectors.shape)


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


if __name__ == "__main__":
    main()
