"""Input of the caller's own for a run, instead of random vectors."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from collc.spec.arrays import Array

Inputs = Mapping[str, ArrayLike]


def with_inputs(drawn: Mapping[str, Array], inputs: Inputs | None) -> dict[str, Array]:
    """The vectors of a run by buffer, the caller's in place of those drawn at random.

    Shapes are those of the drawn ones, [height, width, length] or [round, height, width, length]
    of a program; axes of size 1 may be left out. Raises ValueError for a buffer that is not there,
    another shape, or numbers that the element type cannot hold exactly, but for the rounding of
    floats; TypeError for what are no numbers.
    """
    given = {name: _fitting(name, drawn, value) for name, value in (inputs or {}).items()}
    return dict(drawn) | given


def _fitting(name: str, drawn: Mapping[str, Array], value: ArrayLike) -> Array:
    if name not in drawn:
        there = ", ".join(sorted(drawn)) or "none"
        raise ValueError(f"the program has no buffer called {name}; it has {there}")
    wanted, array = drawn[name], np.asarray(value)
    fits = array.dtype == wanted.dtype if wanted.dtype.names else array.dtype.kind in "fiu"
    if not fits:
        what = f"pairs, {wanted.dtype}" if wanted.dtype.names else "numbers"
        raise TypeError(f"input {name} is of type {array.dtype}, and has to be {what}")
    if _without_ones(array.shape) != _without_ones(wanted.shape):
        raise ValueError(f"input {name} has shape {array.shape}, the program's is {wanted.shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        cast = array.astype(wanted.dtype)
    if wanted.dtype.kind != "f" and not np.array_equal(cast, array):
        raise ValueError(f"input {name} has numbers that {wanted.dtype} cannot hold")
    return np.ascontiguousarray(cast.reshape(wanted.shape))


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size for size in shape if size != 1)
