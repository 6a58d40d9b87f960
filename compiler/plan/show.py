"""A plan as text, for `--dump plan` and for tests. `collc.plan.read` reads it back, alone.

The collective stands in it as the language writes it; what follows is what the plan decides. A line
that begins with `#` explains and is not read.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from types import MappingProxyType

from collc.language.show import show_spec
from collc.plan.plan import (
    ONE,
    WHOLE,
    ZERO,
    Action,
    Advance,
    Buffer,
    ColorUse,
    Detour,
    Entry,
    Filter,
    Lane,
    Loop,
    Memory,
    Number,
    Once,
    Op,
    Phase,
    Place,
    Plan,
    Region,
    Role,
    Route,
    Slices,
    Strided,
    closing,
)
from collc.spec import Collective, ContractKind, ReduceStep, Spec, Step, Tree
from collc.target import TARGETS, Target

NONE = "nothing"  # a color that no place of a role has
TEAR_DOWN = "tear down "
Numbers = Mapping[str, int]
NO_NUMBERS: Numbers = MappingProxyType({})

LEGEND = """\
# A role is what the PEs of its `at` lines do: `1..49 step 16`; `repeated 4 at 16`: four times, each
# 16 further on. `color` lines are positions of a router, from which side to which sides; it begins
# in position 0. A color that is not listed is not configured there in this phase.
# Lanes run beside each other. In a lane, a line begins when the one before has ended, and what `;`
# joins begins together. Behind `ends the step` a PE goes on when all of its lanes have come there;
# `after L` waits for the operation of lane L that receives, or sends, alike.
# `T times, S slices on`: T turns, slices S further on in each, modulo their number. `slices N from
# M`: M to M + N - 1, `backward` from the last element to the first. `in K blocks of L`: behind each
# of these slices those L, 2 * L, ... further on; `backward` turns the order of the slices alone. p
# counts the PEs of a line from the west or north end, or along the path; divisions round down.
# `combine`: the vector of the PE and what comes, by the operation of the collective. `comes back`:
# the PE receives what it sends as well. `filter A behind B of C`: of each C, the PE skips B, gets A
# and skips the others, all of which go on to neighbours; `in memory` it puts aside all, and takes A
# from there.
# Behind the last word, `advance` moves routers on: `own_router` that of the sender, `turn` too,
# also where no word is sent, `control` those from the sender to the receiver, `hand_over` that of
# the sender and the next one, `reset` all on the way back to position 0; `teardown` closes them
# until their PEs configure them anew.
"""


# what becomes of what is sent along a line, or over the grid
KINDS = {
    ContractKind.REDUCE: "combines at one PE",
    ContractKind.ALLREDUCE: "combines",
    ContractKind.BROADCAST: "copies",
}


def show_plan(plan: Plan) -> str:
    """The plan as text: the collective, its numbers, then each phase with its roles and regions."""
    body = (f"  {line}" for line in body_of(plan))
    lines = [f"plan {plan.collective.name}", *show_collective(plan.collective, plan.target), *body]
    return LEGEND + "\n".join(lines) + "\n"


def show_collective(collective: Collective, target: Target) -> Iterator[str]:
    """The collective in the language, as far as it is no matter of how it was found."""
    yield "  collective"
    spec = Spec("plan.coll", target.name, (), (readable(collective),))
    yield from (f"    {line}" for line in show_spec(spec).splitlines() if line)
    yield from (f"  {line}" for line in of_the_call(collective))


def readable(collective: Collective) -> Collective:
    """The collective with what the language can say of it, and not how it was found."""
    steps = tuple(map(_named_step, collective.steps))
    return replace(collective, steps=steps, decision=None, expectations=())


def _named_step(step: Step) -> Step:
    """A step whose trees have names that the language can read."""
    if not isinstance(step, ReduceStep):
        return step
    far = step.far and _named_tree(step.far)
    return replace(step, tree=_named_tree(step.tree), far=far)


def _named_tree(tree: Tree) -> Tree:
    return replace(tree, text=tree.text.split(",")[0]) if "optimal choice" in tree.text else tree


def of_the_call(collective: Collective) -> Iterator[str]:
    """What is given when the program runs, as far as the language does not say it here."""
    given = collective.contract.run_length
    if given is not None:
        most = f"{collective.contract.length} of {given.most}"
        yield f"length {given.name}: {given.least} to {given.longest}, {most}"
    if collective.root_of_call:
        sides = (one for one in collective.steps if isinstance(one, ReduceStep) and one.far)
        lower = any(len(one.tree.children) == one.root + 1 for one in sides)
        yield "root: of the call" + ", the lower side first" * lower


def body_of(plan: Plan) -> Iterator[str]:
    """What the plan decides, and the numbers of the target that are not the machine's own."""
    yield from show_target(plan.target)
    yield f"colors: {_named(plan.colors)}"
    yield f"input queues: {integers(plan.input_queues)}"
    yield f"output queues: {integers(plan.output_queues)}"
    yield f"memory: {plan.code_bytes} bytes of code, {plan.data_bytes} bytes of data"
    for phase in plan.phases:
        yield from _phase(phase, dict(plan.colors))


def show_target(target: Target) -> Iterator[str]:
    """The fields that differ from those of the machine with this name."""
    own = TARGETS[target.name]
    for field in fields(Target):
        value = getattr(target, field.name)
        if value != getattr(own, field.name):
            shown = sorted(value) if isinstance(value, frozenset) else value
            yield f"target {field.name}: {shown!r}"


def _named(colors: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(f"{name} = {number}" for name, number in colors) or "none"


def integers(values: tuple[int, ...]) -> str:
    """`2, 3`, or `none`."""
    return ", ".join(map(str, values)) or "none"


def _phase(phase: Phase, numbers: Numbers) -> Iterator[str]:
    yield f"phase {phase.name}: {phase.about}"
    words = [KINDS[phase.kind], f"axis {phase.axis}"]
    words += [f"order {phase.order.value}"] if phase.order else []
    words += ["along the path"] if phase.path else []
    words += ["in pairs"] if phase.paired else []
    words += ["two wide"] if phase.wide else []
    yield f"  {', '.join(words)}"
    yield f"  {', '.join(_cut(phase))}"
    yield from (f"  {_detour(detour)}" for detour in phase.detours)
    for index, role in enumerate(phase.roles):
        regions = [show_region(region) for region, number in phase.regions if number == index]
        yield f"  role {role.name}: {role.about}"
        yield f"    at {', '.join(regions) or 'no PE'}"
        yield from (f"    {line}" for line in _role(role, numbers))


def _cut(phase: Phase) -> Iterator[str]:
    slicing = phase.slicing
    slices = f"{slicing.count} slices" if slicing.count > 1 else "one slice"
    yield f"{slicing.length} elements in {slices}"
    if slicing.grain > 1:
        yield f"grain {slicing.grain}"
    if slicing.dynamic:
        yield "by length"
    if phase.blocks:
        lines = " ".join(map(str, phase.blocks.lines))
        yield f"blocks of {phase.blocks.length} elements on lines {lines}"
    yield f"lanes {' '.join(phase.lanes)}"


def _detour(detour: Detour) -> str:
    return f"detour {detour.color}: " + " ".join(f"({x} {y})" for x, y in detour.pes)


def _role(role: Role, numbers: Numbers) -> Iterator[str]:
    yield from (f"color {show_color(use, numbers)}" for use in role.colors)
    for lane in role.lanes:
        yield f"lane {lane.name}"
        yield from (f"  {line}" for loop in lane.loops for line in _loop(loop, numbers))


def _loop(loop: Loop | Once, numbers: Numbers = NO_NUMBERS) -> Iterator[str]:
    if isinstance(loop, Once):
        yield "once"
    else:
        yield f"{show_number(loop.turns)} times, {show_number(loop.shift)} slices on"
    yield from (f"  {show_entry(entry, numbers)}" for entry in loop.entries)


def show_lane(lane: Lane) -> str:
    """The loops of a lane, a line for each entry."""
    return "\n".join(line for loop in lane.loops for line in _loop(loop))


def show_entry(entry: Entry, numbers: Numbers = NO_NUMBERS) -> str:
    """The operations that begin together, and where a step ends behind them."""
    words = [show_op(op, numbers) for op in entry.ops] or ["nothing"]
    if entry.ends_step != ZERO:
        where = "" if entry.ends_step == ONE else f" where {show_number(entry.ends_step)}"
        words.append(f"ends the step{where}")
    return "; ".join(words)


def show_op(op: Op, numbers: Numbers = NO_NUMBERS) -> str:
    """`receive row_even (color 1) and combine it with the vector, 3 vectors`: what is done, from
    where to where, how much."""
    if op.sends_on and op == closing(op.sends_on):
        return f"{TEAR_DOWN}{numbered(op.sends_on, numbers)}"
    words = [f"{_taken(op.receive, numbers)} and {_put(op.action, op.send, numbers)}"]
    words += [f"{op.vectors} vectors"] if op.vectors != 1 else []
    words += [f"slices {_slices(op.slices)}"] if op.slices != WHOLE else []
    words += [f"{show_number(op.elements)} elements"] if op.elements is not None else []
    words += [f"advance {op.advance.value}"] if op.advance is not Advance.NOTHING else []
    words += ["comes back"] if op.returns else []
    words += [_filter(op.filter)] if op.filter else []
    words += [f"after {op.after}"] if op.after else []
    words += [f"where {show_number(op.where)}"] if op.where != ONE else []
    return ", ".join(words)


def _taken(place: Place, numbers: Numbers) -> str:
    if isinstance(place, str):
        return f"receive {numbered(place, numbers)}"
    return f"take {_memory(place)}"


def _put(action: Action, place: Place, numbers: Numbers) -> str:
    """What is done with it: the other operand of a combination is always the vector."""
    if isinstance(place, str):
        how = {Action.COMBINE: "combine and send", Action.COPY: "send", Action.RELAY: "pass on"}
        return f"{how[action]} on {numbered(place, numbers)}"
    into = {Action.COMBINE: "combine with", Action.COPY: "store in", Action.RELAY: "pass on to"}
    return f"{into[action]} {_memory(place)}"


def numbered(color: str, numbers: Numbers) -> str:
    """A color by its name, and its number in brackets."""
    number = f" (color {numbers[color]})" if color in numbers else ""
    return f"{color or NONE}{number}"


def _memory(place: Memory) -> str:
    if place.buffer is Buffer.VECTOR and not place.area:
        return "the vector"
    word = "the vector" if place.buffer is Buffer.VECTOR else "stage"
    return f"{word} {place.area}"


def _slices(slices: Slices) -> str:
    first, count = show_number(slices.first), show_number(slices.count)
    blocks = f" in {slices.blocks} blocks of {slices.period}" if slices.blocks > 1 else ""
    return f"{count} from {first}{' backward' if slices.backward else ''}{blocks}"


def _filter(counter: Filter) -> str:
    parts = (_slices(one) for one in (counter.passes, counter.before, counter.period))
    where = "in memory " if counter.in_memory else ""
    return "filter {}{} behind {} of {}".format(where, *parts)


def show_number(number: Number) -> str:
    """`3`, `15 - (p / 2)`, `(511 - 2 * p) mod 512`, `0 + [0 1 3][p]`."""
    text = str(number.offset)
    if number.slope or number.divisor != 1:
        times = "" if abs(number.slope) == 1 else f"{abs(number.slope)} * "
        sign = "-" if number.slope < 0 else "+"
        text = f"{number.offset} {sign} {times}{divided(number.divisor)}"
        text = text.removeprefix("0 + ")
    text = f"({text}) mod {number.modulus}" if number.modulus else text
    if number.table or number.every != 1:
        entries = " ".join(map(str, number.table))
        text += f" + [{entries}][{divided(number.every)}]"
    return text


def divided(divisor: int) -> str:
    """The place, or every so many of them one number."""
    return "p" if divisor == 1 else f"(p / {divisor})"


def show_color(use: ColorUse, numbers: Numbers = NO_NUMBERS) -> str:
    """A color and its positions, numbered, on one line."""
    routes = ", ".join(f"{at}. {show_route(one)}" for at, one in enumerate(use.positions))
    return f"{numbered(use.color, numbers)}: {routes}{', in a ring' if use.ring else ''}"


def show_route(route: Route) -> str:
    """`EAST -> RAMP+WEST`."""
    return f"{route.receive.value} -> {'+'.join(side.value for side in route.send)}"


def show_region(region: Region) -> str:
    """`(x 0..62 step 2, y 0)`."""
    return f"(x {show_strided(region.x)}, y {show_strided(region.y)})"


def show_strided(run: Strided) -> str:
    """`0..62 step 2`, `1..5 step 2 repeated 4 at 8`, or a single number."""
    if run == Strided(run.first, run.first):
        return str(run.first)
    text = f"{run.first}..{run.last}" + (f" step {run.step}" if run.step > 1 else "")
    return text if run.repeats == 1 else f"{text} repeated {run.repeats} at {run.period}"
