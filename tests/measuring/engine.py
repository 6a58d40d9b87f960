"""Constants of the machine, each from one event of a trace to another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from measuring.traces import Trace, trace_of

ELEMENTS = 8  # of a vector, one a cycle: a task is at its end before the operation is
NEGATED = 64  # elements of 32 bits
WORDS = 2  # of 16 bits in one
CALL = 1  # cycles of `@map` beside the call-back: `map_element`

BROADCAST = f"broadcast(x: f32[{ELEMENTS}]) on row {{ broadcast from 0 }}"
CHAIN = f"reduce(x: f32[{ELEMENTS}], add) on row {{ order west_to_east reduce chain to 0 }}"
BY_MAP = f"reduce(x: u32[{ELEMENTS}], add) on row {{ order west_to_east reduce chain to 0 }}"
PRODUCTS = f"reduce(x: u32[{ELEMENTS}], mul) on row {{ order west_to_east reduce chain to 0 }}"
NEGATES = f"reduce(x: f32[{NEGATED}], min) on row {{ order west_to_east reduce chain to 0 }}"
ONE_WORD = "broadcast(x: f32[1]) on row { broadcast from 0 }"
STEPS = f"reduce_scatter(x: f32[{ELEMENTS}], add) on row {{ run ring_reduce_scatter }}"
STAGED = f"allreduce(x: f32[{NEGATED}], add) on row {{ run dual_root_allreduce(c = 1) }}"
OWN = f"""operation own(a, b: f32) assume associative = a * b + a
collective c = reduce(x: f32[{ELEMENTS}], own) on row {{ order west_to_east reduce chain to 0 }}"""


def _hop(trace: Trace) -> int:
    return trace.first(2, "lands", "W") - trace.first(1, "lands", "W")


def _ramp_up(trace: Trace) -> int:
    return trace.first(1, "lands", "R") - trace.first(1, "moves")


def _send_start(trace: Trace) -> int:
    return trace.first(2, "lands", "R") - trace.first(2, "moves") - _ramp_up(trace)


def _ramp_down(trace: Trace) -> int:
    """The wavelet in a router leaves it as late as one that goes down to the PE."""
    return trace.first(1, "moves") - trace.first(0, "lands", "R") - _hop(trace)


def _dsr_load(trace: Trace) -> int:
    begins = trace.first(1, "code", "LDS0DS")
    return trace.first(1, "code", after=begins) - begins


def _op_issue(trace: Trace) -> int:
    loaded = trace.first(1, "code", after=trace.first(1, "code", "LDS0DS"))
    return trace.first(1, "issue") - loaded


def _task_start(trace: Trace) -> int:
    """Of a PE that receives, whose code is over before."""
    return trace.begins(0, 1) - (trace.first(0, "moves") + ELEMENTS)


def _between_tasks(trace: Trace) -> int:
    """A task ends with a return; a cycle later the PE could have another one."""
    returned = trace.first(1, "code", "RET")
    return trace.first(1, "code", "IDLE", after=returned) - returned - 1


def _first_task(trace: Trace) -> int:
    """The root has sent its word before."""
    return trace.begins(0, 1)


def _map_element(trace: Trace) -> int:
    return _call(trace) - _scalar(trace)


def _scalar(trace: Trace) -> int:
    begins = trace.first(0, "code", "ADD32")
    return trace.first(0, "code", after=begins) - begins


def _jump(trace: Trace) -> int:
    return max(_jumps(trace))


def _no_jump(trace: Trace) -> int:
    return min(_jumps(trace))


def _jumps(trace: Trace) -> Iterator[int]:
    """From a jump to the instruction behind it."""
    for jump in trace.cycles(1, "code", "JMP"):
        yield trace.first(1, "code", after=jump) - jump


def _call(trace: Trace) -> int:
    """From one call of a call-back to the next."""
    first, second = trace.cycles(0, "code", "MAP")[-2:]
    return second - first


def _float_wait(trace: Trace) -> int:
    """Beside the two instructions and what the call takes."""
    return _call(trace) - 2 - CALL


def _wide_product(trace: Trace) -> int:
    return _call(trace) - CALL


def _negate_words(trace: Trace) -> int:
    begins = trace.first(1, "issue at once", "FNEG")
    return NEGATED * WORDS // (trace.first(1, "code", after=begins) - begins)


def _combine_words(trace: Trace) -> int:
    begins = trace.first(0, "issue at once", "FADDS")
    return NEGATED * WORDS // (trace.first(0, "code", after=begins) - begins)


@dataclass(frozen=True)
class Constant:
    """A constant of the machine: on which row it is measured, from which event to which."""

    name: str
    body: str
    pes: int
    of: Callable[[Trace], int]
    about: str


CONSTANTS = (
    Constant("hop", BROADCAST, 3, _hop, "a wavelet lands in a router; and in the next"),
    Constant("ramp_up", CHAIN, 3, _ramp_up, "an element is combined and sent on; it lands"),
    Constant(
        "send_start", CHAIN, 3, _send_start, "one is sent from memory; it lands; so much later"
    ),
    Constant(
        "ramp_down", BROADCAST, 3, _ramp_down, "it leaves a router; the receiver's element moves"
    ),
    Constant("dsr_load", CHAIN, 3, _dsr_load, "`@load_to_dsr` begins; what is behind it begins"),
    Constant("op_issue", CHAIN, 3, _op_issue, "an operation on registers begins; it is issued"),
    Constant(
        "task_start",
        CHAIN,
        3,
        _task_start,
        "the cycle behind an operation's last element; the first instruction of its task",
    ),
    Constant(
        "between_tasks", CHAIN, 3, _between_tasks, "behind a task's end; the PE looks for work"
    ),
    Constant("first_task", ONE_WORD, 2, _first_task, "the launch; the first task behind it"),
    Constant("scalar", BY_MAP, 2, _scalar, "a call-back's first instruction; its second"),
    Constant("jump", STEPS, 4, _jump, "a jump that is taken; the instruction behind it"),
    Constant("no_jump", STEPS, 4, _no_jump, "the same of one that is not"),
    Constant("map_element", BY_MAP, 2, _map_element, "one call to the next, but for a sum"),
    Constant("float_wait", OWN, 2, _float_wait, "one call to the next of a sum and product"),
    Constant("wide_product", PRODUCTS, 2, _wide_product, "one call to the next of a product"),
    Constant("negate_words", NEGATES, 2, _negate_words, "a pass over a vector is issued; its end"),
    Constant("combine_words", STAGED, 2, _combine_words, "a sum of two vectors is issued; its end"),
)


def row(pes: int, body: str) -> str:
    """A program of one collective on a row, `c` if it has no name."""
    named = body if "collective c" in body else f"collective c = {body}"
    return f"grid row = {pes} x 1\n{named}\nprogram {{ c }}\n"


def measured_engine(target: str, timing: str) -> dict[str, int]:
    """The machine's constants on a target under one of fabsim's timing tables."""
    return {one.name: one.of(trace_of(row(one.pes, one.body), target, timing)) for one in CONSTANTS}
