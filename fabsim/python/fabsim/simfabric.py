"""`SIMFABRIC_DEBUG`: what happens on the PEs as lines of sim.log, as public scripts read them.

`@CYCLE PX.Y: ...`, with coordinates of the fabric. Kinds: `inst_trace` is what PEs issue, execute
and wait for; `router` what routers and queues pass on; `landing` what arrives in routers.
"""

from __future__ import annotations

import heapq
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fabsim._native import convert_trace
from fabsim.mistakes import UserError

#: The variable, and how it reaches into the vendor's container.
VARIABLES = ("SIMFABRIC_DEBUG", "APPTAINERENV_SIMFABRIC_DEBUG", "SINGULARITYENV_SIMFABRIC_DEBUG")

#: What the lines of a kind have in them.
KINDS = {
    "inst_trace": re.compile(r"\[IS OP\]|\[EX OP\]|Pipe: |Not enough wavelets"),
    "router": re.compile(r"\(hwtile\)|_Q\[\d+\]$|OUT_Q\["),
    "landing": re.compile(r" landing=[ENWSR] "),
}

_LINE = re.compile(r"@(\d+) P(\d+)\.(\d+)(.*)")


@dataclass(frozen=True)
class Asked:
    """The kinds of lines that the environment asks for."""

    kinds: tuple[str, ...]

    def lines(
        self, trace: Path, offsets: tuple[int, int], printed: list[tuple[int, str]]
    ) -> Iterator[str]:
        """The lines of these kinds of a text trace, and what PEs have printed, by cycle."""
        merged = heapq.merge(
            self._traced(trace, offsets),
            sorted(printed, key=lambda line: line[0]),
            key=lambda line: line[0],
        )
        return (f"@{cycle}{text}" for cycle, text in merged)

    def _traced(self, trace: Path, offsets: tuple[int, int]) -> Iterator[tuple[int, str]]:
        patterns = [KINDS[kind] for kind in self.kinds]
        with trace.open() as lines:
            for line in lines:
                found = _LINE.match(line)
                if found and any(pattern.search(line) for pattern in patterns):
                    x, y = int(found[2]) + offsets[0], int(found[3]) + offsets[1]
                    yield int(found[1]), f" P{x}.{y}{found[4]}"


def asked() -> Asked | None:
    """What the environment asks for. Raises UserError for a kind that there is not."""
    for variable in VARIABLES:
        words = [word for word in os.environ.get(variable, "").split(",") if word.strip()]
        kinds = tuple(word.strip() for word in words)
        unknown = [kind for kind in kinds if kind not in KINDS]
        if unknown:
            raise UserError(
                f"{variable}={os.environ[variable]}: fabsim has no log {unknown[0]!r}; there are "
                + ", ".join(KINDS)
            )
        if kinds:
            return Asked(kinds)
    return None


def scratch() -> str:
    """A file for the trace that the lines are taken from."""
    handle, path = tempfile.mkstemp(prefix="fabsim-", suffix=".trace")
    os.close(handle)
    return path


def as_text(trace: str, form: str) -> str:
    """The same trace in text form."""
    if form == "text":
        return trace
    text = scratch()
    convert_trace(trace, text)
    return text
