"""A collective of a program as it is when it has the PEs to itself."""

from collc.base.memoize import by_identity
from collc.lowering import numbered_plan, resources
from collc.lowering.lane_queues import with_shared_queues
from collc.lowering.sharing import share
from collc.lowering.teardown import without_teardown
from collc.plan import Plan
from collc.plan.one_call import of_one_call
from collc.plan.plan import ProgramPlan
from collc.spec.program import program_of_one

_HELD = 64


@by_identity(_HELD)
def by_itself(plan: Plan) -> ProgramPlan:
    """The program that calls a collective of another program once, by the same phases: each with
    colors and numbers of its own, none of which is torn down, if there are as many, else with
    those that a program of several calls has."""
    phases = tuple(map(without_teardown, plan.phases))
    own = numbered_plan(plan.collective, phases, plan.target)
    own = own if resources.within_budget(own) else with_shared_queues(own)
    if resources.within_budget(own):
        return of_one_call(own)
    return share((own,), program_of_one(plan.collective), plan.target)
