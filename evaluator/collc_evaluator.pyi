"""Follows a line of PEs through the step tables of an exchange: its cycles, its data, its relays.

Cycles are those of the machine's clock, sizes of entries wavelets, unless said otherwise. Arguments
are any objects with the attributes that their protocols list.
"""

from collections.abc import Sequence
from typing import Literal, Protocol, final

import numpy as np
import numpy.typing as npt

_Ints = npt.NDArray[np.int64]
_Flags = npt.NDArray[np.bool_]
_Words = npt.NDArray[np.uint64]

# What the code that starts an entry does: "code" and its cycles; "wait", and the cycles in which it
# waits for what an instruction before finds out, so that operations may have them; "receive", "send" and "pass", operations that begin; "apply" what is staged,
# for as long as the entry says.
_Action = tuple[str, int]

class _Code(Protocol):
    """Cycles of the pieces of code that belong to no entry."""

    @property
    def jump(self) -> int: ...
    @property
    def no_jump(self) -> int: ...
    @property
    def counter(self) -> int: ...
    @property
    def step_begun(self) -> int: ...
    @property
    def step_over(self) -> int: ...
    @property
    def meet(self) -> int: ...

class _Machine(Protocol):
    """Cycles and, of queues, wavelets; `group` wavelets are taken by one instruction, and in
    `dispatch` cycles a task finds out whose it is."""

    @property
    def ramp_up(self) -> int: ...
    @property
    def send_start(self) -> int: ...
    @property
    def ramp_down(self) -> int: ...
    @property
    def hop(self) -> int: ...
    @property
    def router_queue(self) -> int: ...
    @property
    def output_queue(self) -> int: ...
    @property
    def input_queue(self) -> int: ...
    @property
    def group(self) -> int: ...
    @property
    def task(self) -> int: ...
    @property
    def between(self) -> int: ...
    @property
    def dispatch(self) -> int: ...
    @property
    def frame(self) -> int: ...
    @property
    def code(self) -> _Code: ...

class _Kind(Protocol):
    """Entries that are started by the same code; what prepares one is `prepared`, code and
    waits."""

    @property
    def prepared(self) -> Sequence[_Action]: ...
    @property
    def actions(self) -> Sequence[_Action]: ...
    @property
    def ends(self) -> bool: ...

class _Entries(Protocol):
    """By entry: its kind, wavelets that come in, go out and are let pass, and the cycles in which
    what is staged is applied."""

    @property
    def kind(self) -> _Ints: ...
    @property
    def into(self) -> _Ints: ...
    @property
    def out(self) -> _Ints: ...
    @property
    def passed(self) -> _Ints: ...
    @property
    def applying(self) -> _Ints: ...

class _Lanes(Protocol):
    """By lane (PE * lanes of a PE + lane): where its entries start (and, last, where all end), the
    kind of what the code finds behind the last, the lane it sends to (negative if none), where its
    links start, and the cycles until its first entry is prepared. `links` are numbers of
    links, those of a way one after the other."""

    @property
    def start(self) -> _Ints: ...
    @property
    def beyond(self) -> _Ints: ...
    @property
    def target(self) -> _Ints: ...
    @property
    def links_start(self) -> _Ints: ...
    @property
    def links(self) -> _Ints: ...
    @property
    def begins(self) -> _Ints: ...

class StuckError(Exception):
    """PEs whose entries never end: others send too little, or in another order."""

@final
class Timing:
    """By PE: when its code calls what follows the phase, and its last busy cycle. `looks` at a PE
    were taken; if these were all that may be, the rest is `extrapolated` at the same pace.
    `stretches` are as `run` takes them: when the line's tasks have run, if code of others was
    given."""

    @property
    def free(self) -> _Ints: ...
    @property
    def ended(self) -> _Ints: ...
    @property
    def stretches(self) -> _Ints: ...
    @property
    def looks(self) -> int: ...
    @property
    def extrapolated(self) -> bool: ...

@final
class Line:
    """A line of PEs, each with `lanes_each` lanes, and their step tables; a phase begins with
    `beginning` cycles of code. ValueError where a number leads to what is not given."""

    def __new__(
        cls,
        machine: _Machine,
        lanes_each: int,
        beginning: int,
        kinds: Sequence[_Kind],
        entries: _Entries,
        lanes: _Lanes,
    ) -> Line: ...
    def run(
        self, called: _Ints, deep: _Ints, most: int, enough: int, others: _Ints | None = None
    ) -> Timing:
        """Run all entries. By PE: the phase is called in cycle `called`, by code that takes `deep`
        cycles to return from all functions. `others` is [time, stretch, PE]: when code of others
        was due, the cycle of its first instruction, and the one behind its last; tasks that are due
        later wait for it, and operations that only send, too. At most so many looks at a PE are taken; repetition is
        leapt over where operations have `enough` wavelets left. StuckError if the line gets stuck;
        what a signal raises ends it."""

    def tasks(
        self, called: _Ints, deep: _Ints, most: int, enough: int
    ) -> list[tuple[int, int, list[_Action]]]:
        """The same; the tasks that ran, each with its PE, its lane within the PE (-1 for the code
        that begins the phase), and what its code did. "leave" is the call of what follows."""

    def code_of_beginning(self) -> _Ints:
        """By PE: cycles of the code that begins the phase, from its call to its return."""

class _Steps(Protocol):
    """The transfers of the steps of a phase, in order, all [transfers]: from place `source` `count`
    slices from `slice` on, at place `destination` into those from `into` on; step s has those up to
    `ends[s]`, [steps]."""

    @property
    def source(self) -> _Ints: ...
    @property
    def destination(self) -> _Ints: ...
    @property
    def slice(self) -> _Ints: ...
    @property
    def into(self) -> _Ints: ...
    @property
    def count(self) -> _Ints: ...
    @property
    def combines(self) -> _Flags: ...
    @property
    def ends(self) -> _Ints: ...

def carry_out(held: _Words, sizes: _Ints, pes: _Ints, bounds: _Ints, steps: _Steps) -> None:
    """Steps carried out on what PEs hold, `held` [PEs, atoms] of so many elements (`sizes`), line by
    line: `pes` [lines, places] are those at its places, `bounds` [lines or 1, slices + 1] the first
    atoms of its slices. All transfers of a step read before any of them writes. ValueError where
    something is not there, or slices are cut otherwise where they are put."""

class _Transfers(Protocol):
    """In the order in which lanes do them, all [transfers]: the slot (PE * lanes of a PE + lane)
    where each begins, the distance to the next slot on its way and how many there are behind the
    first, its time; the first slice where it begins and where it ends, and their count; what relays
    count between; and the kind of the row in which it is taken."""

    @property
    def slot(self) -> _Ints: ...
    @property
    def step(self) -> _Ints: ...
    @property
    def hops(self) -> _Ints: ...
    @property
    def time(self) -> _Ints: ...
    @property
    def first(self) -> _Ints: ...
    @property
    def into(self) -> _Ints: ...
    @property
    def count(self) -> _Ints: ...
    @property
    def passed(self) -> _Ints: ...
    @property
    def taken(self) -> _Ints: ...

class _Kinds(Protocol):
    """Bits of a row's kind."""

    @property
    def SENDS(self) -> int: ...
    @property
    def RELAYS(self) -> int: ...
    @property
    def APPLIES(self) -> int: ...
    @property
    def ENDS(self) -> int: ...

def step_rows(
    transfers: _Transfers,
    size: tuple[int, int],
    kinds: _Kinds,
    *,
    circuits: bool,
    most: int | None,
    may_turn: bool,
) -> tuple[_Ints, _Ints, _Ints, bool]:
    """The step tables of so many PEs with so many lanes each (`size`). The rows of a slot begin at
    the first result, [slots + 1], and end where those of the next one begin; of each row there are
    its time, [rows], and [rows, (kind, first slice out, count, first slice in, count)]. At each time
    at which a PE does something each of its lanes that does anything at all has a row, and the last
    of them ENDS if several do.

    Along `circuits` the n-th that is sent and the n-th that is received at a time share a row, and
    what is applied to slices that follow is one row. Otherwise lanes relay: what has the same time
    and kind as what is before it in its slot, and the slices that follow, joins it, and what is
    received right behind something that is sent shares its row. Slices follow downwards, which is
    the last result, if that leaves fewer rows and they `may_turn`. What is relayed joins whatever
    its slices are, unless a multiple of `most` elements has been passed since the first of it;
    without `most` it joins like all else. ValueError where a transfer leaves the line, or times
    descend."""

class _StreamMachine(Protocol):
    """Cycles and, of queues, wavelets. What only sends takes `send_start` more on its way up the
    ramp. An operation is issued `issue` cycles behind the last instruction of its task, and has a
    slot `receives` cycles behind that, or `returns` if it only sends; a task begins `between` cycles
    behind the end of another, at least."""

    @property
    def ramp_up(self) -> int: ...
    @property
    def send_start(self) -> int: ...
    @property
    def ramp_down(self) -> int: ...
    @property
    def hop(self) -> int: ...
    @property
    def router_queue(self) -> int: ...
    @property
    def output_queue(self) -> int: ...
    @property
    def input_queue(self) -> int: ...
    @property
    def issue(self) -> int: ...
    @property
    def receives(self) -> int: ...
    @property
    def returns(self) -> int: ...
    @property
    def between(self) -> int: ...

class _StreamRouter(Protocol):
    """What a router does with a color, position by position: the side it takes it from, and the
    sides it hands it to, a bit for each (0 lower places, 1 higher places, 2 the PE); of a filter
    the period, its first count, and how many wavelets pass; in a `ring` the first position follows
    the last."""

    @property
    def positions(self) -> list[tuple[int, int]]: ...
    @property
    def filter(self) -> tuple[int, int, int] | None: ...
    @property
    def ring(self) -> bool: ...

class _StreamOperation(Protocol):
    """An operation: the colors it uses, its wavelets, the operation of the PE behind whose end it
    begins, and the cycles from there, or from the common start, to its issue; what follows its last
    wavelet: its own router advances, all on its route are reset, or so many `commands` go to those
    in a ring. Of those that can go one with the lowest `rank` does, 0 to 2; code goes before 2."""

    @property
    def receives(self) -> int | None: ...
    @property
    def sends(self) -> int | None: ...
    @property
    def wavelets(self) -> int: ...
    @property
    def after(self) -> int | None: ...
    @property
    def begins(self) -> int: ...
    @property
    def advances(self) -> bool: ...
    @property
    def resets(self) -> bool: ...
    @property
    def commands(self) -> int: ...
    @property
    def rank(self) -> int: ...

class _StreamPlace(Protocol):
    """A place of the line; `code` counts the instructions from the last issue of what begins at
    once to the return."""

    @property
    def routers(self) -> Sequence[_StreamRouter]: ...
    @property
    def operations(self) -> Sequence[_StreamOperation]: ...
    @property
    def code(self) -> int: ...

def stream_ends(
    machine: _StreamMachine, places: Sequence[_StreamPlace]
) -> list[tuple[list[int], int]]:
    """By place: the cycle in which the last wavelet of each operation is taken or sent, and the
    first in which the PE may run another task. Raises StuckError where operations wait for ever."""

def first_period(index: _Ints, values: _Ints, periods: Sequence[int]) -> int | None:
    """The first of `periods`, which ascend, such that the numbers `values[i]` at `index[i]` are the
    same wherever the remainders by it are; None if there is none."""

def find_loops(
    rows: _Ints,
    starts: _Ints,
    slices: int,
    *,
    out: int,
    into: int,
    header: int,
    longest: int,
    together: bool,
) -> tuple[_Ints, _Ints]:
    """The loops of tables with rows [rows, (kind, first slice out, count, first slice in, count)],
    of which each begins at `starts`, [tables + 1], and ends where the next one begins: how many
    loops each table has, [tables], and, table by table, [loops, (first row, rows, turns, shift)].
    From turn to turn slices go on by the shift, modulo `slices`.

    At the first row from which on repeating saves numbers the repetition that saves most is taken;
    a loop costs `header` numbers beside its rows, and has `longest` rows at most. What is between
    is a loop of one turn. Rows with a bit of `out` and of `into` say which slices they put out and
    take. `together`, tables have as many rows, and loops of the same rows and turns. ValueError
    where rows are not there, or differ in number."""

class _MachinePhase(Protocol):
    """See `collc.machine.given.PhaseGiven`."""

    @property
    def role_at(self) -> npt.NDArray[np.int32]: ...
    @property
    def place_at(self) -> npt.NDArray[np.int32]: ...
    @property
    def cut_at(self) -> npt.NDArray[np.int32]: ...
    @property
    def sizes(self) -> Sequence[int]: ...
    @property
    def cuts(self) -> Sequence[Sequence[int]]: ...
    @property
    def wavelets(self) -> tuple[int, int]: ...
    @property
    def sets(self) -> npt.NDArray[np.int32]: ...

class _MachineGiven(Protocol):
    """See `collc.machine.given.Given`."""

    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def colors(self) -> Sequence[str]: ...
    @property
    def torn_down(self) -> Sequence[bool]: ...
    @property
    def settings(self) -> Sequence[tuple[Sequence[tuple[int, int]], bool]]: ...
    @property
    def phases(self) -> Sequence[_MachinePhase]: ...
    @property
    def stages(self) -> Sequence[tuple[int, int, int]]: ...
    @property
    def rows(self) -> Sequence[npt.NDArray[np.int32]]: ...
    @property
    def atoms(self) -> Sequence[int]: ...
    @property
    def queue(self) -> int: ...

# What is wrong, in which stage, at which PE, in which lane, entry and operation, on which color, of
# which slice, with whom, and in words.
_Fault = tuple[str, int | None, int, list[int | None], str]

def run_machine(
    given: _MachineGiven, held: Sequence[_Words], order: int | None, receipts: bool
) -> tuple[list[_Words], list[_Fault], int, _Ints]:
    """Lanes and routers followed without a clock: what calls hold at their end, who has begun with
    `held`, PE by PE and atom by atom; what is wrong, how much has moved, and, if asked for, what has
    been received, [6 * receipts]: stage, PE, lane, operation, sender, slices. ValueError where
    numbers lead to what is not given."""

class _TimedOpGiven(Protocol):
    @property
    def receive(self) -> int: ...
    @property
    def send(self) -> int: ...
    @property
    def output(self) -> int: ...
    @property
    def words(self) -> Sequence[int]: ...
    @property
    def at_once(self) -> int: ...
    @property
    def all(self) -> bool: ...
    @property
    def yields(self) -> bool: ...
    @property
    def command(self) -> str: ...
    @property
    def advances(self) -> bool: ...
    @property
    def end(self) -> tuple[str, int]: ...

class _ScriptGiven(Protocol):
    @property
    def codes(self) -> Sequence[Sequence[tuple[str, int, int, int]]]: ...
    @property
    def ops(self) -> Sequence[_TimedOpGiven]: ...
    @property
    def outputs(self) -> Sequence[int]: ...
    @property
    def inputs(self) -> Sequence[tuple[int, int]]: ...
    @property
    def blocked(self) -> int: ...
    @property
    def counters(self) -> int: ...

class _TimingGiven(Protocol):
    @property
    def hop(self) -> int: ...
    @property
    def ramp_up(self) -> int: ...
    @property
    def pipeline_fill(self) -> int: ...
    @property
    def ramp_down(self) -> int: ...
    @property
    def load_use(self) -> int: ...
    @property
    def between_tasks(self) -> int: ...
    @property
    def first_task(self) -> int: ...
    @property
    def router_queue(self) -> int: ...

def time_machine(
    given: _MachineGiven,
    timing: _TimingGiven,
    scripts: Sequence[_ScriptGiven],
    script_at: npt.NDArray[np.uint32],
    numbers: Sequence[int],
    starts: _Ints,
    most: int,
    by_word: bool,
) -> tuple[_Ints, list[int], int, int | None, bool]:
    """Scripts run cycle by cycle on the routers that are given: when each PE has done its part, -1
    if it never does; when the last one has come to each mark; how many words have gone from router
    to router; the first PE that has not ended; whether more than the `most` words were followed.
    All words are followed `by_word`, else not those of PEs that repeat what they did. ValueError
    where numbers lead to what is not given."""
