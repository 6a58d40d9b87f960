"""What is found out once: by several stages about the same phase, or by one program after another.

A plan is checked for one target after the other, and by one check after the other; its phases stay
the same values all the while.
"""

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
K = TypeVar("K")
PHASES, ROLES = 8, 4096  # results that are held: of the last phases, of the last roles or lanes


def by_identity(most: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function with its last results held. Arguments by position are compared by identity, since
    to compare or hash a phase takes as long as to check it; they have to be frozen, as does the
    result. Those by name are compared by value."""

    def decorated(find: Callable[P, R]) -> Callable[P, R]:
        lock = Lock()
        held: dict[tuple[object, ...], tuple[tuple[object, ...], R]] = {}

        @wraps(find)
        def again(*arguments: P.args, **named: P.kwargs) -> R:
            key = (*map(id, arguments), *named.items())
            known = held.get(key)
            if known is None:
                known = arguments, find(*arguments, **named)  # as long as they live, ids are theirs
                with lock:
                    if len(held) >= most:
                        del held[next(iter(held))]  # the oldest
                    held[key] = known
            return known[1]

        return again

    return decorated


memoized = by_identity(PHASES)


class Latest(Generic[K, R]):
    """The results that were asked for last, by what was asked; several threads may ask. There are
    at most `most`, which `weigh` at most `room` together."""

    def __init__(self, most: int, room: int, weigh: Callable[[R], int]) -> None:
        self.most, self.room, self.weigh = most, room, weigh
        self.held: dict[K, R] = {}  # the one that was asked for last comes last
        self._lock = Lock()

    def find(self, key: K, find: Callable[[], R]) -> R:
        """The result, or the one that was found before."""
        with self._lock:
            known = self.held.pop(key, None)
        found = find() if known is None else known
        with self._lock:
            self.held[key] = found
            while len(self.held) > self.most or self._weight() > self.room:
                del self.held[next(iter(self.held))]  # the oldest
        return found

    def _weight(self) -> int:
        return sum(map(self.weigh, self.held.values()))
