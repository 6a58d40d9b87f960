"""Functions that Numba compiles, the first time they are called after installation.

What is compiled is kept in the package's folder, or else in the user's cache, as long as the file
that the function is in stays as it is, and those of this package that it imports from; so those
should be few. Numba itself takes a while to import, so that waits for the first call, too.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
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
    return cast(Function, _Waiting(function, {}))


def compiled_in_place(function: Function) -> Function:
    """The same for a function that makes no arrays. It need not count who uses the arrays that it
    is given, which takes longer than little functions do."""
    return cast(Function, _Waiting(function, {"_nrt": False}))


def inlined(function: Function) -> Function:
    """The same for a function that becomes part of those that call it, where calls would take most
    of the time: what they pass on is long. Large ones take long to be compiled."""
    return cast(Function, _Waiting(function, {"_nrt": False, "forceinline": True}))


class _Waiting:
    """A function that is compiled when it is called, with those of its file that it may call."""

    def __init__(self, function: Callable[..., Any], options: dict[str, object]) -> None:
        self.function, self.options = function, options
        self.made: Callable[..., Any] | None = None

    def __call__(self, *given: object) -> object:
        if self.made is None:
            self.made = _made(self)
            _make_all(self.function.__globals__)
        return self.made(*given)


def _make_all(names: dict[str, Any]) -> None:
    """What a file has of functions that wait is made, and what the files they are from have."""
    waiting = {name: one for name, one in names.items() if isinstance(one, _Waiting)}
    for name, one in waiting.items():
        one.made = names[name] = one.made or _made(one)
    for one in waiting.values():
        _make_all(one.function.__globals__)


def _made(waiting: _Waiting) -> Callable[..., Any]:
    # Numba looks at the function's own file; of the others it is told by the name
    function = waiting.function
    function.__qualname__ += "_" + _digest(function.__module__)
    options = {"error_model": "numpy", "no_cfunc_wrapper": True} | waiting.options
    try:
        made = to_machine_code(cache=True, **options)(function)
    except RuntimeError:  # neither folder can be written to: compiled in every process
        made = to_machine_code(**options)(function)
    return made


@lru_cache
def _digest(module: str) -> str:
    """Of the texts of a module and of those of this package that it imports from."""
    texts: dict[str, str] = {}
    missing = [module]
    while missing:
        name = missing.pop()
        texts[name] = Path(str(sys.modules[name].__file__)).read_text(encoding="utf-8")
        found = re.findall(r"^from (collc[.\w]*) import", texts[name], re.MULTILINE)
        missing += [other for other in found if other not in texts]
    return sha256(repr(sorted(texts.items())).encode()).hexdigest()[:12]
