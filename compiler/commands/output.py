"""What commands print alike, and the statuses they exit with."""

import json
import os
import re
import sys
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, TextIO

import click

from collc.base.diagnostics import Diagnostic, shown
from collc.commands.sarif import sarif_log
from collc.commands.status import FAULT, USAGE, WRONG_RUN
from collc.cost import show_gap
from collc.driver.bundle import Bundle
from collc.language.render import as_json, headline, render
from collc.lowering.reconfiguration import reconfiguration_bytes
from collc.machine.prediction import Prediction
from collc.tuning.show import decision_as_data, show_chosen, show_decision

__all__ = [
    "FAULT",
    "USAGE",
    "WRONG_RUN",
    "Form",
    "facts_of",
    "predicted_facts",
    "print_data",
    "print_decisions",
    "print_sarif",
    "report",
    "resources_of",
    "warning_facts",
]

# Color of messages: on terminals, unless `NO_COLOR` is set; in pipes where `FORCE_COLOR` is.

_STYLES = {"error": "red", "warning": "yellow", "note": "cyan", "help": "green"}
# Lines of a message begin with its place, which has no space at its front; quoted text has four.
_HEADLINE = re.compile(r"^(?=\S)(.*?)\b(error|warning)(\[[A-Za-z0-9]+\]:)", re.M)
_PART = re.compile(r"^(?=\S)(.*?: )?(note|help)(?=: )", re.M)
_CARETS = re.compile(r"^(    \s*)(\^+)$", re.M)


def wanted(stream: TextIO) -> bool:
    """Whether what goes to a stream is to have color."""
    if os.environ.get("FORCE_COLOR"):
        return True
    dumb = os.environ.get("TERM") == "dumb"
    return not (os.environ.get("NO_COLOR") or dumb) and stream.isatty()


def echo_painted(text: str) -> None:
    """Print messages on standard error, without a line end of its own."""
    painted = wanted(sys.stderr)
    click.echo(_painted(text) if painted else text, err=True, nl=False, color=painted)


def _painted(text: str) -> str:
    """A rendered message with its words in color: what is wrong, where, what to do."""
    text = _HEADLINE.sub(lambda m: m[1] + _styled(m[2] + m[3], m[2]), text)
    text = _PART.sub(lambda m: (m[1] or "") + _styled(m[2], m[2]), text)
    return _CARETS.sub(lambda m: m[1] + _styled(m[2], "error"), text)


def _styled(text: str, word: str) -> str:
    return click.style(text, fg=_STYLES[word], bold=True)


SCHEMA_VERSION = 1  # of every document that is printed; docs/json.md says when it changes


class Form(str, Enum):
    """How what a command finds is printed: for people, in a line each, or for programs."""

    HUMAN, SHORT, JSON, SARIF = "human", "short", "json", "sarif"


def print_data(data: Mapping[str, Any]) -> None:
    """Print one JSON object; what it has to be is in the schema that it names."""
    click.echo(json.dumps({"schema": _schema()} | dict(data), indent=2))


def _schema() -> str:
    """`collc/check/1` for `collc check`: the command, without FILE-like words, and the version."""
    context = click.get_current_context(silent=True)
    words = context.command_path.split()[1:2] if context else []
    return "/".join(["collc", *(words or ["usage"]), str(SCHEMA_VERSION)])


def report(
    diagnostics: Iterable[Diagnostic],
    sources: Mapping[str, str],
    *,
    as_data: bool = False,
    form: Form | None = None,
) -> None:
    """Print problems; `sources` are the texts that they quote, by file."""
    form = form or (Form.JSON if as_data else Form.HUMAN)
    if form is Form.JSON:
        print_data({"diagnostics": [as_json(d) for d in diagnostics]})
    elif form is Form.SARIF:
        print_sarif(diagnostics)
    elif form is Form.SHORT:
        echo_painted("".join(f"{headline(d)}\n" for d in diagnostics))
    else:
        echo_painted("\n".join(render(d, sources) for d in diagnostics))


def print_sarif(diagnostics: Iterable[Diagnostic]) -> None:
    """Print a SARIF log of what was found, if anything."""
    click.echo(json.dumps(sarif_log(diagnostics), indent=2))


def facts_of(bundle: Bundle) -> dict[str, Any]:
    """What every command says of a program in its JSON object."""
    named = {name: decision_as_data(decision) for name, decision in bundle.named_decisions}
    decisions = list(named.values())
    chosen = {"decision": decisions[0] if len(decisions) == 1 else decisions, "decisions": named}
    return {
        "file": shown(bundle.spec.file),
        "target": bundle.spec.target,
        "params": {p.name: p.value for p in bundle.spec.parameters},
        **predicted_facts(bundle.prediction),
        "colors": bundle.color_count,
        "memory_bytes": bundle.memory_bytes,
        "reconfiguration_bytes": reconfiguration_bytes(bundle.program),
        **(chosen if named else {}),
    }


def predicted_facts(prediction: Prediction) -> dict[str, Any]:
    """What is predicted, and what no run can take less than."""
    return {
        "predicted_cycles": prediction.cycles,
        "bound_cycles": prediction.bound,
        "gap": _rounded(prediction.gap),
        "tree_bound_cycles": prediction.tree_bound,
        "tree_gap": _rounded(prediction.tree_gap),
    }


def warning_facts(bundle: Bundle) -> dict[str, Any]:
    """What could be better, for the commands that say so."""
    return {"warnings": [as_json(warning) for warning in bundle.warnings]}


def _rounded(ratio: float | None) -> float | None:
    return None if ratio is None else round(ratio, 4)


def print_decisions(bundle: Bundle, *, short: bool = False) -> None:
    """What was chosen where the program left something to the compiler, and against what."""
    for name, decision in bundle.named_decisions:
        of = name if len(bundle.plans) > 1 else ""
        if short:
            click.echo(show_chosen(decision, of))
        else:
            click.echo(show_decision(decision, of), nl=False)


def resources_of(bundle: Bundle) -> str:
    """What a program takes, and its prediction, in a line."""
    facts = facts_of(bundle)
    colors = "1 color" if facts["colors"] == 1 else f"{facts['colors']} colors"
    switching = facts["reconfiguration_bytes"]
    of_these = f" ({switching} for reconfiguration)" if switching else ""
    return (
        f"{colors}, {facts['memory_bytes']} bytes a PE{of_these}, predicted "
        f"{facts['predicted_cycles']} cycles{show_gap(bundle.prediction)}"
    )
