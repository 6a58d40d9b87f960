"""A root that is given when the program runs: what PEs choose is the plan for that root.

For every root the collective with that root is proved and planned by itself, and each PE's part in
it compared with what the PE chooses by its own rank.
"""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.lowering import candidate_plans
from collc.lowering.root_of_call import chosen_roles, role_at, seen_from_the_root
from collc.lowering.teardown import with_teardown
from collc.plan import Phase, Role
from collc.plan.configuration import torn_down_by
from collc.plan.program import ProgramPlan
from collc.proof import prove
from collc.schedule import build_schedule
from collc.spec import RootChoice

HELP = "a PE would take the wrong part; please report this"


def roots_of_call(plan: ProgramPlan) -> Iterator[Diagnostic]:
    """What is wrong with the contract for some root; C345: a PE that chooses another part than it
    has for a root."""
    emitted = seen_from_the_root(plan)
    phases = {one.collective.name: one.phases for one in emitted.plans}
    for choice in plan.program.rooted:
        for root in range(choice.ranks):
            wrong = list(prove(build_schedule(choice.at(root))))
            yield from wrong[:1]
            found = None if wrong else _other_part(plan, choice, phases, root)
            if found is not None:
                message = (
                    f"rank {found} of `{choice.name}` does not choose its part for root {root}"
                )
                yield Diagnostic("C345", message, choice.span, help=HELP)
            if wrong or found is not None:
                return


def _other_part(
    plan: ProgramPlan, choice: RootChoice, phases: dict[str, tuple[Phase, ...]], root: int
) -> int | None:
    """The first rank that chooses another part than the plan for a root has."""
    wanted = _planned(plan, choice, root)
    for rank, number, role in chosen_roles(choice, phases, root):
        there = role_at(wanted[number], choice.axis, choice.places[rank])
        if _does(role) != _does(there):
            return rank
    return None


def _planned(plan: ProgramPlan, choice: RootChoice, root: int) -> tuple[Phase, ...]:
    """The phases of the collective with a root, torn down as those of the program are."""
    schedule = build_schedule(choice.at(root))
    own = next(candidate_plans(schedule, plan.target))
    index = plan.index_of(choice.names[0], 0)
    uses = [use for _, use in plan.uses_of(index)]
    torn = (frozenset(torn_down_by(plan, use)) for use in uses)
    return tuple(
        with_teardown(phase, colors) for phase, colors in zip(own.phases, torn, strict=True)
    )


def _does(role: Role) -> tuple[object, ...]:
    """A role but for how it is called."""
    return role.lanes, tuple(sorted(role.colors, key=str))
