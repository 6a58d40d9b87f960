"""What PEs do on the lanes of a stream, which of these run in turn, and on which sides they are."""

from collections.abc import Mapping

from collc.base.memoize import PHASES, ROLES, by_identity
from collc.base.values import dataclass
from collc.plan.form import Form, form_of
from collc.plan.plan import Phase, Role
from collc.plan.streams import Stream, stream_of


@by_identity(ROLES)
def streams_of(role: Role) -> Mapping[str, Stream]:
    """What the PEs of a role do, by lane."""
    found = ((lane.name, stream_of(lane)) for lane in role.lanes)
    return {name: stream for name, stream in found if stream is not None}


@by_identity(PHASES)
def leaders_of(phase: Phase) -> Mapping[str, str]:
    """Lanes whose every operation sends after that of one other lane, which nothing else comes
    after, by the first lane of such a row: they run in turn, so a microthread, and where
    it is bound to no color an output queue of the first serve all."""
    if form_of(phase) is not Form.STREAM:
        return {}
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
    """Whether some PE receives on a lane of an exchange, and whether some PE sends; whether lanes
    run in turn with this one as their first, so that it `follows` that."""

    receives: bool
    sends: bool
    follows: bool = False

    def outputs(self, *, bound: bool) -> int:
        """How many output queues, which may be `bound` to colors."""
        return int(self.sends and (bound or not self.follows))


@by_identity(PHASES)
def sides_of(phase: Phase) -> tuple[Sides, ...]:
    """Of the lanes of an exchange, each in turn; those of step tables have both."""
    lanes = phase.lanes if form_of(phase).is_cut else ()
    if form_of(phase) is not Form.STREAM:
        return (Sides(receives=True, sends=True),) * len(lanes)
    found = []
    for name in lanes:
        ops = [
            op
            for role in phase.roles
            for lane in role.lanes
            if lane.name == name
            for op in lane.ops
        ]
        receives, sends = any(op.receives_on for op in ops), any(op.sends_on for op in ops)
        found.append(Sides(receives, sends, name in leaders_of(phase)))
    return tuple(found)
