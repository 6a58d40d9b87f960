"""Proof that the trees of a schedule reduce their lines.

A contribution is the value that a rank brings to a phase. A vector is the sequence of the
contributions in it, in operand order; sequences are kept as runs of consecutive ranks, so a long
line costs no more than its transfers. Lines of a phase are alike: one of them is followed.
"""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.proof.steps import out_of_order
from collc.schedule import Action, Phase, ReducePhase, Schedule, axis_of
from collc.spec import ReduceStep

Run = tuple[int, int]  # first and last of consecutive ranks
Vector = tuple[Run, ...]

CORRECT_TREE = "each rank but 0 sends once, after it has received from all its children"


def prove_phase(schedule: Schedule, phase: Phase) -> Iterator[Diagnostic]:
    """What is wrong within one phase: rank 0 of a line must end with each contribution once."""
    if not isinstance(phase, ReducePhase):
        return
    grid = schedule.collective.grid
    extent = grid.extent(phase.axis)
    low, high = phase.stretch
    if low < 0 or high >= extent:
        yield _wrong_size(phase, extent)
        return
    result = follow(phase)[0]
    operation = schedule.collective.contract.operation
    ordered = operation is not None and not operation.commutative
    if ordered and phase.bypass:
        how = f"combines rank {_root(schedule, phase)} with the sum of all others"
        yield out_of_order(schedule, phase.name, how, phase.span)
        return
    if ordered and _goes_back(schedule, phase):
        how = f"combines the ranks below {_root(schedule, phase)} from there down to 0"
        yield out_of_order(schedule, phase.name, how, phase.span)
        return
    problems = (_missing(phase, result), _repeated(phase, result))
    yield from (problem for problem in problems if problem)
    if not any(problems):
        problem = _out_of_order(phase, result) if ordered else _not_pre_order(phase)
        yield from (problem,) if problem else ()


def _goes_back(schedule: Schedule, phase: ReducePhase) -> bool:
    """Whether the ranks of a phase go down: it is the side below a root that is not rank 0."""
    step = _step(schedule, phase)
    return step is not None and step.order is not phase.order and phase.ranks > 1


def _step(schedule: Schedule, phase: ReducePhase) -> ReduceStep | None:
    steps = (step for step in schedule.collective.steps if isinstance(step, ReduceStep))
    return next((step for step in steps if axis_of(step.order) == phase.axis), None)


def _root(schedule: Schedule, phase: ReducePhase) -> int:
    step = _step(schedule, phase)
    return step.root if step else 0


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
        expected += expected == phase.idle
        if first > expected:
            break
        expected = max(expected, last + 1)
    expected += expected == phase.idle
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
        next_rank += next_rank == phase.idle
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
    """C205: a tree that leads over the end of the line."""
    low, high = phase.stretch
    return Diagnostic(
        "C205",
        f"the tree of `{phase.name}` has {phase.ranks} ranks and reaches from {phase.axis} = {low} "
        f"to {high}; its lines have {extent} PEs",
        phase.span,
        help=f"use a tree that stays between 0 and {extent - 1}",
    )


def _diagnostic(code: str, phase: ReducePhase, message: str) -> Diagnostic:
    return Diagnostic(code, message, phase.span, help=CORRECT_TREE)


def _due(phase: ReducePhase) -> str:
    return show_vector(((0, phase.ranks - 1),))


def show_vector(vector: Vector) -> str:
    """Contributions in operand order: `0..3, 5, 4`; long ones are cut."""
    runs = [str(first) if first == last else f"{first}..{last}" for first, last in vector]
    return ", ".join(runs if len(runs) <= 6 else [*runs[:5], "...", runs[-1]])
