"""Which phases of a collective are streams, and why others are not."""

from collections.abc import Iterator

from collc.cost.predict import NEVER, cycles_or_never
from collc.lowering import candidate_plans
from collc.lowering.streams import recognised, why_not
from collc.plan import Plan
from collc.schedule import Schedule
from collc.schedule.own_slices import asks_own_slices
from collc.spec.exchange import StepsPhase
from collc.spec.simd import by_call_back


def streaming(schedule: Schedule, plan: Plan) -> Iterator[tuple[str, str]]:
    """For each phase of a plan that is made of steps its name, and whether it streams, or else why
    not."""
    for index, phase in enumerate(plan.phases):
        pattern = schedule.phases[index]
        if isinstance(pattern, StepsPhase):
            yield phase.name, _of_phase(schedule, plan, index, pattern)


def _of_phase(schedule: Schedule, plan: Plan, index: int, pattern: StepsPhase) -> str:
    contract, phase = plan.collective.contract, plan.phases[index]
    own_only = asks_own_slices(schedule, pattern)
    if not phase.has_loops:
        found = recognised(pattern, own_only=own_only)
        colors = len({use.color for role in phase.roles for use in role.colors})
        number = f"{colors} color{'s' * (colors > 1)}"
        return f"streams as {found.word if found else 'steps'}, on {number}"
    if contract.run_length is not None:
        return "goes by steps: the length is known when the program runs"
    in_code = by_call_back(contract)
    path = plan.collective.path
    reason = why_not(pattern, path=path, own_only=own_only, in_code=in_code)
    return f"goes by steps: {reason or _outdone(schedule, plan, index)}"


def _outdone(schedule: Schedule, plan: Plan, index: int) -> str:
    """Why the plans that stream in a phase are not taken."""
    others = [
        other
        for other in candidate_plans(schedule, plan.target)
        if not other.phases[index].has_loops
        and all(
            mine == theirs
            for at, (mine, theirs) in enumerate(zip(plan.phases, other.phases, strict=True))
            if at != index
        )
    ]
    if not others:
        return "a stream goes together with other choices only"
    fewest = min(len(other.colors) for other in others)
    if fewest > plan.color_limit:
        return f"no color is left, a stream takes {fewest} and {plan.color_limit} are allowed"
    best = min(cycles_or_never(other) for other in others)
    if best == NEVER:
        return "a stream gets stuck"
    own = cycles_or_never(plan)
    return f"a stream is predicted to be slower, {best} cycles against {own}"
