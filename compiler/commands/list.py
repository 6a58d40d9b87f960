"""`collc list`: the patterns and orders that come with the compiler."""

import dataclasses
from collections.abc import Iterable

import click

from collc.base.cache import Kept
from collc.commands.output import print_data
from collc.patterns import (
    Entry,
    Facts,
    Pattern,
    RankOrder,
    all_orders,
    all_patterns,
    as_data,
    facts_of,
    near,
    order_as_data,
    search,
    show_details,
    show_page,
    show_table,
)


@click.command()
@click.option("--json", "as_json_", is_flag=True, help="Print one JSON object.")
@click.option("--page", is_flag=True, help="Print the page docs/patterns.md.")
@click.argument("words", nargs=-1)
def command(as_json_: bool, page: bool, words: tuple[str, ...]) -> None:
    """List the patterns and orders that come with the compiler, with what is known of each.

    WORDS are names (chain, butterfly), names from the literature (Rabenseifner, "tree"), or stand
    in what a pattern does (multicast, grid). Those that are found are shown with other names, how
    they are written, and their examples.
    """
    known: tuple[Entry, ...] = (*all_patterns(), *all_orders())
    entries, more = _found(words, known) if words else (known, ())
    orders = [entry for entry in entries if isinstance(entry, RankOrder)]
    kept = Kept("list", "facts")
    found = [_facts(entry, kept) for entry in entries if isinstance(entry, Pattern)]
    if as_json_:
        data = {"patterns": list(map(as_data, found)), "orders": list(map(order_as_data, orders))}
        print_data(data)
        return
    if page:
        click.echo(show_page(found, orders), nl=False)
        return
    click.echo(show_table(found, orders), nl=False)
    if words:
        click.echo(f"\n{show_details(found, orders)}", nl=False)
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


def _found(
    words: Iterable[str], known: tuple[Entry, ...]
) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    """What the words stand for, each once, and the names of what has them, too; a word that stands
    for nothing is wrong usage."""
    entries: dict[Entry, None] = {}
    more: dict[str, None] = {}
    for word in words:
        found = search(word, known)
        if not found.entries:
            raise click.UsageError(_nothing(word, near(word, known)))
        entries |= dict.fromkeys(found.entries)
        more |= dict.fromkeys(found.more)
    shown = {entry.name for entry in entries}
    return tuple(entries), tuple(name for name in more if name not in shown)


def _nothing(word: str, like: tuple[str, ...]) -> str:
    hint = f"; did you mean {' or '.join(like)}?" if like else "; `collc list` shows all"
    return f"nothing is called {word} or has it in its description{hint}"
