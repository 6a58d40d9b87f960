"""What a library needs more of than a PE has: local task ids, and DSRs, which operations take."""

from collections.abc import Mapping, Sequence

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
    """So many are needed of something, of which so many are left."""

    resource: str
    needed: int
    available: int


def shortage(
    program: ProgramPlan, found: ShortageError, phases: Mapping[str, int], beside: str
) -> Diagnostic:
    """The message about a program, with what each phase needs at once, and what is needed `beside`
    these, in words; about its collective, if it has one."""
    only = program.plans[0].collective if len(program.plans) == 1 else None
    span = only.span if only else program.program.span
    if found.resource == TASKS:
        of, rivals = task_id_rivals(program.target)
    else:
        of, rivals = (found.resource,), ()
    kept = kept_by(program.program.reserved, *of)
    left = left_beside(program.target, found.available, bool(kept), *rivals)
    most = ", ".join(f"`{name}` {count}" for name, count in phases.items())
    most += f"{', and ' if most else ''}{beside}" if beside else ""
    message = f"`{only.name}`" if only else "the program"
    message += f" needs more {_WORDS[found.resource]} at once than there are: "
    message += f"{found.needed} ({most}), {left}"
    help = "choose a pattern that needs fewer at once" + ", or reserve less" * bool(kept)
    return Diagnostic(_CODES[found.resource], message, span, kept, help)


def shortage_together(
    program: ProgramPlan, needs: Sequence[Needed], available: Needed
) -> Diagnostic | None:
    """The message where what is in flight at the same time needs more than there is; None where all
    have enough."""
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
        return of_call_streams(program, message, resource, use="patterns that need fewer at once")
    return None
