"""Patterns and orders: a table for a terminal, what is known of single ones, and plain data."""

from collections.abc import Iterator, Sequence
from typing import Any

from collc.base.table import aligned
from collc.patterns.facts import PLANNED_LENGTH, PLANNED_ON, PROVED_ON, SHOWN_ON, Facts
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
            lines += [heading, *(f"  {line}" for line in aligned([first, *rows])), ""]
    if orders:
        rows = [order_cells(order) for order in orders]
        lines += [ORDERS, *(f"  {line}" for line in aligned([ORDER_COLUMNS, *rows])), ""]
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


_INTRODUCTION = f"""\
# The patterns

Made by `make patterns` (`collc list --page`) from `grammar/prelude.coll`, `examples/` and what the
compiler finds out about them; a test holds this page against it. [sweep.md](sweep.md) says on which
sizes each has been run.

- *contract*: what the proof finds that it keeps on {PROVED_ON[0]} PEs (on {PROVED_ON[1]} where
  it is not made for {PROVED_ON[0]}); *also*: what else.
- *operands*: how ranks stand in what is computed there, with the result of {SHOWN_ON[0]} ranks
  (the first element at its first PE; the receiver's own value stands on the left).
- *colors*: taken by the plan on {PLANNED_ON} PEs with {PLANNED_LENGTH} elements, and the fewest
  that suffice.
- *P*: the numbers of PEs that it is made for.
- *model*: the closed form of the cost model in cycles (`research/reproduce/closed_forms.py`),
  without start-up; for other algorithms a message for each step, for compositions their parts.
  `collc cost` predicts in detail.
- *to the next rank*, *from the last to rank 0*: hops at most, on {SIDE} PEs or
  {SIDE} x {SIDE}.

`collc list WORD` finds all of them by these names, by those they are also called, and by words of
what is said about them.
"""


def show_page(found: Sequence[Facts], orders: Sequence[RankOrder]) -> str:
    """docs/patterns.md."""
    lines = [_INTRODUCTION]
    for kind, heading in HEADINGS.items():
        chosen = [facts for facts in found if facts.pattern.kind is kind]
        if not chosen:
            continue
        lines += [
            f"## {heading}",
            "",
            "| pattern | contract | operands | colors | P | model |",
            "|---|---|---|---|---|---|",
            *(f"| {' | '.join(_page_cells(facts))} |" for facts in chosen),
            "",
            *_what_they_do(chosen),
        ]
    return "\n".join((*lines, *_orders(orders)))


def _orders(orders: Sequence[RankOrder]) -> Iterator[str]:
    """The section about orders."""
    yield from (f"## {ORDERS}", "", f"| {' | '.join(ORDER_COLUMNS)} |", "|---|---|---|---|")
    for order in orders:
        name, *others = order_cells(order)
        yield f"| `{name}` | {' | '.join(others)} |"
    yield ""
    for order in orders:
        yield f"- `{order.name}`: {_told(order.about, order.other_names, order.examples)}"
    yield ""


def _told(about: str, other_names: Sequence[str], examples: Sequence[str]) -> str:
    """What it does, what else it is called, and what shows it."""
    called = f"Also called {', '.join(other_names)}." if other_names else ""
    shown = ", ".join(f"[{name}](../examples/{name}.coll)" for name in examples)
    return " ".join(text for text in (about, called, f"Example: {shown}." if shown else "") if text)


def _what_they_do(chosen: Sequence[Facts]) -> Iterator[str]:
    for facts in chosen:
        pattern = facts.pattern
        told = _told(pattern.about, pattern.other_names, pattern.examples)
        yield f"- `{head(facts)}`: {told}"
    yield ""


def _page_cells(facts: Facts) -> tuple[str, ...]:
    name, contract, operands, colors, requires, formula = cells(facts)
    if facts.also:
        contract += f"; also {', '.join(facts.also)}"
    if facts.example:
        operands += f": `{facts.example}`"
    condition = requires if requires == WITHOUT_LIMIT else f"`{requires}`"
    model = formula if facts.pattern.kind is Kind.EXAMPLE else f"`{formula}`"
    return f"`{name}`", contract, operands, colors, condition, model
