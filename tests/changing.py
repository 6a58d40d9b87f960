"""Plans with other operations, for tests of what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar, cast

from collc.base.rewrite import rewritten
from collc.plan import (
    ZERO,
    Advance,
    Entry,
    Lane,
    Loop,
    Number,
    Op,
    Phase,
    Plan,
    Role,
    Slices,
    lanes_of,
)
from collc.plan.form import Form, form_of


def with_runs(role: Role, runs: Iterable[tuple[Op, int]]) -> Role:
    """The role of a phase of whole vectors with these operations, each run so often."""
    return replace(role, lanes=lanes_of(tuple(run(op, turns) for op, turns in runs)))


def run(op: Op, turns: int) -> Loop:
    return Loop(Number(turns), ZERO, (Entry((op,)),))


def with_ops(role: Role, change: Callable[[Op], Op]) -> Role:
    """The role with every operation changed."""
    return replace(role, lanes=tuple(_lane(lane, change) for lane in role.lanes))


def _lane(lane: Lane, change: Callable[[Op], Op]) -> Lane:
    return replace(lane, loops=tuple(_loop(loop, change) for loop in lane.loops))


def _loop(loop: Loop, change: Callable[[Op], Op]) -> Loop:
    entries = (replace(one, ops=tuple(map(change, one.ops))) for one in loop.entries)
    return replace(loop, entries=tuple(entries))


Of = TypeVar("Of", Phase, Role)


def facing(of: Of, *, backward: bool) -> Of:
    """A phase or role whose elements all pass one way."""

    def turned(node: object) -> object:
        return replace(node, backward=backward) if isinstance(node, Slices) else None

    return cast(Of, rewritten(of, turned))


def streams(plan: Plan) -> bool:
    """Whether some phase is a stream."""
    return any(form_of(phase) is Form.STREAM for phase in plan.phases)


def advancing_by(change: Callable[[Advance], Advance]) -> Callable[[Role], Role]:
    """Changes what moves routers on behind every vector that is sent."""

    def changed(op: Op) -> Op:
        return replace(op, advance=change(op.advance)) if op.sends else op

    return lambda role: with_ops(role, changed)


def with_first_op(role: Role, op: Op, lane: int = 0) -> Role:
    """The role with another operation in place of the first one of a lane that is of its kind: it
    puts out, or it takes."""
    old = role.lanes[lane]
    loop = old.loops[0]
    entry = loop.entries[0]
    ops = tuple(
        op if isinstance(one.send, str) == isinstance(op.send, str) else one for one in entry.ops
    )
    return with_first_entry(role, replace(entry, ops=ops), lane)


def with_first_entry(role: Role, entry: Entry, lane: int = 0) -> Role:
    """The role with another first entry of a lane."""
    old = role.lanes[lane]
    loop = replace(old.loops[0], entries=(entry, *old.loops[0].entries[1:]))
    changed = replace(old, loops=(loop, *old.loops[1:]))
    return replace(role, lanes=(*role.lanes[:lane], changed, *role.lanes[lane + 1 :]))


def with_lane_colors(lane: Lane, receives_on: str, sends_on: str) -> Lane:
    """A lane of an exchange that receives and sends on other colors."""

    def changed(op: Op) -> Op:
        receive = receives_on if isinstance(op.receive, str) else op.receive
        return replace(op, receive=receive, send=sends_on if isinstance(op.send, str) else op.send)

    return _lane(lane, changed)
