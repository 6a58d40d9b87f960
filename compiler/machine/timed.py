"""What the machine with a clock is given, and what it says: scripts of PEs, by numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from collc_evaluator import time_machine

from collc.base.columns import Ints
from collc.base.values import dataclass
from collc.machine.given import Given
from collc.machine.reading import Calls
from collc.target import Target

NO_COLOR = -1
Act = tuple[str, int, int, int]


@dataclass(frozen=True)
class Timing:
    """What the machine takes, in cycles, and the words that a router holds of a color."""

    hop: int
    ramp_up: int
    pipeline_fill: int
    ramp_down: int
    load_use: int
    between_tasks: int
    first_task: int
    router_queue: int


def timing_of(target: Target) -> Timing:
    """The numbers of a target, measured by `make constants`."""
    engine = target.cycles.engine
    return Timing(
        hop=engine.hop,
        ramp_up=engine.ramp_up,
        pipeline_fill=engine.send_start,
        ramp_down=engine.ramp_down,
        load_use=engine.dsr_load + engine.op_issue,
        between_tasks=engine.between_tasks,
        first_task=engine.first_task,
        router_queue=target.router_queue,
    )


@dataclass(frozen=True)
class TimedOp:
    """An operation: colors, NO_COLOR for memory; the place of its output queue; the wavelets of
    each time that it is issued, and so many of them that are taken at once, if it waits for `all`
    never fewer; what its end does to which task. They are of so many `vectors`, each of which a
    run can tell of, and `phase` is the number of the phase that it is for."""

    receive: int
    send: int
    output: int
    words: tuple[int, ...]
    at_once: int
    all: bool
    yields: bool
    command: str
    advances: bool
    end: tuple[str, int]
    vectors: int = 1
    phase: int = -1


@dataclass(frozen=True)
class Script:
    """What PEs do: code by code what is done, the first of which the launch begins; operations;
    the depths of output queues; colors of input queues with their depths; the tasks that are
    blocked at first, as bits; lists of code, of which `turn` goes on with one after the other;
    the code that runs when a color is torn down, by color."""

    codes: tuple[tuple[Act, ...], ...]
    ops: tuple[TimedOp, ...]
    outputs: tuple[int, ...]
    inputs: tuple[tuple[int, int], ...]
    blocked: int
    counters: int
    turns: tuple[tuple[int, ...], ...] = ()
    handlers: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, eq=False)
class Timed:
    """The cycle in which each PE has done its part, int64 [PEs]; that in which the last of them
    comes to each mark of their code; how many words have gone from router to router. Of a run that
    is traced `pieces` has a row for each vector that an operation has moved, with the columns of
    `PIECE`, in the order in which their first words were taken."""

    done: Ints
    marks: tuple[int, ...]
    words: int
    pieces: Ints


# Of a vector that an operation has moved, the PE, the number of the operation in its script, who
# sent it, the router that held up its first word last, and for how many cycles routers did; when
# the operation was issued, when the first word was there, if it is received, when that was taken,
# and the last one. NOT_SO for what there is not.
PIECE = ("pe", "op", "sender", "held_by", "held", "issued", "came", "taken", "ended")
NOT_SO = -1
_OF_PES, _OF_CYCLES = (
    [PIECE.index(name) for name in names]
    for names in (("pe", "sender", "held_by"), ("issued", "came", "taken", "ended"))
)
Told = tuple[Ints, list[TimedOp]]  # rows of pieces, each with its operation


def told_of(
    found: Timed, scripts: Sequence[Script], script_at: Ints, pes: Ints, since: int = 0
) -> Told:
    """The pieces of a run that was traced, with the numbers that its PEs have elsewhere, in cycles
    from another one on, and what moved them."""
    rows = found.pieces.copy()
    ops = [scripts[int(script_at[pe])].ops[op] for pe, op in rows[:, :2].tolist()]
    for columns, elsewhere in (
        (_OF_PES, lambda one: pes[one]),
        (_OF_CYCLES, lambda one: one + since),
    ):
        part = rows[:, columns]
        rows[:, columns] = np.where(part == NOT_SO, NOT_SO, elsewhere(part))
    return rows, ops


class StuckError(Exception):
    """A PE never does its part."""


class TooLongError(Exception):
    """More words move than are followed."""


_NOT_SO = 2**32 - 1
MOST_WORDS = 200_000_000  # that are followed one by one, which takes half a minute


def timed(  # noqa: PLR0913 - what runs, and how
    calls: Calls,
    scripts: Sequence[Script],
    script_at: Ints,
    starts: Ints | None = None,
    most: int = MOST_WORDS,
    *,
    by_word: bool = False,
    traced: bool = False,
) -> Timed:
    """Run scripts, of which each PE of the grid has one; PEs begin at `starts`, 0 if there are
    none. Words are followed one by one where PEs do something new, `by_word` everywhere, which
    gives the same. Raises StuckError, and TooLongError where more than the `most` are followed."""
    begins = np.zeros(len(script_at), dtype=np.int64) if starts is None else starts
    timing = timing_of(calls.plans[0].target)
    given = calls.with_filters
    return _run(given, timing, scripts, script_at, begins, most, by_word=by_word, traced=traced)


def timed_line(  # noqa: PLR0913, PLR0917 - what runs, and from when on
    given: Given,
    target: Target,
    scripts: Sequence[Script],
    at: Ints,
    starts: Ints,
    since: int,
    most: int,
    *,
    traced: bool = False,
) -> Timed:
    """The same of one line of PEs, which begin at `starts`, counted from the cycle `since` on."""
    timing = timing_of(target)
    timing = replace(timing, first_task=max(timing.first_task - since, 0))
    return _run(given, timing, scripts, at, starts, most, traced=traced)


def _run(  # noqa: PLR0913, PLR0917 - what runs, and how
    given: Given,
    timing: Timing,
    scripts: Sequence[Script],
    script_at: Ints,
    starts: Ints,
    most: int,
    *,
    by_word: bool = False,
    traced: bool = False,
) -> Timed:
    done, marks, words, stuck, given_up, pieces = time_machine(
        given,
        timing,
        list(scripts),
        np.ascontiguousarray(script_at, dtype=np.uint32),
        list(given.numbers),
        np.ascontiguousarray(starts, dtype=np.int64),
        most,
        by_word,
        traced,
    )
    if given_up:
        raise TooLongError(f"more than {most} words would have to be followed one by one")
    if stuck is not None:
        place = stuck % given.width, stuck // given.width
        raise StuckError(f"PE {place} never ends")
    told = pieces.astype(np.int64).reshape(-1, len(PIECE))
    told[told == _NOT_SO] = NOT_SO
    return Timed(done, tuple(marks), words, told)
