"""What PEs do on the lanes of a stream, which of these run in turn, and on which sides they are."""

from collections.abc import Mapping

from collc.base.memoize import PHASES, ROLES, by_identity
from collc.base.values import dataclass
from collc.plan.plan import Op, Phase, Role
from collc.plan.streams import Stream, stream_of


@by_identity(ROLES)
def streams_of(role: Role) -> Mapping[str, Stream]:
    """What the PEs of a role do, by lane."""
    found = ((lane.name, stream_of(lane)) for lane in role.lanes)
    return {name: stream for name, stream in found if stream is not None}


@by_identity(PHASES)
def leaders_of(phase: Phase) -> Mapping[str, str]:
    """Lanes whose every operation sends after that of one other lane, which nothing else comes
    after, by the first lane of such a row: they run in turn, so a microthread, and where it is
    bound to no color an output queue of the first serve all."""
    before: dict[str, str] = {}
    for name in phase.lanes:
        streams = [streams_of(role)[name] for role in phase.roles if name in streams_of(role)]
        after = {"" if one.receives or one.kept_first else one.after for one in streams}
        if len(after) == 1 and "" not in after:
            before[name] = after.pop()
    leaders: dict[str, str] = {}
    for name, one in before.items():
        if sum(other == one for other in before.values()) == 1:
            leaders[name] = leaders.get(one, one)
    return leaders


@dataclass(frozen=True)
class Sides:
    """Whether some PE receives on a lane, and whether some PE sends; whether lanes run in turn with
    this one behind their first, so that it `follows` that."""

    receives: bool
    sends: bool
    follows: bool = False

    def outputs(self, *, bound: bool) -> int:
        """How many output queues, which may be `bound` to colors."""
        return int(self.sends and (bound or not self.follows))


@by_identity(PHASES)
def sides_of(phase: Phase) -> tuple[Sides, ...]:
    """Of the lanes of a phase, each in turn."""
    ops: dict[str, list[Op]] = {name: [] for name in phase.lanes}
    for role in phase.roles:
        for lane in role.lanes:
            ops[lane.name] += lane.ops
    leaders = leaders_of(phase)
    return tuple(
        Sides(any(op.receives_on for op in of), any(op.sends_on for op in of), name in leaders)
        for name, of in ops.items()
    )
