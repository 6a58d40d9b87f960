"""Proof that a schedule keeps its contract, by moving symbolic contributions through it.

A contribution is the value that a rank brings to a phase. A vector is the sequence of the
contributions in it, in operand order; sequences are kept as runs of consecutive ranks, so a long
line costs no more than its transfers. Lines of a phase are alike: one of them is followed. Between
phases it is enough to know which PEs hold complete sums and over which axes: a sum over one axis
is a single contribution to the next. On a grid the rank order of PEs is lexicographic, the axis
that is reduced last first, so it follows from the order within each phase.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from collc.diagnostics import Diagnostic
from collc.schedule import Action, BroadcastPhase, ReducePhase, Schedule
from collc.spec import ContractKind

Run = tuple[int, int]  # first and last of consecutive ranks
Vector = tuple[Run, ...]

CORRECT_TREE = "each rank but 0 sends once, after it has received from all its children"


@dataclass(frozen=True)
class _Holders:
    """The PEs whose vectors matter: coordinates first..last on both axes; `complete` tells over
    which axes their vectors are sums."""

    x: Run
    y: Run
    complete: frozenset[str]


def prove(schedule: Schedule) -> Iterator[Diagnostic]:
    """Every way in which the schedule breaks its contract; nothing if it keeps it."""
    found = [d for phase in schedule.phases for d in prove_phase(schedule, phase)]
    yield from found
    if not found:
        yield from _prove_contract(schedule)


def prove_phase(schedule: Schedule, phase: ReducePhase | BroadcastPhase) -> Iterator[Diagnostic]:
    """What is wrong within one phase: rank 0 of a line must end with each contribution once."""
    if isinstance(phase, BroadcastPhase):
        return
    grid = schedule.collective.grid
    extent = grid.width if phase.axis == "x" else grid.height
    if phase.ranks != extent:
        yield _wrong_size(phase, extent)
        return
    result = follow(phase)[0]
    operation = schedule.collective.contract.operation
    ordered = operation is not None and not operation.commutative
    problems = (_missing(phase, result), _repeated(phase, result))
    yield from (problem for problem in problems if problem)
    if not any(problems):
        problem = _out_of_order(phase, result) if ordered else _not_pre_order(phase)
        yield from (problem,) if problem else ()


def follow(phase: ReducePhase) -> list[Vector]:
    """The vector of every rank at the end of a phase, as sequences of contributions."""
    vectors: list[Vector] = [((rank, rank),) for rank in range(phase.ranks)]
    for transfer in phase.transfers:
        arrived = vectors[transfer.source]
        copies = transfer.action is Action.COPY
        vectors[transfer.destination] = (
            arrived if copies else _joined(vectors[transfer.destination], arrived)
        )
    return vectors


def _joined(left: Vector, right: Vector) -> Vector:
    """The contributions of `left`, then those of `right`."""
    if left and right and left[-1][1] + 1 == right[0][0]:
        return (*left[:-1], (left[-1][0], right[0][1]), *right[1:])
    return left + right


def _missing(phase: ReducePhase, result: Vector) -> Diagnostic | None:
    """C201: the first contribution that does not reach rank 0."""
    expected = 0
    for first, last in sorted(result):
        if first > expected:
            break
        expected = max(expected, last + 1)
    if expected == phase.ranks:
        return None
    return _diagnostic(
        "C201",
        phase,
        f"the contribution of rank {expected} never reaches rank 0 in `{phase.name}`: "
        f"rank 0 ends with {show_vector(result)}, due is {_due(phase)}",
    )


def _repeated(phase: ReducePhase, result: Vector) -> Diagnostic | None:
    """C202: the first contribution that reaches rank 0 more than once."""
    covered = -1
    for first, last in sorted(result):
        if first <= covered:
            return _diagnostic(
                "C202",
                phase,
                f"the contribution of rank {first} reaches rank 0 more than once in "
                f"`{phase.name}`: rank 0 ends with {show_vector(result)}, due is {_due(phase)}",
            )
        covered = max(covered, last)
    return None


def _out_of_order(phase: ReducePhase, result: Vector) -> Diagnostic | None:
    """C203: contributions out of rank order, for operations that are not commutative."""
    if result == ((0, phase.ranks - 1),):
        return _not_pre_order(phase)
    due = 0
    for first, last in result:
        if first != due:
            break
        due = last + 1
    return _diagnostic(
        "C203",
        phase,
        f"the operation is not commutative, and `{phase.name}` combines rank {first} where "
        f"rank {due} is due: rank 0 ends with {show_vector(result)}, due is {_due(phase)}",
    )


def _not_pre_order(phase: ReducePhase) -> Diagnostic | None:
    """C206: a tree that is no pre-order tree, in which vectors would meet on the line."""
    next_rank, path = 1, [(0, iter(phase.children[0]))]
    while path:
        child = next(path[-1][1], None)
        if child is None:
            path.pop()
        elif child == next_rank:
            path.append((child, iter(phase.children[child])))
            next_rank += 1
        else:
            message = (
                f"`{phase.name}` is not in pre-order: rank {path[-1][0]} receives from rank "
                f"{child} where rank {next_rank} is due"
            )
            return _diagnostic("C206", phase, message)
    return None


def _wrong_size(phase: ReducePhase, extent: int) -> Diagnostic:
    """C205: a tree for another number of ranks than the line has."""
    return Diagnostic(
        "C205",
        f"the tree of `{phase.name}` has {phase.ranks} ranks, its lines have {extent} PEs",
        phase.span,
        help=f"use a tree of {extent} ranks",
    )


def _prove_contract(schedule: Schedule) -> Iterator[Diagnostic]:
    """C204: after all phases the right PEs hold the right vector."""
    grid = schedule.collective.grid
    reduces = schedule.collective.contract.kind is not ContractKind.BROADCAST
    alone = {axis for axis, size in (("x", grid.width), ("y", grid.height)) if size == 1}
    everywhere = ((0, grid.width - 1), (0, grid.height - 1))
    holders = _Holders(*everywhere, frozenset(alone))
    spread = grid.width * grid.height == 1
    for phase in schedule.phases:
        if isinstance(phase, BroadcastPhase):
            if not _holds(holders, phase.x, phase.y):
                yield _wrong_source(phase, holders)
                return
            holders, spread = _Holders(*everywhere, holders.complete), True
        elif spread or phase.axis in holders.complete:
            yield _summed_again(phase)
            return
        elif not reduces or phase.lines != (holders.y if phase.axis == "x" else holders.x):
            yield _wrong_lines(schedule, phase, holders)
            return
        else:
            holders = _after_reduce(holders, phase)
    yield from _postcondition(schedule, holders, spread)


def _holds(holders: _Holders, x: int, y: int) -> bool:
    return holders.x[0] <= x <= holders.x[1] and holders.y[0] <= y <= holders.y[1]


def _after_reduce(holders: _Holders, phase: ReducePhase) -> _Holders:
    """The sums are at the ends of the lines."""
    root = (phase.coordinate(0), phase.coordinate(0))
    complete = holders.complete | {phase.axis}
    if phase.axis == "x":
        return _Holders(root, holders.y, complete)
    return _Holders(holders.x, root, complete)


def _postcondition(schedule: Schedule, holders: _Holders, spread: bool) -> Iterator[Diagnostic]:
    """What the contract asks of the last state."""
    contract = schedule.collective.contract
    reduces = contract.kind is not ContractKind.BROADCAST
    if reduces and len(holders.complete) < 2:
        axis = "columns" if "y" not in holders.complete else "rows"
        yield _contract(
            schedule,
            f"PE ({holders.x[0]}, {holders.y[0]}) ends with the sum of its "
            f"line only, due is the sum over the grid: the {axis} are not reduced",
            f"add a reduce step over the {axis}",
        )
    elif contract.kind is not ContractKind.REDUCE and not spread:
        wrong = _first_without(schedule, holders)
        yield _contract(
            schedule,
            f"PE {wrong} does not end with the result, which every PE is due",
            "end with a broadcast",
        )


def _first_without(schedule: Schedule, holders: _Holders) -> tuple[int, int]:
    """The first PE, by rows, other than the one with the result."""
    if (holders.x, holders.y) != ((0, 0), (0, 0)):
        return (0, 0)
    return (1, 0) if schedule.collective.grid.width > 1 else (0, 1)


def _wrong_lines(schedule: Schedule, phase: ReducePhase, holders: _Holders) -> Diagnostic:
    """C204: a reduce where nothing is to be combined, or of other lines than hold the sums."""
    if schedule.collective.contract.kind is ContractKind.BROADCAST:
        return _contract(schedule, f"`{phase.name}` combines vectors", "drop the reduce step")
    due = holders.y if phase.axis == "x" else holders.x
    return _contract(
        schedule,
        f"`{phase.name}` reduces lines {show_vector((phase.lines,))}, the sums of the phases "
        f"before are in lines {show_vector((due,))}",
        "reduce the lines that hold the sums",
    )


def _contract(schedule: Schedule, message: str, remedy: str) -> Diagnostic:
    contract = schedule.collective.contract
    return Diagnostic(
        "C204",
        message,
        schedule.collective.span,
        ((contract.span, f"the contract is {contract.kind.value}"),),
        remedy,
    )


def _wrong_source(phase: BroadcastPhase, holders: _Holders) -> Diagnostic:
    """C204: the broadcast sends something else than the result."""
    at = f"({holders.x[0]}, {holders.y[0]})"
    return Diagnostic(
        "C204",
        f"`{phase.name}` sends the vector of PE ({phase.x}, {phase.y}), the result is at PE {at}",
        phase.span,
        help=f"broadcast from PE {at}",
    )


def _summed_again(phase: ReducePhase) -> Diagnostic:
    """C202 on a whole line: its PEs hold the same contributions already."""
    return Diagnostic(
        "C202",
        f"`{phase.name}` combines vectors that hold the same contributions already",
        phase.span,
        help="reduce each axis once, and before the broadcast",
    )


def _diagnostic(code: str, phase: ReducePhase, message: str) -> Diagnostic:
    return Diagnostic(code, message, phase.span, help=CORRECT_TREE)


def _due(phase: ReducePhase) -> str:
    return show_vector(((0, phase.ranks - 1),))


def show_vector(vector: Vector) -> str:
    """Contributions in operand order: `0..3, 5, 4`; long ones are cut."""
    runs = [str(first) if first == last else f"{first}..{last}" for first, last in vector]
    return ", ".join(runs if len(runs) <= 6 else [*runs[:5], "...", runs[-1]])
