"""The routes of a program as `cslc --out-routes` says them: letters for sides, R is the ramp."""

from __future__ import annotations

from itertools import groupby

from fabsim._native import Program


def route_table(program: Program) -> str:
    """A line for each PE of the layout and each of its colors: receive side, transmit sides, and
    the same for the other positions of its switch."""
    places = ((x, y) for y in range(program.height) for x in range(program.width))
    return "\n".join(line for x, y in places for line in _lines(program, x, y))


def _lines(program: Program, x: int, y: int) -> list[str]:
    return [
        f"PE ({x}, {y}) color {color}: " + ", ".join(_position(row) for row in rows)
        for color, rows in groupby(program.routes(x, y), key=lambda row: row[0])
    ]


def _position(row: tuple[int, int, str, str]) -> str:
    _, number, inputs, outputs = row
    sides = f"{_sides(inputs)} -> {_sides(outputs)}"
    return f"pos{number} {sides}" if number else sides


def _sides(letters: str) -> str:
    return ",".join(letters) or "-"
