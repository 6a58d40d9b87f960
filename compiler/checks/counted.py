"""What phases take of the machine, counted by their operations and routers, not by the planner."""

from collections import Counter, defaultdict

from collc.plan import Op, Phase
from collc.plan.form import Form, form_of


def input_queues_of(phase: Phase) -> int:
    """Input queues that a PE has bound at a time: one for each lane, of a stream for each on which
    some PE receives."""
    lanes = (lane for role in phase.roles for lane in role.lanes)
    return len({lane.name for lane in lanes if lane.receives or form_of(phase) is not Form.STREAM})


def output_queues_of(phase: Phase, *, bound: bool = True) -> int:
    """The same of output queues, and of sending. Lanes that run in turn have one for all, unless
    queues are `bound` to colors."""
    return len(set(sending_lanes(phase)) - (set() if bound else set(preceding_lanes(phase))))


def sending_lanes(phase: Phase) -> list[str]:
    """The lanes on which some PE sends, or may, by a step table; those of an exchange in their
    order."""
    names = phase.lanes if form_of(phase).is_cut else ()
    lanes = [lane for role in phase.roles for lane in role.lanes]
    by_table = form_of(phase) is Form.STEPS
    some = {one.name for one in lanes if one.sends or by_table}
    return sorted(some, key=lambda name: names.index(name) if name in names else 0)


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
