"""What a library needs more of than a PE has: local task ids, and DSRs, which operations take."""

from collections.abc import Iterator, Mapping, Sequence

from collc.base.diagnostics import Diagnostic
from collc.base.values import dataclass
from collc.checks.program import of_call_streams
from collc.checks.resource_report import kept_by, left_beside, task_id_rivals
from collc.plan.plan import ProgramPlan

TASKS, REGISTERS = "local_task_ids", "dsr_ids"  # fields of the target
_CODES = {TASKS: "C306", REGISTERS: "C307"}
_WORDS = {TASKS: "local task ids", REGISTERS: "DSRs of one file"}
Needed = Mapping[str, int]  # of a resource, by its field


@dataclass(frozen=True)
class ShortageError(Exception):
    """So many are needed of each resource, of which so many are left: of some too few."""

    needed: Needed
    available: Needed


def shortages(
    program: ProgramPlan,
    found: ShortageError,
    phases: Sequence[tuple[str, Needed]],
    beside: str,
) -> Iterator[Diagnostic]:
    """The messages about a program, with what each phase needs at once, and which tasks are needed
    `beside` these, in words."""
    for resource, there in found.available.items():
        needed = found.needed[resource]
        if needed > there:
            each = [f"`{name}` {need[resource]}" for name, need in phases]
            each += [f"and {beside}" if each else beside] if beside and resource == TASKS else []
            yield _shortage(program, resource, f"{needed} ({', '.join(each)})", there)


def _shortage(program: ProgramPlan, resource: str, needed: str, there: int) -> Diagnostic:
    """The message about one resource; about the collective, if the program has one."""
    only = program.plans[0].collective if len(program.plans) == 1 else None
    span = only.span if only else program.program.span
    if resource == TASKS:
        of, rivals = task_id_rivals(program.target)
    else:
        of, rivals = (resource,), ()
    kept = kept_by(program.program.reserved, *of)
    left = left_beside(program.target, there, bool(kept), *rivals)
    message = f"`{only.name}`" if only else "the program"
    message += f" needs more {_WORDS[resource]} at once than there are: {needed}, {left}"
    help = "choose a pattern that needs fewer at once" + ", or reserve less" * bool(kept)
    return Diagnostic(_CODES[resource], message, span, kept, help)


def shortages_together(
    program: ProgramPlan, needs: Sequence[Needed], available: Needed
) -> Iterator[Diagnostic]:
    """The messages where what is in flight at the same time needs more than there is."""
    for resource, there in available.items():
        each = [need[resource] for need in needs]
        if sum(each) <= there:
            continue
        of = [
            f"{count} for {', '.join(f'`{one.collective.name}`' for one in stream.plans)}"
            for count, stream in zip(each, program.call_streams, strict=True)
        ]
        rivals = task_id_rivals(program.target)[1] if resource == TASKS else ()
        reserved = kept_by(program.program.reserved, resource)
        message = f"too few {_WORDS[resource]} for what is in flight at the same time, "
        message += f"{', '.join(of[:-1])} and {of[-1]}: "
        message += left_beside(program.target, there, bool(reserved), *rivals)
        yield of_call_streams(program, message, resource, use="patterns that need fewer at once")
