"""Patterns and orders: a table for a terminal, what is known of single ones, and plain data."""

from collections.abc import Iterator, Sequence
from typing import Any

from collc.patterns.facts import Facts
from collc.patterns.orders import SIDE, RankOrder
from collc.patterns.sources import Kind

HEADINGS = {
    Kind.TREE: "Trees",
    Kind.ALGORITHM: "Algorithms",
    Kind.EXAMPLE: "Multicasts, compositions, patterns of one's own",
}
ORDERS = "Orders of ranks"
WITHOUT_LIMIT = "any"
_ASIDE = 12  # columns that the words about a line of details take


def as_data(facts: Facts) -> dict[str, Any]:
    """A pattern as plain data."""
    pattern = facts.pattern
    return {
        "name": pattern.name,
        "kind": pattern.kind.value,
        "about": pattern.about,
        "other_names": list(pattern.other_names),
        "parameters": list(pattern.parameters),
        "requires": pattern.requires,
        "examples": list(pattern.examples),
        "contract": facts.contract,
        "also": list(facts.also),
        "operands": facts.operands,
        "operands_of_four": facts.example,
        "use": facts.use,
        "order": facts.order,
        "colors": facts.colors or None,
        "fewest_colors": facts.fewest or None,
        "refused": facts.refused or None,
        "steps": facts.steps,
        "formula": facts.formula,
    }


def show_table(found: Sequence[Facts], orders: Sequence[RankOrder]) -> str:
    """The table for a terminal, one block for each kind."""
    lines: list[str] = []
    for kind, heading in HEADINGS.items():
        rows = [cells(facts) for facts in found if facts.pattern.kind is kind]
        if rows:
            first = ("pattern", "contract", "operands", "colors", "P", "model")
            lines += [heading, *_aligned([first, *rows]), ""]
    if orders:
        rows = [order_cells(order) for order in orders]
        lines += [ORDERS, *_aligned([ORDER_COLUMNS, *rows]), ""]
    return "\n".join(lines)


def show_details(found: Sequence[Facts], orders: Sequence[RankOrder]) -> str:
    """What the table has no room for, one block for each pattern and order."""
    lines: list[str] = []
    for facts in found:
        pattern = facts.pattern
        operands = f"{facts.operands}: {facts.example}" if facts.example else ""
        told = (
            ("also called", ", ".join(pattern.other_names)),
            ("also keeps", ", ".join(facts.also)),
            ("operands", operands),
            ("written", _written(facts)),
            ("examples", _commands(pattern.examples)),
        )
        lines += [f"{head(facts)}: {pattern.about}", *_aside(told), ""]
    for order in orders:
        said = (
            ("also called", ", ".join(order.other_names)),
            ("written", f"order {order.name}"),
            ("examples", _commands(order.examples)),
        )
        lines += [f"order {order.name}: {order.about}", *_aside(said), ""]
    return "\n".join(lines)


def _aside(told: Sequence[tuple[str, str]]) -> Iterator[str]:
    """A line for each of these about which there is anything to say."""
    yield from (f"  {what.ljust(_ASIDE)} {text}" for what, text in told if text)


def _written(facts: Facts) -> str:
    """The step of a pattern of the prelude; an example is written as it is."""
    verb = {Kind.TREE: "reduce {} to 0", Kind.ALGORITHM: "run {}"}.get(facts.pattern.kind, "")
    return verb.format(facts.use)


def _commands(examples: Sequence[str]) -> str:
    """How each is printed, wherever collc is installed."""
    return ", ".join(f"collc example {name}" for name in examples)


ORDER_COLUMNS = ("order", "on", "to the next rank", "from the last to rank 0")


def order_cells(order: RankOrder) -> tuple[str, ...]:
    """An order as a row of a table."""
    hops = (f"{count} hop{'s' * (count != 1)}" for count in (order.next_hops, order.back_hops))
    return (order.name, order.on, *hops)


def order_as_data(order: RankOrder) -> dict[str, Any]:
    """An order as plain data."""
    return {
        "name": order.name,
        "on": order.on,
        "about": order.about,
        "other_names": list(order.other_names),
        "examples": list(order.examples),
        "counted_on": SIDE,
        "hops_to_next": order.next_hops,
        "hops_from_last": order.back_hops,
    }


def head(facts: Facts) -> str:
    """A pattern as it is written, with its own parameters."""
    pattern = facts.pattern
    if pattern.kind is Kind.EXAMPLE or not pattern.parameters:
        return pattern.name
    return f"{pattern.name}({', '.join(pattern.parameters)})"


def cells(facts: Facts) -> tuple[str, ...]:
    """A pattern as a row of the table."""
    return (
        head(facts),
        facts.contract,
        facts.operands or "-",
        _colors(facts),
        facts.pattern.requires or WITHOUT_LIMIT,
        facts.formula or "-",
    )


def _colors(facts: Facts) -> str:
    if facts.refused:
        return facts.refused
    if facts.fewest < facts.colors:
        return f"{facts.colors} (at least {facts.fewest})"
    return str(facts.colors)


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"  {'  '.join(cells)}".rstrip()
