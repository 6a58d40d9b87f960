"""What a phase has to know of the others, to be printed."""

from collections.abc import Mapping

from collc.base.values import dataclass
from collc.lowering.ids import Ids
from collc.lowering.shared_phases import SharedPhase

ALONE = SharedPhase({}, frozenset(), Ids(), late=False, controls_ready=False)


@dataclass(frozen=True)
class PhaseContext:
    """What a phase has to know of the others: the entry of what comes `after` it, the `later`
    phases' names, and whether a result's sign is turned back at its end, so that it `restores`. In
    a program of several collectives it is `given` what it shares. In a `one_word` collective
    (`collc.plan.one_word`) phases know the names of the `earlier` ones.
    """

    after: str
    later: tuple[str, ...]
    restores: bool
    given: SharedPhase = ALONE
    one_word: bool = False
    earlier: tuple[str, ...] = ()

    @property
    def alone(self) -> bool:
        """Whether its collective is the only one of the program."""
        return self.given is ALONE

    @property
    def queues(self) -> Mapping[str, int] | None:
        """The positions of its colors among those of the program, and of their queues; None if it
        has queues of its own."""
        return None if self.alone else self.given.positions

    @property
    def done(self) -> str:
        """The task that is activated at its end."""
        return "done" if self.alone else "end_id"
