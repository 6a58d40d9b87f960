"""Pieces of code of the phases of trees, from one event of a PE to another.

A function has no event where it is entered, so what a function does up to its operation is measured
where a task calls it; what is in front of it elsewhere is then the rest. In reading order: the
collectives, the pieces, and all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from measuring.engine import BROADCAST, BY_MAP, CHAIN, NEGATED, NEGATES, WORDS, row
from measuring.traces import Trace, trace_of

Values = dict[str, int]
EAST = "order west_to_east"
SUM = "f32[3], add"
ALONE = row(1, f"reduce(x: {SUM}) on row {{ {EAST} reduce chain to 0 }}")
THERE = row(2, f"allreduce(x: {SUM}) on row {{ {EAST} reduce chain to 0 then broadcast from 0 }}")
DEEP = row(8, f"reduce(x: {SUM}) on row {{ {EAST} reduce binomial to 0 within colors <= 2 }}")
ADDS = row(2, f"reduce(x: f32[{NEGATED}], add) on row {{ {EAST} reduce chain to 0 }}")
STAR = row(3, f"reduce(x: {SUM}) on row {{ {EAST} reduce star to 0 }}")
MAP_ON = row(3, BY_MAP)
OF_LENGTH = row(2, f"reduce(x: f32[n <= 3], add) on row {{ {EAST} reduce star to 0 }}")
BARRIER = row(2, f"barrier() on row {{ {EAST} reduce chain to 0 then broadcast from 0 }}")
LATER = row(11, f"reduce(x: {SUM}) on row {{ {EAST} reduce two_phase(S = 5) to 0 }}")
LARGE = 16500  # elements of 16 bits: an operand in memory cannot have those of two such vectors
ROUNDS = row(3, f"reduce(x: f16[{LARGE}], add) on row {{ {EAST} reduce star to 0 }}")
MAP_ROUNDS = row(3, f"reduce(x: i16[{LARGE}], max) on row {{ {EAST} reduce star to 0 }}")


@dataclass(frozen=True)
class Row:
    """A row under measurement, and what has been measured."""

    trace: Callable[[str], Trace]
    known: Values

    def issued(self, text: str, pe: int) -> int:
        """From the launch to a PE's first operation."""
        return self.trace(text).first(pe, "issue")

    def issued_in(self, text: str, pe: int, task: int) -> int:
        """From the first instruction of a PE's task to the operation that it issues."""
        trace = self.trace(text)
        begins = trace.begins(pe, task)
        return trace.first(pe, "issue", after=begins - 1) - begins

    def returned(self, text: str, pe: int) -> int:
        """From a PE's first operation to its first element."""
        trace = self.trace(text)
        issued = trace.first(pe, "issue")
        return trace.first(pe, "moves", after=issued) - issued


def _call(of: Row) -> int:
    return of.issued(row(2, CHAIN), 1) - of.issued(row(3, BROADCAST), 0)


def _frame(of: Row) -> int:
    return of.returned(row(2, CHAIN), 1) - of.returned(row(3, BROADCAST), 0)


def _launch_frames(of: Row) -> int:
    return of.returned(row(3, BROADCAST), 0) - of.known["frame"]


def _done(of: Row) -> int:
    trace = of.trace(THERE)
    begins = trace.begins(1, 2)
    return trace.first(1, "code", "SYSTEM", after=begins - 1) - begins


def _tell(of: Row) -> int:
    """Behind the last element two functions are called, and five return."""
    trace, known = of.trace(row(2, BY_MAP)), of.known
    last = max(one for one in trace.cycles(0, "code", "MAP"))
    ends = trace.first(0, "task", after=last)
    returns = known["launch_frames"] + 3 * known["frame"]
    return ends - (last + known["map_access"]) - 2 * known["call"] - returns


def _send(of: Row) -> int:
    return of.issued_in(THERE, 0, 1) - 2 * of.known["call"]


def _begin(of: Row) -> int:
    """The launch up to the call of the first phase."""
    return of.issued(row(3, BROADCAST), 0) - of.known["call"] - of.known["send"]


def _launch(of: Row) -> int:
    """A collective of one PE: it only tells."""
    known, trace = of.known, of.trace(ALONE)
    returns = known["launch_frames"] + known["frame"]
    return trace.cycles(0, "task")[1] - known["call"] - known["tell"] - returns


def _buffer(of: Row) -> int:
    return _begin(of) - of.known["launch"]


def _store(of: Row) -> int:
    return of.issued(row(2, CHAIN), 0) - _begin(of) - of.known["call"]


def _store_passes(of: Row) -> int:
    return of.issued(STAR, 0) - _begin(of) - of.known["call"] - of.known["store"]


def _store_by_map(of: Row) -> int:
    trace = of.trace(row(2, BY_MAP))
    return trace.first(0, "code", "MAP") - _begin(of) - of.known["call"]


def _add_by_map(of: Row) -> int:
    trace = of.trace(MAP_ON)
    return trace.first(1, "code", "MAP") - _begin(of) - 2 * of.known["call"]


def _add(of: Row) -> int:
    return of.issued(row(3, CHAIN), 1) - _begin(of) - 2 * of.known["call"]


def _copy(of: Row) -> int:
    return of.issued(row(3, BROADCAST), 1) - _begin(of) - 2 * of.known["call"]


def _add_after_store(of: Row) -> int:
    return of.issued_in(DEEP, 4, 1) - of.known["call"]


def _control(of: Row) -> int:
    trace = of.trace(DEEP)
    begins = trace.begins(4, 2)
    return trace.first(4, "moves", "MOV32", after=begins) - begins - of.known["frame"]


def _negate(of: Row) -> int:
    passes = NEGATED * WORDS // of.known["negate_words"]
    trace = of.trace(row(2, NEGATES))
    sends = trace.first(1, "issue", "FMOV")
    return sends - of.issued(ADDS, 1) - passes


def _own_vector_read(of: Row) -> int:
    trace = of.trace(LATER)
    stores = trace.first(1, "issue")
    return trace.first(1, "code", "LDS0DS", after=stores) - stores


def _store_one(of: Row) -> int:
    before = of.known["call"] + of.known["send"]
    return of.issued(OF_LENGTH, 0) - of.issued(OF_LENGTH, 1) + before


def _token_alone(of: Row) -> int:
    known = of.known
    return of.issued(BARRIER, 1) - known["launch"] - 2 * known["call"] - known["send"]


def _store_token(of: Row) -> int:
    known = of.known
    return of.issued(BARRIER, 0) - known["launch"] - known["token_alone"] - known["call"]


def _last_round(of: Row) -> int:
    """The root's second task ends with two calls, and three functions return."""
    trace, known = of.trace(ROUNDS), of.known
    begins = trace.begins(0, 2)
    ends = trace.first(0, "task", after=begins)
    calls = 2 * known["call"] + known["tell"] + 3 * known["frame"]
    return ends - begins - known["next_round"] - calls


def _map_loop(of: Row) -> int:
    """The first call-back in a loop, less that without one."""
    trace = of.trace(MAP_ROUNDS)
    before = _begin(of) + of.known["call"] + of.known["store_by_map"]
    return trace.first(0, "code", "MAP") - before


def _map_round(of: Row) -> int:
    """The longest time between two calls of a call-back."""
    calls = of.trace(MAP_ROUNDS).cycles(0, "code", "MAP")
    longest = max(later - one for one, later in pairwise(calls))
    return longest - of.known["map_access"] - of.known["store_by_map"]


def _next_round(of: Row) -> int:
    return of.issued_in(ROUNDS, 0, 1)


PIECES: dict[str, tuple[Callable[[Row], int], str]] = {
    "call": (_call, "a reduction's far end to its operation, less a broadcast's root to the same"),
    "frame": (_frame, "the same from the operation to its first element"),
    "launch_frames": (
        _launch_frames,
        "a broadcast's root, operation to first element, but a frame",
    ),
    "done": (_done, "the last task's first instruction; the host is let go on"),
    "tell": (_tell, "the last call of a call-back to the task, but two calls and five returns"),
    "send": (_send, "the task behind a reduction to the broadcast's operation, but two calls"),
    "launch": (_launch, "one PE: launch to the task, but what is called, told and returned"),
    "buffer": (_buffer, "launch to a broadcast's operation, but for launch, call and send"),
    "store": (_store, "launch to the operation of a chain's end, but what is in front"),
    "store_passes": (_store_passes, "launch to a star's operation, but what is in front"),
    "store_by_map": (_store_by_map, "the same by a call-back"),
    "add": (_add, "launch to the operation in the middle of a chain, but what is in front"),
    "add_by_map": (_add_by_map, "the same by a call-back"),
    "copy": (_copy, "launch to the operation of a broadcast's receiver, but what is in front"),
    "add_after_store": (_add_after_store, "the task behind storing to its operation, but a call"),
    "control": (_control, "the task behind sending to the control wavelet, but a return"),
    "negate": (_negate, "launch to the sending of a minimum, less that of a sum, less the pass"),
    "own_vector_read": (_own_vector_read, "storing is issued; the own vector has been read"),
    "store_one": (_store_one, "one vector of a dynamic length, beside sending there"),
    "token_alone": (_token_alone, "launch to a barrier's far end, but launch, calls and send"),
    "store_token": (_store_token, "launch to a barrier's near end, but what is in front"),
    "next_round": (_next_round, "the task behind a round to its operation"),
    "last_round": (_last_round, "the task behind the last round to the next, but its end"),
    "map_loop": (_map_loop, "launch to the first call-back of several rounds, but of one"),
    "map_round": (_map_round, "between calls of call-backs of two rounds, but the operation"),
}


def measured_trees(target: str, timing: str, known: Values) -> Values:
    """The pieces of trees; `known` are the machine's constants."""
    found = dict(known)
    of = Row(lambda text: trace_of(text, target, timing), found)
    for name, (measure, _) in PIECES.items():
        found[name] = measure(of)
    return {name: found[name] for name in PIECES}
