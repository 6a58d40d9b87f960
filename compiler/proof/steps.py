"""One phase made of steps, followed on a line, and what can be wrong within it."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from collc.base.columns import Ints
from collc.base.diagnostics import Diagnostic, Span
from collc.proof.contributions import Contributions, Cut, carried
from collc.proof.order_advice import keeping_order
from collc.schedule import Schedule
from collc.spec import ContractKind, OwnOperation
from collc.spec.exchange import Slicing, StepsPhase
from collc.spec.formula import only_chooses
from collc.spec.operation import FLOATS

_BY_HAND = "let a rank combine what it has with what the ranks right behind it have, nearest first"

GROUPED_OTHERWISE = "C215"
_IN_GROUPS = "combine in the same groups at every rank, or let one of them send its result on"


def follow_steps(phase: StepsPhase, cut: Cut, held: Contributions) -> tuple[int, int, int] | None:
    """Carry out one phase; yields step, place and segment of transfers that exclude each other."""
    starts = cut.of_slices(phase.slicing)
    for number, moves in enumerate(phase.steps):
        clash = held.move(carried(phase, moves, starts, held.block))
        if clash is not None:
            return number, clash[0], clash[1] + held.block.first
    return None


def clashing(phase: StepsPhase, step: int, place: int, part: str) -> Diagnostic:
    """C209: transfers of one step of which one undoes the other."""
    rank = phase.places.index(place)
    return Diagnostic(
        "C209",
        f"in step {step} of `{phase.algorithm}` several transfers reach rank {rank}'s "
        f"vector{part}, at least one of which overwrites it",
        phase.span,
        help="the transfers of a step do not wait for each other: put one into another step",
    )


def out_of_order(schedule: Schedule, name: str, how: str, at: Span) -> Diagnostic:
    """C203: contributions that are not combined in the order of their ranks."""
    operation, found = order_of(schedule), keeping_order(schedule)
    declared = ((operation.span, "not called commutative here"),) if operation else ()
    quoted = " or ".join(f"`{steps}`" for steps in found)
    advice = f"write {quoted}, which keep the contract and the order" if found else _BY_HAND
    help = f"{advice}; if the order does not matter, call the operation `commutative`"
    return Diagnostic(
        "C203", f"the operation is not commutative, and `{name}` {how}", at, declared, help
    )


def order_of(schedule: Schedule) -> OwnOperation | None:
    """The operation, if it depends on the order of its operands."""
    operation = schedule.collective.contract.operation
    if isinstance(operation, OwnOperation) and not operation.commutative:
        return operation
    return None


def groups_matter(schedule: Schedule) -> bool:
    """Whether it matters which contributions are combined first: all ranks have to end with the
    same bits, and sums or products of floats are rounded. So may be what is only assumed to be
    associative."""
    contract = schedule.collective.contract
    operation = contract.operation
    if contract.kind is not ContractKind.ALLREDUCE or operation is None:
        return False
    floats = contract.element in FLOATS
    if isinstance(operation, OwnOperation):
        rounds = floats and not only_chooses(operation.formula)
        return rounds or operation.assumed_associative
    return floats and operation.facts.rounds


def grouped_otherwise(schedule: Schedule, name: str, where: str, at: Span) -> Diagnostic:
    """C215: ranks that combine the same contributions in different groups."""
    contract, found = schedule.collective.contract, keeping_order(schedule)
    assert contract.operation is not None
    quoted = " or ".join(f"`{steps}`" for steps in found)
    return Diagnostic(
        GROUPED_OTHERWISE,
        f"`{name}` groups contributions differently {where}, so `{contract.operation.value}` "
        "gives them different bits",
        at,
        ((contract.span, "an allreduce ends with the same bits everywhere"),),
        f"write {quoted}, which send one result to all ranks" if found else _IN_GROUPS,
    )


def combining_nothing(schedule: Schedule) -> Iterator[Diagnostic]:
    """C212: transfers that combine where the contract has no operation to combine with."""
    contract = schedule.collective.contract
    if contract.operation is not None or contract.kind is ContractKind.BARRIER:
        return
    for phase in schedule.by_steps:
        for number, moves in enumerate(phase.steps):
            if moves.combines.any():
                i = int(np.flatnonzero(moves.combines)[0])
                yield Diagnostic(
                    "C212",
                    f"step {number} of `{phase.algorithm}` combines what rank {moves.source[i]} "
                    f"sends with what rank {moves.destination[i]} has, but there is no operation",
                    phase.span,
                    ((contract.span, f"a contract without one: {contract.name}"),),
                    "overwrite with `->`",
                )
                break


def unequal_slices(phase: StepsPhase) -> Iterator[Diagnostic]:
    """C210: a slice that takes the place of one of another length."""
    for number, moves in enumerate(phase.steps if phase.slicing.length else ()):
        sizes = _sizes(phase.slicing, moves.slice), _sizes(phase.slicing, moves.into)
        wrong = np.flatnonzero((moves.into != moves.slice) & (sizes[0] != sizes[1]))
        if len(wrong):
            i = int(wrong[0])
            yield Diagnostic(
                "C210",
                f"step {number} of `{phase.algorithm}` puts slice {moves.slice[i]} of "
                f"{sizes[0][i]} elements as slice {moves.into[i]} of {sizes[1][i]}",
                phase.span,
                help=f"make the length a multiple of {phase.slicing.count}, the number of slices",
            )
            return


def _sizes(slicing: Slicing, slices: npt.NDArray[np.int32]) -> Ints:
    sizes: Ints = np.diff(slicing.bounds)[slices]
    return sizes
