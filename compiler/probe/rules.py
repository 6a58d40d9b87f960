"""The rules of docs/machine.md: their numbers, what they say, where they come from."""

import re
from dataclasses import dataclass
from importlib.resources import files

_ITEM = re.compile(r"- \*\*(M[\d.]+-\d+)\*\* (.*)")


@dataclass(frozen=True)
class Rule:
    """One statement about the machine or the language."""

    number: str
    text: str


def rules() -> list[Rule]:
    """All of them, in the order of the page."""
    found: list[list[str]] = []
    inside = False
    for line in files("collc.probe").joinpath("machine.md").read_text().splitlines():
        item = _ITEM.fullmatch(line)
        if item:
            found.append([item[1], item[2]])
        elif inside and line.startswith("  "):
            found[-1].append(line.strip())
        inside = bool(item) or (inside and line.startswith("  "))
    return [Rule(number, " ".join(text)) for number, *text in found]
