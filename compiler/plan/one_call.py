"""A program that is one call of one collective."""

from __future__ import annotations

from collc.plan.plan import Plan, ProgramPlan


def called_once(program: ProgramPlan) -> Plan | None:
    """The plan of the one collective that a program calls, once and always by the same steps; None
    where there are more calls, or a choice. What a run does can be told phase by phase then."""
    one = len(program.plans) == len(program.program.calls) == program.program.rounds == 1
    return program.plans[0] if one else None
