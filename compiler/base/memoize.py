"""What several stages find out about the same phase, found out once.

A plan is checked for one target after the other, and by one check after the other; its phases stay
the same values all the while.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
PHASES, ROLES = 8, 4096  # results that are held: of the last phases, of the last roles


def by_identity(most: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function with its last results held. Arguments are compared by identity, since to compare
    or hash a phase takes as long as to check it; they have to be frozen, as does the result. Bytes
    are compared by what they hold."""

    def decorated(find: Callable[P, R]) -> Callable[P, R]:
        lock = Lock()
        held: dict[tuple[int | bytes | str, ...], tuple[tuple[object, ...], R]] = {}

        @wraps(find)
        def again(*arguments: P.args, **named: P.kwargs) -> R:
            asked = (*arguments, *named.values())
            key = (*map(str, named), *(one if isinstance(one, bytes) else id(one) for one in asked))
            known = held.get(key)
            if known is None:
                known = asked, find(*arguments, **named)  # as long as they live, ids are theirs
                with lock:
                    if len(held) >= most:
                        del held[next(iter(held))]  # the oldest
                    held[key] = known
            return known[1]

        return again

    return decorated


memoized = by_identity(PHASES)
