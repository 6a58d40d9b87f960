"""What commands print alike, and the statuses they exit with."""

from __future__ import annotations

import json
from typing import Any

import click

from collc.pipeline import Bundle
from collc.schedule import Schedule
from collc.tuning.show import decision_as_data, show_decision

FAULT, USAGE, WRONG_RUN = 1, 2, 3


def print_data(data: dict[str, Any]) -> None:
    """Print one JSON object."""
    click.echo(json.dumps(data, indent=2))


def facts_of(bundle: Bundle) -> dict[str, Any]:
    """What every command says of a program in its JSON object."""
    decision = bundle.schedule.collective.decision
    chosen = {"decision": decision_as_data(decision)} if decision else {}
    return {
        "file": bundle.spec.file,
        "target": bundle.spec.target,
        "params": {p.name: p.value for p in bundle.spec.parameters},
        "predicted_cycles": bundle.prediction.cycles,
        "bound_cycles": bundle.prediction.bound,
        "colors": len(bundle.plan.colors),
        "memory_bytes": bundle.plan.code_bytes + bundle.plan.data_bytes,
        **chosen,
    }


def print_decision(schedule: Schedule) -> None:
    """What was chosen where the program left something to the compiler."""
    if schedule.collective.decision is not None:
        click.echo(show_decision(schedule.collective.decision), nl=False)


def resources_of(bundle: Bundle) -> str:
    """What a program takes, and its prediction, in a line."""
    facts = facts_of(bundle)
    colors = "1 color" if facts["colors"] == 1 else f"{facts['colors']} colors"
    return (
        f"{colors}, {facts['memory_bytes']} bytes a PE, predicted "
        f"{facts['predicted_cycles']} cycles (bound {facts['bound_cycles']})"
    )
