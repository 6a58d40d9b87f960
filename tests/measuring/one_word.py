"""Pieces of the code of one-word collectives, from one event of a PE to another: of an allreduce
of an element, whose word is the caller's, and of a barrier.

A word that the code waits for moves in the cycle in which the main thread has the operation.
"""

from __future__ import annotations

from dataclasses import dataclass

from measuring.engine import row
from measuring.traces import Trace, trace_of

CONTROL = "MOV32"  # what sends a control wavelet
CONTRACTS = {"own": ("allreduce(x: f32[1], add)", "FMOVS"), "token": ("barrier()", "MOV16")}


@dataclass(frozen=True)
class OneWord:
    """A contract under measurement: how it reads, and the operation that moves its word."""

    contract: str
    moves: str
    target: str
    timing: str

    def trace(self, pes: int, tree: str, root: int = 0) -> Trace:
        """A run on so many PEs."""
        how = f"order west_to_east reduce {tree} to {root} then broadcast from {root}"
        text = row(pes, f"{self.contract} on row {{ {how} }}")
        return trace_of(text, self.target, self.timing)

    def on_grid(self) -> Trace:
        """A run on 2 x 2 PEs, of which the second sends what it has of the one below."""
        how = "reduce columns by star to 0 then reduce row by star to 0 then broadcast from (0, 0)"
        text = f"grid g = 2 x 2 collective c = {self.contract} on g {{ {how} }} program {{ c }}"
        return trace_of(text, self.target, self.timing)


def measured_one_word(target: str, timing: str) -> dict[str, dict[str, int]]:
    """The pieces of both."""
    return {
        name: _pieces(OneWord(contract, moves, target, timing))
        for name, (contract, moves) in CONTRACTS.items()
    }


def _pieces(of: OneWord) -> dict[str, int]:
    two, star, binomial = of.trace(2, "chain"), of.trace(3, "star"), of.trace(4, "binomial")
    inside, grid = of.trace(3, "star", 1), of.on_grid()
    receive = _issued_in(inside, 1, 1)
    begun = two.first(0, "issue") - receive
    word, told = star.first(2, "code", of.moves), grid.begins(1, 1)
    sent, task = binomial.first(2, "code", CONTROL), binomial.begins(2, 1)
    return {
        "begun": begun,
        "leaf": two.first(1, "code", of.moves) - begun,
        "receive": receive,
        "send": grid.first(1, "code", of.moves, after=told - 1) - told,
        "control": star.first(2, "code", CONTROL) - word,
        "late": sent - task,
        "copy": binomial.first(2, "issue", after=sent) - sent - 1,
        "first_task": inside.begins(1, 1),
    }


def _issued_in(trace: Trace, pe: int, task: int) -> int:
    """From the first instruction of a PE's task to the operation that it issues."""
    begins = trace.begins(pe, task)
    return trace.first(pe, "issue", after=begins - 1) - begins
