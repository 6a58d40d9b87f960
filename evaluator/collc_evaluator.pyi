"""Runs plans, carries out steps, and lays out step tables.

Cycles are those of the machine's clock, sizes of entries wavelets, unless said otherwise. Arguments
are any objects with the attributes that their protocols list.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

_Ints = npt.NDArray[np.int64]
_Flags = npt.NDArray[np.bool_]
_Words = npt.NDArray[np.uint64]

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
    def vectors(self) -> int: ...
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
    traced: bool,
) -> tuple[_Ints, list[int], int, int | None, bool, npt.NDArray[np.uint32]]:
    """Scripts run cycle by cycle on the routers that are given: when each PE has done its part, -1
    if it never does; when the last one has come to each mark; how many words have gone from router
    to router; the first PE that has not ended; whether more than the `most` words were followed.
    All words are followed `by_word`, else not those of PEs that repeat what they did. If it is
    `traced`, of each vector that an operation has moved the PE, the number of the operation, who
    sent it, the router that held it up last, for how many cycles routers did, and the cycles in
    which the operation was issued, the first word was there, and was taken, and the last was taken,
    [9 * vectors], 2**32 - 1 for what is not so. ValueError where numbers lead to what is not
    given."""
