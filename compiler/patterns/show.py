"""The table of patterns: for a terminal, as plain data, and as the page docs/patterns.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from collc.patterns.facts import PLANNED_LENGTH, PLANNED_ON, PROVED_ON, SHOWN_ON, Facts
from collc.patterns.sources import Kind

HEADINGS = {
    Kind.TREE: "Trees",
    Kind.ALGORITHM: "Algorithms",
    Kind.EXAMPLE: "Multicasts, compositions, patterns of one's own",
}
WITHOUT_LIMIT = "any"

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
- *model*: the closed form of the cost model in cycles (`compiler/cost/closed_forms.py`), without
  start-up; for other algorithms a message for each step, for compositions their parts. `collc cost`
  predicts in detail.
"""


def as_data(facts: Facts) -> dict[str, Any]:
    """A pattern as plain data."""
    pattern = facts.pattern
    return {
        "name": pattern.name,
        "kind": pattern.kind.value,
        "about": pattern.about,
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


def show_table(found: Sequence[Facts]) -> str:
    """The table for a terminal, one block for each kind."""
    lines: list[str] = []
    for kind, heading in HEADINGS.items():
        rows = [_cells(facts) for facts in found if facts.pattern.kind is kind]
        if rows:
            head = ("pattern", "contract", "operands", "colors", "P", "model")
            lines += [heading, *_aligned([head, *rows]), ""]
    return "\n".join(lines)


def show_page(found: Sequence[Facts]) -> str:
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
    return "\n".join(lines).rstrip() + "\n"


def _what_they_do(chosen: Sequence[Facts]) -> Iterator[str]:
    for facts in chosen:
        pattern = facts.pattern
        shown = ", ".join(f"[{name}](../examples/{name}.coll)" for name in pattern.examples)
        told = " ".join(
            text for text in (pattern.about, f"Example: {shown}." if shown else "") if text
        )
        yield f"- `{_head(facts)}`: {told}"
    yield ""


def _head(facts: Facts) -> str:
    """A pattern as it is written, with its own parameters."""
    pattern = facts.pattern
    if pattern.kind is Kind.EXAMPLE or not pattern.parameters:
        return pattern.name
    return f"{pattern.name}({', '.join(pattern.parameters)})"


def _cells(facts: Facts) -> tuple[str, ...]:
    return (
        _head(facts),
        facts.contract,
        facts.operands or "-",
        _colors(facts),
        facts.pattern.requires or WITHOUT_LIMIT,
        facts.formula or "-",
    )


def _page_cells(facts: Facts) -> tuple[str, ...]:
    head, contract, operands, colors, requires, formula = _cells(facts)
    if facts.also:
        contract += f"; also {', '.join(facts.also)}"
    if facts.example:
        operands += f": `{facts.example}`"
    condition = requires if requires == WITHOUT_LIMIT else f"`{requires}`"
    model = formula if facts.pattern.kind is Kind.EXAMPLE else f"`{formula}`"
    return f"`{head}`", contract, operands, colors, condition, model


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
