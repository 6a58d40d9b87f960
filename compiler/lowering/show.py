"""A plan as text, for `--dump plan` and for tests."""

from __future__ import annotations

from collections.abc import Iterator

from collc.plan import (
    AREA_BITS,
    ColorUse,
    CopyVector,
    Lane,
    Number,
    Phase,
    Plan,
    Region,
    Role,
    Route,
    Row,
    RowKind,
    SendVector,
    Step,
    Strided,
)

_ROW_WORDS = {
    RowKind.SENDS: "send {out}",
    RowKind.RELAYS: "pass {passed} elements",
    RowKind.RECEIVES: "receive {into}",
    RowKind.APPLIES: "apply {into}",
    RowKind.COMBINES: "combining",
    RowKind.STAGES: "in the stage",
    RowKind.ENDS: "; ends the step",
}


def show_plan(plan: Plan) -> str:
    """The plan as text: its numbers, then each phase with its roles and regions."""
    colors = ", ".join(f"{name} = {number}" for name, number in plan.colors) or "none"
    head = [
        f"plan {plan.collective.name} on {plan.target.name}",
        f"  colors: {colors}",
        f"  input queues: {_numbers(plan.input_queues)}",
        f"  output queues: {_numbers(plan.output_queues)}",
        f"  task ids: {_numbers(plan.task_ids)}; DSR ids: {_numbers(plan.dsr_ids)}",
        f"  memory: {plan.code_bytes} bytes of code, {plan.data_bytes} bytes of data",
    ]
    return "\n".join([*head, *(line for phase in plan.phases for line in _phase(phase))]) + "\n"


def _numbers(values: tuple[int, ...]) -> str:
    return ", ".join(map(str, values)) or "none"


def _phase(phase: Phase) -> Iterator[str]:
    yield f"  phase {phase.name}: {phase.about}"
    for index, role in enumerate(phase.roles):
        regions = [show_region(region) for region, number in phase.regions if number == index]
        yield f"    {role.name}: {role.about}"
        yield f"      at {', '.join(regions)}"
        yield from (f"      {line}" for line in _role(role))


def _role(role: Role) -> Iterator[str]:
    yield from (show_step(step) for step in role.steps)
    yield from (show_color(use) for use in role.colors)
    for lane in role.lanes:
        yield from _lane(lane)


def _lane(lane: Lane) -> Iterator[str]:
    """A lane: where it receives and sends, then its loops with one row a line."""
    ends = [f"from {lane.receives_on}"] if lane.receives_on else []
    ends += [f"to {lane.sends_on}"] if lane.sends_on else []
    yield f"lane {lane.name}: {', '.join(ends) or 'unused'}"
    for loop in lane.loops:
        yield f"  {show_number(loop.turns)} turns, each {show_number(loop.shift)} slices on"
        yield from (f"    {show_row(row)}" for row in loop.rows)


def show_number(number: Number) -> str:
    """`3`, `(511 - p / 2) mod 512`, `[0, 1, 3][p mod 3]`."""
    index = "p" if number.divisor == 1 else f"p / {number.divisor}"
    parts = [f"{number.slope} * ({index})"] if number.slope else []
    parts += [str(number.offset)] if number.offset or not parts else []
    text = " + ".join(parts)
    text = f"({text}) mod {number.modulus}" if number.modulus else text
    if not number.table:
        return text
    place = "p" if number.every == 1 else f"p / {number.every}"
    entry = f"{list(number.table)}[({place}) mod {len(number.table)}]"
    return entry if text == "0" else f"{text} + {entry}"


def show_row(row: Row) -> str:
    """What a row does, as the bits of its kind say; bits that depend on the place as a number."""
    numbers = [show_number(number) for number in row.numbers]
    out, into = f"{numbers[1]} (+ {numbers[2]})", f"{numbers[3]} (+ {numbers[4]})"
    if row.kind.slope or row.kind.table:
        return f"kind {numbers[0]}: out {out}, into {into}"
    kind, area = row.kind.offset & ((1 << AREA_BITS) - 1), row.kind.offset >> AREA_BITS
    words = [word for bit, word in _ROW_WORDS.items() if kind & bit]
    text = " ".join(words).format(out=out, into=into, passed=numbers[2])
    return (text or "nothing") + (f", area {area}" if area else "")


def show_step(step: Step) -> str:
    """One step on one line."""
    if isinstance(step, CopyVector):
        return f"copy from {step.color}"
    if isinstance(step, SendVector):
        source = f" adding from {step.combines_from}" if step.combines_from else ""
        return f"send on {step.color}{source}, advance {step.advance.value}"
    return f"store {step.vectors} from {step.color} in {step.rounds} rounds"


def show_color(use: ColorUse) -> str:
    """A color and its positions on one line."""
    return f"{use.color}: " + ", then ".join(show_route(route) for route in use.positions)


def show_route(route: Route) -> str:
    """`EAST -> RAMP+WEST`."""
    return f"{route.receive.value} -> {'+'.join(way.value for way in route.send)}"


def show_region(region: Region) -> str:
    """`x 0..62 step 2, y 0`."""
    return f"(x {show_strided(region.x)}, y {show_strided(region.y)})"


def show_strided(run: Strided) -> str:
    """`0..62 step 2`, `(1..5 step 2) 4 times at 8`, or a single number."""
    if len(run) == 1:
        return str(run.first)
    text = f"{run.first}..{run.last}" + (f" step {run.step}" if run.step > 1 else "")
    return text if run.repeats == 1 else f"({text}) {run.repeats} times at {run.period}"
