"""Functions that Numba compiles, the first time they are called after installation.

What is compiled is kept in the package's folder, or else in the user's cache, as long as the file
that the function is in stays as it is; so such a file imports nothing that could change, but this.
Numba itself takes a while to import, so that waits for the first call, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


def to_machine_code(**options: object) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Numba's decorator."""
    from numba import njit  # noqa: PLC0415 - takes a while, and most commands do without

    decorator: Any = njit  # its types do not know all options
    made: Callable[[Callable[..., Any]], Callable[..., Any]] = decorator(**options)
    return made


def compiled(function: Function) -> Function:
    """The function as machine code; it has to see to it that nothing is divided by zero."""
    return cast(Function, _Waiting(function))


class _Waiting:
    """A function that is compiled when it is called, with those of its file that it may call."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.made: Callable[..., Any] | None = None

    def __call__(self, *given: object) -> object:
        if self.made is None:
            names = self.function.__globals__
            others = {name: one for name, one in names.items() if isinstance(one, _Waiting)}
            for one in (self, *others.values()):
                one.made = one.made or _made(one.function)
            names.update({name: one.made for name, one in others.items()})
        assert self.made is not None
        return self.made(*given)


def _made(function: Callable[..., Any]) -> Callable[..., Any]:
    options = {"error_model": "numpy", "no_cfunc_wrapper": True}
    try:
        made = to_machine_code(cache=True, **options)(function)
    except RuntimeError:  # neither folder can be written to: compiled in every process
        made = to_machine_code(**options)(function)
    return made
