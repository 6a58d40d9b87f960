"""What several stages find out about the same phase, found out once.

A plan is checked for one target after the other, and by one check after the other; its phases stay
the same values all the while.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
KEPT = 8  # results, of the last phases


def remembered(find: Callable[P, R]) -> Callable[P, R]:
    """`find` with its last results kept. Arguments are compared by identity, since to compare or
    hash a phase takes as long as to check it; they have to be frozen, as does the result."""
    kept: deque[tuple[tuple[object, ...], R]] = deque(maxlen=KEPT)

    @wraps(find)
    def again(*arguments: P.args, **named: P.kwargs) -> R:
        asked = (*arguments, *named.values())
        for known, result in kept:
            if len(known) == len(asked) and all(map(_is, known, asked)):
                return result
        result = find(*arguments, **named)
        kept.append((asked, result))
        return result

    return again


def _is(one: object, other: object) -> bool:
    return one is other
