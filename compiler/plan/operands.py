"""What roles of a phase of whole vectors have that takes a queue."""

from collections.abc import Callable

from collc.plan.plan import Role

Having = Callable[[Role], bool]


def sends(role: Role) -> bool:
    """Whether PEs of a role send their vector."""
    return any(op.sends for op in role.ops)


def receives(role: Role) -> bool:
    """Whether they receive one: to combine it, in memory or as they send, or over their own."""
    return any(op.stores or op.combines_from or op.copies for op in role.ops)
