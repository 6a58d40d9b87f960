"""A bundle as notebooks show it: what it is, what it takes, a picture of where its cycles go."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collc.driver.bundle import Bundle

_WIDTH, _BAR = 420, 18  # pixels
_COLORS = ("#4878a8", "#e49444", "#6a9f58", "#d1615d", "#85b6b2", "#a87c9f", "#967662")


def html_of(bundle: Bundle) -> str:
    """A table, and the parts of the prediction as a bar."""
    prediction = bundle.prediction
    gap = f" ({prediction.gap:.2f} times the bound)" if prediction.gap else ""
    width, height = bundle.size
    rows = {
        "collectives": ", ".join(one.collective.name for one in bundle.schedules),
        "machine": f"{bundle.spec.target}, {width} x {height} PEs",
        "parameters": ", ".join(f"{p.name} = {p.value}" for p in bundle.spec.parameters),
        "predicted": f"{prediction.cycles} cycles{gap}",
        "colors": str(bundle.color_count),
        "memory": f"{bundle.memory_bytes} bytes a PE (estimate)",
    }
    cells = "".join(
        f"<tr><th>{name}</th><td>{escape(text)}</td></tr>" for name, text in rows.items()
    )
    return f"<table>{cells}</table>{_bar(prediction.breakdown)}"


def _bar(breakdown: dict[str, int]) -> str:
    """The parts of a prediction side by side, in SVG, with their names below."""
    whole = sum(breakdown.values()) or 1
    parts, x = [], 0.0
    for number, (name, cycles) in enumerate(breakdown.items()):
        width, color = _WIDTH * cycles / whole, _COLORS[number % len(_COLORS)]
        parts.append(
            f'<rect x="{x:.1f}" y="0" width="{width:.1f}" height="{_BAR}" fill="{color}"/>'
            f'<rect x="0" y="{_BAR * (number + 1) + 6}" width="10" height="10" fill="{color}"/>'
            f'<text x="16" y="{_BAR * (number + 1) + 15}" font-size="12">'
            f"{escape(name)}: {cycles} cycles</text>"
        )
        x += width
    height = _BAR * (len(breakdown) + 1) + 8
    return f'<svg width="{_WIDTH}" height="{height}" role="img">{"".join(parts)}</svg>'
