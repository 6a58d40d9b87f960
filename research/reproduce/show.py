"""Checked claims as tables and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from collc_research.reproduce.claims import Row, Verdict

_STYLES = {
    Verdict.EXACT: "green",
    Verdict.HOLDS: "green",
    Verdict.CLOSE: "yellow",
    Verdict.SLIP: "cyan",
    Verdict.DIFFERS: "magenta",
    Verdict.OPEN: "dim",
}


def tables_of(rows: Sequence[Row]) -> Iterator[Table]:
    """A table for each source."""
    for source in dict.fromkeys(row.source for row in rows):
        yield _table(source, [row for row in rows if row.source == source])


def _table(source: str, rows: Sequence[Row]) -> Table:
    table = Table(title=source, title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("id", no_wrap=True, width=4)
    table.add_column("verdict", no_wrap=True, width=11)
    for name, ratio in (("claim", 5), ("source", 4), ("ours", 8)):
        table.add_column(name, ratio=ratio)
    for row in rows:
        table.add_row(row.id, _verdict(row), _claim(row), Text(row.printed), _ours(row))
    return table


def _verdict(row: Row) -> Text:
    text = Text(row.verdict.value, style=_STYLES[row.verdict])
    if not row.as_recorded:
        text.append(f"\nnot {row.recorded.value}", style="bold red")
    return text


def _claim(row: Row) -> Text:
    text = Text(row.claim)
    if row.configuration not in ("", "-"):
        text.append(f" ({row.configuration})", style="dim")
    return text


def _ours(row: Row) -> Text:
    text = Text(row.ours)
    if row.note:
        text.append(f"\n{row.note}", style="dim")
    return text


def summary(rows: Sequence[Row]) -> str:
    """How many rows have which verdict, and which are not as on record."""
    counts = {verdict: sum(row.verdict is verdict for row in rows) for verdict in Verdict}
    parts = ", ".join(f"{count} {verdict.value}" for verdict, count in counts.items() if count)
    changed = [row.id for row in rows if not row.as_recorded]
    end = f"not as recorded: {', '.join(changed)}" if changed else "all as recorded"
    return f"{len(rows)} claims: {parts}; {end}"


def rows_as_data(rows: Sequence[Row]) -> dict[str, Any]:
    """The same for programs."""
    counts = {verdict.value: sum(row.verdict is verdict for row in rows) for verdict in Verdict}
    return {
        "claims": [_as_data(row) for row in rows],
        "verdicts": counts,
        "as_recorded": all(row.as_recorded for row in rows),
    }


def _as_data(row: Row) -> dict[str, Any]:
    return {
        "id": row.id,
        "source": row.source,
        "claim": row.claim,
        "configuration": row.configuration,
        "printed": row.printed,
        "ours": row.ours,
        "verdict": row.verdict.value,
        "recorded": row.recorded.value,
        "note": row.note,
    }
