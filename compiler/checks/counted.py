"""What phases take of the machine, counted by their operations and routers, not by the planner."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from collc.plan import BY_WAVELET, Action, Lane, Memory, Op, Phase, Plan, Role
from collc.plan.form import Form, form_of
from collc.spec import ContractKind


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


def lane_sides_of(phase: Phase) -> int:
    """Registers of a kind that the lanes of an exchange take: one for each of these queues, of
    lanes that run in turn one."""
    return input_queues_of(phase) + output_queues_of(phase, bound=False)


def tasks_of_phase(phase: Phase) -> int:
    """Local tasks: one for each lane of step tables; where vectors are combined three, behind
    storing, sending and the control wavelet; behind a multicast one. Of a stream one that joins
    operations, one more where there are three, and one for each operation of a lane behind which
    another one begins."""
    if form_of(phase) is Form.STREAM:
        return 1 + _joins(phase) + _followed(phase)
    if form_of(phase).is_cut:
        return input_queues_of(phase)
    ops = (op for role in phase.roles for op in role.ops)
    return 3 if any(op.action is Action.COMBINE for op in ops) else 1


def _joins(phase: Phase) -> int:
    """Operations that some PE waits for beyond two: for what it receives, for what it sends on
    other colors, unless something begins behind that."""
    return max(0, *(len(set(_waited(role))) - 2 for role in phase.roles))


def _waited(role: Role) -> Iterator[tuple[str, str]]:
    for lane in role.lanes:
        followed = {kind for _, kind in _followed_in(role, lane)}
        for op in lane.ops:
            if isinstance(op.receive, Memory) and isinstance(op.send, Memory):
                continue
            kind = "receives" if not op.sends_on else "sends"
            if kind == "sends" and op.advance in BY_WAVELET:
                kind = "control"
            if kind not in followed and not op.returns:
                yield lane.name, kind


def _followed(phase: Phase) -> int:
    """Operations of a PE behind whose end another one of the lane or of the next lane begins: what
    is sent and the control wavelet behind it, what is received; one for all lanes that run in turn.
    Counted over all roles."""
    found = {one for role in phase.roles for lane in role.lanes for one in _followed_in(role, lane)}
    preceding = preceding_lanes(phase)
    serial, first = {*preceding, *preceding.values()}, set(preceding.values()) - preceding.keys()
    return len(first) + sum(lane not in serial for lane, _ in found)


def _followed_in(role: Role, lane: Lane) -> Iterator[tuple[str, str]]:
    later = [op for other in role.lanes for op in other.ops if op.after == lane.name]
    sent = any(op.sends_on for op in later)
    moved = [op for op in lane.ops if op.sends_on or op.receives_on]
    for op in moved:
        behind = op.combines_from is not None and op is moved[0] and len(moved) > 1
        wavelet = op.sends_on is not None and op.advance in BY_WAVELET
        if op.sends_on and (wavelet or behind or sent):
            yield lane.name, "sends"
        if wavelet and sent:
            yield lane.name, "control"
        ahead = op is moved[0] and moved[-1].combines_from is not None
        if not op.sends_on and (ahead or len(later) > sent):
            yield lane.name, "receives"


def tasks_in_turn(plans: Iterable[Plan], *, ends_torn_down: bool = False) -> int:
    """Local tasks of phases that have them in turn: as many as any of them needs, with the one that
    tears down the color of a multicast. Where phases end with their teardowns, none has one behind
    a control wavelet."""
    phases = [phase for plan in plans for phase in plan.phases]
    controls = (-_sums(phase) if ends_torn_down else _is_multicast(phase) for phase in phases)
    counts = map(tasks_of_phase, phases)
    return max((sum(both) for both in zip(counts, controls, strict=True)), default=0)


def _sums(phase: Phase) -> bool:
    """Whether it is a tree along which vectors are combined."""
    return not form_of(phase).is_cut and phase.kind is not ContractKind.BROADCAST


def _is_multicast(phase: Phase) -> bool:
    return not form_of(phase).is_cut and phase.kind is ContractKind.BROADCAST
