"""The page docs/patterns.md."""

from collections.abc import Iterator, Sequence

from collc.patterns.facts import PLANNED_LENGTH, PLANNED_ON, PROVED_ON, SHOWN_ON, Facts
from collc.patterns.orders import SIDE, RankOrder
from collc.patterns.show import (
    HEADINGS,
    ORDER_COLUMNS,
    ORDERS,
    WITHOUT_LIMIT,
    cells,
    head,
    order_cells,
)
from collc.patterns.sources import Kind

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
