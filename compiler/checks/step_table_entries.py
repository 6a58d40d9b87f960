"""Every row of an exchange is one that the emitted text can run.

The text reads a row's bits and numbers and trusts them, so what it trusts is checked here for every
place: which bits go together, that a lane has what its rows use, and that slices exist.
"""

import numpy as np

from collc.base.columns import Bools, Ints
from collc.base.memoize import memoized
from collc.plan import AREA_BITS, Lane, Phase, Plan, RowKind
from collc.plan.entries import bits_of, entries_of, numbers_of, puts_out, values_of
from collc.plan.plan import NO_SLICES
from collc.plan.step_tables import tables_by_role
from collc.plan.unrolled import unrolled
from collc.spec import Contract
from collc.spec.simd import by_call_back

SENDS = int(RowKind.SENDS)
USES_OUT = int(RowKind.SENDS | RowKind.RELAYS)
USES_INTO = int(RowKind.RECEIVES | RowKind.APPLIES)
DOES = int(USES_OUT | USES_INTO | RowKind.ENDS)
LARGEST = 0xFFFF  # numbers have 16 bits


def shape_problem(plan: Plan, phase: Phase) -> str:
    """What is wrong with the rows of a phase; nothing if they can be run."""
    return _shape_problem(phase, plan.collective.contract)


@memoized
def _shape_problem(
    phase: Phase,
    contract: Contract,
) -> str:
    refused, blocks = _refused_combining(contract), phase.blocks
    if phase.slicing.length != (blocks.longest if blocks else contract.length):
        return "what is cut into slices is not the vector, or not a block of it"
    if blocks is not None and blocks.length != contract.length:
        return "what is cut into blocks is not the vector"
    for index, role in enumerate(phase.roles):
        if tuple(lane.name for lane in role.lanes) != phase.lanes:
            return f"role `{role.name}` does not have the lanes of the phase"
        if not phase.has_loops:
            continue  # `stream_shapes` looks at these
        found = tables_by_role(phase)[index]
        for lane, table in zip(role.lanes, found.tables, strict=True) if len(found.places) else ():
            problem = _lane_problem(lane, found.places, table, phase, refused)
            if problem:
                return f"lane `{lane.name}` of role `{role.name}` {problem}"
    if not phase.has_loops:
        return ""
    ops = (op for role in phase.roles for op in role.ops if op.elements is None)
    ways = {op.slices.backward for op in ops if op.slices != NO_SLICES}
    return "passes elements both ways" if len(ways) > 1 else _steps_problem(phase)


def _refused_combining(contract: Contract) -> tuple[int, str]:
    """Which bits no row may have together, for want of an operation that does it while
    elements arrive, and that in words."""
    receives, combines = int(RowKind.RECEIVES), int(RowKind.COMBINES)
    if contract.operation is None:
        return combines, "combines and the contract has no operation"
    if by_call_back(contract):
        return combines | receives, "combines by a call-back while it receives"
    return 0, ""


def _lane_problem(
    lane: Lane, places: Ints, table: Ints, phase: Phase, refused: tuple[int, str]
) -> str:
    """What is wrong with a lane, all rows of all loops and places looked at together."""
    slices, loops = phase.slicing.count, lane.table
    if not loops:
        return ""
    turns = values_of([loop.turns for loop in loops], places)
    shift = values_of([loop.shift for loop in loops], places)
    if phase.backward and phase.areas:
        return "passes elements from the last to the first, and stages what goes the other way"
    problem = next(filter(None, _loop_problems(lane, turns, shift, slices)), "")
    problem = problem or _op_problem(lane, places)
    if problem:
        return problem
    numbers = table.transpose(1, 0, 2)
    sizes = [len(loop.entries) for loop in loops]
    heads = [np.repeat(head, sizes, axis=0)[None] for head in (shift, turns)]
    rows = np.concatenate([numbers, *heads]).reshape(len(numbers) + 2, -1)
    if rows[:5].min() < 0 or rows[:5].max() + slices > LARGEST + 1:
        return "has numbers of more than 16 bits"
    return _row_problem(lane, rows[0], refused) or _range_problem(rows, phase)


def _steps_problem(phase: Phase) -> str:
    """What is wrong with the steps of places that have rows on several lanes: a step begins on all
    of them at once, so they end as many, and the last row of each ends one."""
    rows = unrolled(phase)
    lanes = len(rows.start) - 1
    there = np.flatnonzero((rows.kind & DOES) > 0)
    lane = np.repeat(np.arange(lanes), np.diff(rows.start))[there]
    ends = (rows.kind[there] & int(RowKind.ENDS)) > 0
    ended = np.bincount(lane[ends], minlength=lanes).reshape(-1, rows.lanes)
    closed = np.ones(lanes, dtype=np.bool_)
    closed[lane] = ends  # the last one of a lane is what stays
    several = np.isin(np.arange(lanes), lane).reshape(ended.shape).sum(axis=1) > 1
    uneven = several & (
        (ended.min(axis=1) < ended.max(axis=1)) | ~closed.reshape(ended.shape).all(1)
    )
    return f"the lanes of place {uneven.argmax()} do not end the same steps" if uneven.any() else ""


def _loop_problems(lane: Lane, turns: Ints, shift: Ints, slices: int) -> list[str]:
    """What is wrong with the heads of loops, [loops, places] of which are given."""
    empty = np.array([[not loop.entries] for loop in lane.table])
    idle = np.asarray((empty | (turns < 1) | (turns > LARGEST)).any(axis=1))
    beyond = np.asarray(((shift < 0) | (shift >= slices)).any(axis=1))
    return [
        "has a loop without turns or rows"
        if none
        else "has a loop that goes on by more than all slices"
        if far
        else ""
        for none, far in zip(idle.tolist(), beyond.tolist(), strict=True)
    ]


def _op_problem(lane: Lane, places: Ints) -> str:
    """What is wrong with the operations of entries: a step table has those that move slices once,
    and at a place one that uses the output, one that takes what comes or is staged."""
    entries = entries_of(lane)
    ops = [(at, op) for at, entry in enumerate(entries) for op in entry.ops]
    if not all(bits_of(op) for _, op in ops):
        return "has an operation that no step table has"
    there = values_of([op.where for _, op in ops], places)
    if there.min(initial=0) < 0 or there.max(initial=0) > 1:
        return "has an operation that is there more or less than once"
    if values_of([n for _, op in ops for n in numbers_of(op)], places).min(initial=0) < 0:
        return "has numbers of more than 16 bits"
    at_once = np.zeros((2 * len(entries), len(places)), dtype=np.int64)
    np.add.at(at_once, [2 * at + puts_out(op) for at, op in ops], there)
    return "does two things with one end at once" if at_once.max(initial=0) > 1 else ""


def _range_problem(rows: Ints, phase: Phase) -> str:
    """What is wrong with the slices of rows, given as numbers, shift and turns."""
    kind, first, count, into, into_count, shift, turns = rows
    slices, out = phase.slicing.count, USES_OUT if phase.slicing.dynamic else SENDS
    for used, low, size in (
        ((kind & out) > 0, first, count),
        ((kind & USES_INTO) > 0, into, into_count),
    ):
        ranges = np.stack((low, size, shift, turns))[:, used]
        if (low[used] >= slices).any() or _leaves(ranges, slices):
            return "goes beyond the last slice"
    return ""


def _leaves(ranges: Ints, slices: int) -> bool:
    """Whether a range of several slices, given as first, count, shift and turns, leaves the slices
    in some turn."""
    first, count, shift, turns = ranges
    if ((shift == 0) & (count > 1) & (first + count > slices)).any():
        return True
    last: Ints = np.minimum(turns, slices) - 1
    # nothing comes round of what goes on, or back, within the slices
    within = (first + count <= slices) & (
        (first + shift * last + count <= slices) | (first + (shift - slices) * last >= 0)
    )
    round_ = {tuple(one) for one in ranges[:, (shift != 0) & (count > 1) & ~within].T.tolist()}
    for low, size, step, times in round_:
        reached = (low + step * np.arange(min(times, slices))) % slices
        if int(reached.max()) + size > slices:
            return True
    return False


def _row_problem(lane: Lane, kinds: Ints, refused: tuple[int, str]) -> str:
    """What is wrong with the bits of a row, at any place."""
    kind = kinds & ((1 << AREA_BITS) - 1)
    bits, words = refused

    def has(bits: RowKind) -> Bools:
        return np.asarray((kind & int(bits)) > 0)

    out, into = (kind & USES_OUT) > 0, (kind & USES_INTO) > 0
    rules = (
        (has(RowKind.RELAYS) & into, "receives while it relays"),
        (
            has(RowKind.APPLIES) & (out | has(RowKind.RECEIVES | RowKind.STAGES)),
            "applies a stage and uses the fabric",
        ),
        (out & (lane.sends_on is None), "sends and has no output"),
        (
            (has(RowKind.RELAYS) | has(RowKind.RECEIVES)) & (lane.receives_on is None),
            "receives and has no input",
        ),
        (has(RowKind.STAGES) & has(RowKind.COMBINES), "combines in the stage"),
        ((bits > 0) & ((kind & bits) == bits), words),
    )
    return next((problem for broken, problem in rules if broken.any()), "")
