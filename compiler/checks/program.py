"""Checks of a program: each collective by itself, then what they share."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from collc.base.diagnostics import Diagnostic, Span
from collc.checks import BUDGETS, CHECKS, FOLLOW, check_plan
from collc.checks.budgets.colors import allowed
from collc.checks.budgets.filters import filters_of_program
from collc.checks.budgets.memory import has_free
from collc.checks.color_hand_over import turns
from collc.checks.follow import follow
from collc.checks.queue_users import clashes, one_microthread
from collc.checks.resource_report import kept_by, left_beside
from collc.plan import Plan
from collc.plan.one_call import adds_nothing
from collc.plan.placement import switched_colors
from collc.plan.plan import ProgramPlan
from collc.schedule import Schedule
from collc.spec import Reconfigure
from collc.spec.simd import by_call_back

_QUEUES = ("input_queues", "output_queues")

SHORTAGES = frozenset(("C303", "C304", "C305", "C306", "C307", "C324"))  # of numbers


def check_program(plan: ProgramPlan, schedules: Sequence[Schedule]) -> tuple[Diagnostic, ...]:
    """Everything that is wrong with the plan of a program, whose collectives carry out these
    schedules; one that passes can be emitted."""
    if adds_nothing(plan):
        return check_plan(plan.plans[0], schedules[0])
    own = CHECKS if not any(_memory(plan)) else BUDGETS  # as for one plan, see check_plan
    names = [name for name in own if name not in PROGRAM_CHECKS and name != FOLLOW]
    alone = (
        problem
        for one, schedule in zip(plan.plans, schedules, strict=True)
        for problem in check_plan(_by_itself(one), schedule, names)
    )
    noncontiguous = tuple(_gaps(plan))
    if noncontiguous:
        return noncontiguous  # it is shared as if it did not gap
    apart = tuple(call_streams(plan))
    if apart:
        return (*alone, *apart)  # what call streams lack, they lack together as well
    found = (*alone, *(problem for check in PROGRAM_CHECKS.values() for problem in check(plan)))
    return found or tuple(follow(plan, schedules))


def _by_itself(plan: Plan) -> Plan:
    """The plan with a number of its own for each symbolic color: that phases which share a color
    do not meet on it is shown by the machine."""
    return replace(plan, colors=tuple((name, i) for i, (name, _) in enumerate(plan.colors)))


def _colors(plan: ProgramPlan) -> Iterator[Diagnostic]:
    """C302: more colors than allowed."""
    most = plan.program.colors
    if most is not None and len(plan.colors) > most:
        widest = max(plan.uses, key=lambda use: len(use.positions))
        yield Diagnostic(
            "C302",
            f"`{plan.label(widest)}` needs {len(widest.positions)} colors at once, the program's "
            f"limit is {most}",
            plan.program.colors_span or plan.program.span,
            ((plan.plans[widest.collective].collective.span, "it is part of this collective"),),
            f"allow {len(plan.colors)} colors, or choose a pattern that needs fewer",
            allowed(len(plan.colors), plan.program.colors_span),
        )


def _color_numbers(plan: ProgramPlan) -> Iterator[Diagnostic]:
    """C303: a number that is not the target's, or that two have."""
    target = plan.target
    numbers = [color.number for color in plan.colors]
    if len(set(numbers)) < len(numbers) or not set(numbers) <= set(target.colors):
        yield _shared(
            "C303",
            plan,
            f"the program needs {len(numbers)} colors, {_left(plan, len(target.colors), 'colors')}",
            resources=("colors",),
        )


def _switch_colors(plan: ProgramPlan) -> Iterator[Diagnostic]:
    """C304: positions on a color without switches."""
    for use in plan.uses:
        switched = switched_colors([plan.phase(use)])
        for name, k in use.positions:
            number = plan.colors[k].number
            if name in switched and number not in plan.target.switch_colors:
                what = f"`{plan.label(use)}` changes position on color {number}"
                message = f"{what}, which has no switches on {plan.target.name}"
                yield _shared("C304", plan, message, resources=("colors",))


def _queues(plan: ProgramPlan) -> Iterator[Diagnostic]:
    """C305: a queue that the target does not have, or that a PE would need for two colors."""
    inputs, outputs = plan.queues
    for kind, available, of in (
        ("input", plan.target.input_queues, inputs),
        ("output", plan.target.output_queues, outputs),
    ):
        if not set(of) <= set(available):
            needed, left, which = len(set(of)), len(available), ""
            if needed <= left and kind == "input":  # an exchange receives while it sends
                which = ", with numbers that no output queue beside them has"
                left = len(set(available) - set(outputs))
            message = f"the program needs {needed} {kind} queues for its colors{which}, "
            message += _left(plan, left, *_QUEUES)
            yield _shared("C305", plan, message, resources=_QUEUES)
            continue
        for clash in clashes(plan, kind):
            yield _shared("C305", plan, f"{kind} queue {clash} is that of two colors of one PE")


def _microthreads(plan: ProgramPlan) -> Iterator[Diagnostic]:
    """C324: operations beside each other on queues with one number."""
    told = set[str]()
    for use, number in one_microthread(plan):
        if plan.label(use) not in told:
            told.add(plan.label(use))
            yield _shared(
                "C324",
                plan,
                f"`{plan.label(use)}` sends and receives at the same time on queues with "
                f"number {number}, which have one microthread",
            )


def _memory(plan: ProgramPlan) -> Iterator[Diagnostic]:
    """C308: code and data exceed a PE's memory."""
    needed, available = plan.code_bytes + plan.data_bytes, plan.target.free_bytes
    if needed > available:
        yield _shared(
            "C308",
            plan,
            f"a PE needs {needed} bytes (data {plan.data_bytes}, code about {plan.code_bytes}), "
            f"{has_free(plan.target)}",
            "shorten the buffers, or run fewer rounds",
        )


def _left(plan: ProgramPlan, available: int, *resources: str, beside: tuple[str, ...] = ()) -> str:
    """What the target has of something for a program, and beside what."""
    kept = kept_by(plan.program.reserved, *resources)
    return left_beside(plan.target, available, bool(kept), *beside)


def _shared(
    code: str, plan: ProgramPlan, message: str, help: str = "", resources: Sequence[str] = ()
) -> Diagnostic:
    """A diagnostic about the whole program; `resources` are those that run short, by the names of
    the target's fields."""
    remedy = help or (
        "run fewer collectives in a program, or patterns with fewer colors at once"
        if len(plan.plans) > 1
        else "choose a pattern with fewer colors at once, or a length that is not given at run time"
    )
    kept = kept_by(plan.program.reserved, *resources)
    return Diagnostic(
        code, message, plan.program.span, kept, remedy + (", or reserve less" if kept else "")
    )


# Those of a name that a check of plans has are the program's, and not each collective's.
PROGRAM_CHECKS: dict[str, Callable[[ProgramPlan], Iterator[Diagnostic]]] = {
    "colors": _colors,
    "color_numbers": _color_numbers,
    "turns": turns,
    "switch_colors": _switch_colors,
    "queues": _queues,
    "microthreads": _microthreads,
    "filters": filters_of_program,
    "memory": _memory,
}


def _gaps(plan: ProgramPlan) -> Iterator[Diagnostic]:
    """C338: detours through routers of other PEs on colors that are torn down: such a router would
    have to be opened for a phase by a PE that does not know when."""
    for use in plan.uses:
        detours = plan.phase(use).detours
        torn = {name for name, k in use.positions if plan.colors[k].torn_down}
        if any(detour.color in torn for detour in detours):
            yield Diagnostic(
                "C338",
                f"`{plan.label(use)}` leads to PEs that are no neighbours on colors that are torn "
                "down behind it",
                plan.phase(use).span,
                (_why(plan),),
                "use a contiguous order, such as snake or hilbert",
            )


def _why(plan: ProgramPlan) -> tuple[Span, str]:
    """What in the source has colors torn down."""
    program = plan.program
    if program.reconfigure is Reconfigure.TEARDOWN:
        return program.span, "`reconfigure teardown` has all colors of this program torn down"
    if program.colors_span is not None:
        return program.colors_span, "within this limit colors alternate"
    return program.span, "colors alternate in this program"


def call_streams(plan: ProgramPlan) -> Iterator[Diagnostic]:
    """C334: too little for all call streams, or something that two of them have; C335: a
    call-back."""
    for call_stream in plan.call_streams:
        yield from _call_backs(plan, call_stream)
    if any(map(_lacks, plan.call_streams)):
        yield _shortage(plan)
        return  # numbers were made up for them
    for one, other in combinations(plan.call_streams, 2):
        for what, numbers in _occupied(one).items():
            common = numbers & _occupied(other)[what]
            if common:
                message = f"{_names(one)} and {_names(other)} are in flight at the same time, "
                message += f"and both have {what} {min(common)}"
                yield _refused(plan, "C334", message, "run one after the other: leave `and` out")


def _shortage(plan: ProgramPlan) -> Diagnostic:
    """How many colors each call stream needs, and what there is of them for all."""
    each = [f"{len(one.colors)} for {_names(one)}" for one in plan.call_streams]
    target, of_program = plan.target, plan.program.colors
    most = len(target.colors) if of_program is None else of_program
    into, out = set(target.input_queues), set(target.output_queues)
    message = "too few colors with queues for what is in flight at the same time, "
    message += f"{', '.join(each[:-1])} and {each[-1]}: {target.name} has "
    message += f"{min(most, len(target.colors))} colors and {len(into | out)} numbers for queues, "
    message += f"{len(into)} of input and {len(out)} of output"
    return of_call_streams(plan, message, "colors", *_QUEUES)


def of_call_streams(
    plan: ProgramPlan, message: str, *resources: str, use: str = "patterns with fewer colors"
) -> Diagnostic:
    """C334 about resources (fields of the target) that all call streams need together; what is of
    `use` where they are not to run one after the other."""
    help = f"run some of them one after the other, or use {use}"
    kept = kept_by(plan.program.reserved, *resources)
    if kept:
        help += ", or reserve less"
    return Diagnostic("C334", message, plan.program.span, kept, help)


def _occupied(call_stream: ProgramPlan) -> dict[str, set[int]]:
    """What a call stream uses on a PE. Queues of both kinds count as one: a microthread has the
    number of the one or the other."""
    inputs, outputs = call_stream.queues
    return {"color": set(call_stream.color_numbers), "queue": {*inputs, *outputs}}


def _lacks(call_stream: ProgramPlan) -> bool:
    """Whether a call stream lacks colors with queues of what the others leave."""
    most = call_stream.program.colors
    return not call_stream.fits(len(call_stream.colors) if most is None else most)


def _call_backs(plan: ProgramPlan, call_stream: ProgramPlan) -> Iterator[Diagnostic]:
    """A call-back waits, in the middle of a PE's code, for what it combines."""
    joined = {
        plan.program.calls[call] for turn in plan.program.turns if len(turn) > 1 for call in turn
    }
    for one in call_stream.plans:
        contract, name = one.collective.contract, one.collective.name
        whole = any(phase.whole for phase in one.phases)
        if name in joined and whole and by_call_back(contract):
            message = f"`{name}` combines by a call-back, which waits for what it receives and "
            message += "holds up what is in flight beside it"
            help = "run it by itself: leave `and` out"
            yield _refused(plan, "C335", message, help)


def _names(call_stream: ProgramPlan) -> str:
    return ", ".join(f"`{one.collective.name}`" for one in call_stream.plans)


def _refused(plan: ProgramPlan, code: str, message: str, help: str) -> Diagnostic:
    return Diagnostic(code, message, plan.program.span, help=help)
