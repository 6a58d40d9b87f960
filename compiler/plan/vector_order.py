"""Vectors along a line as its routers see them, last ones first.

On one color, the vectors that a router sees come from ever farther ranks. So of the vectors on a
color, taken from the farthest rank on, the first one through a router is the last in time.
"""

from collections.abc import Iterator, Sequence

from collc.base.values import dataclass
from collc.plan import Op, Role
from collc.plan.line_tokens import follow


@dataclass(frozen=True)
class Passage:
    """A vector from rank `source` to rank `destination`, the operation that sends it, and the
    routers of its way, from the source on, that no other vector on its color passes later."""

    source: int
    destination: int
    op: Op
    last_at: tuple[int, ...]

    @property
    def color(self) -> str:
        """The color it goes on."""
        return self.op.sends_on or ""


def passages(children: Sequence[Sequence[int]], roles: Sequence[Role | None]) -> Iterator[Passage]:
    """All vectors of a line, by descending source; `roles` are those of its ranks."""
    skips: dict[str, list[int]] = {}
    parents = {child: rank for rank, below in enumerate(children) for child in below}
    for source, destination in sorted(parents.items(), reverse=True):
        op = _sending(roles[source])
        if op is None or op.sends_on is None:
            continue
        if op.sends_on not in skips:
            skips[op.sends_on] = list(range(len(children)))
        last_at = tuple(_pass(skips[op.sends_on], source, destination))
        yield Passage(source, destination, op, last_at)


def _pass(skips: list[int], source: int, destination: int) -> Iterator[int]:
    router = follow(skips, source)
    while router >= destination:
        yield router
        skips[router] = router - 1
        router = follow(skips, router)


def _sending(role: Role | None) -> Op | None:
    return next((op for op in (role.ops if role else ()) if op.sends), None)
