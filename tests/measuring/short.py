"""Pieces of the code of short collectives, from one event of a PE to another: of an allreduce of an
element, whose word is the caller's, and of a barrier.

A word that the code waits for moves in the cycle in which the main thread has the operation.
"""

from __future__ import annotations

from dataclasses import dataclass

from measuring.engine import row
from measuring.traces import Trace, trace_of

CONTRACTS = {"own": ("allreduce(x: f32[1], add)", "FMOVS"), "token": ("barrier()", "MOV16")}


@dataclass(frozen=True)
class Short:
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


def measured_short(target: str, timing: str) -> dict[str, dict[str, int]]:
    """The pieces of both."""
    return {
        name: _pieces(Short(contract, moves, target, timing))
        for name, (contract, moves) in CONTRACTS.items()
    }


def _pieces(of: Short) -> dict[str, int]:
    two, chain, star = of.trace(2, "chain"), of.trace(3, "chain"), of.trace(3, "star")
    store = _issued_in(of.trace(3, "star", 1), 1, 1)
    begun = two.first(0, "issue") - store
    told = two.begins(0, 1)
    word = two.first(0, "code", of.moves, after=told - 1)
    copy = _issued_in(chain, 1, 1)
    behind = _to_copy(of, two, 1) - copy
    return {
        "begun": begun,
        "leaf": two.first(1, "code", of.moves) - begun,
        "behind": behind,
        "store": store,
        "joint": of.trace(5, "star", 3).first(2, "issue") - begun,
        "add": chain.first(1, "issue") - begun,
        "send": word - told,
        "copy": copy,
        "control": _to_copy(of, star, 2) - copy - behind,
        "finish": two.first(0, "code", "SYSTEM", after=word) - word,
    }


def _issued_in(trace: Trace, pe: int, task: int) -> int:
    """From the first instruction of a PE's task to the operation that it issues."""
    begins = trace.begins(pe, task)
    return trace.first(pe, "issue", after=begins - 1) - begins


def _to_copy(of: Short, trace: Trace, pe: int) -> int:
    """From a leaf's word to the issue of the operation that receives what is broadcast."""
    word = trace.first(pe, "code", of.moves)
    return trace.first(pe, "issue", after=word) - word
