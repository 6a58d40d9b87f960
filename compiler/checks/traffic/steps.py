"""Each role does what the text of one phase can say.

A PE of a reduce stores vectors, then sends its own, each at most once and all from one color, since
it has one input queue a phase. A PE of a broadcast sends its vector or copies the one that comes.
Both do so with whole vectors, on one lane. The root of a word alone may send in the phase before
(`collc.plan.one_word`): of what it sends, a word is all that comes back before it is received.
"""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic, Span
from collc.plan import VECTOR, WHOLE, Action, Advance, Op, Phase, Plan, Role
from collc.plan.one_word import is_one_word, reduces_one_word


def steps(plan: Plan) -> Iterator[Diagnostic]:
    """C318: operations that no text of a phase does one after the other, or vectors that some PEs
    of a phase store by one operation and others by several; more than a word that nobody sends in
    its own phase."""
    if is_one_word(plan) and not reduces_one_word(plan.collective.contract):
        last = plan.phases[-1]
        problem = "receives more than a word that nobody sends in its phase"
        yield _diagnostic(last, last.roles[0], problem, last.span)
    for phase in plan.phases:
        if not phase.whole:
            continue  # `row_shapes` looks at these
        for role in phase.roles:
            problem = _broadcast_problem(role) if phase.order is None else _reduce_problem(role)
            problem = problem or _mixed(role, phase)
            if problem:
                yield _diagnostic(phase, role, problem, phase.span)


def _reduce_problem(role: Role) -> str:
    """What is wrong with a role of a reduce, or nothing."""
    kinds = tuple(_kind(op, turns) for op, turns in role.repeated)
    if len(role.lanes) != 1 or kinds not in (("store",), ("send",), ("store", "send")):
        return "does something else than to store vectors and then to send one"
    received = {op.receives_on for op in role.ops if op.receives_on is not None}
    if len(received) > 1:
        return f"receives on {len(received)} colors, a phase has one input queue"
    return ""


def _mixed(role: Role, phase: Phase) -> str:
    """Whether a role stores several vectors by one operation where one repeats its own."""
    repeats = any(op.stores and turns > 1 for one in phase.roles for op, turns in one.repeated)
    at_once = [op.vectors for op in role.ops if op.stores and op.vectors > 1]
    if repeats and at_once:
        return f"stores {at_once[0]} vectors by one operation, where others have one for each"
    return ""


def _kind(op: Op, turns: int) -> str:
    """What the text of a reduce knows an operation as."""
    if op.slices != WHOLE or op.elements is not None or op.filter or turns < 1 or op.vectors < 1:
        return ""
    if op.stores and op.send == VECTOR and op.advance is Advance.NOTHING:
        return "store"
    own = op.receive == VECTOR and op.action is Action.COPY
    once = turns == op.vectors == 1
    return "send" if once and op.sends and (own or op.combines_from) else ""


def _broadcast_problem(role: Role) -> str:
    """What is wrong with a role of a broadcast, or nothing."""
    colors = [use.color for use in role.colors]
    if len(colors) != 1 or len(role.colors[0].positions) != 1:
        return "does not have one color with one route"
    if role.repeated not in (
        ((Op(VECTOR, Action.COPY, colors[0]), 1),),
        ((Op(VECTOR, Action.COPY, colors[0], advance=Advance.TEARDOWN), 1),),
        ((Op(colors[0], Action.COPY, VECTOR), 1),),
    ):
        return f"does something else than to send its vector on `{colors[0]}` or to copy one"
    return ""


def _diagnostic(phase: Phase, role: Role, problem: str, at: Span) -> Diagnostic:
    message = f"role `{role.name}` of `{phase.name}` {problem}"
    return Diagnostic("C318", message, at, help="no program text does this; please report it")
