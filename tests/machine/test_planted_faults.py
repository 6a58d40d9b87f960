"""A fault that is planted in a plan is found where it is, and named as what it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from machine.plans import beginning, plan_of, program_of

from collc.machine import Fault, run
from collc.plan import (
    VECTOR,
    ZERO,
    Action,
    Advance,
    ColorUse,
    Direction,
    Entry,
    Lane,
    Loop,
    Number,
    Op,
    Phase,
    Plan,
    Role,
    Route,
    Slices,
)
from collc.plan.plan import ProgramPlan

Change = Callable[[Role], Role]


def changed(plan: Plan, role: str, change: Change, phase: int = 0) -> Plan:
    """A plan of which one role of a phase is changed."""
    old = plan.phases[phase]
    assert role in {one.name for one in old.roles}
    roles = tuple(change(one) if one.name == role else one for one in old.roles)
    return _with(plan, phase, replace(old, roles=roles))


def _with(plan: Plan, number: int, phase: Phase) -> Plan:
    phases = (*plan.phases[:number], phase, *plan.phases[number + 1 :])
    return replace(plan, phases=phases)


def ops(change: Callable[[Op], Op | None], lane: str = "") -> Change:
    """Changes operations of the lanes with a name, or of all; None leaves one out."""

    def of_entry(entry: Entry) -> Entry:
        found = (change(op) for op in entry.ops)
        return replace(entry, ops=tuple(op for op in found if op is not None))

    return entries(of_entry, lane)


def entries(change: Callable[[Entry], Entry], lane: str = "") -> Change:
    """Changes entries of the lanes with a name, or of all."""

    def of_loop(loop: Loop) -> Loop:
        return replace(loop, entries=tuple(map(change, loop.entries)))

    def of_lane(one: Lane) -> Lane:
        if lane and one.name != lane:
            return one
        return replace(one, loops=tuple(map(of_loop, one.loops)))

    return lambda role: replace(role, lanes=tuple(map(of_lane, role.lanes)))


def colors(change: Callable[[ColorUse], ColorUse | None]) -> Change:
    """Changes what is set at routers; None leaves a color out."""

    def of_role(role: Role) -> Role:
        found = (change(use) for use in role.colors)
        return replace(role, colors=tuple(use for use in found if use is not None))

    return of_role


def sent(**fields: object) -> Callable[[Op], Op]:
    """Changes what is sent."""
    return lambda op: replace(op, **fields) if op.sends_on else op


def received(**fields: object) -> Callable[[Op], Op]:
    """Changes what is received to be kept."""
    return lambda op: op if op.sends_on or not op.receives_on else replace(op, **fields)


def tree() -> Plan:
    return plan_of("two_phase", "wse2", P=16, B=16, S=4)


def table() -> Plan:
    return plan_of("ring_allreduce", "wse2", P=6, B=12)


def relays() -> Plan:
    return plan_of("halving_doubling", "wse2", P=8, B=64)


def stream() -> Plan:
    return plan_of("all_to_all", "wse2", P=4, E=2)


def ring() -> Plan:
    return plan_of("direct_allgather", "wse2", P=4)


def find(plan: Plan) -> Fault:
    """What is wrong with a plan."""
    return run(plan, beginning([plan])).faults[0]


def _slice_further(op: Op) -> Op:
    return replace(op, slices=replace(op.slices, count=Number(op.slices.count.offset + 1)))


def _filter(op: Op, **fields: Slices) -> Op:
    return op if op.filter is None else replace(op, filter=replace(op.filter, **fields))


def _to(side: Direction) -> Callable[[ColorUse], ColorUse]:
    """Routers send to another side in their last position."""

    def of(use: ColorUse) -> ColorUse:
        *first, last = use.positions
        return replace(use, positions=(*first, Route(last.receive, (side,))))

    return of


def _swapped(role: Role) -> Role:
    return replace(role, colors=tuple(replace(u, positions=u.positions[::-1]) for u in role.colors))


# what is planted, and what is found: of which kind, at which PE, and of what it speaks
ALONE: dict[str, tuple[Callable[[], Plan], str, Change, tuple[str, int, str]]] = {
    "a leaf sends nothing": (
        tree, "leaf_3", ops(lambda _: None), ("stuck", 15, "sends nothing more there"),
    ),
    "a root receives a vector less": (
        tree, "root", ops(received(vectors=1)), ("stuck", 0, "receives no more of them"),
    ),
    "a root receives a vector more": (
        tree, "root", ops(received(vectors=3)), ("stuck", 1, "set back to position 0"),
    ),
    "a switch is not moved on": (
        tree, "link_3", ops(sent(advance=Advance.NOTHING)), ("stuck", 5, "position 0"),
    ),
    "no command follows a leaf": (
        tree, "leaf_2", ops(sent(advance=Advance.NOTHING)), ("stuck", 7, "position 0"),
    ),
    "nothing sets a switch back": (
        tree, "joint_2", ops(sent(advance=Advance.NOTHING)), ("not returned", 5, "position 1"),
    ),
    "a switch is set back before its last vector": (
        tree, "leaf_2", ops(sent(advance=Advance.RESET)), ("stuck", 7, "set back"),
    ),
    "positions are swapped": (tree, "link_3", _swapped, ("stuck", 5, "position 0")),
    "a vector leaves the grid": (
        tree, "link_7", colors(_to(Direction.SOUTH)), ("leaves the grid", 14, "leave the grid"),
    ),
    "a router has no route": (
        tree, "link_6", colors(lambda use: None), ("lost", 13, "no route"),
    ),
    "a loop has a turn less": (
        table, "part_3",
        lambda role: replace(role, lanes=tuple(
            replace(lane, loops=(replace(lane.loops[0], turns=Number(4)), *lane.loops[1:]))
            for lane in role.lanes
        )),
        ("stuck", 3, "in position 0 of `exchange_2`"),
    ),
    "a slice is sent that has not come": (
        table, "part_3",
        ops(lambda op: replace(op, slices=replace(op.slices, first=Number(0)))
            if op.action is Action.COPY else op),
        ("no fixed order", 3, "changes slice 0 while another operation"),
    ),
    "a relay lets too much pass": (
        relays, "part_1",
        ops(lambda op: replace(op, elements=Number(24)) if op.elements else op, "forward"),
        ("stuck", 0, "what it waits for waits for itself"),
    ),
    "a relay cuts a slice": (
        relays, "part_1",
        ops(lambda op: replace(op, elements=Number(12)) if op.elements else op, "forward"),
        ("other length", 1, "lets 4 wavelets more pass"),
    ),
    "a step is not ended": (
        relays, "part_1",
        entries(lambda entry: replace(entry, ends_step=ZERO), "forward"),
        ("stuck", 1, "waits for itself"),
    ),
    "a slice is received over what is sent": (
        stream, "part_1",
        ops(lambda op: replace(op, send=VECTOR) if op.receives_on else op, "backward"),
        ("no fixed order", 1, "nothing orders them"),
    ),
    "a lane receives what another lane receives": (
        stream, "part_1",
        ops(lambda op: replace(op, receive="exchange_backward_0") if op.receives_on else op),
        ("several receive", 1, "in two operations at once"),
    ),
    "a lane sends what another lane sends": (
        stream, "part_1",
        ops(lambda op: replace(op, send="exchange_backward_0") if op.sends_on else op),
        ("several send", 1, "in two operations at once"),
    ),
    "what is not in the stage is taken from it": (
        stream, "part_3",
        ops(lambda op: op if op.receives_on or op.sends_on else _slice_further(op)),
        ("staging", 3, "has not received"),
    ),
    "a filter lets more in than is received": (
        stream, "part_3",
        ops(lambda op: _filter(op, passes=Slices(ZERO, Number(2)))),
        ("stuck", 3, "receives no more of them"),
    ),
    "a filter ends within a period": (
        stream, "part_3",
        ops(lambda op: _filter(op, period=Slices(ZERO, Number(4)))),
        ("stuck", 2, "set back to position 0"),
    ),
    "own words do not return": (
        stream, "part_2",
        colors(lambda use: replace(use, positions=tuple(
            Route(route.receive, (Direction.EAST,))
            if route.receive is Direction.RAMP and use.color == "exchange_forward_1" else route
            for route in use.positions
        ))),
        ("kept back", 2, "own words"),
    ),
    "a turn is not handed over": (
        ring, "part_0", ops(sent(advance=Advance.NOTHING)), ("stuck", 0, "sends nothing more"),
    ),
    "a router takes no command off": (
        ring, "part_1",
        colors(lambda use: replace(use, ring=False)),
        ("command refused", 1, "take off"),
    ),
    "nothing sets back what the last one has passed": (
        ring, "part_2", ops(sent(advance=Advance.NOTHING)), ("not returned", 1, "position 1"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ALONE)
def test_a_planted_fault_is_found_where_it_is(name):
    subject, role, change, (kind, place, words) = ALONE[name]
    fault = find(changed(subject(), role, change))
    assert (fault.kind, fault.pe) == (kind, (place, 0)), fault.text
    assert words in fault.text


@pytest.mark.parametrize("subject", [tree, table, relays, stream, ring])
def test_nothing_is_found_where_nothing_is_planted(subject):
    plan = subject()
    assert run(plan, beginning([plan])).faults == ()


WRONG: dict[str, tuple[Callable[[], Plan], str, Change]] = {
    "a sum overwrites what it is added to": (
        tree, "joint_1", ops(received(action=Action.COPY)),
    ),
    "slices are combined with others": (
        table, "part_3",
        ops(lambda op: replace(op, slices=replace(op.slices, first=Number(2)))
            if op.action is Action.COMBINE else op),
    ),
    "a filter lets other slices in": (
        stream, "part_2", ops(lambda op: _filter(op, before=Slices(ZERO, ZERO))),
    ),
    "a slice goes where another one belongs": (
        stream, "part_0",
        ops(lambda op: replace(op, slices=replace(op.slices, first=ZERO)) if op.sends_on else op),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_only_values_tell_is_told_by_values(name):
    subject, role, change = WRONG[name]
    plan = subject()
    begin = beginning([plan])
    right, wrong = run(plan, begin), run(changed(plan, role, change), begin)
    assert right.faults == wrong.faults == ()
    assert (right.held[0] != wrong.held[0]).any()


def program_with(collective: str, role: str, change: Change, phase: int = 0) -> ProgramPlan:
    """A program of which one role of a collective is changed."""
    program = program_of("program_mixed", P=8)
    plans = tuple(
        changed(one, role, change, phase) if one.collective.name == collective else one
        for one in program.plans
    )
    return replace(program, plans=plans)


def find_in(program: ProgramPlan) -> Fault:
    calls = [*program.calls, *program.calls]
    return run(program, beginning([program.plans[call] for call in calls]), calls=calls).faults[0]


@pytest.mark.parametrize(
    ("collective", "role", "place"),
    [("along", "leaf", 7), ("spread", "root", 4), ("around", "part_3", 3)],
)
def test_a_teardown_that_is_missing_is_found_where_it_is(collective, role, place):
    def without(op: Op) -> Op:
        return replace(op, advance=Advance.NOTHING) if op.advance is Advance.TEARDOWN else op

    fault = find_in(program_with(collective, role, ops(without)))
    assert (fault.kind, fault.pe) == ("not torn down", (place, 0)), fault.text


def test_a_teardown_before_the_last_vector_is_found():
    fault = find_in(program_with("in_groups", "leaf_1", ops(sent(advance=Advance.TEARDOWN))))
    assert (fault.kind, fault.call, fault.other) == ("other slice", 2, (6, 0)), fault.text


def test_a_color_that_stays_as_it_is_is_not_torn_down():
    program = program_of("program_mixed", P=8)
    kept = tuple(replace(color, torn_down=False) for color in program.colors)
    assert find_in(replace(program, colors=kept)).kind == "set twice"
