"""`collc explain`: what messages mean, and which plans come into question."""

from pathlib import Path
from typing import Any

import click

from collc.base.diagnostics import shown
from collc.commands.output import print_data
from collc.commands.source import Source, reporting, source_options
from collc.cost.choice import build_plan
from collc.cost.streaming import streaming
from collc.driver.pipeline import of_one
from collc.driver.proving import proved
from collc.explanations.pages import explained_codes, explanation
from collc.lowering.resources import left_by
from collc.spec import Collective, Spec
from collc.target import TARGETS, Target
from collc.tuning import decided, decided_within
from collc.tuning.pareto import pareto, show_pareto
from collc.tuning.show import plan_as_data, show_plans


class _Codes(click.Group):
    """`plan`, and every code of a message."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command that explains a code, or the plans of a file."""
        return plan if cmd_name == "plan" else _of_code(cmd_name)


def _of_code(code: str) -> click.Command:
    page = explanation(code.upper())
    if page is None:
        message = f"there is no message with the code {code}"
        if Path(code).suffix == ".coll" or Path(code).exists():
            message += f"; plans for a file are listed by `collc explain plan {code}`"
        raise click.UsageError(message)

    @click.command(name=code)
    @click.option("--json", "as_data", is_flag=True, help="Print one JSON object.")
    @click.pass_context
    def explain_code(context: click.Context, as_data: bool) -> None:
        """Explain a message."""
        if as_data or context.obj:
            print_data({code.upper(): page})
        else:
            click.echo(page, nl=False)

    return explain_code


@click.group(
    cls=_Codes, invoke_without_command=True, subcommand_metavar="[CODE | plan FILE]", name="explain"
)
@click.option("--json", "as_data", is_flag=True, help="Print one JSON object.")
@click.pass_context
def command(context: click.Context, as_data: bool) -> None:
    """Explain the message with CODE, such as C101, or the plans for FILE; alone, list all codes."""
    context.obj = as_data
    if context.invoked_subcommand is not None:
        return
    pages = {code: explanation(code) or "" for code in explained_codes()}
    if as_data:
        print_data(pages)
        return
    for page in pages.values():
        click.echo(page.partition("\n")[0].removeprefix("# "))


@click.command()
@source_options
@click.option("--pareto", "by_colors", is_flag=True, help="Show what fewer colors cost.")
@reporting
def plan(source: Source, by_colors: bool) -> None:
    """Show the best plan for FILE's contract and those that lost; its own steps are left aside, but
    for which of them stream.

    Of a program each collective is taken by itself, within the program's limit of colors.
    """
    spec = source.parse(leave_open=True)
    if spec.program is None or spec.program.selections:
        spec = of_one(spec)
    machine = TARGETS[spec.target]
    colors = spec.program.colors if spec.program else None
    found = {
        one.name: _of_pareto(one, machine) if by_colors else _of_decision(one, machine, colors)
        for one in spec.collectives
    }
    streams = {} if by_colors else _of_streams(source.parse(), machine)
    if source.as_data:
        params = {p.name: p.value for p in spec.parameters}
        head = {"file": shown(spec.file), "target": spec.target, "params": params}
        for name, phases in streams.items():
            found[name][0]["streams"] = phases
        every = {name: data for name, (data, _) in found.items()}
        only = next(iter(every.values())) if len(every) == 1 else {}
        print_data(head | {"collectives": every} | only)
        return
    texts = [
        (text if len(found) == 1 else f"{name}\n{text}") + _streams_text(streams.get(name, {}))
        for name, (_, text) in found.items()
    ]
    click.echo("\n".join(texts), nl=False)


def _of_streams(spec: Spec, machine: Target) -> dict[str, dict[str, str]]:
    """By collective and phase of the file's own steps: whether it streams, or else why not."""
    found = {}
    for one in spec.collectives:
        schedule = proved(decided(one, machine), machine)
        plan = build_plan(schedule, left_by(one.limits.reserved, machine))
        found[one.name] = dict(streaming(schedule, plan))
    return found


def _streams_text(phases: dict[str, str]) -> str:
    return "".join(f"phase `{name}` of the file's steps {how}\n" for name, how in phases.items())


def _of_pareto(collective: Collective, machine: Target) -> tuple[dict[str, Any], str]:
    """The plans that nothing beats, as data and as a table."""
    best = pareto(collective, machine)
    return {"pareto": list(map(plan_as_data, best))}, show_pareto(best)


def _of_decision(
    collective: Collective, machine: Target, colors: int | None
) -> tuple[dict[str, Any], str]:
    """The best plan and those that lost, likewise, in a program with such a limit of colors."""
    decision = decided_within(collective, machine, colors).decision
    assert decision is not None, "all steps are left open"
    lost = list(map(plan_as_data, decision.lost))
    return {"chosen": plan_as_data(decision.chosen), "lost": lost}, show_plans(decision)
