"""NumPy with integers of 64 bits where those of the platform have 32, as in WebAssembly.

There an array of Python's integers, a sum, a count and an index have 32 bits unless a type is said,
so that the compiler's numbers would wrap, and the evaluator, which takes 64 bits, would refuse
them. After `widen` they have 64, as on every other machine that collc runs on; what is said to have
32 bits has those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import numpy as np

# of their arguments, if no type is said
_MADE = (
    "arange",
    "array",
    "asarray",
    "concatenate",
    "empty",
    "fromiter",
    "full",
    "ones",
    "stack",
    "where",
    "zeros",
)
# of the platform's type, whatever the arguments are
_COUNTED = (
    "argsort",
    "argwhere",
    "bincount",
    "cumsum",
    "flatnonzero",
    "indices",
    "lexsort",
    "nonzero",
    "searchsorted",
    "sum",
    "unravel_index",
)
Function = Callable[..., Any]


def widen() -> None:
    """Do so for all of this interpreter."""
    for name in _MADE:
        setattr(np, name, _made(getattr(np, name)))
    for name in _COUNTED:
        setattr(np, name, _counted(getattr(np, name)))
    np.bincount = _narrowed(np.bincount, 0)
    np.repeat = _narrowed(np.repeat, 1)
    np.unique = _indexed(np.unique)


def _made(function: Function) -> Function:
    @wraps(function)
    def wide(*args: Any, **named: Any) -> Any:  # noqa: ANN401 - as NumPy declares them
        args = tuple(np.int64 if arg is int else arg for arg in args)
        if named.get("dtype") is int:
            named["dtype"] = np.int64
        found = function(*args, **named)
        said = "dtype" in named or any(isinstance(arg, type | np.dtype | str) for arg in args)
        return found if said or _holds_narrow(args) else _wide(found)

    return wide


def _counted(function: Function) -> Function:
    @wraps(function)
    def wide(*args: Any, **named: Any) -> Any:  # noqa: ANN401
        found = function(*args, **named)
        return found if "dtype" in named else _wide(found)

    return wide


def _indexed(function: Function) -> Function:
    """What gives values and, if asked, indices behind them."""

    @wraps(function)
    def wide(*args: Any, **named: Any) -> Any:  # noqa: ANN401
        found = function(*args, **named)
        return (found[0], *map(_wide, found[1:])) if isinstance(found, tuple) else found

    return wide


def _narrowed(function: Function, place: int) -> Function:
    """What takes whole arrays of counts or indices takes them of the platform's type only; none is
    above the size of an array."""

    @wraps(function)
    def narrow(*args: Any, **named: Any) -> Any:  # noqa: ANN401
        counts = np.asarray(args[place]).astype(np.intp)
        return function(*args[:place], counts, *args[place + 1 :], **named)

    return narrow


def _wide(found: Any) -> Any:  # noqa: ANN401
    if isinstance(found, tuple):
        return tuple(map(_wide, found))
    narrow = isinstance(found, np.ndarray | np.generic) and found.dtype == np.int32
    return found.astype(np.int64) if narrow else found


def _holds_narrow(given: Iterable[Any], depth: int = 2) -> bool:
    """Whether something that is said to have 32 bits is among what is given."""
    for one in given:
        if isinstance(one, np.ndarray | np.generic):
            if one.dtype == np.int32:
                return True
        elif depth and isinstance(one, list | tuple) and _holds_narrow(one, depth - 1):
            return True
    return False
