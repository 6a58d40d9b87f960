"""Vectors in the memory of PEs: written and read, and what is between their elements.

Elements of a buffer may be apart (`x: f32[B] by 3`). What lies between is filled before a run, and
has to be the same behind it.
"""

from typing import Any

import numpy as np

from collc.base.grids import Grid
from collc.spec import Contract
from collc.spec.arrays import DTYPE, Array, words_of

_BETWEEN = 0xA5  # every byte that is not of an element


def write_vectors(simulator: Any, contract: Contract, vectors: Array) -> None:  # noqa: ANN401 - see `fabsim_module`
    """Give all PEs their vectors, [round, height, width, element]: one PE's rounds in a row."""
    rounds, height, width, _ = vectors.shape
    held = contract.span_of(contract.held)
    memory = np.empty((height, width, rounds, held), vectors.dtype)
    memory.view(np.uint8)[...] = _BETWEEN
    memory[..., :: contract.stride] = vectors.transpose(1, 2, 0, 3)
    words = words_of(memory)
    count = len(words) // (width * height)
    simulator.memcpy_h2d(contract.buffer, words, 0, 0, width, height, count)


def read_vectors(
    simulator: Any,  # noqa: ANN401 - see `fabsim_module`
    grid: Grid,
    contract: Contract,
    rounds: int,
) -> tuple[Array, str]:
    """The vectors of all PEs, as they are written; and what is wrong between their elements, in
    words, or nothing."""
    dtype, held = DTYPE[contract.element], contract.span_of(contract.held)
    one = words_of(np.zeros(rounds * held, dtype))
    place = (0, 0, grid.width, grid.height, len(one))
    found = np.asarray(simulator.memcpy_d2h(contract.buffer, one.dtype, *place)).view(dtype)
    memory = found.reshape(grid.height, grid.width, rounds, held)
    apart = np.arange(held) % contract.stride > 0
    between = np.ascontiguousarray(memory[..., apart]).view(np.uint8)
    wrong = "" if (between == _BETWEEN).all() else "what is between its elements has changed"
    return memory[..., :: contract.stride].transpose(2, 0, 1, 3), wrong
