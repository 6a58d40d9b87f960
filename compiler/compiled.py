"""Functions that Numba compiles, the first time they are called after installation.

What is compiled is kept, by the text of the file the function is in, in the package's folder or
the user's cache; so such a file imports nothing that could change without it, but this.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

to_machine_code: Any = njit  # its types do not know all options
Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """The function as machine code; it has to see to it that nothing is divided by zero."""
    made: Function = to_machine_code(cache=True, error_model="numpy", no_cfunc_wrapper=True)(
        function
    )
    return made
