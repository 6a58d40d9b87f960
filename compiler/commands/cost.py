"""`collc cost`: predicted cycles, against colors or on other networks."""

import re
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from collc.base.diagnostics import shown
from collc.commands.output import facts_of, print_data, print_decisions, warning_facts
from collc.commands.source import (
    Source,
    print_warnings,
    reporting,
    source_options,
)
from collc.cost import show_note, show_prediction
from collc.driver.bundle import Bundle
from collc.driver.cycles_by_colors import by_colors, program_by_colors, show_by_colors
from collc.lowering.between_uses import between_uses
from collc.lowering.reconfiguration import reconfiguration_bytes
from collc.plan.one_call import called_once
from collc.spec.program import program_of_one
from collc.target import TARGETS
from collc.tuning.dynamic_length import show_ranges
from collc.tuning.show import show_terms
from collc_research.networks import cost_on, read_network, show_cost


def _range(_: click.Context, __: click.Parameter, value: str | None) -> range | None:
    """`--colors 1..6`, or one number."""
    if value is None:
        return None
    found = re.fullmatch(r"([0-9]{1,3})(?:\.\.([0-9]{1,3}))?", value)
    if not found or not 0 < int(found[1]) <= int(found[2] or found[1]):
        raise click.BadParameter(f"{value!r} is not FIRST..LAST, such as 1..6")
    return range(int(found[1]), int(found[2] or found[1]) + 1)


@click.command()
@source_options
@click.option(
    "--colors",
    "counts",
    callback=_range,
    metavar="FIRST..LAST",
    help="Predict for each number of colors that FILE's program may use.",
)
@click.option(
    "--network",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Say what FILE's schedule costs on another network, described in this file.",
)
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Also what becomes of each color, and of several calls what else could have been chosen.",
)
@reporting
def command(source: Source, counts: range | None, network: Path | None, *, verbose: bool) -> None:
    """Predict FILE's cycles, and say where they go."""
    if counts is not None and network is not None:
        raise click.UsageError("--colors is about this machine; leave out --network")
    if counts is not None:
        _print_by_colors(source, counts)
        return
    if network is not None:
        _print_network_cost(source, network)
        return
    bundle = source.compile()
    if source.as_data:
        facts = facts_of(bundle) | warning_facts(bundle) | _between_calls(bundle)
        print_data(facts | {"prediction": bundle.prediction.as_data()})
        return
    _print_cost(bundle, verbose=verbose)
    print_warnings(bundle.warnings, source)


def _between_calls(bundle: Bundle) -> dict[str, Any]:
    """What calls with a choice take by length, and what becomes of each color."""
    choices = {one.name: list(map(asdict, found)) for one, found in bundle.choices()}
    colors = [color.as_data() for color in between_uses(bundle.program)]
    return ({"choices": choices} if choices else {}) | {"between_uses": colors}


def _print_cost(bundle: Bundle, *, verbose: bool) -> None:
    """The same as text: what phases take, or what calls add up to, and what was chosen; the rest if
    asked for."""
    one = called_once(bundle.program)
    if one is not None:
        click.echo(show_prediction(bundle.prediction), nl=False)
        if one.phases:
            click.echo(show_terms(bundle.schedule, one, bundle.prediction.cycles), nl=False)
    else:
        click.echo(f"predicted: {bundle.prediction.cycles} cycles")
        click.echo(f"  {_added_up(bundle)}")
        for line in show_note(bundle.prediction):
            click.echo(line)
    for selection, found in bundle.choices():
        click.echo(show_ranges(selection, found), nl=False)
    print_decisions(bundle, short=one is None and not verbose)
    if not verbose:
        return
    if reconfiguration_bytes(bundle.program):
        size = f"{reconfiguration_bytes(bundle.program)} bytes a PE"
        click.echo(f"memory for reconfiguration: {size}")
    for color in between_uses(bundle.program):
        click.echo(color.show())


def _added_up(bundle: Bundle) -> str:
    """`total 1012 (3 calls) + spread 331 + reconfiguration 732 = 2075`. The cycles of calls in
    flight at the same time are not a sum."""
    program, prediction = bundle.program.program, bundle.prediction
    times = Counter(program.calls)
    parts = {name: cycles for name, cycles in prediction.breakdown.items() if cycles}
    words = [
        f"{name} {cycles}" + (f" ({calls} calls)" if calls > 1 else "")
        for name, cycles in parts.items()
        for calls in [times[name] * program.rounds]
    ]
    if sum(parts.values()) != prediction.cycles:
        return ", ".join(words)
    return f"{' + '.join(words)} = {prediction.cycles}"


def _print_network_cost(source: Source, file: Path) -> None:
    network = read_network(file)
    spec, schedule = source.prove()
    found = cost_on(schedule, network)
    if source.as_data:
        params = {p.name: p.value for p in spec.parameters}
        facts = {"file": shown(spec.file), "network": shown(file), "params": params}
        print_data(facts | {"cost": asdict(found)})
        return
    click.echo(show_cost(found), nl=False)


def _print_by_colors(source: Source, counts: range) -> None:
    spec = source.parse()
    program, one = spec.program, spec.collectives[0]
    if program is None and one.grid.site is not None:
        program = program_of_one(one)
    if program is None:
        spec, schedule = source.prove()
        found = list(by_colors(schedule.collective, TARGETS[spec.target], counts))
    else:
        found = list(program_by_colors(spec, program, counts))
    if source.as_data:
        params = {p.name: p.value for p in spec.parameters}
        head = {"file": shown(spec.file), "target": spec.target, "params": params}
        print_data(head | {"by_colors": list(map(asdict, found))})
    else:
        click.echo(show_by_colors(found), nl=False)
