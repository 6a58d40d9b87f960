"""`collc explain`: what messages mean, and which plans come into question."""

from __future__ import annotations

import click

from collc.commands.output import print_data
from collc.commands.source import Source, reporting, source_options
from collc.explain import explained_codes, explanation
from collc.language import parse_source
from collc.pipeline import of_one
from collc.target import TARGETS
from collc.tuning import decided
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
        raise click.UsageError(f"there is no message with the code {code}")

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
    """Show the best plan for FILE's contract and those that lost; its own steps are left aside."""
    given, file = source.definitions, str(source.file)
    spec = of_one(parse_source(source.text, given, source.target, file=file, leave_open=True))
    collective, machine = spec.collectives[0], TARGETS[spec.target]
    head = {
        "file": file,
        "target": spec.target,
        "params": {p.name: p.value for p in spec.parameters},
    }
    if by_colors:
        best = pareto(collective, machine)
        if source.as_data:
            print_data(head | {"pareto": list(map(plan_as_data, best))})
        else:
            click.echo(show_pareto(best), nl=False)
        return
    decision = decided(collective, machine).decision
    assert decision is not None, "all steps are left open"
    if source.as_data:
        lost = list(map(plan_as_data, decision.lost))
        print_data(head | {"chosen": plan_as_data(decision.chosen), "lost": lost})
    else:
        click.echo(show_plans(decision), nl=False)
