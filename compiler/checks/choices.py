"""The alternatives of a choice by length keep one contract: they start or end at the same PE."""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.schedule import Schedule, home_pe
from collc.spec import ContractKind, Program


def one_root(program: Program, schedules: tuple[Schedule, ...]) -> Iterator[Diagnostic]:
    """C336: alternatives of a rooted contract with different roots."""
    of_name = {schedule.collective.name: schedule for schedule in schedules}
    for selection in program.selections:
        first, *others = (of_name[name] for name in selection.names)
        contract = first.collective.contract
        if contract.kind not in (ContractKind.REDUCE, ContractKind.BROADCAST):
            continue
        root = home_pe(first)
        for other in others:
            if home_pe(other) != root:
                here, there = other.collective.steps[-1].span, first.collective.steps[-1].span
                verb = "ends" if contract.kind is ContractKind.REDUCE else "starts"
                yield Diagnostic(
                    "C336",
                    f"this alternative {verb} at PE {home_pe(other)}, the first one at PE {root}",
                    here,
                    ((there, "the first alternative"),),
                    "the place may not depend on the length: let all alternatives have the same",
                )
