"""A bundle as notebooks show it: what it is, what it takes, pictures of its transfers and of where
its cycles go."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collc.driver.bundle import Bundle

_WIDTH, _BAR, _EDGE, _PITCH = 420, 18, 8, 40  # pixels
_BOWED = 0.2  # of a transfer's length, to the left of its direction
_OTHER = "#888888"  # of a phase that a program's prediction does not name
_MOST_PES, _MOST_TRANSFERS = 4096, 2000  # that are drawn; beyond, `Bundle.view` makes a page
_COLORS = ("#4878a8", "#e49444", "#6a9f58", "#d1615d", "#85b6b2", "#a87c9f", "#967662")


def html_of(bundle: Bundle) -> str:
    """A table, the transfers as arcs between PEs, and the parts of the prediction as a bar."""
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
    colors = {name: _color(number) for number, name in enumerate(prediction.breakdown)}
    drawn = _transfers(bundle, colors) + _bar(prediction.breakdown)
    return f"<table>{cells}</table><div>{drawn}</div>"


def _color(number: int) -> str:
    return _COLORS[number % len(_COLORS)]


def _transfers(bundle: Bundle, colors: Mapping[str, str]) -> str:
    """PEs where they are, and each transfer in the color of its phase, in SVG: an arc, or of a
    multicast a ring around each PE that it reaches."""
    width, height = bundle.size
    if width * height > _MOST_PES:
        return ""
    graph = bundle.graph()
    if graph.number_of_edges() > _MOST_TRANSFERS:
        return ""
    pitch = min(_PITCH, (_WIDTH - 2 * _EDGE) / max(width - 1, 1))
    places = {pe: (at["x"] * pitch, at["y"] * pitch) for pe, at in graph.nodes(data=True)}
    drawn, margin = "", float(_EDGE)
    for source, destination, about in graph.edges(data=True):
        (x, y), (to_x, to_y) = places[source], places[destination]
        color = f'fill="none" stroke="{colors.get(about["phase"], _OTHER)}"'
        said = f"<title>{about['phase']}: {source} to {destination}</title>"
        if about["action"] == "multicast":
            drawn += f'<circle {color} cx="{to_x:.1f}" cy="{to_y:.1f}" r="3.5">{said}</circle>'
            continue
        aside_x, aside_y = _BOWED * (to_y - y), _BOWED * (x - to_x)
        margin = max(margin, abs(aside_x), abs(aside_y))
        middle = f"{(x + to_x) / 2 + 2 * aside_x:.1f} {(y + to_y) / 2 + 2 * aside_y:.1f}"
        drawn += f'<path {color} d="M{x:.1f} {y:.1f}Q{middle} {to_x:.1f} {to_y:.1f}">{said}</path>'
    drawn += "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.5"/>' for x, y in places.values())
    tall = (height - 1) * pitch + 2 * margin
    moved = f'<g transform="translate({_EDGE} {margin:.1f})">{drawn}</g>'
    style = 'role="img" style="overflow:visible"'
    return f'<svg width="{_WIDTH}" height="{tall:.0f}" {style}>{moved}</svg><br/>'


def _bar(breakdown: dict[str, int]) -> str:
    """The parts of a prediction side by side, in SVG, with their names below."""
    whole = sum(breakdown.values()) or 1
    parts, x = [], 0.0
    for number, (name, cycles) in enumerate(breakdown.items()):
        width, color = _WIDTH * cycles / whole, _color(number)
        parts.append(
            f'<rect x="{x:.1f}" y="0" width="{width:.1f}" height="{_BAR}" fill="{color}"/>'
            f'<rect x="0" y="{_BAR * (number + 1) + 6}" width="10" height="10" fill="{color}"/>'
            f'<text x="16" y="{_BAR * (number + 1) + 15}" font-size="12">'
            f"{escape(name)}: {cycles} cycles</text>"
        )
        x += width
    height = _BAR * (len(breakdown) + 1) + 8
    return f'<svg width="{_WIDTH}" height="{height}" role="img">{"".join(parts)}</svg>'
