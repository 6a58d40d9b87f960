"""Constants of the machine, each from one event of a trace to another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from measuring.traces import Trace, trace_of

ELEMENTS = 3  # of a vector, one a cycle
NEGATED = 64  # elements of 32 bits
WORDS = 2  # of 16 bits in one

BROADCAST = "broadcast(x: f32[3]) on row { broadcast from 0 }"
CHAIN = "reduce(x: f32[3], add) on row { order west_to_east reduce chain to 0 }"
BY_MAP = "reduce(x: u32[3], add) on row { order west_to_east reduce chain to 0 }"
NEGATES = f"reduce(x: f32[{NEGATED}], min) on row {{ order west_to_east reduce chain to 0 }}"


def _hop(trace: Trace) -> int:
    return trace.first(2, "lands", "W") - trace.first(1, "lands", "W")


def _ramp_up(trace: Trace) -> int:
    return trace.first(0, "lands", "R") - trace.first(0, "moves")


def _ramp_down(trace: Trace) -> int:
    return trace.first(1, "moves") - trace.first(1, "lands", "W")


def _dsr_load(trace: Trace) -> int:
    begins = trace.first(1, "code", "LDS0DS")
    return trace.first(1, "code", after=begins) - begins


def _op_issue(trace: Trace) -> int:
    loaded = trace.first(1, "code", after=trace.first(1, "code", "LDS0DS"))
    return trace.first(1, "issue") - loaded


def _task_start(trace: Trace) -> int:
    return trace.begins(2, 1) - (trace.first(2, "moves") + ELEMENTS)


def _scalar(trace: Trace) -> int:
    begins = trace.first(0, "code", "ADD32")
    return trace.first(0, "code", after=begins) - begins


def _map_access(trace: Trace) -> int:
    second = trace.first(0, "code", "MAP", after=trace.first(0, "code", "ADD32"))
    return (trace.first(0, "code", "ADD32", after=second) - second) // 2


def _negate_words(trace: Trace) -> int:
    begins = trace.first(1, "issue at once", "FNEG")
    return NEGATED * WORDS // (trace.first(1, "code", after=begins) - begins)


@dataclass(frozen=True)
class Constant:
    """A constant of the machine: on which row it is measured, from which event to which."""

    name: str
    body: str
    pes: int
    of: Callable[[Trace], int]
    about: str


CONSTANTS = (
    Constant("hop", BROADCAST, 3, _hop, "the first wavelet lands in a router; and in the next"),
    Constant("ramp_up", BROADCAST, 3, _ramp_up, "the sender's first element moves; it lands"),
    Constant("ramp_down", BROADCAST, 3, _ramp_down, "it lands; the receiver's element moves"),
    Constant("dsr_load", CHAIN, 3, _dsr_load, "`@load_to_dsr` begins; what is behind it begins"),
    Constant("op_issue", CHAIN, 3, _op_issue, "an operation on registers begins; it is issued"),
    Constant(
        "task_start",
        CHAIN,
        3,
        _task_start,
        "the cycle behind an operation's last element; the first instruction of its task",
    ),
    Constant("scalar", BY_MAP, 2, _scalar, "a call-back's first instruction; its second"),
    Constant("map_access", BY_MAP, 2, _map_access, "half from one call of a call-back to the next"),
    Constant("negate_words", NEGATES, 2, _negate_words, "a pass over a vector is issued; its end"),
)


def row(pes: int, body: str) -> str:
    """A program of one collective on a row."""
    return f"grid row = {pes} x 1\ncollective c = {body}\nprogram {{ c }}\n"


def measured_engine(target: str, timing: str) -> dict[str, int]:
    """The machine's constants on a target under one of fabsim's timing tables."""
    return {one.name: one.of(trace_of(row(one.pes, one.body), target, timing)) for one in CONSTANTS}
