"""A root that is given when the program runs: what PEs choose is the plan for that root.

For every root the collective with that root is proved and planned by itself, and each PE's part in
it compared with what the PE chooses by its own rank.
"""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.lowering.root_of_call import (
    parts_at,
    planned_for,
    seen_from_the_root,
    side_of,
)
from collc.plan import Plan
from collc.plan.placement import parity_of
from collc.plan.program import ProgramPlan
from collc.proof import prove
from collc.schedule import build_schedule
from collc.spec import ContractKind, RootChoice

REPORT = "a PE would take the wrong part; please report this"
CHAIN = "write `reduce chain to {root} < {ranks}`: in a chain a PE does the same for every root"
SIDES = "run one algorithm for the ranks behind the root, then one for those before it"


def roots_of_call(plan: ProgramPlan) -> Iterator[Diagnostic]:
    """What is wrong with the contract for some root; C345: a PE that chooses another part than it
    has for a root; C346: steps in which that depends on the root."""
    of_name = {one.collective.name: one for one in seen_from_the_root(plan).plans}
    for choice in plan.program.rooted:
        chosen = [of_name[name] for name in choice.names]
        if _colors_differ(plan, choice):
            message = f"for some root a PE of `{choice.name}` sends on a color that others have not"
            yield Diagnostic("C345", message, choice.span, help=REPORT)
            return
        if _turned(chosen):
            yield _refused(choice, f"PEs of `{choice.name}` pass slices both ways")
            return
        for root in range(choice.ranks):
            wrong = list(prove(build_schedule(choice.by_root[root])))
            yield from wrong[:1]
            found = None if wrong else _other_part(plan, choice, chosen, root)
            if found is not None:
                yield _refused(
                    choice,
                    f"rank {found} of `{choice.name}` does not choose its part for root {root}",
                )
            if wrong or found is not None:
                return


def _refused(choice: RootChoice, message: str) -> Diagnostic:
    """A multicast is the compiler's own to choose, other steps are the user's."""
    kind = choice.by_root[0].contract.kind
    if kind is ContractKind.BROADCAST:
        return Diagnostic("C345", message, choice.span, help=REPORT)
    help = CHAIN.format(root=choice.root, ranks=choice.ranks)
    message += ": what it does depends on more than on which side of it the root is"
    return Diagnostic(
        "C346", message, choice.span, help=help if kind is ContractKind.REDUCE else SIDES
    )


def _colors_differ(plan: ProgramPlan, choice: RootChoice) -> bool:
    """Whether what phases of all roots have alike is not the same color of the program in all."""
    colors: dict[str, set[int]] = {}
    for use in plan.uses:
        if plan.plans[use.collective].collective.name in choice.names:
            for name, k in use.positions:
                colors.setdefault(parity_of(name), set()).add(k)
    return any(len(found) > 1 for found in colors.values())


def _turned(chosen: list[Plan]) -> bool:
    """Whether the slices of a side go from the last element to the first at the root alone, or at
    the others alone."""
    ways: dict[object, set[bool]] = {}
    for own in chosen:
        for phase in own.phases:
            if phase.exchange is not None:
                ways.setdefault(side_of(own, phase), set()).add(phase.exchange.backward)
    return any(len(found) > 1 for found in ways.values())


def _other_part(plan: ProgramPlan, choice: RootChoice, chosen: list[Plan], root: int) -> int | None:
    """The first rank that chooses another part than the plan for a root has."""
    own = planned_for(plan, choice, root)
    for rank, place in enumerate(choice.places):
        behind, at, before = chosen
        taken = at if rank == root else behind if rank > root else before
        found = [part.does for part in parts_at(taken, choice.axis, place)]
        if found != [part.does for part in parts_at(own, choice.axis, place)]:
            return rank
    return None
