"""Changes of plans of streams: lanes, filters, switch positions, what sets switches back.

A lane is changed as the stream that it is (`collc.plan.streams`); operations, loops and places are
changed as those of any exchange.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from changing import streams
from libraries import lacking
from with_schedules import check_plan

from collc.driver.pipeline import compile_text, prove_text
from collc.lowering import candidate_plans
from collc.plan import (
    Advance,
    Filter,
    Lane,
    Number,
    Phase,
    Plan,
    Role,
    Slices,
    Stream,
    lane_of,
    stream_of,
)
from collc.schedule import Schedule
from collc.target import TARGETS
from mutants import exchanges
from mutants.kinds import Kind, Mutant
from mutants.trees import advancing, color_uses

TEXT = """target wse2
grid pes = {grid}
algorithm inward(n) slices n {{ step {{ each r where r != 2 : slice r  r -> 2 }} }}
collective total = {contract} on pes {{ {steps} }}
program {{ total }}
"""

ON_SLICES = """run rows by chain_reduce_scatter
    then run columns by chain_reduce(root = 1) on slices
    then run columns by direct_broadcast(root = 1) on slices
    then run rows by direct_allgather"""

# by name: target, grid, what is promised, and the steps; slices differ in length where they may
STREAMS = {
    "gather": ("wse2", "5 x 1", "gather(x: f32[23])", "run linear_gather"),
    "gather_inside": ("wse3", "5 x 1", "gather(x: f32[23])", "run inward to 2"),
    "stream_scatter": ("wse2", "5 x 1", "scatter(x: f32[23])", "run linear_scatter"),
    "allgather": ("wse2", "4 x 1", "allgather(x: f32[42])", "run direct_allgather"),
    "stream_all_to_all": ("wse2", "4 x 1", "all_to_all(x: f32[32])", "run linear_all_to_all"),
    "long_scatter": ("wse3", "6 x 1", "scatter(x: f32[23])", "run linear_scatter"),
    "turns_all_to_all": ("wse3", "5 x 1", "all_to_all(x: f32[40])", "run linear_all_to_all"),
    "reduce_scatter": (
        "wse3",
        "4 x 1",
        "reduce_scatter(x: f32[42], add)",
        "run chain_reduce_scatter",
    ),
    "pairs_allgather": ("wse2", "4 x 1", "allgather(x: (f32, u32)[8])", "run direct_allgather"),
    "slices": ("wse2", "3 x 3", "allreduce(x: f32[27], add)", ON_SLICES),
    "uneven_slices": ("wse3", "3 x 3", "allreduce(x: f32[31], add)", ON_SLICES),
}
# of which the form is changed in which a PE's operations run one after the other
SERIAL = {
    "serial_allgather": ("wse2", "4 x 1", "allgather(x: f32[42])", "run direct_allgather"),
    "serial_reduce_scatter": (
        "wse3",
        "4 x 1",
        "reduce_scatter(x: f32[42], add)",
        "run chain_reduce_scatter",
    ),
}
LARGE = {"slices", "uneven_slices"}  # of several phases, each of which is changed
RUNS = [(name, target) for name, (target, *_) in (STREAMS | SERIAL).items()]


def plan_of(name: str, target: str) -> tuple[Schedule, Plan]:
    """A plan to change."""
    _, grid, contract, steps = (STREAMS | SERIAL)[name]
    text = TEXT.format(grid=grid, contract=contract, steps=steps)
    if name in SERIAL:
        _, schedule = prove_text(text, "test.coll", {}, target)
        serial = filter(_is_serial, candidate_plans(schedule, TARGETS[target]))
        return schedule, next(one for one in serial if not check_plan(one) and not lacking(one))
    bundle = compile_text(text, "test.coll", {}, target)
    assert streams(bundle.plan), name
    return bundle.schedule, bundle.plan


def _is_serial(plan: Plan) -> bool:
    """Whether an operation of a PE waits for another one's end."""
    lanes = (lane for phase in plan.phases for role in phase.roles for lane in role.lanes)
    return any(stream is not None and stream.after for stream in map(stream_of, lanes))


def mutants(plan: Plan) -> Iterator[Mutant[Plan]]:
    """Every plan that differs from `plan` in one thing."""
    yield from exchanges.mutants(plan)
    yield from exchanges.by_phase(plan, _phases)


def _phases(phase: Phase) -> Iterator[Mutant[Phase]]:
    colors = sorted({use.color for role in phase.roles for use in role.colors})
    for at, role in enumerate(phase.roles):
        for one in _roles(role, colors):
            roles = (*phase.roles[:at], one.changed, *phase.roles[at + 1 :])
            yield Mutant(one.kind, f"{role.name} {one.what}", replace(phase, roles=roles))


def _roles(role: Role, colors: list[str]) -> Iterator[Mutant[Role]]:
    for at, lane in enumerate(role.lanes):
        for kind, what, changed in _lanes(lane):
            lanes = (*role.lanes[:at], changed, *role.lanes[at + 1 :])
            yield Mutant(kind, f"lane {lane.name} {what}", replace(role, lanes=lanes))
    if len(role.lanes) > 1:
        names = [lane.name for lane in role.lanes]
        exchanged = [
            replace(lane, name=name) for lane, name in zip(role.lanes, names[::-1], strict=True)
        ]
        changed = replace(role, lanes=tuple(exchanged))
        yield Mutant(Kind.OTHER_WORK, "with its lanes' work exchanged", changed)
    for at, use in enumerate(role.colors):
        turned = replace(use, ring=not use.ring)
        uses = (*role.colors[:at], turned, *role.colors[at + 1 :])
        yield Mutant(
            Kind.ROUTE, f"{use.color} in a ring: {turned.ring}", replace(role, colors=uses)
        )
    for kind, what, uses in color_uses(role.colors, colors):
        yield Mutant(kind, what, replace(role, colors=uses))


def _lanes(lane: Lane) -> Iterator[tuple[Kind, str, Lane]]:
    stream = stream_of(lane)
    changes = _streams(stream) if stream else ()
    for kind, changed in (one for one in changes if one[1] != stream):
        name = next(f for f in vars(changed) if getattr(changed, f) != getattr(stream, f))
        yield kind, f"{name} {getattr(changed, name)}", lane_of(lane.name, changed)


def _streams(stream: Stream) -> Iterator[tuple[Kind, Stream]]:
    for part in ("sends", "receives"):
        slices = getattr(stream, part)
        if slices is None:
            continue
        yield Kind.DROPPED, replace(stream, **{part: None})
        for kind, changed in _slices(slices):
            yield kind, replace(stream, **{part: changed})
    for how in Advance:
        if how is not stream.advance and stream.sends is not None:
            yield advancing(stream.advance, how), replace(stream, advance=how)
    if stream.filter:
        yield Kind.FILTER, replace(stream, filter=None)
        for counter in _filters(stream.filter):
            yield Kind.FILTER, replace(stream, filter=counter)
    elif stream.receives is not None:
        got = stream.receives
        counter = Filter(got, replace(got, count=Number(0)), got)  # lets all pass
        yield Kind.FILTER, replace(stream, filter=counter)
    yield from ((Kind.OTHER_WORK, changed) for changed in _other_work(stream))


def _other_work(stream: Stream) -> Iterator[Stream]:
    for field in ("through", "combines", "staged", "kept_first", "returns"):
        yield replace(stream, **{field: not getattr(stream, field)})
    for after in sorted({"", "forward", "backward"} - {stream.after}):
        yield replace(stream, after=after)


def _slices(slices: Slices) -> Iterator[tuple[Kind, Slices]]:
    yield Kind.REORDERED, replace(slices, backward=not slices.backward)
    yield from moved(slices)


def moved(slices: Slices) -> Iterator[tuple[Kind, Slices]]:
    """The slices before and behind, one fewer and one more, and those of the place before."""
    for field in ("first", "count"):
        number = getattr(slices, field)
        for more in (-1, 1):
            other = replace(number, offset=number.offset + more)
            yield Kind.LENGTH, replace(slices, **{field: other})
        if number.slope:
            yield Kind.LENGTH, replace(slices, **{field: replace(number, slope=-number.slope)})


def _filters(counter: Filter) -> Iterator[Filter]:
    """Its limits off by a slice, and two of them exchanged."""
    for part in ("period", "before", "passes"):
        for _, changed in moved(getattr(counter, part)):
            yield replace(counter, **{part: changed})
    yield replace(counter, before=counter.passes, passes=counter.before)
    yield replace(counter, period=counter.passes, passes=counter.period)
