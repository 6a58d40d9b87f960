#!/usr/bin/env cs_python
"""Normalises a random vector on a row of PEs and compares with NumPy."""

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

EPSILON = 1e-5
HOW = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}


def main() -> None:
    """Two vectors, one after the other, on one load of the program."""
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
    for offset in (0.0, 3.0):
        x, gamma, beta = rng.normal(size=(3, pes * block)).astype(np.float32)
        x += np.float32(offset)
        found = normalised(runner, pes, block, {"x": x, "gamma": gamma, "beta": beta})
        np.testing.assert_allclose(found, layer_norm(x, gamma, beta), rtol=1e-4, atol=1e-4)
    runner.stop()
    print("SUCCESS!")


def layer_norm(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """What is wanted, in double precision."""
    x = x.astype(np.float64)
    return gamma * (x - x.mean()) / np.sqrt(x.var() + EPSILON) + beta


def normalised(
    runner: SdkRuntime, pes: int, block: int, vectors: dict[str, np.ndarray]
) -> np.ndarray:
    """Copies the vectors in, block by block, launches, and copies x out again."""
    for name, vector in vectors.items():
        runner.memcpy_h2d(runner.get_id(name), vector, 0, 0, pes, 1, block, **HOW)
    runner.launch("normalise", nonblock=False)
    found = np.zeros(pes * block, np.float32)
    runner.memcpy_d2h(found, runner.get_id("x"), 0, 0, pes, 1, block, **HOW)
    return found


if __name__ == "__main__":
    main()
