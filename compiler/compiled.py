"""Functions that Numba compiles, the first time they are called after installation.

What is compiled is kept, by the text of the file the function is in, in the package's folder or
the user's cache; so such a file imports nothing that could change without it, but this.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """The function as machine code; it has to see to it that nothing is divided by zero."""
    made: Any = njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
    machine_code: Function = made(function)
    return machine_code
