"""What a run has to give: the schedule carried out in NumPy, operand by operand.

The operand order is part of the schedule, so a rounded sum has to match bit by bit. A second,
order-free reduction in wider arithmetic guards the first one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from collc.schedule import ReducePhase, Schedule, home_pe
from collc.spec import Collective, ContractKind, ElementType, Operation

Array = NDArray[Any]

_UFUNC: dict[Operation, np.ufunc] = {
    Operation.ADD: np.add,
    Operation.MAX: np.maximum,
    Operation.MIN: np.minimum,
    Operation.MUL: np.multiply,
}

_DTYPE = {
    ElementType.F32: np.float32,
    ElementType.F16: np.float16,
    ElementType.I32: np.int32,
    ElementType.U32: np.uint32,
    ElementType.I16: np.int16,
    ElementType.U16: np.uint16,
}


def make_input(collective: Collective, seed: int) -> Array:
    """Random vectors, one for each PE: an array [height, width, length] of the element type."""
    grid, contract = collective.grid, collective.contract
    shape = (grid.height, grid.width, contract.length)
    dtype = np.dtype(_DTYPE[contract.element])
    rng = np.random.default_rng(seed)
    if dtype.kind == "f":
        return rng.uniform(0.5, 1.5, size=shape).astype(dtype)
    return np.frombuffer(rng.bytes(math.prod(shape) * dtype.itemsize), dtype).reshape(shape)


def expected(schedule: Schedule, given: Array) -> Array:
    """The vectors of all PEs after the schedule, [height, width, length]."""
    contract = schedule.collective.contract
    state = given.copy()
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for phase in schedule.phases:
            if isinstance(phase, ReducePhase):
                assert contract.operation is not None
                _reduce(phase, _UFUNC[contract.operation], state)
            else:
                state[:, :] = state[phase.y, phase.x]
    return state


def mismatch(schedule: Schedule, given: Array, found: Array) -> str:
    """What is wrong with `found`, in words; empty when it is right.

    `found` has the shape of `given`. A reduce promises its result at one PE only.
    """
    wanted = expected(schedule, given)
    if schedule.collective.contract.kind is ContractKind.REDUCE:
        x, y = home_pe(schedule)
        wanted, found, origin = wanted[y : y + 1, x : x + 1], found[y : y + 1, x : x + 1], (x, y)
    else:
        origin = (0, 0)
    differs = _bits(wanted) != _bits(found)
    if differs.any():
        y, x, i = (int(index) for index in np.argwhere(differs)[0])
        return (
            f"{int(differs.sum())} of {differs.size} elements are wrong; the first is element {i} "
            f"at PE ({origin[0] + x}, {origin[1] + y}): {found[y, x, i]!s} instead of "
            f"{wanted[y, x, i]!s}"
        )
    return _order_free_mismatch(schedule, given, wanted)


def _reduce(phase: ReducePhase, combine: np.ufunc, state: Array) -> None:
    lines = slice(phase.lines[0], phase.lines[1] + 1)
    for transfer in phase.transfers:
        source = phase.coordinate(transfer.source)
        destination = phase.coordinate(transfer.destination)
        if phase.axis == "x":
            into, out = state[lines, destination], state[lines, source]
        else:
            into, out = state[destination, lines], state[source, lines]
        into[...] = combine(into, out, dtype=state.dtype)


def _bits(values: Array) -> Array:
    return values.view(f"u{values.dtype.itemsize}")


def _order_free_mismatch(schedule: Schedule, given: Array, wanted: Array) -> str:
    """Compare the last result with a reduction that knows nothing of the schedule."""
    contract = schedule.collective.contract
    operation = contract.operation
    if operation is None or (
        np.issubdtype(given.dtype, np.floating) and operation is Operation.MUL
    ):
        return ""
    flat = given.reshape(-1, contract.length)
    if np.issubdtype(given.dtype, np.integer):
        plain: Array = _UFUNC[operation].reduce(flat, axis=0, dtype=given.dtype)
        close = np.array_equal(plain, wanted[0, 0])
    else:
        plain = _UFUNC[operation].reduce(flat.astype(np.float64), axis=0)
        tolerance = len(flat) * float(np.finfo(given.dtype).eps)
        close = bool(np.allclose(plain, wanted[0, 0].astype(np.float64), rtol=tolerance))
    return "" if close else "the schedule's own result is not the reduction of all operands"
