"""Colors that are torn down: every router once in a phase, behind its last vector.

A router that is set for a phase lets nothing in before it is set and nothing after its teardown.
So vectors of two phases on one color never meet, whatever the timing, if

- a teardown comes to every router that a phase sets, behind its last vector of the phase. Then no
  vector of the phase is held up, and the router may be set for the next one;
- what a router sends towards a neighbour last goes everywhere it has sent before. Then whatever it
  sends in the next phase comes behind the teardown of this one on the same link, in order, so it
  finds the neighbour torn down, not open for vectors of this phase.

A PE sets a router only when it knows of its teardown, and begins a phase only then. It takes no
vector of the next phase out of a queue before its own part of this one is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set

from collc.checks.passages import passages
from collc.diagnostics import Diagnostic
from collc.placement import roles_of_ranks, sent_colors
from collc.plan import Advance, Direction, Phase, Plan, Role, SendVector
from collc.program import ProgramPlan, Use
from collc.schedule import ReducePhase, Schedule


def nothing_torn_down(schedule: Schedule, plan: Plan) -> Iterator[Diagnostic]:
    """C331: a teardown in a collective by itself, which would never set the color again."""
    for phase, pattern in zip(plan.phases, schedule.phases, strict=True):
        for role in phase.roles:
            advances = [step.advance for step in role.steps if isinstance(step, SendVector)]
            if Advance.TEARDOWN in advances or any(lane.tears_down for lane in role.lanes):
                message = f"in `{phase.name}` role `{role.name}` tears down a color for good"
                help = "only programs of several collectives tear colors down; please report this"
                yield Diagnostic("C331", message, pattern.span, help=help)


def teardown(plan: ProgramPlan) -> Iterator[Diagnostic]:
    """C331: a router that is not torn down behind its last vector of a phase, or too early; C332: a
    router whose earlier vectors go where its teardown does not."""
    for use in plan.uses:
        torn = {name for name, k in use.positions if plan.colors[k].torn_down}
        phase = plan.phase(use)
        problem = _not_torn_down(plan, use, torn)
        if problem:
            yield _diagnostic("C331", plan, use, problem)
        problem = _gone_elsewhere(phase, torn)
        if problem:
            yield _diagnostic("C332", plan, use, problem)


def _diagnostic(code: str, plan: ProgramPlan, use: Use, problem: str) -> Diagnostic:
    message = f"in `{plan.label(use)}` {problem}"
    help = "each phase has to leave its colors torn down; please report this"
    return Diagnostic(code, message, plan.pattern(use).span, help=help)


def _not_torn_down(plan: ProgramPlan, use: Use, torn: Set[str]) -> str:
    """What is wrong with the teardowns of a phase, or nothing."""
    phase, pattern = plan.phase(use), plan.pattern(use)
    if isinstance(pattern, ReducePhase):
        return _along_line(phase, pattern, torn)
    # one way for each color of an exchange, and one for a broadcast: other checks see to that
    for role in phase.roles:
        for color in sent_colors(role):
            if color in torn and not _tears_down(role, color):
                return f"role `{role.name}` does not tear down `{color}`, which it sends on"
            if color not in torn and _tears_down(role, color, any):
                return f"role `{role.name}` tears down `{color}`, which is never set again"
    return ""


def _tears_down(role: Role, color: str, of: Callable[[Iterable[bool]], bool] = all) -> bool:
    """Whether a PE that sends on a color tears its way down at the end."""
    sends = (s for s in role.steps if isinstance(s, SendVector) and s.color == color)
    lanes = (lane for lane in role.lanes if lane.sends_on == color)
    return of([*(s.advance is Advance.TEARDOWN for s in sends), *(n.tears_down for n in lanes)])


def _along_line(phase: Phase, pattern: ReducePhase, torn: Set[str]) -> str:
    roles = roles_of_ranks(phase, pattern)
    seen: dict[str, set[int]] = {}
    for passage in passages(pattern, roles):
        source, color = passage.source, passage.step.color
        seen.setdefault(color, set()).update(passage.last_at)
        is_last, ends = len(passage.last_at), passage.step.advance is Advance.TEARDOWN
        if ends and color not in torn:
            return f"rank {source} tears down `{color}`, which is never set again"
        if ends and is_last <= source - passage.destination:
            return f"rank {source} tears down `{color}` before a farther vector has passed"
        if is_last and color in torn and not ends:
            router = passage.last_at[0]
            return f"nothing tears down `{color}` at rank {router} behind its last vector"
    for rank, role in enumerate(roles):
        for use in role.colors if role else ():
            if use.color in torn and rank not in seen.get(use.color, ()):
                return f"no vector on `{use.color}` passes the router of rank {rank}, which is set"
    return ""


def _gone_elsewhere(phase: Phase, torn: Set[str]) -> str:
    """A router that sends somewhere only before its last position."""
    for role in phase.roles:
        for use in role.colors:
            last = {*use.positions[-1].send, Direction.RAMP}
            if use.color in torn and any(not last >= {*route.send} for route in use.positions):
                return f"role `{role.name}` sends on `{use.color}` where its teardown does not go"
    return ""
