"""Who has what of a resource that runs short: the machine, memcpy and the runtime, `reserve`."""

from __future__ import annotations

from collc.diagnostics import Span
from collc.plan import Plan
from collc.spec import Reserved

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


def knob(plan: Plan, *resources: str) -> str:
    """What else helps where `reserve` has a part in it."""
    return ", or reserve less" if reservations(plan, *resources) else ""


def _runs(numbers: tuple[int, ...]) -> str:
    """Numbers as the clause has them: `0 .. 3 and 7`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return " and ".join(str(a) if a == b else f"{a} .. {b}" for a, b in runs)
