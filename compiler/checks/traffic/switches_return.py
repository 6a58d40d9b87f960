"""At the end of a reduce all switches are in their first position again, so that it may run again.

The control wavelet that sets a router back has to come behind its last vector: sooner, a vector of
this run would meet the first position; not at all, one of the next run would meet the last. Where a
color is torn down, it is set anew, and `collc.checks.teardown` looks at that.
"""

from collections.abc import Iterable, Iterator
from functools import partial

from collc.base.diagnostics import Diagnostic
from collc.checks.by_phase import due_tree, phases_of, problems
from collc.checks.vector_order import Passage, passages
from collc.plan import Advance, Phase, Plan, Role
from collc.plan.form import Form
from collc.plan.placement import roles_of_ranks

SETS_BACK = frozenset((Advance.RESET, Advance.TEARDOWN))


def switches_return(plan: Plan) -> Iterator[Diagnostic]:
    """C329: a router that is left in a later position, or set back before its last vector."""
    help = "the last vector on a color brings its routers back"
    return problems("C329", help, phases_of(plan, Form.TREE), partial(_problem, plan))


def _problem(plan: Plan, phase: Phase) -> str:
    """The first router that is not set back when it should be, or nothing."""
    roles, tree = roles_of_ranks(phase), due_tree(plan, phase)
    if len(roles) != tree.ranks:
        return ""  # another check says so
    moves = [_colors_that_move(role) for role in roles]
    for passage in passages(tree.children, roles):
        source, color = passage.source, passage.color
        if passage.op.advance in SETS_BACK:
            early = _moving(moves, color, _passed_later(passage))
            if early is not None:
                return f"rank {source} sets the router of rank {early} back before its last vector"
        else:
            left = _moving(moves, color, passage.last_at)
            if left is not None:
                return f"nothing sets the router of rank {left} back on `{color}`"
    return ""


def _passed_later(passage: Passage) -> Iterator[int]:
    """The routers of a vector's way that a later vector passes, too."""
    last_at = set(passage.last_at)
    way = range(passage.destination, passage.source + 1)
    return (router for router in way if router not in last_at)


def _moving(moves: list[frozenset[str]], color: str, routers: Iterable[int]) -> int | None:
    """The first of these routers whose switch moves on a color."""
    return next((router for router in routers if color in moves[router]), None)


def _colors_that_move(role: Role | None) -> frozenset[str]:
    """The colors that have a second position at the routers of a role."""
    uses = role.colors if role else ()
    return frozenset(use.color for use in uses if len(use.positions) > 1)
