"""What has been worked out for the very same objects is not worked out again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

KEPT = 8  # results, and with them the objects


@dataclass(frozen=True, eq=False)
class _Same:
    """Equal to what holds the same object; objects as large as a plan take long to compare."""

    held: object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.held is other.held

    def __hash__(self) -> int:
        return id(self.held)


class _Remembered(Generic[R]):
    """Results by the objects they were made of, the latest `KEPT` of them."""

    def __init__(self, function: Callable[..., R]) -> None:
        self.results = lru_cache(maxsize=KEPT)(lambda *held: function(*(one.held for one in held)))

    def __call__(self, *arguments: object) -> R:
        return self.results(*map(_Same, arguments))


def remembered(function: Callable[P, R]) -> Callable[P, R]:
    """The function, with its latest results kept; arguments are told apart by identity and must
    not be changed afterwards."""
    results = _Remembered(function)

    @wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> R:
        return results(*arguments, *named.values())

    return call
