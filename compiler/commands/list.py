"""`collc list`: the patterns and orders that come with the compiler."""

import dataclasses
from dataclasses import replace

import click

from collc.base.cache import Kept
from collc.commands.output import print_data
from collc.patterns import (
    ORDERS,
    Entry,
    Facts,
    Found,
    Kind,
    Pattern,
    RankOrder,
    all_orders,
    all_patterns,
    as_data,
    facts_of,
    meant_by,
    near,
    order_as_data,
    search,
    show_details,
    show_page,
    show_table,
)
from collc.spec import ContractKind


@click.command()
@click.option("--json", "as_json_", is_flag=True, help="Print one JSON object.")
@click.option("--page", is_flag=True, help="Print the page docs/patterns.md.")
@click.argument("words", nargs=-1)
def command(as_json_: bool, page: bool, words: tuple[str, ...]) -> None:
    """List the patterns and orders that come with the compiler, with what is known of each.

    WORDS are contracts (allreduce, MPI_Alltoall), kinds (trees, algorithms, orders), names (chain,
    butterfly), names from the literature (Rabenseifner, "tree"), or stand in what a pattern does
    (multicast, grid). Those that are found are shown with other names, how they are written, and
    their examples.
    """
    known: tuple[Entry, ...] = (*all_patterns(), *all_orders())
    kept = Kept("list", "facts")
    asked = [_found(word, known, kept) for word in words]
    entries = tuple(dict.fromkeys(entry for one in asked for entry in one.entries))
    entries = entries if words else known
    orders = [entry for entry in entries if isinstance(entry, RankOrder)]
    found = [_facts(entry, kept) for entry in entries if isinstance(entry, Pattern)]
    if as_json_:
        data = {"patterns": list(map(as_data, found)), "orders": list(map(order_as_data, orders))}
        print_data(data)
        return
    if page:
        click.echo(show_page(found, orders), nl=False)
        return
    for note in dict.fromkeys(one.note for one in asked if one.note):
        click.echo(note)
    click.echo(show_table(found, orders), nl=False)
    if words:
        click.echo(f"\n{show_details(found, orders)}", nl=False)
    shown = {entry.name for entry in entries}
    more = dict.fromkeys(name for one in asked for name in one.more if name not in shown)
    if more:
        click.echo(f"\nsee also {', '.join(more)}")


def _facts(pattern: Pattern, kept: Kept) -> Facts:
    """What is found out about a pattern, or was by the same tools for the same text."""
    key = [pattern.name, repr(pattern)]
    fields = kept.get(key)
    if fields is None:
        facts = facts_of(pattern)
        own = {field.name: getattr(facts, field.name) for field in dataclasses.fields(facts)}
        kept.keep(key, {name: value for name, value in own.items() if name != "pattern"})
        return facts
    return Facts(pattern, **(fields | {"also": tuple(fields["also"])}))


def _found(word: str, known: tuple[Entry, ...], kept: Kept) -> Found:
    """What a word stands for; one that stands for nothing is wrong usage."""
    meant = meant_by(word)
    if meant is not None and meant.contract:
        return replace(_keeping(meant.contract, known, kept), note=meant.note)
    if meant is not None and meant.kind:
        of_kind = (one for one in known if _kind(one) is meant.kind)
        return Found(tuple(of_kind), ())
    found = search(meant.name if meant else word, known)
    if not found.entries:
        raise click.UsageError(_nothing(word, near(word, known)))
    return replace(found, note=meant.note if meant else "")


def _keeping(contract: str, known: tuple[Entry, ...], kept: Kept) -> Found:
    """The patterns that are for a contract; those that keep it besides are named."""
    facts = [_facts(entry, kept) for entry in known if isinstance(entry, Pattern)]
    entries = tuple(one.pattern for one in facts if one.contract == contract)
    return Found(entries, tuple(one.pattern.name for one in facts if contract in one.also))


def _kind(entry: Entry) -> Kind | str:
    return entry.kind if isinstance(entry, Pattern) else ORDERS


def _nothing(word: str, like: tuple[str, ...]) -> str:
    contracts = ", ".join(kind.value for kind in ContractKind if kind is not ContractKind.OWN)
    all_of_them = f"`collc list` shows all, `collc list CONTRACT` those for one of {contracts}"
    hint = f"did you mean {' or '.join(like)}?" if like else all_of_them
    return f"no name or description has the word {word}; {hint}"
