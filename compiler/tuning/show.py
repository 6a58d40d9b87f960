"""A choice as text and as data."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from collc.base.table import aligned
from collc.cost.show import shortened
from collc.cost.steps_model import follow_steps
from collc.plan import Plan
from collc.schedule import Schedule
from collc.spec import Considered, Decision
from collc.spec.exchange import StepsPhase
from collc.tuning.cost_terms import terms_of
from collc.tuning.link_load import CrowdedLink, crowded_link
from collc.tuning.written import with_open_sizes


def show_chosen(decision: Decision, of: str = "") -> str:
    """What was chosen in a line; `of` names the collective, where there are several."""
    return f"chosen{f' for {of}' if of else ''}: {decision.chosen.text}"


def show_decision(decision: Decision, of: str = "") -> str:
    """What was chosen and why, and the runner-up, in two lines."""
    chosen, other = decision.chosen, decision.runner_up
    ruled_out = sum(one.cycles is None and not one.refused for one in decision.lost)
    looked = f"of {len(decision.lost) + 1} plans the fastest: predicted {chosen.cycles} cycles"
    lines = [show_chosen(decision, of), f"  {looked}, most of them {chosen.term}"]
    if ruled_out:
        lines[-1] += f"; {ruled_out} cannot take fewer"
    if other is not None:
        lines.append(f"  next: {other.text} with {other.cycles} cycles, most of them {other.term}")
    if decision.left_out:
        plans = "; ".join(shortened(list(decision.left_out)))
        lines.append(f"  not looked at, for the work it takes: {plans}")
    return "\n".join(lines) + "\n"


def show_plans(decision: Decision) -> str:
    """All plans that came into question, the chosen one first, as a table; of those that differ in
    the size of a tree's groups alone the first."""
    alike: dict[tuple[str, bool], list[Considered]] = {}
    for one in (decision.chosen, *decision.lost):
        alike.setdefault((with_open_sizes(one.text), one.refused != ""), []).append(one)
    rows = [("*" if ones[0] is decision.chosen else "", _best_of(ones)) for ones in alike.values()]
    return table_of(rows) + f"\n{_sum(decision.chosen)}\n"


def _best_of(ones: Sequence[Considered]) -> Considered:
    """The first of some plans, with a note how many there are."""
    best, others = ones[0], len(ones) - 1
    return replace(best, text=f"{best.text}, the best of {others + 1} sizes") if others else best


def table_of(plans: Sequence[tuple[str, Considered]]) -> str:
    """Plans, each with a mark before it."""
    rows: list[tuple[str, ...]] = [("", "cycles", "colors", "bytes a PE", "most of them", "plan")]
    rows += [(mark, *_cells(one)) for mark, one in plans]
    return "\n".join(aligned(rows, right=(1, 2, 3))) + "\n"


def _cells(one: Considered) -> tuple[str, ...]:
    known = (one.cycles, one.colors, one.memory_bytes)
    cycles, colors, memory = ("-" if value is None else str(value) for value in known)
    if one.cycles is None:
        cycles = f">={one.at_least}"
    text = f"{one.text}  (refused: {one.refused})" if one.refused else one.text
    return cycles, colors, memory, one.term or "-", text


def _sum(one: Considered) -> str:
    return f"{one.cycles} cycles = {_added(one.terms)}"


def _added(terms: tuple[tuple[str, int], ...]) -> str:
    return " + ".join(f"{name} {cycles}" for name, cycles in terms)


def show_terms(schedule: Schedule, plan: Plan, cycles: int) -> str:
    """What predicted cycles go into; of steps also by which transfers the last rank gets its
    last element, and which link has most to carry."""
    contract, target = plan.collective.contract, plan.target
    lines = [f"  {cycles} = {_added(terms_of(schedule, cycles, target).named())}"]
    for pattern, phase in zip(schedule.phases, plan.phases, strict=True):
        if isinstance(pattern, StepsPhase):
            chain = follow_steps(pattern, contract, target).chain
            told = [f"{source} -> {rank} in step {step}" for step, source, rank in chain]
            waits = ", ".join(shortened(told)) or "no transfer: its ranks are busy all the time"
            where = f"  {pattern.name} (line {pattern.span.line})"
            lines.append(f"{where} waits for {waits}")
            link = crowded_link(schedule, pattern, phase, target)
            lines += [f"{where} {_busiest(link)}"] if link is not None else []
    return "\n".join(lines) + "\n"


def _busiest(link: CrowdedLink) -> str:
    """What goes over a link."""
    count = len(link.transfers)
    where = f"is busiest at the {link.word} from PE {link.source} to PE {link.target}"
    most = f"{link.elements} of them in step {link.step} by {count} transfer{'s' * (count > 1)}"
    back = f", {link.back} back" if link.back else ""
    return f"{where}: {link.total} elements, {most}{back}"


def plan_as_data(one: Considered) -> dict[str, Any]:
    """A plan that came into question as plain data."""
    return {
        "plan": one.text,
        "cycles": one.cycles,
        "at_least": one.at_least,
        "colors": one.colors,
        "memory_bytes": one.memory_bytes,
        "refused": one.refused or None,
        "most_of_them": one.term or None,
        "terms": dict(one.terms),
    }


def decision_as_data(decision: Decision) -> dict[str, Any]:
    """A choice as plain data: what was chosen, and the runner-up."""
    other = decision.runner_up
    return {
        "chosen": plan_as_data(decision.chosen),
        "runner_up": plan_as_data(other) if other else None,
        "plans": len(decision.lost) + 1,
        "left_out": list(decision.left_out),
    }
