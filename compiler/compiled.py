"""Functions that Numba compiles, the first time they are called after installation.

What is compiled is kept in the package's folder, or else in the user's cache, as long as the file
that the function is in stays as it is; so such a file imports nothing that could change, but this.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

to_machine_code: Any = njit  # its types do not know all options
Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """The function as machine code; it has to see to it that nothing is divided by zero."""
    options = {"error_model": "numpy", "no_cfunc_wrapper": True}
    try:
        made: Function = to_machine_code(cache=True, **options)(function)
    except RuntimeError:  # neither folder can be written to: compiled in every process
        made = to_machine_code(**options)(function)
    return made
