"""A plan as text, for `--dump plan` and for tests. `collc.plan.read` reads it back."""

from collections.abc import Iterator

from collc.plan.model import Detour, Phase, Plan, Registers
from collc.plan.numbers import ONE, ZERO, Number
from collc.plan.ops import WHOLE, Buffer, Entry, Filter, Lane, Loop, Once, Op, Place, Role
from collc.plan.regions import Region, Strided
from collc.plan.routers import Advance, ColorUse, Route

NONE = "nothing"  # a color that no place of a role has


def show_plan(plan: Plan) -> str:
    """The plan as text: its numbers, then each phase with its roles and regions."""
    colors = ", ".join(f"{name} = {number}" for name, number in plan.colors) or "none"
    head = [
        f"plan {plan.collective.name} on {plan.target.name}",
        f"  colors: {colors}",
        f"  input queues: {_integers(plan.input_queues)}",
        f"  output queues: {_integers(plan.output_queues)}",
        f"  task ids: {_integers(plan.task_ids)}; DSR ids: {_integers(plan.dsr_ids)}",
        *_registers(plan.registers),
        f"  memory: {plan.code_bytes} bytes of code, {plan.data_bytes} bytes of data",
    ]
    return "\n".join([*head, *(line for phase in plan.phases for line in _phase(phase))]) + "\n"


def _integers(values: tuple[int, ...]) -> str:
    return ", ".join(map(str, values)) or "none"


def _registers(shared: Registers | None) -> Iterator[str]:
    if shared is not None:
        pairs, sources = _integers(shared.pairs), _integers(shared.sources)
        yield f"  registers: pairs {pairs}; sources {sources}"


def _phase(phase: Phase) -> Iterator[str]:
    yield f"  phase {phase.name}: {phase.about}"
    words = [phase.kind.value, f"axis {phase.axis}"]
    words += [f"order {phase.order.value}"] if phase.order else []
    words += ["along the path"] if phase.path else []
    words += ["in pairs"] if phase.paired else []
    words += ["two wide"] if phase.wide else []
    yield f"    {', '.join(words)}"
    yield f"    {', '.join(_cut(phase))}"
    yield from (f"    {_detour(detour)}" for detour in phase.detours)
    for index, role in enumerate(phase.roles):
        regions = [show_region(region) for region, number in phase.regions if number == index]
        yield f"    role {role.name}: {role.about}"
        yield f"      at {', '.join(regions) or 'no PE'}"
        yield from (f"      {line}" for line in _role(role))


def _cut(phase: Phase) -> Iterator[str]:
    slicing = phase.slicing
    yield f"{slicing.count} slices of {slicing.length} elements"
    yield f"grain {slicing.grain}"
    yield f"lanes {' '.join(phase.lanes)}"
    if slicing.dynamic:
        yield "by length"
    if phase.blocks:
        lines = " ".join(map(str, phase.blocks.lines))
        yield f"blocks of {phase.blocks.length} elements on lines {lines}"


def _detour(detour: Detour) -> str:
    return f"detour {detour.color}: " + " ".join(f"({x} {y})" for x, y in detour.pes)


def _role(role: Role) -> Iterator[str]:
    yield from (show_color(use) for use in role.colors)
    for lane in role.lanes:
        yield f"lane {lane.name}"
        yield from (f"  {line}" for loop in lane.loops for line in _loop(loop))


def _loop(loop: Loop | Once) -> Iterator[str]:
    yield (
        "once"
        if isinstance(loop, Once)
        else f"{show_number(loop.turns)} times, {show_number(loop.shift)} slices on"
    )
    yield from (f"  {show_entry(entry)}" for entry in loop.entries)


def show_lane(lane: Lane) -> str:
    """The loops of a lane, a line for each entry."""
    return "\n".join(line for loop in lane.loops for line in _loop(loop))


def show_entry(entry: Entry) -> str:
    """The operations that begin together, and where a step ends behind them."""
    words = [show_op(op) for op in entry.ops] or ["nothing"]
    if entry.ends_step != ZERO:
        where = "" if entry.ends_step == ONE else f" where {show_number(entry.ends_step)}"
        words.append(f"ends the step{where}")
    return "; ".join(words)


def show_op(op: Op) -> str:
    """`combine row_even -> memory, 3 vectors`: what is done, from where to where, how much."""
    words = [f"{op.action.value} {_place(op.receive)} -> {_place(op.send)}"]
    words += [f"{op.vectors} vectors"] if op.vectors != 1 else []
    if op.slices != WHOLE:
        first, count = show_number(op.slices.first), show_number(op.slices.count)
        words.append(f"slices {first} .. {count}{' backward' if op.slices.backward else ''}")
    words += [f"{show_number(op.elements)} elements"] if op.elements is not None else []
    words += [f"advance {op.advance.value}"] if op.advance is not Advance.NOTHING else []
    words += ["comes back"] if op.returns else []
    words += [_filter(op.filter)] if op.filter else []
    words += [f"after {op.after}"] if op.after else []
    words += [f"where {show_number(op.where)}"] if op.where != ONE else []
    return ", ".join(words)


def _place(place: Place) -> str:
    if isinstance(place, str):
        return place or NONE
    word = "memory" if place.buffer is Buffer.VECTOR else place.buffer.value
    return f"{word} {place.area}" if place.area or place.buffer is Buffer.STAGE else word


def _filter(counter: Filter) -> str:
    passes, before, period = (
        f"{show_number(slices.first)} .. {show_number(slices.count)}"
        for slices in (counter.passes, counter.before, counter.period)
    )
    return f"filter {passes} behind {before} of {period}"


def show_number(number: Number) -> str:
    """`3`, `(511 - 1 * (p / 2)) mod 512`, `0 + [0 1 3][p mod 3]`."""
    text = str(number.offset)
    if number.slope or number.divisor != 1:
        text = f"{number.offset} + {number.slope} * {divided(number.divisor)}"
    text = f"({text}) mod {number.modulus}" if number.modulus else text
    if number.table or number.every != 1:
        entries = " ".join(map(str, number.table))
        text += f" + [{entries}][{divided(number.every)}]"
    return text


def divided(divisor: int) -> str:
    """The place, or every so many of them one number."""
    return "p" if divisor == 1 else f"(p / {divisor})"


def show_color(use: ColorUse) -> str:
    """A color and its positions on one line."""
    routes = ", then ".join(map(show_route, use.positions))
    return f"color {use.color}: {routes}{', in a ring' if use.ring else ''}"


def show_route(route: Route) -> str:
    """`EAST -> RAMP+WEST`."""
    return f"{route.receive.value} -> {'+'.join(side.value for side in route.send)}"


def show_region(region: Region) -> str:
    """`(x 0..62 step 2, y 0)`."""
    return f"(x {show_strided(region.x)}, y {show_strided(region.y)})"


def show_strided(run: Strided) -> str:
    """`0..62 step 2`, `1..5 step 2, 4 times at 8`, or a single number."""
    if run == Strided(run.first, run.first):
        return str(run.first)
    text = f"{run.first}..{run.last}" + (f" step {run.step}" if run.step > 1 else "")
    return text if run.repeats == 1 else f"{text} repeated {run.repeats} at {run.period}"
