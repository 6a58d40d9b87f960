"""What phases take of the machine, counted by their operations and routers, not by the planner."""

from collections import Counter, defaultdict

from collc.plan import Op, Phase


def receiving_lanes(phase: Phase) -> list[str]:
    """The lanes on which some PE receives, in their order."""
    lanes = (lane for role in phase.roles for lane in role.lanes)
    return _in_order(phase, {lane.name for lane in lanes if lane.receives})


def sending_lanes(phase: Phase) -> list[str]:
    """The same of sending."""
    lanes = (lane for role in phase.roles for lane in role.lanes)
    return _in_order(phase, {lane.name for lane in lanes if lane.sends})


def _in_order(phase: Phase, names: set[str]) -> list[str]:
    return sorted(names, key=lambda one: phase.lanes.index(one) if one in phase.lanes else -1)


def preceding_lanes(phase: Phase) -> dict[str, str]:
    """Lanes that run behind another one, each with that one: on every PE that has them they only
    send, after that one, and no other lane comes after it."""
    ops: defaultdict[str, list[Op]] = defaultdict(list)
    for role in phase.roles:
        for lane in role.lanes:
            ops[lane.name] += lane.ops
    after = {name: {op.after for op in of} for name, of in ops.items()}
    sends = {name for name, of in ops.items() if all(op.sends_on for op in of)}
    found = {name: next(iter(of)) for name, of in after.items() if name in sends and len(of) == 1}
    count = Counter(found.values())
    return {name: one for name, one in found.items() if one and count[one] == 1}
