#!/usr/bin/env cs_python
"""Looks for the largest of random values on a grid of PEs and compares with NumPy."""

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

PAIR = np.dtype([("value", np.float32), ("index", np.uint32)])
HOW = {"streaming": False, "order": MemcpyOrder.ROW_MAJOR, "nonblock": False}


def main() -> None:
    """Two sets of values, one after the other, on one load of the program; the second has the
    largest value more than once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="output directory of cslc")
    parser.add_argument("--collectives", required=True, help="output directory of collc")
    parser.add_argument("--cmaddr", help="IP:port of a system; the simulator if absent")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    pes = json.loads((Path(args.collectives) / "manifest.json").read_text())["program"]["width"]
    block = int(json.loads((Path(args.name) / "out.json").read_text())["params"]["block"])
    rng = np.random.default_rng(args.seed)
    runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
    runner.load()
    runner.run()
    for digits in (3, 1):
        values = rng.normal(size=pes * pes * block).round(digits).astype(np.float16)
        found = best_of(runner, pes, block, values)
        index = np.argmax(values)  # of equal ones the first
        np.testing.assert_array_equal(found["index"], index)
        np.testing.assert_array_equal(found["value"], values[index].astype(np.float32))
    runner.stop()
    print("SUCCESS!")


def best_of(runner: SdkRuntime, pes: int, block: int, values: np.ndarray) -> np.ndarray:
    """Copies the values in, PE by PE, launches, and copies the pairs out, which are all alike."""
    words = values.view(np.uint16).astype(np.uint32)
    bits = MemcpyDataType.MEMCPY_16BIT
    runner.memcpy_h2d(runner.get_id("values"), words, 0, 0, pes, pes, block, data_type=bits, **HOW)
    runner.launch("find", nonblock=False)
    found = np.zeros(pes * pes * 2, np.uint32)
    bits = MemcpyDataType.MEMCPY_32BIT
    runner.memcpy_d2h(found, runner.get_id("pair"), 0, 0, pes, pes, 2, data_type=bits, **HOW)
    return found.view(PAIR)


if __name__ == "__main__":
    main()
