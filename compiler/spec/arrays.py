"""Vectors as NumPy has them, and NumPy's names of the operations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from collc.spec import Operation

Array = NDArray[Any]
Mask = NDArray[np.bool_]

UFUNC: dict[Operation, np.ufunc] = {
    Operation.ADD: np.add,
    Operation.MAX: np.maximum,
    Operation.MIN: np.minimum,
    Operation.MUL: np.multiply,
    Operation.AND: np.bitwise_and,
    Operation.OR: np.bitwise_or,
    Operation.XOR: np.bitwise_xor,
}
