"""At the end of a reduce all switches are in their first position again, so that it may run again.

On one color, the vectors that a router sees come from ever farther ranks. The control wavelet that
sets a router back has to come behind the last of them: sooner, a vector of this run would meet the
first position; not at all, one of the next run would meet the last.
"""

from __future__ import annotations

from collections.abc import Iterator

from collc.diagnostics import Diagnostic
from collc.placement import roles_of_ranks
from collc.plan import Advance, Phase, Plan, Role, SendVector
from collc.schedule import ReducePhase, Schedule


def switches_return(schedule: Schedule, plan: Plan) -> Iterator[Diagnostic]:
    """C329: a router that is left in a later position, or set back before its last vector."""
    for phase, pattern in zip(plan.phases, schedule.phases, strict=True):
        if isinstance(pattern, ReducePhase):
            problem = _problem(phase, pattern)
            if problem:
                help = "the last vector on a color brings its routers back; please report this"
                yield Diagnostic("C329", f"in `{phase.name}` {problem}", pattern.span, help=help)


def _problem(phase: Phase, pattern: ReducePhase) -> str:
    """The first router that is not set back when it should be, or nothing."""
    roles = roles_of_ranks(phase, pattern)
    moves = [_colors_that_move(role) for role in roles]
    not_yet: dict[str, list[int]] = {}  # by color: the next router from a rank down that is open
    for transfer in reversed(sorted(pattern.transfers, key=lambda transfer: transfer.source)):
        source, destination = transfer.source, transfer.destination
        step = _sending_step(roles[source])
        if step is None:
            continue
        resets = step.advance is Advance.RESET
        if step.color not in not_yet:
            not_yet[step.color] = list(range(pattern.ranks))
        open_routers = not_yet[step.color]
        if resets and (early := _seen_before(moves, open_routers, step.color, destination, source)):
            return f"rank {source} sets the router of rank {early} back before its last vector"
        router = _next(open_routers, source)
        while router >= destination:
            if step.color in moves[router] and not resets:
                return f"nothing sets the router of rank {router} back on `{step.color}`"
            open_routers[router] = router - 1
            router = _next(open_routers, router)
    return ""


def _colors_that_move(role: Role | None) -> frozenset[str]:
    """The colors that have a second position at the routers of a role."""
    uses = role.colors if role else ()
    return frozenset(use.color for use in uses if len(use.positions) > 1)


def _sending_step(role: Role | None) -> SendVector | None:
    steps = role.steps if role else ()
    return next((step for step in steps if isinstance(step, SendVector)), None)


def _seen_before(
    moves: list[frozenset[str]], open_routers: list[int], color: str, first: int, last: int
) -> int:
    """A router that moves, among `first` to `last`, that a farther vector passes; 0 if none."""
    passed = (router for router in range(first, last + 1) if open_routers[router] != router)
    return next((router for router in passed if color in moves[router]), 0)


def _next(open_routers: list[int], rank: int) -> int:
    """The first router from `rank` down that no farther vector has been seen at; -1 if none."""
    path = []
    while rank >= 0 and open_routers[rank] != rank:
        path.append(rank)
        rank = open_routers[rank]
    for passed in path:
        open_routers[passed] = rank
    return rank
