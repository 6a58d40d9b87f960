"""Pieces of code of the phases of trees, from one event of a PE to another.

A function has no event where it is entered, so what a function does up to its operation is measured
where a task calls it; what is in front of it elsewhere is then the rest. In reading order: the
collectives, the pieces, and all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
OF_LENGTH = row(2, f"reduce(x: f32[n <= 3], add) on row {{ {EAST} reduce star to 0 }}")
LATER = row(11, f"reduce(x: {SUM}) on row {{ {EAST} reduce two_phase(S = 5) to 0 }}")
LARGE = 16500  # elements of 16 bits: an operand in memory cannot have those of two such vectors
ROUNDS = row(3, f"reduce(x: f16[{LARGE}], add) on row {{ {EAST} reduce star to 0 }}")
MAP_ROUNDS = row(60, f"reduce(x: i16[3], max) on row {{ {EAST} reduce star to 0 }}")


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


def _returns(of: Row) -> int:
    trace = of.trace(row(2, CHAIN))
    issued = trace.first(1, "issue")
    return trace.first(1, "moves", after=issued) - issued


def _done(of: Row) -> int:
    trace = of.trace(THERE)
    begins = trace.begins(1, 2)
    return trace.first(1, "code", "SYSTEM", after=begins - 1) - begins


def _tell(of: Row) -> int:
    trace = of.trace(row(2, BY_MAP))
    last = max(one for one in trace.cycles(0, "code", "MAP"))
    return trace.first(0, "task", after=last) - last


def _launch(of: Row) -> int:
    """A collective of one PE: it only tells."""
    return of.trace(ALONE).cycles(0, "task")[1] - of.known["tell"]


def _send(of: Row) -> int:
    return of.issued_in(THERE, 0, 1)


def _begin(of: Row) -> int:
    """The launch up to the first phase."""
    return of.issued(row(2, CHAIN), 1) - of.known["send"]


def _buffer(of: Row) -> int:
    return _begin(of) - of.known["launch"]


def _first(text: str, pe: int) -> Callable[[Row], int]:
    """What the operation that a PE begins with takes."""
    return lambda of: of.issued(text, pe) - _begin(of)


def _store_passes(of: Row) -> int:
    return of.issued(STAR, 0) - _begin(of) - of.known["store"]


def _by_map(text: str, pe: int) -> Callable[[Row], int]:
    """The same by a call-back."""
    return lambda of: of.trace(text).first(pe, "code", "MAP") - _begin(of)


def _control(of: Row) -> int:
    return of.issued_in(DEEP, 4, 2)


def _negate(of: Row) -> int:
    passes = NEGATED * WORDS // of.known["negate_words"]
    return of.issued(row(2, NEGATES), 1) - of.issued(ADDS, 1) - passes


def _own_vector_read(of: Row) -> int:
    """By how much later the code returns that has issued storing."""
    return _code_behind(of, LATER, 1) - _code_behind(of, row(2, CHAIN), 0)


def _code_behind(of: Row, text: str, pe: int) -> int:
    trace = of.trace(text)
    issued = trace.first(pe, "issue")
    return trace.first(pe, "code", "RET", after=issued) - issued


def _store_one(of: Row) -> int:
    return of.issued(OF_LENGTH, 0) - of.issued(OF_LENGTH, 1) + of.known["send"]


def _last_round(of: Row) -> int:
    """The root's second task activates the one that tells of the end, and that follows it."""
    trace = of.trace(ROUNDS)
    begins = trace.begins(0, 2)
    ends = trace.first(0, "task", after=begins)
    return ends - begins - of.known["next_round"] - of.known["tell"]


def _map_round(of: Row) -> int:
    """From the end of the last call-back of a round to where the next round's are begun."""
    trace = of.trace(MAP_ROUNDS)
    begun = trace.cycles(0, "code", "LDDDS")[1]
    return begun - max(one for one in trace.cycles(0, "code", "MAP") if one <= begun)


def _next_round(of: Row) -> int:
    return of.issued_in(ROUNDS, 0, 1)


def _frame(of: Row) -> int:
    """The task behind that ends where the next one may begin."""
    trace = of.trace(row(3, CHAIN))
    returned = trace.first(1, "code", "RET")
    idle = trace.first(1, "code", "IDLE", after=returned)
    return idle - returned - of.known["between_tasks"]


PIECES: dict[str, tuple[Callable[[Row], int], str]] = {
    "frame": (_frame, "a task's return to where the PE looks for work, but what is between tasks"),
    "returns": (_returns, "a sender's operation is issued; its first element moves"),
    "done": (_done, "the last task's first instruction; the host is let go on"),
    "tell": (_tell, "the last call-back ends; the task that tells of the end begins"),
    "send": (_send, "the task behind a reduction to the broadcast's operation"),
    "launch": (_launch, "one PE: launch to the task, but what tells of the end"),
    "buffer": (_buffer, "launch to the operation of a chain's end, but for launch and send"),
    "store": (_first(row(2, CHAIN), 0), "launch to the operation of a chain's root, but for that"),
    "store_by_map": (_by_map(row(2, BY_MAP), 0), "the same by a call-back"),
    "add": (_first(row(3, CHAIN), 1), "the same in the middle of a chain"),
    "add_by_map": (_by_map(row(3, BY_MAP), 1), "the same by a call-back"),
    "copy": (_first(row(3, BROADCAST), 1), "the same of a broadcast's receiver"),
    "add_after_store": (lambda of: of.issued_in(DEEP, 4, 1), "the task behind storing to its own"),
    "control": (_control, "the task behind sending to the control wavelet"),
    "store_passes": (_store_passes, "launch to a star's operation, but what is in front"),
    "negate": (_negate, "launch to the sending of a minimum, less that of a sum, less the pass"),
    "own_vector_read": (_own_vector_read, "storing to the return, where the own vector is read"),
    "store_one": (_store_one, "one vector of a dynamic length, beside sending there"),
    "next_round": (_next_round, "the task behind a round to its operation"),
    "last_round": (_last_round, "the task behind the last round to the next, but its end"),
    "map_round": (_map_round, "behind the last call-back of a round; the next round is begun"),
}


def measured_trees(target: str, timing: str, known: Values) -> Values:
    """The pieces of trees; `known` are the machine's constants."""
    found = dict(known)
    of = Row(lambda text: trace_of(text, target, timing), found)
    for name, (measure, _) in PIECES.items():
        found[name] = measure(of)
    return {name: found[name] for name in PIECES}
