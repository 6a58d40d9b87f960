"""What roles of a phase of whole vectors have that takes a queue or a register."""

from collections.abc import Callable

from collc.plan.plan import BY_WAVELET, Phase, Role

Having = Callable[[Role], bool]


def stores(role: Role) -> bool:
    """Whether PEs of a role combine vectors in memory."""
    return any(op.stores for op in role.ops)


def sends(role: Role) -> bool:
    """Whether they send their vector."""
    return any(op.sends for op in role.ops)


def combines(role: Role) -> bool:
    """Whether they combine it with one that they receive as they send."""
    return any(op.combines_from for op in role.ops)


def controls(role: Role) -> bool:
    """Whether they send a control wavelet behind it."""
    return any(op.sends and op.advance in BY_WAVELET for op in role.ops)


def copies(role: Role) -> bool:
    """Whether they receive a vector over their own."""
    return any(op.copies for op in role.ops)


def receives(role: Role) -> bool:
    """Whether they receive anything."""
    return stores(role) or combines(role) or copies(role)


def sends_or_copies(role: Role) -> bool:
    """Whether they have an operation that moves a whole vector."""
    return sends(role) or copies(role)


# What roles have that take a register each, in the order in which the emitted code has them.
_PAIRS: tuple[Having, ...] = (stores, sends, controls)
_SOURCES: tuple[Having, ...] = (stores, sends_or_copies, controls)


def pairs_of_tree(*, one_word: bool) -> tuple[Having, ...]:
    """What roles of a phase have that takes a pair each; those of a `one_word` collective also
    store by one of their own."""
    return _PAIRS if one_word else _PAIRS[1:]


def sources_of_tree(phase: Phase, *, one_word: bool) -> tuple[Having, ...]:
    """The same of sources."""
    return _SOURCES[1:] if phase.passes and not one_word else _SOURCES
