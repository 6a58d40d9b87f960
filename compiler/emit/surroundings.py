"""What a phase has to know of the others, to be printed."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Surroundings:
    """What a phase has to know of the others: the entry of what follows, the later phases'
    names, and whether a result's sign is turned back at its end. In a program of several
    collectives `shared` has the positions of its colors among the program's, and of those the
    ones that are `torn_down`, and those that are `switched` (as `SharedPhase` has them);
    `controls_ready` says that every color has a register by which control wavelets are sent;
    `outputs` are those of a router at most on the colors that are torn down; a phase that
    `ends_torn_down` waits for that instead of its control wavelet, which an `own_control` register
    sends or the vector's. In a `short`
    collective (`collc.plan.short`) phases know the names of the `earlier` ones.
    """

    after: str
    later: tuple[str, ...]
    restores: bool
    done: str = "done"
    shared: Mapping[str, int] | None = None
    late: bool = False
    dynamic_length: bool = False
    by_call_back: bool = False
    torn_down: frozenset[str] = frozenset()
    switched: frozenset[str] = frozenset()
    controls_ready: bool = False
    sets_routers: bool = False
    outputs: int = 1
    set_elsewhere: frozenset[str] = frozenset()
    ends_torn_down: bool = False
    own_control: bool = False
    short: bool = False
    earlier: tuple[str, ...] = ()
