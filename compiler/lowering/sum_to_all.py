"""The root of a one-word collective sends the sum to all as it combines the word that comes last.

    two operations    combine color -> memory, then copy memory -> multicast
    one               combine color -> multicast

So the sum does not land in memory first, where sending from there takes longer (`send_start`);
elsewhere the root sends it from memory. The root has it as all others do: its router hands back
what it sends, one wavelet, for which the input queue has room whenever the PE takes it. Of a longer
vector twice as many wavelets would go down the root's ramp, for nothing but the start-up.
"""

from collections.abc import Sequence
from dataclasses import replace

from collc.base.memoize import by_identity
from collc.lowering.broadcast import in_order
from collc.plan import (
    VECTOR,
    Action,
    ColorUse,
    Direction,
    Loop,
    Op,
    Phase,
    Role,
    Route,
    lanes_of,
    once,
)
from collc.plan.one_word import reduces_one_word
from collc.plan.plan import Once
from collc.spec import Collective
from collc.target import Target

_HELD = 64  # phases


def with_sum_to_all(
    phases: tuple[Phase, ...], collective: Collective, target: Target
) -> tuple[Phase, ...]:
    """The phases of a collective that is alone in its program, as they are or, if it is a
    one-word collective, with the sum sent to all in the last but one."""
    if (
        collective.root_of_call
        or not reduces_one_word(collective.contract)
        or not _by_trees(phases)
    ):
        return phases
    *before, last, multicast = phases
    combined = target.cycles.engine.send_start > 0
    sending = _sending(last, to=multicast.name, combined=combined)
    return (*before, sending, _receiving(multicast))


# The same phase each time, so that what is known of it is found again.


@by_identity(_HELD)
def _sending(phase: Phase, *, to: str, combined: bool) -> Phase:
    return replace(phase, roles=tuple(_sends_to(to, one, combined=combined) for one in phase.roles))


@by_identity(_HELD)
def _receiving(multicast: Phase) -> Phase:
    return replace(multicast, roles=tuple(map(_receives, multicast.roles)))


def _by_trees(phases: Sequence[Phase]) -> bool:
    """Whether trees of any number come first, in which an operation takes all that is stored, and
    then a multicast."""
    trees, last = phases[:-1], phases[-1:]
    by_trees = bool(trees) and all(phase.order is not None for phase in trees)
    runs = (turns for phase in phases for role in phase.roles for _, turns in role.repeated)
    told = by_trees and all(phase.whole and phase.order is None for phase in last)
    return told and all(turns == 1 for turns in runs)


def _sends_to(color: str, role: Role, *, combined: bool) -> Role:
    """A root that sends what it has combined to all, the last vector on the way if `combined`;
    other roles as they are."""
    if not role.ops or any(op.sends for op in role.ops):
        return role
    (stored,) = role.ops
    if not combined:
        sent = once(Op(VECTOR, Action.COPY, color))
        return _does(role, f"{role.about}, sends its vector to all", (once(stored), sent))
    others = stored.vectors - 1
    first = (once(replace(stored, vectors=others)),) if others else ()
    last = once(Op(stored.receive, Action.COMBINE, color))
    about = f"combines {others} vector{'s' if others > 1 else ''} in memory, " if others else ""
    about += "sends its vector to all, combined with the last one on the way"
    return _does(role, about, (*first, last))


def _receives(role: Role) -> Role:
    """The root of a multicast as one that receives; other roles as they are."""
    if not any(op.sends for op in role.ops):
        return role
    (use,) = role.colors
    (route,) = use.positions
    back = Route(route.receive, in_order({*route.send, Direction.RAMP}))
    copied = replace(role, colors=(ColorUse(use.color, (back,)),))
    about = "copies the vector that it sends to all, which its router hands back"
    return _does(copied, about, (once(Op(use.color, Action.COPY, VECTOR)),))


def _does(role: Role, about: str, loops: tuple[Loop | Once, ...]) -> Role:
    return replace(role, about=about, lanes=lanes_of(loops))
