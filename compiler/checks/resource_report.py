"""Who has what of a resource that runs short: the machine, memcpy and the runtime, `reserve`."""

from collections.abc import Mapping

from collc.base.diagnostics import Diagnostic, Span
from collc.base.number_ranges import consecutive
from collc.plan import Plan
from collc.plan.placement import colors_of
from collc.spec import Reserved
from collc.target import Target

# the word of `reserve` for a field of the target, and what memcpy and the runtime keep of it
WORDS = {
    "colors": "colors",
    "input_queues": "input_queues",
    "output_queues": "output_queues",
    "local_task_ids": "tasks",
    "dsr_ids": "dsrs",
}


def reservations(plan: Plan, *resources: str) -> tuple[tuple[Span, str], ...]:
    """What is reserved of these resources (fields of the target), at the clause that says so first;
    nothing if nothing is."""
    return kept_by(plan.collective.limits.reserved, *resources)


def kept_by(reserved: Reserved, *resources: str) -> tuple[tuple[Span, str], ...]:
    """As `reservations`, of a program's or a collective's."""
    words = dict.fromkeys(WORDS[resource] for resource in resources)
    kept = [f"{word} {_runs(getattr(reserved, word))}" for word in words if getattr(reserved, word)]
    if not kept:
        return ()
    return ((reserved.clauses[0], f"`reserve` keeps {', '.join(kept)}"),)


def limit_clause(plan: Plan, *resources: str) -> str:
    """What else helps where `reserve` has a part in it."""
    return ", or reserve less" if reservations(plan, *resources) else ""


def left_beside(target: Target, available: int, kept: bool, *others: str) -> str:
    """What a target has of something, and beside what: memcpy, `others`, and `reserve` where it has
    `kept` some of it."""
    taken = ("memcpy", *others, *(("what is reserved",) if kept else ()))
    beside = " and ".join((", ".join(taken[:-1]), taken[-1])) if taken[1:] else taken[0]
    return f"{target.name} has {available or 'none'} beside {beside}"


def task_id_rivals(target: Target) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields of the target that decide how many local task ids there are, and in words what
    takes some of them beside memcpy: colors in use, where tasks of wavelets have their numbers."""
    if target.tasks_by_color:
        return ("local_task_ids", "colors"), ("the colors in use",)
    return ("local_task_ids",), ()


def shortage(  # noqa: PLR0913 - needed, available, and who has what
    code: str,
    plan: Plan,
    what: str,
    needed: Mapping[str, int],
    available: int,
    *resources: str,
    total: int,
    time_multiplexed: int,
    beside: tuple[str, ...] = (),
) -> Diagnostic:
    """A diagnostic about something of which a collective needs more than there is: how much, which
    phase how much of it, what there is, who keeps the rest, and what helps. The `total` is less
    than the sum where phases on different PEs share; phases of a program, which alternate, need so
    much `time_multiplexed`."""
    own, kept = plan.collective, reservations(plan, *resources)
    by = ", ".join(f"`{name}` {count}" for name, count in needed.items())
    left = left_beside(plan.target, available, bool(kept), *beside)
    return Diagnostic(
        code,
        f"`{own.name}` needs more {what} than there are: {total} ({by}), {left}",
        own.span,
        kept,
        _remedy(plan, time_multiplexed <= available) + limit_clause(plan, *resources),
    )


def _remedy(plan: Plan, enough: bool) -> str:
    """What helps: phases that share colors over time, if there is enough for that, also queues for
    their colors, each of which has its own then."""
    colors = max(len(colors_of([phase])) for phase in plan.phases)
    target = plan.target
    there = min(map(len, (target.colors, target.input_queues, target.output_queues)))
    if len(plan.phases) > 1 and enough and colors <= there:
        return (
            "drop a step, or make several collectives of the steps, whose phases share colors over "
            f"time: `program {{ ... within colors <= {colors} }}`"
        )
    return "choose a pattern that needs fewer at once"


def _runs(numbers: tuple[int, ...]) -> str:
    """Numbers as the clause has them: `0 .. 3 and 7`."""
    return " and ".join(str(a) if a == b else f"{a} .. {b}" for a, b in consecutive(numbers))
