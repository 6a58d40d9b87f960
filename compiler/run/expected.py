"""What a run has to give: the schedule carried out in NumPy, operand by operand.

The operand order is part of the schedule, so a rounded sum has to match bit by bit. A second,
order-free reduction in wider arithmetic guards the first one.
"""

from __future__ import annotations  # np.random, which only an annotation names, is not imported

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from collc.base.columns import Array, Bools
from collc.base.grids import Grid, Lines, Site
from collc.base.values import dataclass
from collc.run.unordered_reference import in_any_order
from collc.schedule import BroadcastPhase, ReducePhase, Schedule, home_pe, pes_of_ranks
from collc.schedule.promised import parts_of, promised
from collc.spec import Collective, ContractKind, Operation, OwnOperation
from collc.spec.arrays import DTYPE, combine, same
from collc.spec.custom_contract import Holdings, OwnContract, dues
from collc.spec.exchange import Moves, Slicing, StepsPhase
from collc.spec.formula import evaluate
from collc.spec.slice_ownership import owners

Combine = Callable[[Array, Array], Array]

_MOST_CARRIED = 1 << 26  # bytes

NOT_KEPT = "the schedule's own result is not what the contract promises"


def make_input(collective: Collective, seed: int) -> Array:
    """Random vectors, one for each PE of the whole grid: an array [height, width, length] of the
    element type; of a barrier the tokens as its PEs begin with them."""
    grid, contract = collective.grid.whole, collective.contract
    shape = (grid.height, grid.width, contract.held)
    dtype = DTYPE[contract.element]
    if contract.kind is ContractKind.BARRIER:
        return np.ones(shape, dtype)
    if not math.prod(shape):
        return np.zeros(shape, dtype)
    rng = np.random.default_rng(seed)
    if dtype.names:
        return _pairs(rng, shape, dtype)
    if dtype.kind == "f":
        found = np.empty(shape, dtype)
        for row in found:  # all of them at once would take twice the room, as float64
            row[...] = rng.uniform(0.5, 1.5, size=row.shape)
        return found
    return np.frombuffer(rng.bytes(math.prod(shape) * dtype.itemsize), dtype).reshape(shape)


def _pairs(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Values of which many are equal, positive and negative, with indices of all sizes."""
    found = np.zeros(shape, dtype)
    signed = np.dtype(dtype["value"]).kind != "u"
    found["value"] = rng.integers(-4 if signed else 0, 5, size=shape)
    found["index"] = rng.integers(0, 2**32, size=shape, dtype=np.uint32)
    return found


def expected(schedule: Schedule, given: Array) -> Array:
    """The vectors of all PEs of a collective after the schedule, [height, width, length], or
    [height, width, copies, length] of several lines at once."""
    operation = schedule.collective.contract.operation
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return carry_out(schedule, given, _combine(operation) if operation else None)


def carry_out(schedule: Schedule, given: Array, combine: Combine | None) -> Array:
    """The same with an operation of the caller's; what stands on the left is the receiver's."""
    state = given.copy()
    for phase in schedule.phases:
        if isinstance(phase, BroadcastPhase):
            state[:, :] = state[phase.y, phase.x]
            continue
        lines = _lines(schedule, state)
        if isinstance(phase, ReducePhase):
            assert combine is not None
            _reduce(phase, combine, lines)
        else:
            _exchange(phase, combine, lines)
        if (path := schedule.collective.path) is not None:
            state[path.y, path.x] = lines[0]
    return state


def _lines(schedule: Schedule, state: Array) -> Array:
    """The vectors as lines have them: those of the grid themselves, or along a path a copy."""
    path = schedule.collective.path
    return state if path is None else state[path.y, path.x][None]


def describe(wanted: Array, found: Array, asked: Bools) -> str:
    """Where two arrays [height, width, length] differ in what is asked, in words; empty if they do
    not, bit by bit, but for the bits of NaN."""
    rows = zip(wanted, found, asked, strict=True)  # a grid's masks take much room
    wrong = [int((~same(one, other) & which).sum()) for one, other, which in rows]
    if not any(wrong):
        return ""
    y = next(row for row, count in enumerate(wrong) if count)
    differs = ~same(wanted[y], found[y]) & asked[y]
    x, i = (int(index) for index in np.argwhere(differs)[0])
    return (
        f"{sum(wrong)} of {int(asked.sum())} elements are wrong; the first is element "
        f"{i} at PE ({x}, {y}): {found[y, x, i]!s} instead of {wanted[y, x, i]!s}"
    )


@dataclass(frozen=True, eq=False)
class Carried:
    """The vectors of the whole grid, [height, width, length], after a collective; which of their
    elements are known by the contracts; and whether this one was kept."""

    vectors: Array
    known: Bools
    kept: bool


def carry_on(schedule: Schedule, given: Array, known: Bools) -> Carried:
    """Carry out one collective of several on the vectors of the whole grid; those elements of
    `known` are known before."""
    grid = schedule.collective.grid
    before = on_site(grid, given)
    after = expected(schedule, before)
    copies = range(after.shape[2])
    kept = all(keeps_contract(schedule, before[:, :, one], after[:, :, one]) for one in copies)
    now_known = known_after_call(schedule, on_site(grid, known))
    return Carried(
        replaced_on_site(grid, given, after), replaced_on_site(grid, known, now_known), kept
    )


def known_after_call(schedule: Schedule, known: Bools) -> Bools:
    """Which elements of the PEs of a collective, [height, width, copies, length], are known by its
    contract: those that it promises, as far as what they are made of was known."""
    return _of_operands(schedule, known, np.bitwise_and) & promised(schedule)[:, :, None]


def marked_after_call(schedule: Schedule, marks: Array, mark: int) -> Array:
    """Bits that say which calls have made the elements of the whole grid, [height, width, length],
    after one more call: what it promises has those of its operands and `mark`, all else of its PEs
    none. Its vectors are the first elements."""
    grid, part = schedule.collective.grid, (..., slice(schedule.collective.contract.length))
    has = _of_operands(schedule, on_site(grid, marks[part]), np.bitwise_or)
    has = np.where(promised(schedule)[:, :, None], has | marks.dtype.type(mark), 0)
    found = marks.copy()
    found[part] = replaced_on_site(grid, marks[part], has.astype(marks.dtype))
    return found


def _of_operands(schedule: Schedule, given: Array, both: np.ufunc) -> Array:
    """For each element of the PEs of a collective, [height, width, copies, length], what is said of
    those that its contract makes it of, taken together by `both`."""
    contract, (x, y) = schedule.collective.contract, home_pe(schedule)
    kind, has = contract.kind, np.zeros_like(given)
    if contract.own is not None:
        needless = ~_given_of(schedule.collective)[:, :, None]
        used = np.where(needless, both.identity, given).astype(given.dtype)
        has[:] = both.reduce(used, axis=(0, 1, 3), keepdims=True)
    elif kind in (ContractKind.BROADCAST, ContractKind.SCATTER):
        has[:] = given[y, x]
    elif kind in (ContractKind.GATHER, ContractKind.ALLGATHER):
        for (x_of, y_of), part in owners(schedule.collective):
            has[..., part] = given[y_of, x_of, :, part]
    elif kind is ContractKind.ALL_TO_ALL:
        ranks = list(owners(schedule.collective))
        for ((x_of, y_of), part), ((a, b), there) in product(ranks, ranks):
            has[y_of, x_of, :, there] = given[b, a, :, part]
    else:
        has[:] = both.reduce(given, axis=(0, 1))
    return has


def on_site(grid: Grid, values: Array) -> Array:
    """A view of an array [height, width, length] of the whole grid: what the PEs of a collective
    have, [height, width, copies, length]."""
    site = grid.site or Site(grid, 0, 0)
    area = site.area or grid
    part = values[site.y : site.y + area.height, site.x : site.x + area.width]
    if site.lines is Lines.ROW:
        return part.swapaxes(0, 1)[None]
    return part[:, None] if site.lines is Lines.COLUMN else part[:, :, None]


def replaced_on_site(grid: Grid, values: Array, part: Array) -> Array:
    """An array of the whole grid with `part`, as `on_site` has it, in place of what is there."""
    if grid.site is None:
        return part[:, :, 0]
    found = values.copy()
    on_site(grid, found)[...] = part
    return found


def carry_on_in_part(schedule: Schedule, given: Array, known: Bools) -> Carried:
    """The same for a schedule whose vectors are the first elements of longer ones; the others stay
    as they are."""
    length = schedule.collective.contract.length
    vectors, now_known = given.copy(), known.copy()
    part = (..., slice(length))
    carried = carry_on(schedule, given[part], known[part])
    vectors[part], now_known[part] = carried.vectors, carried.known
    return Carried(vectors, now_known, carried.kept)


def _combine(operation: Operation | OwnOperation) -> Combine:
    """What combines own elements with received ones, in their type."""
    if isinstance(operation, OwnOperation):
        return partial(evaluate, operation.formula)
    return partial(combine, operation)


def _reduce(phase: ReducePhase, combine: Combine, state: Array) -> None:
    lines = slice(phase.lines[0], phase.lines[1] + 1)
    for transfer in phase.transfers:
        source = phase.coordinate(transfer.source)
        destination = phase.coordinate(transfer.destination)
        if phase.axis == "x":
            into, out = state[lines, destination], state[lines, source]
        else:
            into, out = state[destination, lines], state[source, lines]
        into[...] = combine(into, out)


def _exchange(phase: StepsPhase, combine: Combine | None, state: Array) -> None:
    """Carry out the steps of a phase: all transfers of a step read before any of them writes."""
    first, last = phase.lines
    if phase.blocks is None:
        # What the transfers of a step carry is as much as all vectors, so not of all lines at once.
        count = max(1, _MOST_CARRIED * (last - first + 1) // max(1, state.nbytes))
        ends = ((line, min(line + count - 1, last)) for line in range(first, last + 1, count))
        _carry_steps(phase, combine, [_at_places(phase, state, *of_lines) for of_lines in ends])
        return
    for line in range(first, last + 1):
        begin = phase.blocks.first_of_line(line)
        view = _at_places(phase, state, line, line)
        _carry_steps(phase, combine, [view[..., begin : begin + phase.slicing.length]])


def _at_places(phase: StepsPhase, state: Array, first: int, last: int) -> Array:
    """The vectors of several lines, by place."""
    lines = slice(first, last + 1)
    return state[lines].swapaxes(0, 1) if phase.axis == "x" else state[:, lines]


def _carry_steps(phase: StepsPhase, combine: Combine | None, views: list[Array]) -> None:
    """The steps on the vectors of each of `views`, which come place by place."""
    bounds = [phase.slicing.bound(index) for index in range(phase.slicing.count + 1)]
    for moves in phase.steps if phase.slicing.length else ():
        rows = list(_rows(phase, moves, bounds))
        for view in views:
            carried = [view[source, ..., taken].copy() for source, taken, *_ in rows]
            for (_, _, destination, into, combines), values in zip(rows, carried, strict=True):
                here = view[destination, ..., into]
                if combines:
                    assert combine is not None
                    here[...] = combine(here, values)
                else:
                    here[...] = values


def _rows(
    phase: StepsPhase, moves: Moves, bounds: list[int]
) -> Iterator[tuple[int, slice, int, slice, bool]]:
    """Transfers as places and elements: from, which, to, where, whether combined."""
    columns = (moves.source, moves.slice, moves.destination, moves.into, moves.count)
    numbers = zip(*(column.tolist() for column in columns), moves.combines.tolist(), strict=True)
    for source, first, destination, into, count, combines in numbers:
        taken = slice(bounds[first], bounds[first + count])
        put = slice(bounds[into], bounds[into + count])
        yield phase.places[source], taken, phase.places[destination], put, combines


def keeps_contract(schedule: Schedule, given: Array, wanted: Array) -> bool:
    """Compare the schedule's result with the contract alone, which knows nothing of transfers."""
    contract, (x, y) = schedule.collective.contract, home_pe(schedule)
    kind = contract.kind
    if contract.own is not None:
        return keeps_own(schedule.collective, given, wanted)
    if kind.reduces:
        alike = kind is not ContractKind.ALLREDUCE or bool(same(wanted, wanted[y, x]).all())
        return alike and _is_reduction(schedule, given, wanted)
    if kind is ContractKind.BROADCAST:
        return bool(same(wanted, given[y, x]).all())
    if kind is ContractKind.BARRIER:
        return True
    ranks = list(owners(schedule.collective))
    pairs = []
    for (x_of, y_of), part in ranks:
        if kind is ContractKind.SCATTER:
            pairs.append((wanted[y_of, x_of, part], given[y, x, part]))
        elif kind is ContractKind.GATHER:
            pairs.append((wanted[y, x, part], given[y_of, x_of, part]))
        elif kind is ContractKind.ALLGATHER:
            pairs += [(wanted[b, a, part], given[y_of, x_of, part]) for (a, b), _ in ranks]
        else:
            pairs += [(wanted[y_of, x_of, there], given[b, a, part]) for (a, b), there in ranks]
    return all(same(one, other).all() for one, other in pairs)


def _is_reduction(schedule: Schedule, given: Array, wanted: Array) -> bool:
    """Compare what is promised with a reduction in any order; rounding may differ a little."""
    contract = schedule.collective.contract
    operation = contract.operation
    assert operation is not None
    right = in_any_order(operation, given.reshape(-1, contract.length))
    rows = zip(wanted, promised(schedule), strict=True)  # since a grid as float64 takes much room
    return all(right.allows(row)[mask].all() for row, mask in rows)


def _given_of(collective: Collective) -> Bools:
    """Which elements of which PEs it starts from."""
    own, grid = _own(collective), collective.grid
    if own.given is None:
        return np.ones((grid.height, grid.width, collective.contract.length), np.bool_)
    return _mask(collective, own.given)


def keeps_own(collective: Collective, given: Array, wanted: Array) -> bool:
    """Whether what is promised of `wanted` is what the contract makes of the vectors `given`."""
    own, slicing = _own(collective), _slicing(collective)
    pes = pes_of_ranks(collective)
    for due in dues(own):
        there = slice(slicing.bound(due.into), slicing.bound(due.into + due.count))
        taken = slice(slicing.bound(due.slice), slicing.bound(due.slice + due.count))
        operands = np.stack([given[y, x, taken] for x, y in (pes[rank] for rank in due.whose)])
        x, y = pes[due.holder]
        if not _same(wanted[y, x, there], operands, collective):
            return False
    return True


def _same(result: Array, operands: Array, collective: Collective) -> bool:
    """Compare with operands combined in any order; rounding may differ a little."""
    if len(operands) == 1:
        return bool(same(result, operands[0]).all())
    operation = collective.contract.operation
    assert operation is not None
    return bool(in_any_order(operation, operands).allows(result).all())


def _mask(collective: Collective, held: Holdings) -> Bools:
    grid = collective.grid
    found = np.zeros((grid.height, grid.width, collective.contract.length), np.bool_)
    for (x, y), part in parts_of(collective, held):
        found[y, x, part] = True
    return found


def _slicing(collective: Collective) -> Slicing:
    return Slicing(_own(collective).slices, collective.contract.length)


def _own(collective: Collective) -> OwnContract:
    own = collective.contract.own
    assert own is not None
    return own
